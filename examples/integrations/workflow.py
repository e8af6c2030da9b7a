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

Needs Python 3.9 or newer and the client beside it in this checkout, which needs nothing else.
"""

import argparse
import json
import os
import pathlib
import sys

# So that it runs from a checkout without installing anything.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python" / "src"))

from edgeplane import Client, EdgePlaneError, default_socket  # noqa: E402


def rungs(result):
    return [receipt["rung"] for receipt in result["receipts"]]


def run_step(client, run, step, timeout):
    """Says the words of a step, or finds that they were said, and waits for the end of the turn."""
    result = client.runtime.agent.signal(
        agent=step["agent"],
        parts=[{"type": "text", "text": step["say"]}],
        idempotency_key=f"{run}/{step['name']}",
        wait="turn_ended",
        timeout_ms=int(timeout * 1000),
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
        with Client.unix(arguments.socket, token=token) as client:
            for step in steps:
                outcome = run_step(client, arguments.run, step, arguments.timeout)
                print(json.dumps(outcome), flush=True)
                if outcome["state"] != "done":
                    # The next step may build on this one. Run again to go on.
                    return 75
    except EdgePlaneError as error:
        print(f"workflow.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
