#!/usr/bin/env python3
"""A small workflow engine: it gives an agent one step after another and waits until each is done.

    edgeplane token create --principal nightly --kind service --scope signal --into nightly.token
    examples/integrations/workflow.py --run 2026-11-21 --token nightly.token release.json

where release.json is a list of steps, such as

    [
      {"name": "tests", "agent": "reviewer", "say": "Run the tests and tell me what failed."},
      {"name": "notes", "agent": "writer", "say": "Write the release notes."}
    ]

It speaks as the bearer of a service token, so what it says comes in on the channel `workflow`, in the name that the
token was made for, with at most the authority `delegated`. The token needs the scope `signal` and nothing else.

Each step has an idempotency key made of the run and the step. So it keeps no state of its own: killed at any moment and
run again with the same --run, it says nothing twice, and goes on with the first step that is not done. A step whose
words have changed since is refused by the node, because the key stands for other words.

Needs Python 3.8 or newer and nothing else.
"""

import argparse
import json
import os
import socket
import sys


class NodeError(Exception):
    """What the node said no with."""

    def __init__(self, error):
        data = error.get("data", {})
        self.name = data.get("name", "unknown")
        super().__init__(f"{self.name}: {error.get('message', '')}")


class Node:
    """A conversation with the node: one question after another, each a line of JSON."""

    def __init__(self, path, token):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.next_id = 0
        # From here on the node knows this connection by its token.
        self.caller = self.call("core/initialize", {"client": "workflow.py", "token": token})["caller"]

    def call(self, method, params):
        self.next_id += 1
        request = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            line = self.lines.readline()
            if not line:
                raise ConnectionError("the node went away")
            answer = json.loads(line)
            if answer.get("id") != self.next_id:
                continue
            if "error" in answer:
                raise NodeError(answer["error"])
            return answer["result"]


def default_socket():
    """Where the node's socket is, by the rules that the command line has."""
    if os.environ.get("EDGEPLANE_SOCKET"):
        return os.environ["EDGEPLANE_SOCKET"]
    if os.environ.get("EDGEPLANE_RUNTIME_DIR"):
        return os.path.join(os.environ["EDGEPLANE_RUNTIME_DIR"], "edgeplaned.sock")
    if os.geteuid() == 0:
        return "/run/edgeplane/edgeplaned.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = os.path.join(runtime, "edgeplane") if runtime else f"/tmp/edgeplane-{os.geteuid()}"
    return os.path.join(folder, "edgeplaned.sock")


def rungs(result):
    return [receipt["rung"] for receipt in result["receipts"]]


def run_step(node, run, step, timeout):
    """Says the words of a step, or finds that they were said, and waits for the end of the turn."""
    result = node.call(
        "runtime/agent.signal",
        {
            "agent": step["agent"],
            "parts": [{"type": "text", "text": step["say"]}],
            "idempotency_key": f"{run}/{step['name']}",
            "wait": "turn_ended",
            "timeout_ms": int(timeout * 1000),
        },
    )
    reached = rungs(result)
    failed = [rung for rung in reached if rung in ("rejected", "expired", "dead_lettered")]
    state = "done" if "turn_ended" in reached else failed[0] if failed else "waiting"
    again = bool(result.get("duplicate"))
    return {"step": step["name"], "message_id": result["message_id"], "state": state, "again": again}


def main():
    parser = argparse.ArgumentParser(description="Give agents one step after another.")
    parser.add_argument("steps", help="a file with the steps, as JSON")
    parser.add_argument("--run", required=True, help="names this run; the same name never does a step twice")
    parser.add_argument("--token", default=os.environ.get("EDGEPLANE_TOKEN_FILE"), help="a file with a service token")
    parser.add_argument("--socket", default=default_socket(), help="the node's socket")
    parser.add_argument("--timeout", type=float, default=600, help="seconds that one step may take")
    arguments = parser.parse_args()
    if not arguments.token:
        parser.error("name the file of a token with --token or EDGEPLANE_TOKEN_FILE")
    with open(arguments.token, encoding="utf-8") as file:
        token = file.read().strip()
    with open(arguments.steps, encoding="utf-8") as file:
        steps = json.load(file)
    try:
        node = Node(arguments.socket, token)
        for step in steps:
            outcome = run_step(node, arguments.run, step, arguments.timeout)
            print(json.dumps(outcome), flush=True)
            if outcome["state"] != "done":
                # The next step may build on this one. Run again to go on.
                return 75
    except (NodeError, OSError) as error:
        print(f"workflow.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
