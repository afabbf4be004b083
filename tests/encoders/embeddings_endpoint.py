"""A small OpenAI-compatible embeddings server on loopback. It really encodes, or fails as the test says."""

from __future__ import annotations

from collections import deque
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.responses import JSONResponse

from encoders.testing import HashingEncoder
from tests.serving import Serving

__all__ = ["EmbeddingsEndpoint", "rows"]


def rows(*vectors: list[Any]) -> dict[str, Any]:
    """The body of a reply with these vectors."""
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "model": "hashing", "data": data, "usage": usage}


class EmbeddingsEndpoint(Serving):
    """Vectors of the hashing encoder, times three, in reverse order; `next` puts other replies before."""

    def __init__(self, dimensions: int = 64) -> None:
        super().__init__()
        self.requests: list[dict[str, Any]] = []
        self._next: deque[Response] = deque()
        self._encoder = HashingEncoder(dimensions)

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def next(self, *replies: Response | dict[str, Any]) -> None:
        """What the next requests get, one each."""
        for reply in replies:
            self._next.append(JSONResponse(reply) if isinstance(reply, dict) else reply)

    def app(self) -> FastAPI:
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
