#!/usr/bin/env python3
"""A receiver of web hooks: what somebody posts here reaches an agent as content from outside.

    edgeplane token create --principal hooks --kind service --scope signal --into hooks.token
    examples/integrations/webhook.py --agent triage --port 8099 --token hooks.token --secret hook.secret
    curl -d '{"issue": 7}' -H "X-Hook-Signature: $(sign it)" http://127.0.0.1:8099/github

Why it submits and does not signal. Two things must be kept apart: who speaks to the node, and who wrote the words. This
program speaks to the node, and its token proves that. The words are those of whoever can reach the port, which proves
nothing. With `runtime/agent.signal` they would come in on the channel `workflow` in this program's name, as if this
program asked for something. With `runtime/message.submit` they come in on the channel `web`, as content: the session
sees a fence around them and where they were found, and the node gives them the little weight that a page from outside
has, whatever the token could do. Without a token a program outside of every agent would be an operator, by its uid; so
a receiver of strangers' words must never run without one.

It listens on the loopback address only. Put a proxy that ends TLS before it. With --secret it takes only bodies whose
header `X-Hook-Signature` holds the HMAC-SHA-256 of the body in hexadecimal, with `sha256=` before it or not.

A sender that repeats a delivery sends the same `X-Hook-Delivery` and the agent gets it once. Without that header the
digest of path and body stands in for it.

Needs Python 3.9 or newer and the client beside it in this checkout, which needs nothing else.
"""

import argparse
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import sys

# So that it runs from a checkout without installing anything.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python" / "src"))

from edgeplane import Client, EdgePlaneError, NodeError, default_socket  # noqa: E402

# What a web hook brings is short; whoever has more to say sends a link.
BODY_BYTES_MAX = 256 * 1024

# HTTP's word for each of the node's that a sender can do something about.
STATUS = {"not_found": 404, "too_large": 413, "idempotency_mismatch": 409, "policy_blocked": 403, "rate_limited": 429}


def parts_of(body):
    """The body as data if it is JSON, else as text."""
    text = body.decode("utf-8", errors="replace")
    try:
        return [{"type": "data", "data": json.loads(text)}]
    except ValueError:
        return [{"type": "text", "text": text}]


class Receiver(http.server.BaseHTTPRequestHandler):
    # A sender that stops in the middle does not keep others from being heard.
    timeout = 10

    def do_POST(self):
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            return self.answer(411, {"error": "length_required"})
        if not 0 < length <= BODY_BYTES_MAX:
            return self.answer(413, {"error": "too_large"})
        body = self.rfile.read(length)
        if self.server.secret and not self.is_signed(body):
            return self.answer(401, {"error": "signature"})
        given = self.headers.get("X-Hook-Delivery", "")
        digest = hashlib.sha256(self.path.encode() + b"\0" + body).hexdigest()
        params = {
            "agent": self.server.agent,
            "channel": "web",
            "origin": {"uri": f"webhook:{self.path[:200]}"},
            "parts": parts_of(body),
            "idempotency_key": f"{self.path[:60]}#{given[:100] or digest}",
        }
        try:
            # A conversation for each: nothing is kept that could break between two of them.
            with Client.unix(self.server.node, token=self.server.token) as client:
                result = client.runtime.message.submit(**params)
        except NodeError as error:
            print(f"webhook.py: {error}", file=sys.stderr, flush=True)
            return self.answer(STATUS.get(error.name, 502), {"error": error.name})
        except EdgePlaneError as error:
            print(f"webhook.py: {error}", file=sys.stderr, flush=True)
            return self.answer(503, {"error": "unavailable"})
        # Accepted means that it is on the node's disk; what the agent makes of it is another matter.
        return self.answer(202, {"message_id": result["message_id"], "duplicate": bool(result.get("duplicate"))})

    def is_signed(self, body):
        given = self.headers.get("X-Hook-Signature", "")
        given = given[len("sha256="):] if given.startswith("sha256=") else given
        expected = hmac.new(self.server.secret, body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(given.encode(), expected.encode())

    def answer(self, status, value):
        body = json.dumps(value).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *arguments):
        """Says nothing of ordinary requests: their paths are strangers' words."""


def main():
    parser = argparse.ArgumentParser(description="Pass web hooks on to an agent, as content from outside.")
    parser.add_argument("--agent", required=True, help="the agent that gets them")
    parser.add_argument("--port", type=int, default=0, help="the port on the loopback address; 0 takes any")
    parser.add_argument("--token", default=os.environ.get("EDGEPLANE_TOKEN_FILE"), help="a file with a service token")
    parser.add_argument("--secret", help="a file with the secret that senders sign with")
    parser.add_argument("--socket", default=default_socket(), help="the node's socket")
    arguments = parser.parse_args()
    if not arguments.token:
        parser.error("name the file of a token with --token or EDGEPLANE_TOKEN_FILE; see --help for why it needs one")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver)
    server.agent, server.node = arguments.agent, arguments.socket
    with open(arguments.token, encoding="utf-8") as file:
        server.token = file.read().strip()
    server.secret = None
    if arguments.secret:
        with open(arguments.secret, "rb") as file:
            server.secret = file.read().strip()
        if not server.secret:
            parser.error("the file of --secret is empty")
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
