"""HTTP: each call a `POST` of its own over one connection that is kept, streams as server-sent events."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.parse
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

from .errors import Disconnected, StreamEnded, TimedOut, node_error
from .lines import DAEMON_ENDS
from .transport import Listener, Place, without_place

#: The longest line of a stream: an event is one.
LINE_BYTES_MAX = 16 << 20


class HttpTransport:
    """A node's address. The token goes into a header and never into an address, where logs would keep it."""

    def __init__(self, url: str, token: Optional[str] = None, tls: Optional[ssl.SSLContext] = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not an address of HTTP: {url}")
        self._parts, self._tls = parts, tls
        self._headers = {"Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def connection(self, seconds: Optional[float]) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            context = self._tls or ssl.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=seconds, context=context)
        return http.client.HTTPConnection(host, port, timeout=seconds)

    def path(self, below: str) -> str:
        return f"{self._parts.path.rstrip('/')}/v1/{below}"

    def headers(self) -> Dict[str, str]:
        return dict(self._headers)

    def open(self, seconds: Optional[float]) -> "HttpConversation":
        return HttpConversation(self)

    def follow(
        self, params: Mapping[str, Any], place: Optional[Place], seconds: Optional[float]
    ) -> Iterator[Tuple[Place, Optional[Dict[str, Any]]]]:
        connection = self.connection(seconds)
        headers = {**self.headers(), "Accept": "text/event-stream"}
        asked = dict(params)
        if place is not None:
            asked = without_place(params)
            headers["Last-Event-ID"] = place["id"]
        try:
            try:
                connection.request("GET", f"{self.path('stream')}?{query(asked)}", headers=headers)
                response = connection.getresponse()
                if response.status != 200:
                    raise refusal(response.status, response.read())
                # From here on silence means that nothing happens.
                if connection.sock is not None:
                    connection.sock.settimeout(None)
            except (OSError, http.client.HTTPException) as error:
                raise Disconnected(f"no stream: {error}") from error
            for event in events(response):
                kind, said = event.get("event"), json.loads(event.get("data") or "{}")
                if kind == "stream/event":
                    yield {"id": event["id"]}, said["event"]
                elif kind == "subscribed" and event.get("id"):
                    # One that breaks before its first event begins where this one began.
                    yield {"id": event["id"]}, None
                elif kind == "stream/state" and said.get("state") == "ended":
                    reason = str(said.get("reason", ""))
                    raise Disconnected(reason) if reason == DAEMON_ENDS else StreamEnded(reason)
                elif kind == "error":
                    raise node_error(said)
        finally:
            connection.close()


def query(params: Mapping[str, Any], before: str = "") -> str:
    """The parameters of a subscription as a query: a list as several, the fields of an object behind its name."""
    return urllib.parse.urlencode(list(_pairs(params, before)))


def _pairs(params: Mapping[str, Any], before: str) -> Iterator[Tuple[str, str]]:
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from _pairs(value, f"{before}{name}.")
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            yield before + name, one if isinstance(one, str) else json.dumps(one)


def events(response: http.client.HTTPResponse) -> Iterator[Dict[str, str]]:
    """Server-sent events as their fields, until the connection breaks."""
    fields: Dict[str, str] = {}
    while True:
        try:
            line = response.readline(LINE_BYTES_MAX + 1)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Disconnected(f"the stream broke: {error}") from error
        if not line.endswith(b"\n"):
            raise Disconnected("the stream broke" if len(line) <= LINE_BYTES_MAX else "an event is too long")
        text = line.decode("utf-8", errors="replace").rstrip("\r\n")
        if text.startswith(":"):
            continue
        if text:
            name, _, value = text.partition(":")
            value = value[1:] if value.startswith(" ") else value
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
        elif fields:
            yield fields
            fields = {}


class HttpConversation:
    """Calls over one connection, which is made anew when the other side has closed it."""

    def __init__(self, transport: HttpTransport) -> None:
        self._transport = transport
        self._connection: Optional[http.client.HTTPConnection] = None

    def call(self, method: str, params: Mapping[str, Any], seconds: Optional[float], listener: Optional[Listener]) -> Any:
        connection, effect = self._connection, "unknown"
        try:
            if connection is None:
                effect = "none"
                connection = self._connection = self._transport.connection(seconds)
                connection.connect()
                effect = "unknown"
            elif connection.sock is not None:
                connection.sock.settimeout(seconds)
            headers = {**self._transport.headers(), "Content-Type": "application/json"}
            body = json.dumps(params, separators=(",", ":")).encode()
            connection.request("POST", self._transport.path(method), body=body, headers=headers)
            response = connection.getresponse()
            status, data = response.status, response.read()
        except TimeoutError:
            self.close()
            raise TimedOut(f"{method}: no answer in {seconds} s") from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if isinstance(error, OSError) and "timed out" in str(error):
                raise TimedOut(f"{method}: no answer in {seconds} s") from error
            raise Disconnected(f"{method}: {error or type(error).__name__}", effect=effect) from error
        if status != 200:
            raise refusal(status, data)
        try:
            return json.loads(data)
        except ValueError as error:
            raise Disconnected(f"{method}: what came is no JSON") from error

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def refusal(status: int, data: bytes) -> Exception:
    """What a status that is no success means: the node's own word, or that something between does not know it."""
    try:
        error = json.loads(data)
    except ValueError:
        error = None
    if isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    if isinstance(error, dict) and isinstance(error.get("data"), dict):
        return node_error(error)
    return Disconnected(f"no node answers there: status {status}")
