"""A page to ask a question and watch it walk through the checkpoint."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/")
async def welcome() -> HTMLResponse:
    """The page. `/#key=…&q=…` asks at once; what stands after the # stays in the browser."""
    return HTMLResponse(_page())


@cache
def _page() -> str:
    return files("gateway").joinpath("pages/welcome.html").read_text("utf-8")
