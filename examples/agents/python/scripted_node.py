"""A node played from a script: starts an agent as a child process, serves what it asks, and holds it to its lines.

Plays the conversations of `../conversations`; their form is described there. Any program that speaks the native
driver can be put under it.
"""

from __future__ import annotations

import http.server
import json
import os
import queue
import subprocess
import threading
import time
from typing import Any, Callable, Dict, List, Optional

# Generous: a busy machine may need long, and a passing test never waits for it.
DEADLINE_SECONDS = 20.0
NOW = "2026-11-21T09:30:00.000000Z"
AGENT = "alpha"

Json = Dict[str, Any]


class Failure(Exception):
    """What the node answers a request with instead of a result."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.error = {"code": 4000, "message": message, "data": {"name": name, "retryable": False, "effect": "none"}}


class ModelService:
    """A model's address that gives one answer to everything."""

    def __init__(self, answer: Json) -> None:
        self.seen: "queue.Queue[str]" = queue.Queue()
        seen, status, body = self.seen, answer.get("status", 200), json.dumps(answer["body"]).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
                seen.put(f"{self.path}\n{self.headers}\n{asked}")
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        host, port = self.server.server_address[:2]
        base = f"http://{host}:{port}"
        names = {"openai": ("OPENAI", f"{base}/v1"), "anthropic": ("ANTHROPIC", base)}
        name, address = names[answer["form"]]
        self.environment = {f"{name}_BASE_URL": address, f"{name}_API_KEY": "key-of-the-test"}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class ScriptedNode:
    """One conversation with one agent, which may live through several epochs."""

    def __init__(self, command: List[str], conversation: Json) -> None:
        self.command = command + conversation.get("args", [])
        self.conversation = conversation
        self.memory: Dict[str, Json] = {}
        for key, value in conversation.get("memory", {}).items():
            self.put({"key": key, "value": value})
        self.epoch = 0
        self.notifications: List[Json] = []
        self.responses: Dict[Any, Json] = {}
        self.log: List[str] = []  # lines of standard output that are not of the protocol
        self.signals: List[Json] = []
        self.actions: List[Json] = []
        self.signals_read = 0
        self.failing: Dict[str, Json] = {}
        self.holding: List[str] = []
        self.held: Dict[str, Json] = {}
        self.model: Optional[ModelService] = None
        self.child: Optional["subprocess.Popen[bytes]"] = None
        self.lines: "queue.Queue[Optional[bytes]]" = queue.Queue()

    def play(self) -> None:
        """Plays every step. Raises AssertionError where the agent leaves its lines."""
        if "model" in self.conversation:
            self.model = ModelService(self.conversation["model"])
        try:
            self.start("none")
            for number, step in enumerate(self.conversation["steps"], 1):
                ((verb, value),) = step.items()
                try:
                    getattr(self, f"step_{verb}")(value)
                except AssertionError as error:
                    raise AssertionError(f"step {number}, {json.dumps(step)}: {error}") from error
            if self.child:
                self.step_close({})
        finally:
            if self.child:
                self.end_child()
            if self.model:
                self.model.close()

    # The child.

    def start(self, continuity: str) -> None:
        self.epoch += 1
        env = {"PATH": os.environ.get("PATH", ""), "PYTHONDONTWRITEBYTECODE": "1"}
        env.update(self.model.environment if self.model else {})
        self.child = subprocess.Popen(self.command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = queue.Queue()
        threading.Thread(target=self.collect, args=(self.child, self.lines), daemon=True).start()
        session = {"protocol": "2026-11-01", "tenant": "local", "agent": AGENT, "agent_id": "agt_alpha"}
        session.update(node="here", epoch=self.epoch, session_id="ses_1", continuity=continuity, notice="…")
        self.step_notify({"method": "agent/session.start", "params": session})

    @staticmethod
    def collect(child: "subprocess.Popen[bytes]", lines: "queue.Queue[Optional[bytes]]") -> None:
        assert child.stdout
        with child.stdout:
            for line in child.stdout:
                lines.put(line)
        lines.put(None)

    def end_child(self) -> None:
        child, self.child = self.child, None
        assert child and child.stdin
        child.kill()
        child.wait()
        child.stdin.close()

    def write(self, line: bytes) -> None:
        assert self.child and self.child.stdin
        self.child.stdin.write(line + b"\n")
        self.child.stdin.flush()

    def send(self, line: Json) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **line}).encode())

    def until(self, found: Callable[[], Any], what: str) -> Any:
        """Serves the agent until something is found."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            result = found()
            if result:
                return result
            try:
                raw = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"waited in vain for {what}; heard {self.notifications}") from None
            if raw is None:
                raise AssertionError(f"the agent ended before {what}")
            self.hear(raw)

    def hear(self, raw: bytes) -> None:
        try:
            line = json.loads(raw)
        except ValueError:
            self.log.append(raw.decode("utf-8", "replace"))
            return
        assert line.get("jsonrpc") == "2.0", f"not JSON-RPC: {line}"
        if "method" not in line:
            self.responses[line["id"]] = line
        elif "id" not in line:
            self.notifications.append(line)
        elif line["method"] in self.holding:
            self.holding.remove(line["method"])
            self.held[line["method"]] = line
        else:
            self.serve(line)

    # What the node serves.

    def serve(self, line: Json) -> None:
        method, params = line["method"], line["params"]
        methods: Dict[str, Callable[[Json], Any]] = {
            "memory/entry.get": self.get,
            "memory/entry.put": self.put,
            "memory/entry.list": self.list,
            "memory/entry.delete": self.delete,
            "runtime/agent.list": lambda _: {"items": [view(agent) for agent in self.agents()]},
            "runtime/agent.get": lambda _: view(self.agents()[0]),
            "runtime/agent.signal": self.signal,
            "conversation/action.open": self.open_action,
            "stream/replay": lambda _: {
                "items": [{"n": event["pos"], "event": event} for event in self.conversation.get("events", [])],
                "next": 0,
                "end": True,
            },
        }
        try:
            if method in self.failing:
                failure = self.failing.pop(method)
                raise Failure(failure["name"], failure["message"])
            if method not in methods:
                raise Failure("method_not_found", f"no method `{method}`")
            self.send({"id": line["id"], "result": methods[method](params)})
        except Failure as failure:
            self.send({"id": line["id"], "error": failure.error})

    def agents(self) -> List[Json]:
        own = {"name": AGENT, "phase": "running", "activity": "working", "epoch": self.epoch}
        return [own] + self.conversation.get("agents", [])

    def entry(self, key: str) -> Json:
        entry = self.memory.get(key)
        if entry is None or entry["value"] is None:
            raise Failure("not_found", f"no key `{key}`")
        return entry

    def get(self, params: Json) -> Json:
        return self.entry(params["key"])

    def put(self, params: Json) -> Json:
        old = self.memory.get(params["key"], {"version": 0, "value": None})
        if "if_version" in params and params["if_version"] != (old["version"] if old["value"] is not None else 0):
            raise Failure("version_conflict", f"`{params['key']}` is at version {old['version']}")
        entry = {"key": params["key"], "version": old["version"] + 1, "value": params["value"], "at": NOW, "bytes": 1}
        self.memory[params["key"]] = entry
        return entry

    def list(self, params: Json) -> Json:
        kept = sorted(key for key, entry in self.memory.items() if entry["value"] is not None)
        keys = [key for key in kept if key.startswith(params.get("prefix", ""))]
        return {"items": [{k: v for k, v in self.memory[key].items() if k != "value"} for key in keys]}

    def delete(self, params: Json) -> Json:
        entry = self.entry(params["key"])
        entry.update(version=entry["version"] + 1, value=None)
        return {**entry, "deleted": True}

    def signal(self, params: Json) -> Json:
        if params["agent"] not in [agent["name"] for agent in self.agents()]:
            raise Failure("not_found", f"no agent `{params['agent']}`")
        self.signals.append(params)
        return {"message_id": f"msg_sent-{len(self.signals)}", "agent": params["agent"], "receipts": []}

    def open_action(self, params: Json) -> Json:
        self.actions.append(params)
        return {"action": {"id": f"act_{len(self.actions)}", "kind": params["kind"], "prompt": params["prompt"]}}

    # The steps, one method for each verb.

    def step_deliver(self, message: Json) -> None:
        channel, source = message.get("channel", "operator"), message.get("source", "uid-0")
        params = {"channel": channel, "ingress": "signal", "source": source, "source_agent": None, "authority": "trusted"}
        params.update(mode="queue", reply_to=None, thread=None, parts=[{"type": "text", "text": message["content"]}])
        params["text"] = f"[{channel.upper()} MESSAGE from {source} on signal]\n{message['content']}"
        params.update((key, value) for key, value in message.items() if key != "content")
        self.step_notify({"method": "agent/message.deliver", "params": params})

    def step_asked(self, wanted: Json) -> None:
        action = self.until(lambda: self.actions, "an action")[-1]
        assert action == wanted, f"it asked {action}"

    def step_completed(self, wanted: Json) -> None:
        turn = self.until(lambda: self.turn(wanted["message_id"]), f"the end of turn {wanted['message_id']}")
        check(wanted, turn["output"])
        observed = [line["params"] for line in self.notifications if line["method"] == "agent/message.observe"]
        assert {"message_id": wanted["message_id"]} in observed, "the message was not observed"

    def turn(self, message_id: str) -> Optional[Json]:
        turns = [line["params"] for line in self.notifications if line["method"] == "agent/turn.complete"]
        turns = [turn for turn in turns if turn["message_id"] == message_id]
        assert len(turns) < 2, f"turn {message_id} ended twice"
        return turns[0] if turns else None

    def step_open(self, message_id: str) -> None:
        assert self.turn(message_id) is None, "the turn has ended"

    def step_signalled(self, wanted: Json) -> None:
        self.until(lambda: len(self.signals) > self.signals_read, "a signal")
        signal = self.signals[self.signals_read]
        self.signals_read += 1
        for key in ("agent", "reply_to", "mode"):
            assert key not in wanted or signal.get(key) == wanted[key], f"{key} of {signal}"
        check(wanted, "".join(part["text"] for part in signal["parts"]))

    def step_signals(self, count: int) -> None:
        assert len(self.signals) == count, f"there were {self.signals}"

    def step_memory(self, wanted: Json) -> None:
        kept = {key: entry["value"] for key, entry in self.memory.items() if entry["value"] is not None}
        assert kept == wanted, f"the memory holds {kept}"

    def step_reported(self, wanted: Json) -> None:
        def found() -> bool:
            items = [line["params"] for line in self.notifications if line["method"] == "agent/item.report"]
            return any(item["kind"] == wanted["kind"] and wanted["has"] in item["text"] for item in items)

        self.until(found, "a report")

    def step_activities(self, wanted: List[str]) -> None:
        def heard() -> List[str]:
            lines = [line["params"] for line in self.notifications if line["method"] == "agent/activity.report"]
            return [line["state"] for line in lines]

        self.until(lambda: len(heard()) >= len(wanted), "activities")
        assert heard() == wanted, f"heard {heard()}"

    def step_line(self, text: str) -> None:
        self.write(text.encode())

    def step_notify(self, line: Json) -> None:
        self.send(line)

    def step_call(self, line: Json) -> None:
        self.send(line)

    def step_refused(self, number: Any) -> None:
        response = self.until(lambda: self.responses.get(number), f"an answer to {number}")
        assert response["error"]["code"] == -32601, f"answered {response}"

    def step_fail(self, failure: Json) -> None:
        self.failing[failure["method"]] = failure

    def step_hold(self, method: str) -> None:
        self.holding.append(method)

    def step_held(self, method: str) -> None:
        self.until(lambda: method in self.held, f"a request for {method}")

    def step_release(self, method: str) -> None:
        self.serve(self.held.pop(method))

    def step_model_saw(self, wanted: Json) -> None:
        assert self.model
        try:
            check(wanted, self.model.seen.get(timeout=DEADLINE_SECONDS))
        except queue.Empty:
            raise AssertionError("the model was not asked") from None

    def step_restart(self, wanted: Json) -> None:
        self.end_child()
        self.start(wanted.get("continuity", "partial"))

    def step_stop(self, _: Json) -> None:
        self.step_notify({"method": "agent/session.stop", "params": {"reason": "test", "grace_ms": 1000}})
        self.ends_well()

    def step_close(self, _: Json) -> None:
        assert self.child and self.child.stdin
        self.child.stdin.close()
        self.ends_well()

    def ends_well(self) -> None:
        child, self.child = self.child, None
        assert child and child.stdin
        try:
            code = child.wait(timeout=DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            raise AssertionError("the agent did not end") from None
        finally:
            child.stdin.close()
        assert code == 0, f"the agent ended with {code}"
        for raw in iter(lambda: self.lines.get(timeout=DEADLINE_SECONDS), None):
            self.hear_last(raw)

    def hear_last(self, raw: bytes) -> None:
        line = json.loads(raw)
        if "id" not in line:
            self.notifications.append(line)


def check(wanted: Json, text: str) -> None:
    """Holds a text to `is`, `has` and `lacks`."""
    assert "is" not in wanted or text == wanted["is"], f"it was {text!r}"
    for piece in wanted.get("has", []):
        assert piece in text, f"{piece!r} is not in {text!r}"
    for piece in wanted.get("lacks", []):
        assert piece not in text, f"{piece!r} is in {text!r}"


def view(agent: Json) -> Json:
    """An agent as the node shows it, as far as agents look."""
    name = agent["name"]
    identities = {
        "process": {"epoch": agent["epoch"], "executable": name, "process": {"pid": 7}, "shim": None},
        "session": {"sessionId": "ses_1", "resumeHandle": None},
        "network": {"name": name, "address": f"{name}@here"},
        "principal": {"name": name, "uid": 0, "onBehalfOf": []},
        "memory": {"store": f"memory/{name}", "keys": 0},
        "authority": {"asSender": "advisory", "assurance": "open"},
        "audit": {"agentId": f"agt_{name}", "stream": f"agent/agt_{name}", "events": 3},
    }
    status = {"phase": agent["phase"], "activity": agent["activity"], "epoch": agent["epoch"], "identities": identities}
    status["waitingMessages"] = agent.get("waiting", 0)
    return {"metadata": {"name": name}, "spec": {}, "status": status}
