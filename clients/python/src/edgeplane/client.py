"""The client: every method of the catalogue over one of three transports, and streams that survive a break."""

from __future__ import annotations

import os
import ssl
import threading
import time
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence

from . import types as t
from .errors import Disconnected
from .http import HttpTransport
from .lines import ProgramTransport, UnixTransport, default_socket
from .methods import Catalogue
from .transport import Conversation, Listener, Place, Transport

#: How long a client waits for an answer, in seconds, beside what the call itself asks the node to wait.
SECONDS = 60.0

#: How long a stream tries to be heard again after a break, in seconds: a daemon that is being restarted is back by then.
PATIENCE = 60.0
PAUSE_FIRST, PAUSE_MOST = 0.05, 2.0


class Client(Catalogue):
    """A client of a node.

    Methods stand by profile and object: `client.runtime.agent.list()`. One client may be used by several threads; their
    calls come one after another. A call whose connection broke is repeated once if that cannot double anything: if it
    changes nothing, if nothing of it was sent, or if its context has an `idempotency_key`.
    """

    def __init__(
        self, transport: Transport, *, seconds: Optional[float] = SECONDS, listener: Optional[Listener] = None
    ) -> None:
        super().__init__(self)
        self._transport = transport
        self._seconds = seconds
        self._listener = listener
        self._conversation: Optional[Conversation] = None
        self._lock = threading.Lock()

    @classmethod
    def unix(cls, path: Optional[str] = None, *, token: Optional[str] = None, **more: Any) -> "Client":
        """A client over a unix socket: the one that `EDGEPLANE_SOCKET` names, else the node's usual one."""
        return cls(UnixTransport(path or default_socket(), token), **more)

    @classmethod
    def http(
        cls, url: str, *, token: Optional[str] = None, tls: Optional[ssl.SSLContext] = None, **more: Any
    ) -> "Client":
        """A client over HTTP, such as `http://127.0.0.1:8100`; `tls` may hold a client's certificate."""
        return cls(HttpTransport(url, token, tls), **more)

    @classmethod
    def stdio(cls, argv: Sequence[str], *, token: Optional[str] = None, **more: Any) -> "Client":
        """A client over the standard streams of a program, which it starts and ends."""
        return cls(ProgramTransport(argv, token), **more)

    @classmethod
    def from_environment(cls, **more: Any) -> "Client":
        """A client as the environment says: `EDGEPLANE_URL` if set, else a socket; the token of `EDGEPLANE_TOKEN_FILE`."""
        token = None
        if os.environ.get("EDGEPLANE_TOKEN_FILE"):
            with open(os.environ["EDGEPLANE_TOKEN_FILE"], encoding="utf-8") as file:
                token = file.read().strip()
        url = os.environ.get("EDGEPLANE_URL")
        return cls.http(url, token=token, **more) if url else cls.unix(token=token, **more)

    def call(self, method: str, params: Optional[Mapping[str, Any]] = None, *, repeat: str = "again") -> Any:
        """Calls a method by its name, also one that this version of the client does not know."""
        given = dict(params or {})
        may_repeat = repeat == "safe" or bool((given.get("ctx") or {}).get("idempotency_key"))
        seconds = self._seconds
        if seconds is not None and isinstance(given.get("timeout_ms"), int):
            seconds += given["timeout_ms"] / 1000
        with self._lock:
            kept = self._conversation is not None
            try:
                return self._once(method, given, seconds)
            except Disconnected as error:
                # Only a connection that was kept may have ended long before: a new one failed for a reason.
                if not kept or not (may_repeat or error.effect == "none"):
                    raise
                return self._once(method, given, seconds)

    def _once(self, method: str, params: Dict[str, Any], seconds: Optional[float]) -> Any:
        if self._conversation is None:
            self._conversation = self._transport.open(seconds)
        try:
            return self._conversation.call(method, params, seconds, self._listener)
        except Disconnected:
            self._hang_up()
            raise

    def follow(
        self, params: Optional[t.SubscribeParams] = None, *, patience: float = PATIENCE
    ) -> Iterator[Dict[str, Any]]:
        """Follows events of the record: what `stream/subscribe` takes says which, and from where.

        When the connection breaks it goes on behind the last event that was seen, so that each comes once. It raises
        `Disconnected` when nothing was heard of the node for `patience` seconds, and `StreamEnded` when the node ended
        the stream. Closing the iterator, or leaving it to be collected, ends the subscription.
        """
        asked: Dict[str, Any] = dict(params or {})
        place: Optional[Place] = None
        heard, pause = time.monotonic(), PAUSE_FIRST
        while True:
            try:
                for place, event in self._transport.follow(asked, place, self._seconds):
                    heard, pause = time.monotonic(), PAUSE_FIRST
                    if event is not None:
                        yield event
                    heard = time.monotonic()
                raise Disconnected("the stream broke")
            except Disconnected:
                # Nothing is lost by waiting for a node that was there; one that never was is an error at once.
                if place is None or time.monotonic() - heard > patience:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, PAUSE_MOST)

    def _hang_up(self) -> None:
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            conversation.close()

    def close(self) -> None:
        """Ends the conversation. A later call begins another."""
        with self._lock:
            self._hang_up()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
