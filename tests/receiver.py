"""A small HTTP server on the loopback interface that plays whoever is told: it keeps what it was sent.

with Receiver() as receiver:
    receiver.next(503, 503)          # how the next requests are answered; 204 after that
    ...  # let the gateway post to receiver.url
    assert receiver.got[-1].json()["type"] == "ticket.answered"
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

__all__ = ["Got", "Receiver"]


@dataclass(frozen=True)
class Got:
    """A request that arrived."""

    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # of five, many at once are turned away


class Receiver:
    """Takes every POST."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self._answers: deque[tuple[int, Mapping[str, str]]] = deque()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the name that the library wants
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) < length:  # a sender that ended meanwhile has sent nothing
                    self.close_connection = True
                    return
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.got.append(Got(self.path, headers, body))
                status, more = receiver._answers.popleft() if receiver._answers else (204, {})
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Tests read `got`."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/told"

    def next(self, *statuses: int, headers: Mapping[str, str] | None = None) -> None:
        """How the next requests are answered."""
        self._answers.extend((status, headers or {}) for status in statuses)

    def wait(self, met: Callable[[list[Got]], bool], *, seconds: float = 15.0) -> list[Got]:
        """What arrived, as soon as it is what the test waits for."""
        deadline = time.monotonic() + seconds
        while not met(self.got):
            assert time.monotonic() < deadline, f"only {len(self.got)} requests arrived"
            time.sleep(0.02)
        return list(self.got)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
