"""A small server that plays a SearXNG-compatible search engine. It searches nothing: it gives what it is told to.

with Searxng() as engine:
    engine.finds({"url": "https://a.example/1", "title": "Fees", "content": "The fee is 5 EUR."})
    ...  # ask engine.origin
    assert engine.asked[-1]["q"] == "fee"
"""

from __future__ import annotations

import time
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.responses import JSONResponse

from tests.serving import Serving

__all__ = ["Searxng"]


class Searxng(Serving):
    """Answers `/search?format=json&q=…` on a free port of the loopback interface."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, str]] = []
        self._reply: Response = JSONResponse({"query": "", "results": []})
        self._wait_s = 0.0

    def app(self) -> FastAPI:
        app = FastAPI()
        app.add_api_route("/search", self._search, methods=["GET"], response_model=None)
        return app

    def finds(self, *results: dict[str, Any]) -> None:
        """What it answers from now on."""
        self.answers(JSONResponse({"query": "q", "number_of_results": 0, "results": list(results)}))

    def answers(self, reply: Response, *, wait_s: float = 0.0) -> None:
        """Any reply, if wanted a late one."""
        self._reply, self._wait_s = reply, wait_s

    def _search(self, request: Request) -> Response:
        self.asked.append({**request.query_params, "authorization": request.headers.get("authorization", "")})
        time.sleep(self._wait_s)
        return self._reply
