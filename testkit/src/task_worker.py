"""A native agent that does what a message says and notes each task, for tests of tasks, replicas and last words.

Its first argument is a file, to which it writes a line for everything that it is told: its name, its epoch, the text.
Each task's text is `VERB REST`: `do X` ends its turn at once, `hold FILE` when the file is there, `die` never.
Options behind it: `save` answers last words after a note in its memory, `deaf` never answers them.
"""

import json
import os
import sys
import threading
import time

LOG, OPTIONS = sys.argv[1], sys.argv[2:]
LOCK, TOLD = threading.Lock(), {}


def write(line):
    with LOCK:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def say(method, params):
    write({"jsonrpc": "2.0", "method": method, "params": params})


def note(text):
    # One write of one short line: those of several programs do not mix.
    with open(LOG, "a") as file:
        file.write(f"{os.environ['EDGEPLANE_AGENT']} {TOLD.get('epoch')} {text}\n")


def task(params):
    text = params["parts"][0]["text"]
    note(text)
    verb, _, rest = text.partition(" ")
    if verb == "die":
        os._exit(3)
    while verb == "hold" and not os.path.exists(rest):
        time.sleep(0.005)
    output = f"{os.environ['EDGEPLANE_AGENT']} did {text}"
    say("agent/turn.complete", {"message_id": params["message_id"], "output": output})


for line in sys.stdin:
    said = json.loads(line)
    method, params = said.get("method"), said.get("params") or {}
    if method == "agent/session.start":
        TOLD.update(params)
        note(f"begins {params['continuity']} {'rehydration' in params} {sorted(os.listdir('.'))}")
        open("left", "w").close()
    elif method == "agent/message.deliver":
        threading.Thread(target=task, args=(params,), daemon=True).start()
    elif method == "agent/session.closing":
        note(f"closing {params['reason']} {params['grace_ms']}")
        if "save" in OPTIONS:
            request = {"key": "saved", "value": params["reason"]}
            write({"jsonrpc": "2.0", "id": "save", "method": "memory/entry.put", "params": request})
    elif said.get("id") == "save":
        say("agent/session.closed", {})
