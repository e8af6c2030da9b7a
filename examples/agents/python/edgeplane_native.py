"""The agent's side of EdgePlane's native driver: JSON-RPC 2.0, one object a line, on standard input and output.

Owns the lines, the matching of answers to requests, timers and work beside the loop. Knows nothing of what an
agent does with a message. Needs nothing but the standard library of Python 3.9, so copying this file is enough.

    class Echo(Agent):
        def on_message(self, message: Message) -> None:
            self.observe(message)
            self.complete(message, message.content)

    sys.exit(Echo().run())

Handlers run one after another on the thread that called `run`. While one waits in `request`, whatever else arrives
is kept and handled after it, in the order of arrival. Standard output belongs to the protocol: print to standard
error, which the node keeps as the agent's log.
"""

from __future__ import annotations

import heapq
import itertools
import json
import os
import queue
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Callable, Deque, Dict, List, Mapping, Optional, Tuple

# What the node may take for one answer, in seconds. A daemon that is being restarted answers within it.
REQUEST_TIMEOUT_SECONDS = 30.0
READ_BYTES = 1 << 16


@dataclass(frozen=True)
class Session:
    """What the node told about the life that begins."""

    agent: str = ""
    agent_id: str = ""
    tenant: str = ""
    node: str = ""
    epoch: int = 0
    session_id: str = ""
    continuity: str = "none"
    notice: str = ""


@dataclass(frozen=True)
class Message:
    """A message with its provenance, which the node decided and the content cannot change."""

    message_id: str
    text: str = ""  # what a session sees: the header line, then the content, fenced where it needs to be
    channel: str = "external"
    ingress: str = "signal"  # the way it came in
    source: str = ""
    source_agent: Optional[str] = None
    authority: str = "untrusted"
    mode: str = "queue"
    reply_to: Optional[str] = None
    thread: Optional[str] = None
    parts: List[Dict[str, Any]] = field(default_factory=list)

    @property
    def content(self) -> str:
        """The words alone, without header and fence: for code that has looked at the provenance fields."""
        return "\n".join(str(part.get("text", "")) for part in self.parts if part.get("type") == "text")


class RpcError(Exception):
    """The node refused a request, or did not answer in time. `name` is the stable half."""

    def __init__(self, name: str, message: str, retryable: bool = False) -> None:
        super().__init__(f"{message} ({name})")
        self.name, self.message, self.retryable = name, message, retryable

    @classmethod
    def read(cls, error: Mapping[str, Any]) -> "RpcError":
        """Reads the `error` of a response, also of a peer that gives no `data`."""
        data = error.get("data")
        data = data if isinstance(data, dict) else {}
        message = str(error.get("message", "unnamed failure"))
        return cls(str(data.get("name", "internal")), message, bool(data.get("retryable")))


def _known(kind: Any, params: Mapping[str, Any]) -> Any:
    """Makes a dataclass of the parameters it knows; a newer node may send more."""
    return kind(**{name: params[name] for name in kind.__dataclass_fields__ if params.get(name) is not None})


class Agent:
    """A program under the native driver. Override the `on_` methods."""

    def __init__(self, source: Optional[BinaryIO] = None, sink: Optional[BinaryIO] = None) -> None:
        self.session = Session()
        # Unbuffered: a thread that waits in a buffered reader holds its lock, and the interpreter aborts at exit.
        self._source: Any = source or open(0, "rb", buffering=0, closefd=False)
        self._sink: BinaryIO = sink or sys.stdout.buffer
        self._arrived: "queue.Queue[Tuple[str, Any]]" = queue.Queue()
        self._kept: Deque[Tuple[str, Any]] = deque()
        self._ids = itertools.count(1)
        self._timers: List[Tuple[float, int, Callable[[], None]]] = []
        self._hung_up = False
        self._over = False

    def on_start(self) -> None:
        """The session has begun; `self.session` is filled."""

    def on_message(self, message: Message) -> None:
        """A message has come. `observe` it, and `complete` it now or later."""

    def on_closing(self, reason: str, grace_ms: int) -> None:
        """Its epoch ends soon: the time to keep what is not kept. Wants `offers: { closing: true }`."""

    def on_stop(self, reason: str, grace_ms: int) -> None:
        """The node asks to finish; the loop ends when this returns."""

    def observe(self, message: Message) -> None:
        """Tells that the work on a message has begun."""
        self.notify("agent/message.observe", {"message_id": message.message_id})

    def complete(self, message: Message, output: str) -> None:
        """Ends the turn that a message began, with its answer."""
        self.notify("agent/turn.complete", {"message_id": message.message_id, "output": output})

    def report(self, kind: str, text: str) -> None:
        """Tells something outside the answer to a turn, such as a `thought` or a `log`."""
        self.notify("agent/item.report", {"kind": kind, "text": text})

    def activity(self, state: str) -> None:
        """Tells what the agent is doing: `idle`, `working` or `awaiting_input`."""
        self.notify("agent/activity.report", {"state": state})

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Sends a notification."""
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def request(
        self, method: str, params: Optional[Mapping[str, Any]] = None, timeout: float = REQUEST_TIMEOUT_SECONDS
    ) -> Any:
        """Asks for a method of the node's catalogue and waits for its result. Raises RpcError."""
        number = next(self._ids)
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})
        deadline = time.monotonic() + timeout
        while not self._hung_up:
            try:
                what, value = self._arrived.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                silence = f"the node did not answer {method} within {timeout:g} s"
                raise RpcError("deadline_exceeded", silence) from None
            if what == "line" and value.get("id") == number and "method" not in value:
                if isinstance(value.get("error"), dict):
                    raise RpcError.read(value["error"])
                return value.get("result")
            self._kept.append((what, value))
            self._hung_up = what == "end"
        raise RpcError("unavailable", f"the node hung up before it answered {method}")

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Has the loop call something later."""
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._ids), call))

    def aside(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Does slow work on another thread, then has the loop call `then` with what it returned or raised."""

        def run() -> None:
            try:
                result: Any = work()
            except Exception as error:  # handed to `then`, which knows what was attempted
                result = error
            self._arrived.put(("call", lambda: then(result)))

        threading.Thread(target=run, daemon=True).start()

    def run(self) -> int:
        """Handles what arrives until the node asks to finish or hangs up; returns the exit code."""
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while not self._over:
                self._step()
        except BrokenPipeError:
            # Nobody reads any more, and the interpreter would fail on it again when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0

    def _step(self) -> None:
        wait: Optional[float] = None
        if self._timers:
            due, _, call = self._timers[0]
            wait = due - time.monotonic()
            if wait <= 0:
                heapq.heappop(self._timers)
                return call()
        try:
            what, value = self._kept.popleft() if self._kept else self._arrived.get(timeout=wait)
        except queue.Empty:
            return None
        if what == "end":
            self._over = True
        elif what == "call":
            value()
        else:
            self._handle(value)
        return None

    def _handle(self, line: Dict[str, Any]) -> None:
        method, params = line.get("method"), line.get("params")
        params = params if isinstance(params, dict) else {}
        if method is None:
            return  # an answer that came after its time
        if "id" in line:
            error = {"code": -32601, "message": f"this agent serves no method `{method}`"}
            self._write({"jsonrpc": "2.0", "id": line["id"], "error": error})
        elif method == "agent/session.start":
            self.session = _known(Session, params)
            self.on_start()
        elif method == "agent/message.deliver" and isinstance(params.get("message_id"), str):
            self.on_message(_known(Message, params))
        elif method == "agent/session.closing":
            self.on_closing(str(params.get("reason", "")), int(params.get("grace_ms") or 0))
            self._write({"jsonrpc": "2.0", "method": "agent/session.closed", "params": {}})
        elif method == "agent/session.stop":
            self.on_stop(str(params.get("reason", "")), int(params.get("grace_ms") or 0))
            self._over = True
        # Anything else is of a newer protocol and not meant for this agent.

    def _read(self) -> None:
        rest = bytearray()
        while True:
            chunk = self._source.read(READ_BYTES)
            if not chunk:
                return self._arrived.put(("end", None))
            rest += chunk
            if b"\n" in chunk:
                *lines, last = bytes(rest).split(b"\n")
                rest = bytearray(last)
                for raw in lines:
                    self._take(raw)

    def _take(self, raw: bytes) -> None:
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            line = None
        if isinstance(line, dict):
            self._arrived.put(("line", line))
        elif raw.strip():
            sys.stderr.write(f"native: ignored a line of {len(raw)} bytes that is not JSON-RPC\n")

    def _write(self, line: Mapping[str, Any]) -> None:
        # A lone surrogate, which JSON can spell and UTF-8 cannot, would make the node refuse the whole line.
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        self._sink.write(text.encode("utf-8", "replace") + b"\n")
        self._sink.flush()
