"""A small server that plays OpenAI's moderation endpoint. It is no model: it flags the words it is told to."""

from __future__ import annotations

import logging
import socket
import threading
from collections import deque
from types import TracebackType
from typing import Any, Self

import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.responses import JSONResponse

__all__ = ["ModerationServer"]

CATEGORIES = ("violence", "harassment/threatening", "illicit")


class ModerationServer:
    """Flags texts with these words, each as a category; `next` puts other replies before."""

    def __init__(self, words: dict[str, str]) -> None:
        self.asked: list[dict[str, Any]] = []
        self._words = words
        self._next: deque[Response] = deque()
        self._socket = socket.socket()
        app = FastAPI()
        app.add_api_route("/v1/moderations", self._moderate, methods=["POST"], response_model=None)
        self._server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def next(self, *replies: Response) -> None:
        """What the next requests get, one each."""
        self._next.extend(replies)

    def __enter__(self) -> Self:
        self._socket.bind(("127.0.0.1", 0))
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive(), "the moderation server did not start"
            self._thread.join(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    async def _moderate(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append({**body, "authorization": request.headers.get("authorization")})
        if self._next:
            return self._next.popleft()
        found = {category for word, category in self._words.items() if word in body["input"]}
        result = {
            "flagged": bool(found),
            "categories": {one: one in found for one in CATEGORIES},
            "category_scores": {one: 0.7 if one in found else 0.01 for one in CATEGORIES},
            "category_applied_input_types": {},
        }
        return JSONResponse({"id": "modr-1", "model": body["model"], "results": [result]})
