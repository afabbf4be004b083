"""A small OpenAI-compatible embeddings server on loopback. It really encodes, or fails as the test says."""

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

from encoders.testing import HashingEncoder

__all__ = ["EmbeddingsEndpoint", "rows"]


def rows(*vectors: list[Any]) -> dict[str, Any]:
    """The body of a reply with these vectors."""
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "model": "hashing", "data": data, "usage": usage}


class EmbeddingsEndpoint:
    """Vectors of the hashing encoder, times three, in reverse order; `next` puts other replies before."""

    def __init__(self, dimensions: int = 64) -> None:
        self.requests: list[dict[str, Any]] = []
        self._next: deque[Response] = deque()
        self._encoder = HashingEncoder(dimensions)
        self._socket = socket.socket()
        self._server = uvicorn.Server(uvicorn.Config(self._app(), log_config=None, lifespan="off"))
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def next(self, *replies: Response | dict[str, Any]) -> None:
        """What the next requests get, one each."""
        for reply in replies:
            self._next.append(JSONResponse(reply) if isinstance(reply, dict) else reply)

    def __enter__(self) -> Self:
        self._socket.bind(("127.0.0.1", 0))
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive(), "the embeddings endpoint did not start"
            self._thread.join(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    def _app(self) -> FastAPI:
        app = FastAPI()
        app.add_api_route("/v1/embeddings", self._embed, methods=["POST"], response_model=None)
        return app

    async def _embed(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append({**body, "authorization": request.headers.get("authorization")})
        if self._next:
            return self._next.popleft()
        if "" in body["input"]:
            return JSONResponse({"error": {"message": "'input' cannot be an empty string"}}, 400)
        reply = rows(*(3 * await self._encoder.encode(body["input"])).tolist())
        reply["data"].reverse()
        return JSONResponse(reply)
