"""What the client does when things go well, and when they do not."""

from __future__ import annotations

import inspect
import json
import pathlib
import sys
import unittest
from typing import Any, Dict, List

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

from scripted import ScriptedFront, ScriptedNode, failure  # noqa: E402

from edgeplane import Client, Disconnected, NodeError, NotFound, StreamEnded, TimedOut, errors_by_name  # noqa: E402

RELAY = """
import socket, sys, threading
node = socket.socket(socket.AF_UNIX)
node.connect(sys.argv[1])
def back():
    for line in node.makefile("rb"):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
threading.Thread(target=back, daemon=True).start()
for line in sys.stdin.buffer:
    node.sendall(line)
"""


def well(request: Dict[str, Any], say: Any) -> bool:
    say({"id": request["id"], "result": {"method": request["method"], "params": request["params"]}})
    return True


class Calls(unittest.TestCase):
    def test_parameters_are_said_if_they_are_given(self) -> None:
        with ScriptedNode(well, pieces=3) as node, Client.unix(node.path) as client:
            result = client.call("runtime/agent.get", {"agent": "a"})
            self.assertEqual(result, {"method": "runtime/agent.get", "params": {"agent": "a"}})
            client.memory.entry.put(agent="a", key="k", value=None, ctx={"idempotency_key": "once"})
            said = node.requests[-1]["params"]
            self.assertEqual(said, {"agent": "a", "key": "k", "value": None, "ctx": {"idempotency_key": "once"}})
            self.assertEqual(node.connections, 1)

    def test_every_method_is_there_with_its_doc(self) -> None:
        """Proves CLNT-015."""
        openapi = json.loads((HERE.parents[2] / "spec/openapi.json").read_text(encoding="utf-8"))
        names = [path[len("/v1/") :] for path in openapi["paths"] if path.count("/") == 3]
        self.assertGreater(len(names), 70)

        def answer(request: Dict[str, Any], say: Any) -> bool:
            say({"id": request["id"], "result": {}})
            return True

        with ScriptedNode(answer) as node, Client.unix(node.path) as client:
            for name in names:
                found: Any = client
                for word in name.replace("/", ".").split("."):
                    found = getattr(found, word if hasattr(found, word) else f"{word}_")
                self.assertIn(f"`{name}`", found.__doc__)
                parameters = inspect.signature(found).parameters
                required = [word for word, of in parameters.items() if of.default is inspect.Parameter.empty]
                found(**{word: f"<{word}>" for word in required})
                said = node.requests[-1]
                self.assertEqual((said["method"], len(said["params"])), (name, len(required)))
                schema = openapi["paths"][f"/v1/{name}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
                fields = openapi["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]["properties"]
                self.assertEqual({word.rstrip("_") for word in parameters}, set(fields), name)

    def test_failures_are_types(self) -> None:
        """Proves CLNT-012."""

        def answer(request: Dict[str, Any], say: Any) -> bool:
            say({"id": request["id"], "error": failure(request["params"]["agent"], retryable=True, hint="look")})
            return True

        with ScriptedNode(answer) as node, Client.unix(node.path) as client:
            with self.assertRaises(NotFound) as caught:
                client.runtime.agent.get(agent="not_found")
            error = caught.exception
            self.assertEqual((error.name, error.retryable, error.effect, error.hint), ("not_found", True, "none", "look"))
            for name, kind in errors_by_name.BY_NAME.items():
                with self.assertRaises(kind) as of_kind:
                    client.runtime.agent.get(agent=name)
                self.assertEqual((of_kind.exception.name, kind.NAME), (name, name))
            with self.assertRaises(NodeError) as unknown:
                client.runtime.agent.get(agent="of_a_later_version")
            self.assertEqual(unknown.exception.name, "of_a_later_version")

    def test_what_is_said_unasked_is_heard(self) -> None:
        def answer(request: Dict[str, Any], say: Any) -> bool:
            say({"method": "core/progress", "params": {"text": "half"}})
            say({"id": 999, "result": "somebody else's"})
            return well(request, say)

        heard: List[Any] = []
        with ScriptedNode(answer) as node:
            with Client.unix(node.path, listener=lambda *notice: heard.append(notice)) as client:
                client.runtime.agent.install(agent="a")
        self.assertEqual(heard, [("core/progress", {"text": "half"})])

    def test_silence_ends_the_waiting_and_not_the_conversation(self) -> None:
        """Proves CLNT-012."""
        late: List[Any] = []

        def answer(request: Dict[str, Any], say: Any) -> bool:
            if request["method"] == "core/health":
                late.append(request["id"])
                return True
            say({"id": late[0], "result": "late"})
            return well(request, say)

        with ScriptedNode(answer) as node, Client.unix(node.path, seconds=0.1) as client:
            with self.assertRaises(TimedOut):
                client.core.health()
            self.assertEqual(client.call("core/describe")["method"], "core/describe")
            self.assertEqual(node.connections, 1)

    def test_token_is_shown_first(self) -> None:
        with ScriptedNode(well) as node, Client.unix(node.path, token="tok") as client:
            client.core.health()
            self.assertEqual(node.requests[0]["method"], "core/initialize")
            self.assertEqual(node.requests[0]["params"], {"token": "tok"})

    def test_program_speaks_for_a_node(self) -> None:
        with ScriptedNode(well) as node:
            with Client.stdio([sys.executable, "-c", RELAY, node.path]) as client:
                self.assertEqual(client.call("core/health")["method"], "core/health")
            with self.assertRaises(Disconnected):
                Client.stdio([sys.executable, "-c", "pass"]).call("core/health")
        with self.assertRaises(Disconnected) as caught:
            Client.stdio(["/nowhere/at/all"]).call("core/health")
        self.assertEqual(caught.exception.effect, "none")


class Repetitions(unittest.TestCase):
    """A connection that breaks once it has carried a call."""

    def attempt(self, call: Any) -> List[str]:
        """The methods that reach a node whose first connection ends without an answer to the second request."""
        state = {"connections": 0}

        def answer(request: Dict[str, Any], say: Any) -> bool:
            if request["method"] == "core/describe":
                state["connections"] += 1
            elif state["connections"] == 1:
                state["connections"] += 1
                return False
            return well(request, say)

        with ScriptedNode(answer) as node, Client.unix(node.path) as client:
            client.core.describe()
            try:
                call(client)
            except Disconnected as error:
                self.assertEqual(error.effect, "unknown")
                return [request["method"] for request in node.requests[1:]] + ["Disconnected"]
            return [request["method"] for request in node.requests[1:]]

    def test_only_what_doubles_nothing_is_repeated(self) -> None:
        """Proves CLNT-014."""
        said = [{"type": "text", "text": "x"}]
        self.assertEqual(self.attempt(lambda client: client.core.health()), ["core/health"] * 2)
        signal = "runtime/agent.signal"
        plain = self.attempt(lambda client: client.runtime.agent.signal(agent="a", parts=said))
        self.assertEqual(plain, [signal, "Disconnected"])
        keyed = self.attempt(lambda client: client.runtime.agent.signal(agent="a", parts=said, ctx={"idempotency_key": "k"}))
        self.assertEqual(keyed, [signal, signal])

    def test_node_that_was_never_there_is_asked_once(self) -> None:
        """Proves CLNT-014."""
        with self.assertRaises(Disconnected) as caught:
            Client.unix("/nowhere/at/all").core.health()
        self.assertEqual(caught.exception.effect, "none")


def event(pos: int) -> Dict[str, Any]:
    return {"method": "stream/event", "params": {"subscription_id": "sub", "event": {"pos": pos, "type": "t"}}}


class Streams(unittest.TestCase):
    def test_stream_goes_on_behind_the_last_event(self) -> None:
        """Proves CLNT-013."""

        def answer(request: Dict[str, Any], say: Any) -> bool:
            after = request["params"].get("after", 10)
            say({"id": request["id"], "result": {"subscription_id": "sub", "head": 10}})
            if len(node.requests) == 1:
                return False  # breaks before the first event: what comes meanwhile must not be lost
            for pos in (after + 1, after + 2):
                say(event(pos))
            if after >= 14:
                say({"method": "stream/state", "params": {"id": "sub", "state": "ended", "reason": "revoked"}})
                return True
            if after == 12:
                say({"method": "stream/state", "params": {"id": "sub", "state": "ended", "reason": "the daemon ends"}})
            return after == 12

        with ScriptedNode(answer) as node, Client.unix(node.path) as client:
            seen: List[int] = []
            with self.assertRaises(StreamEnded) as caught:
                for found in client.follow({"types": ["t"]}):
                    seen.append(found["pos"])
            self.assertEqual(seen, [11, 12, 13, 14, 15, 16])
            self.assertEqual(caught.exception.reason, "revoked")
            asked = [request["params"] for request in node.requests]
            places = [{"types": ["t"], "after": after} for after in (10, 12, 14)]
            self.assertEqual(asked, [{"types": ["t"]}, *places])

    def test_cursor_stands_above_a_number(self) -> None:
        """Proves CLNT-013."""

        def answer(request: Dict[str, Any], say: Any) -> bool:
            say({"id": request["id"], "result": {"subscription_id": "sub", "cursor": "c0"}})
            one = event(len(node.requests))
            one["params"]["cursor"] = f"c{len(node.requests)}"
            say(one)
            return False

        with ScriptedNode(answer) as node, Client.unix(node.path) as client:
            stream = client.follow({"from": "start", "snapshot": "first"})  # type: ignore[typeddict-unknown-key]
            self.assertEqual([next(stream)["pos"] for _ in range(3)], [1, 2, 3])
            stream.close()
            asked = [request["params"] for request in node.requests]
            self.assertEqual(asked, [{"from": "start", "snapshot": "first"}, {"cursor": "c1"}, {"cursor": "c2"}])

    def test_node_that_stays_away_is_given_up(self) -> None:
        """Proves CLNT-013."""
        with self.assertRaises(Disconnected):
            next(Client.unix("/nowhere/at/all").follow())

        def answer(request: Dict[str, Any], say: Any) -> bool:
            say({"id": request["id"], "result": {"head": 0}})
            say(event(1))
            return False

        node = ScriptedNode(answer)
        stream = Client.unix(node.path).follow(patience=0.2)
        self.assertEqual(next(stream)["pos"], 1)
        node.close()
        with self.assertRaises(Disconnected):
            next(stream)

    def test_refusal_is_no_break(self) -> None:
        def answer(request: Dict[str, Any], say: Any) -> bool:
            say({"id": request["id"], "error": failure("not_found")})
            return True

        with ScriptedNode(answer) as node, Client.unix(node.path) as client:
            with self.assertRaises(NotFound):
                next(client.follow({"agent": "a"}))  # type: ignore[typeddict-unknown-key]
            self.assertEqual(len(node.requests), 1)


class Http(unittest.TestCase):
    def test_call_is_a_post_and_the_token_a_header(self) -> None:
        def answer(path: str, headers: Dict[str, str], body: Any) -> Any:
            if body.get("agent") == "missing":
                return 404, "application/json", [json.dumps(failure("not_found")).encode()]
            if body.get("agent") == "proxy":
                return 502, "text/html", [b"<h1>Bad gateway</h1>"]
            return 200, "application/json", [b'{"items":[]}']

        with ScriptedFront(answer) as front, Client.http(front.url, token="tok") as client:
            self.assertEqual(client.runtime.agent.list(), {"items": []})
            path, headers, body = front.seen[0]
            self.assertEqual((path, headers["authorization"], body), ("/v1/runtime/agent.list", "Bearer tok", {}))
            with self.assertRaises(NotFound):
                client.runtime.agent.get(agent="missing")
            with self.assertRaises(Disconnected) as caught:
                client.runtime.agent.stop(agent="proxy")
            self.assertEqual(caught.exception.effect, "unknown")

    def test_stream_goes_on_behind_the_last_event(self) -> None:
        """Proves CLNT-013."""

        def answer(path: str, headers: Dict[str, str], body: Any) -> Any:
            last = int(headers.get("last-event-id", "0"))
            parts = [b": alive\n\n", f"id: {last}\nevent: subscribed\ndata: {{}}\n\n".encode()]
            if len(front.seen) > 1:
                said = json.dumps({"event": {"pos": last + 1}})
                parts.append(f"id: {last + 1}\nevent: stream/event\ndata: {said}\n\n".encode())
                parts.append(b"id: 99\nevent: stream/event\ndata: {")  # cut off in the middle
            if last == 3:
                parts[2:] = [b'event: stream/state\ndata: {"id":"s","state":"ended","reason":"revoked"}\n\n']
            return 200, "text/event-stream", parts

        with ScriptedFront(answer) as front, Client.http(front.url, token="tok") as client:
            seen: List[int] = []
            with self.assertRaises(StreamEnded):
                params: Any = {"after": 0, "types": ["a", "b"], "target": {"kind": "agent", "id": "x"}}
                for found in client.follow(params):
                    seen.append(found["pos"])
            self.assertEqual(seen, [1, 2, 3])
            first, second = front.seen[0], front.seen[1]
            self.assertEqual(first[0], "/v1/stream?after=0&types=a&types=b&target.kind=agent&target.id=x")
            self.assertEqual(second[0], "/v1/stream?types=a&types=b&target.kind=agent&target.id=x")
            self.assertNotIn("last-event-id", first[1])
            self.assertEqual(second[1]["last-event-id"], "0")
            for path, headers, _ in front.seen:
                self.assertNotIn("tok", path)
                self.assertEqual(headers["authorization"], "Bearer tok")


if __name__ == "__main__":
    unittest.main()
