"""Nodes that say what a test tells them: over a unix socket, and over HTTP."""

from __future__ import annotations

import http.server
import json
import os
import socket
import tempfile
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

#: Gets a request, and a function that sends a line. Returns whether the connection stays.
Answer = Callable[[Dict[str, Any], Callable[[Dict[str, Any]], None]], bool]


class ScriptedNode:
    """Takes connections one after another and answers each line."""

    def __init__(self, answer: Answer, pieces: int = 0) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self._folder.name, "node.sock")
        self.requests: List[Dict[str, Any]] = []
        self.connections = 0
        self._answer, self._pieces = answer, pieces
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        self._open: List[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        def say(line: Dict[str, Any]) -> None:
            data = json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n"
            step = self._pieces or len(data)
            for start in range(0, len(data), step):
                connection.sendall(data[start : start + step])

        with connection, connection.makefile("rb") as lines:
            for raw in lines:
                request = json.loads(raw)
                self.requests.append(request)
                if not self._answer(request, say):
                    connection.shutdown(socket.SHUT_RDWR)
                    return

    def close(self) -> None:
        # Closing alone does not wake who waits in accept.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            connection.close()
        self._folder.cleanup()

    def __enter__(self) -> "ScriptedNode":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def failure(name: str, **more: Any) -> Dict[str, Any]:
    data = {"name": name, "retryable": False, "effect": "none", **more}
    return {"code": 4040, "message": f"it is {name}", "data": data}


#: Status, type, and body or parts of a body after the last of which the connection ends.
Response = Tuple[int, str, List[bytes]]


class ScriptedFront:
    """Answers HTTP: `answer` gets the path with its query, the headers and the body."""

    def __init__(self, answer: Callable[[str, Dict[str, str], Optional[Any]], Response]) -> None:
        front = self
        self.seen: List[Tuple[str, Dict[str, str], Optional[Any]]] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                headers = {name.lower(): value for name, value in self.headers.items()}
                front.seen.append((self.path, headers, body))
                status, kind, parts = answer(self.path, headers, body)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                if kind == "text/event-stream":
                    self.send_header("Connection", "close")
                    self.close_connection = True
                else:
                    self.send_header("Content-Length", str(sum(map(len, parts))))
                self.end_headers()
                for part in parts:
                    self.wfile.write(part)
                    self.wfile.flush()

            do_GET = do_POST = handle_any

            def log_message(self, format: str, *arguments: object) -> None:
                """Says nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> "ScriptedFront":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
