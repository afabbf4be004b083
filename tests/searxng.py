"""A small server that plays a SearXNG-compatible search engine. It searches nothing: it gives what it is told to.

with Searxng() as engine:
    engine.finds({"url": "https://a.example/1", "title": "Fees", "content": "The fee is 5 EUR."})
    ...  # ask engine.url
    assert engine.asked[-1]["q"] == "fee"
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from types import TracebackType
from typing import Any, Self

import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.responses import JSONResponse

__all__ = ["Searxng"]


class Searxng:
    """Answers `/search?format=json&q=…` on a free port of the loopback interface."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self._reply: Response = JSONResponse({"query": "", "results": []})
        self._wait_s = 0.0
        self._socket = socket.socket()
        app = FastAPI()
        app.add_api_route("/search", self._search, methods=["GET"], response_model=None)
        self._server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def finds(self, *results: dict[str, Any]) -> None:
        """What it answers from now on."""
        self.answers(JSONResponse({"query": "q", "number_of_results": 0, "results": list(results)}))

    def answers(self, reply: Response, *, wait_s: float = 0.0) -> None:
        """Any reply, if wanted a late one."""
        self._reply, self._wait_s = reply, wait_s

    def __enter__(self) -> Self:
        self._socket.bind(("127.0.0.1", 0))
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive(), "the search engine did not start"
            self._thread.join(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    def _search(self, request: Request) -> Response:
        self.asked.append({**request.query_params, "authorization": request.headers.get("authorization", "")})
        time.sleep(self._wait_s)
        return self._reply
