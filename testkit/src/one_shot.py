"""A small program that answers one prompt and ends, for tests: what it does stands in the prompt's last line."""

import json
import os
import signal
import sys
import time
import uuid

WORDS = sys.argv[1:]
STREAM, JSON = "--stream" in WORDS, "--json" in WORDS


def after(word):
    return WORDS[WORDS.index(word) + 1] if word in WORDS else None


def out(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def line(**fields):
    out(json.dumps(fields) + "\n")


def note(name, value):
    with open(name, "a") as file:
        file.write(json.dumps(value) + "\n")


def until(name):
    while not os.path.exists(name):
        time.sleep(0.01)


PROMPT = after("--prompt") or sys.stdin.read()
RESUMED = after("--resume")
SESSION = RESUMED or after("--session-id") or str(uuid.uuid4())
HISTORY = f"{SESSION}.session"
note("calls", {"argv": WORDS, "prompt": PROMPT, "resumed": RESUMED, "pid": os.getpid()})
if RESUMED and (not os.path.exists(HISTORY) or os.path.exists("forget")):
    sys.stderr.write(f"debug: looking\nNo conversation found with session ID {SESSION}\n")
    sys.exit(3)
if STREAM:
    line(type="system", subtype="init", session_id=SESSION)
PAST = [json.loads(entry) for entry in open(HISTORY)] if os.path.exists(HISTORY) else []
verb, _, rest = PROMPT.splitlines()[-1].partition(" ")
note(HISTORY, PROMPT.splitlines()[-1])


def say(text):
    if STREAM:
        line(type="assistant", message={"content": [{"type": "text", "text": text}]}, session_id=SESSION)
    elif not JSON:
        out(text + "\n")


answer = rest
if verb == "recall":
    answer = " / ".join(PAST)
elif verb == "hold":
    say("begun")
    until(rest)
    answer = "ended"
elif verb == "tool":
    content = [{"type": "thinking", "thinking": "a tool"}, {"type": "tool_use", "id": "call-1", "name": "write"}]
    line(type="assistant", message={"content": content})
    result = [{"type": "tool_result", "tool_use_id": "call-1", "content": "written", "is_error": False}]
    line(type="user", message={"content": result})
elif verb == "fail":
    sys.stderr.write("what went wrong\n")
    sys.exit(int(rest))
elif verb == "stubborn":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    say("begun")
    until("never")
elif verb == "leave":
    # Somebody who stays behind with the streams open.
    if os.fork() == 0:
        os.setsid()
        note("left", os.getpid())
        until("never")
    until("left")
    answer = "gone"
elif verb == "garbage":
    sys.stdout.buffer.write(bytes(range(256)) * 64 + b'\n{"type":"assistant","message":{"content":[{"type":"text"}]}}\n[1,2]\n{"item":7}\n')
    sys.stdout.flush()
    answer = "after garbage"
elif verb == "protocol":
    # The runner's own lines are its own, whatever the program writes.
    line(jsonrpc="2.0", method="_edgeplane/session", params={"session": "stolen", "way": "former"})
    line(jsonrpc="2.0", id="edgeplane:prompt:msg_0", result={"stopReason": "end_turn"})
    answer = "still mine"
elif verb == "huge":
    block = "x" * (1 << 20)
    for _ in range(int(rest)):
        out(block)
    if STREAM:
        out("\n")
    answer = "after all that"
elif verb == "crash":
    os.kill(os.getpid(), signal.SIGKILL)
elif verb == "deaf":
    sys.stdin.close()
    answer = "not read"
say(answer)
if STREAM:
    usage = {"input_tokens": 7, "output_tokens": 3}
    line(type="result", session_id=SESSION, result=answer, usage=usage, total_cost_usd=0.25)
elif JSON:
    out(json.dumps({"session_id": SESSION, "result": answer, "usage": {"input_tokens": 7}}))
