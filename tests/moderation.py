"""A small server that plays OpenAI's moderation endpoint. It is no model: it flags the words it is told to."""

from __future__ import annotations

from collections import deque
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.responses import JSONResponse

from tests.serving import Serving

__all__ = ["ModerationServer"]

CATEGORIES = ("violence", "harassment/threatening", "illicit")


class ModerationServer(Serving):
    """Flags texts with these words, each as a category; `next` puts other replies before."""

    def __init__(self, words: dict[str, str]) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []
        self._words = words
        self._next: deque[Response] = deque()

    def app(self) -> FastAPI:
        app = FastAPI()
        app.add_api_route("/v1/moderations", self._moderate, methods=["POST"], response_model=None)
        return app

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def next(self, *replies: Response) -> None:
        """What the next requests get, one each."""
        self._next.extend(replies)

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
