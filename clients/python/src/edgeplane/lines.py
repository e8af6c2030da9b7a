"""JSON-RPC 2.0, one object a line: over a unix socket, and over the standard streams of a program."""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import time
from typing import Any, Dict, Iterator, Mapping, Optional, Protocol, Sequence, Tuple

from .errors import Disconnected, StreamEnded, TimedOut, node_error
from .transport import Listener, Place, without_place

#: The longest line that the node sends or takes.
LINE_BYTES_MAX = 16 << 20
READ_BYTES = 1 << 16

#: How a stream ends that goes on at the next daemon.
DAEMON_ENDS = "the daemon ends"


class Pipe(Protocol):
    """Bytes both ways."""

    def write(self, data: bytes) -> None:
        """Writes all of it."""

    def read(self, seconds: Optional[float]) -> bytes:
        """Reads some of what comes; nothing at the end. Raises `TimeoutError` if nothing comes in time."""

    def close(self) -> None:
        """Ends it."""


class SocketPipe:
    """A unix socket."""

    def __init__(self, path: str, seconds: Optional[float]) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(seconds)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def read(self, seconds: Optional[float]) -> bytes:
        self._socket.settimeout(seconds)
        try:
            return self._socket.recv(READ_BYTES)
        except socket.timeout as error:  # an alias of TimeoutError only since Python 3.10
            raise TimeoutError from error

    def close(self) -> None:
        self._socket.close()


class ProgramPipe:
    """The standard streams of a program. What it says on standard error goes where the caller's own goes."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._program = subprocess.Popen(list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._selector = selectors.DefaultSelector()
        assert self._program.stdout is not None and self._program.stdin is not None
        self._stdin, self._stdout = self._program.stdin, self._program.stdout
        self._selector.register(self._stdout, selectors.EVENT_READ)

    def write(self, data: bytes) -> None:
        self._stdin.write(data)
        self._stdin.flush()

    def read(self, seconds: Optional[float]) -> bytes:
        if not self._selector.select(seconds):
            raise TimeoutError
        return os.read(self._stdout.fileno(), READ_BYTES)

    def close(self) -> None:
        """Closes its input, which ends it; one that does not end is ended."""
        self._selector.close()
        try:
            self._stdin.close()
        except OSError:
            pass  # it is gone already
        try:
            self._program.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait()
        self._stdout.close()


class LineConversation:
    """Requests and notifications over a pipe."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._buffer = bytearray()
        self._searched = 0
        self._next_id = 0

    def call(self, method: str, params: Mapping[str, Any], seconds: Optional[float], listener: Optional[Listener]) -> Any:
        self._next_id += 1
        request = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}
        try:
            self._pipe.write(json.dumps(request, separators=(",", ":")).encode() + b"\n")
        except (OSError, ValueError) as error:
            # A line that is cut off is no request, so nothing of it took effect.
            raise Disconnected(f"{method}: the node went away: {error}", effect="none") from error
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            try:
                line = self.next(until)
            except TimeoutError:
                raise TimedOut(f"{method}: no answer in {seconds} s") from None
            if "method" in line:
                if listener is not None:
                    listener(line["method"], line.get("params") or {})
            elif line.get("id") == self._next_id:
                if "error" in line:
                    raise node_error(line["error"])
                return line.get("result")
            elif line.get("id") is None and "error" in line:
                raise node_error(line["error"])  # the request could not even be read

    def next(self, until: Optional[float] = None) -> Dict[str, Any]:
        """The next line. Raises `TimeoutError` if none is there at the time `until`."""
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                try:
                    value = json.loads(line)
                except ValueError as error:
                    raise Disconnected("what came is no JSON") from error
                if not isinstance(value, dict):
                    raise Disconnected("what came is no object")
                return value
            self._searched = len(self._buffer)
            if self._searched > LINE_BYTES_MAX:
                raise Disconnected("what came is longer than any line of the node")
            seconds = None if until is None else max(until - time.monotonic(), 0.0)
            try:
                some = self._pipe.read(seconds)
            except TimeoutError:
                raise
            except (OSError, ValueError) as error:
                raise Disconnected(f"the node went away: {error}") from error
            if not some:
                raise Disconnected("the node went away")
            self._buffer += some

    def close(self) -> None:
        self._pipe.close()


class LineTransport:
    """Conversations of lines, each over a pipe of its own, known by a token if one is given."""

    def __init__(self, token: Optional[str] = None) -> None:
        self._token = token

    def pipe(self, seconds: Optional[float]) -> Pipe:
        raise NotImplementedError

    def open(self, seconds: Optional[float]) -> LineConversation:
        try:
            conversation = LineConversation(self.pipe(seconds))
        except OSError as error:
            raise Disconnected(f"no node: {error}", effect="none") from error
        try:
            if self._token is not None:
                # From here on the node knows this conversation by its token.
                conversation.call("core/initialize", {"token": self._token}, seconds, None)
        except BaseException:
            conversation.close()
            raise
        return conversation

    def follow(
        self, params: Mapping[str, Any], place: Optional[Place], seconds: Optional[float]
    ) -> Iterator[Tuple[Place, Optional[Dict[str, Any]]]]:
        conversation = self.open(seconds)
        try:
            asked = dict(params) if place is None else {**without_place(params), **place}
            early = []
            begun = conversation.call("stream/subscribe", asked, seconds, lambda *notice: early.append(notice))
            yield _begin(begun, asked), None
            while True:
                if early:
                    method, said = early.pop(0)
                else:
                    line = conversation.next()
                    method, said = line.get("method"), line.get("params") or {}
                if method == "stream/event":
                    yield _place(said), said["event"]
                elif method == "stream/state" and said.get("state") == "ended":
                    reason = str(said.get("reason", ""))
                    if reason == DAEMON_ENDS:
                        raise Disconnected(reason)
                    raise StreamEnded(reason)
        finally:
            conversation.close()


def _begin(begun: Mapping[str, Any], asked: Mapping[str, Any]) -> Place:
    """Where a stream begins, so that one that breaks before its first event loses none."""
    if begun.get("cursor") is not None:
        return {"cursor": begun["cursor"]}
    return {"after": asked["after"] if asked.get("after") is not None else begun.get("head", 0)}


def _place(said: Mapping[str, Any]) -> Place:
    """The place behind an event."""
    if said.get("cursor") is not None:
        return {"cursor": said["cursor"]}
    return {"after": said["event"]["pos"]}


class UnixTransport(LineTransport):
    """The node's socket, or that of an agent's epoch."""

    def __init__(self, path: str, token: Optional[str] = None) -> None:
        super().__init__(token)
        self._path = path

    def pipe(self, seconds: Optional[float]) -> Pipe:
        return SocketPipe(self._path, seconds)


class ProgramTransport(LineTransport):
    """A program that speaks for the node on its standard streams, such as one that reaches a node elsewhere."""

    def __init__(self, argv: Sequence[str], token: Optional[str] = None) -> None:
        super().__init__(token)
        self._argv = list(argv)

    def pipe(self, seconds: Optional[float]) -> Pipe:
        return ProgramPipe(self._argv)


def default_socket() -> str:
    """Where the node's socket is, by the rules that the command line has. Within an agent, it is that of its epoch."""
    if os.environ.get("EDGEPLANE_SOCKET"):
        return os.environ["EDGEPLANE_SOCKET"]
    if os.environ.get("EDGEPLANE_RUNTIME_DIR"):
        return os.path.join(os.environ["EDGEPLANE_RUNTIME_DIR"], "edgeplaned.sock")
    if os.geteuid() == 0:
        return "/run/edgeplane/edgeplaned.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = os.path.join(runtime, "edgeplane") if runtime else f"/tmp/edgeplane-{os.geteuid()}"
    return os.path.join(folder, "edgeplaned.sock")
