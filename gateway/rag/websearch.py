"""A search beyond the documents: any engine that speaks SearXNG's JSON (`/search?format=json&q=…`).

Only the engine is called, at the address of the configuration: no page is opened, no redirect followed. What
it quotes of a page is a passage with the page's address as its source.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx2

from classifiers import ClassifierError
from classifiers.faithfulness.wording import folded, terms
from classifiers.retrieval.asking import asked_about, without_asking
from gateway.documents.passages import RetrievedPassage
from gateway.errors import UpstreamUnavailable
from gateway.models.halves import whole
from gateway.settings.corrective import WebSearchSettings
from languages.scripts import HAN, KATAKANA

__all__ = ["KeywordQuery", "SearxngSearch", "WebSearch", "WritesQuery", "keywords"]

MOST_KEYWORDS = 10
COPULA = "是为的"
WORD = re.compile(rf"[A-Za-z0-9][\w'’.-]*|[{HAN}{KATAKANA}]{{2,}}")
LONGEST_SNIPPET = 2_000  # characters
LONGEST_TITLE = 200


class WebSearch(Protocol):
    """Looks for passages elsewhere."""

    async def find(self, question: str, *, language: str) -> tuple[str, list[RetrievedPassage]]:
        """What was searched for, and what was found.

        Raises:
            UpstreamUnavailable: if it can't be asked.
        """
        ...

    async def close(self) -> None: ...


class WritesQuery(Protocol):
    """Puts a question into the words of a search."""

    async def query(self, question: str) -> str: ...


class KeywordQuery:
    """A question's own words, in their order, without those that only ask."""

    async def query(self, question: str) -> str:
        """Its own words in one line; the question itself where it has none."""
        return keywords(question)


@dataclass(frozen=True, slots=True)
class _Page:
    url: str
    title: str
    snippet: str


class SearxngSearch:
    """A SearXNG-compatible engine."""

    def __init__(
        self,
        settings: WebSearchSettings,
        write: WritesQuery,
    ) -> None:
        self._settings = settings
        self._write = write
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        self._http = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=settings.timeout_s,
            follow_redirects=False,
        )

    async def find(self, question: str, *, language: str) -> tuple[str, list[RetrievedPassage]]:
        """Passages of the pages that the engine found, best first.

        Raises:
            UpstreamUnavailable: if it can't be asked, is too slow, or answers something else.
        """
        query = await self._query(question)
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                body = await self._body(query, language)
        except (httpx2.HTTPError, TimeoutError) as exc:
            raise UpstreamUnavailable(f"the web search can't be asked: {type(exc).__name__}") from exc
        pages = [page for page in _pages(body) if self._is_allowed(page.url)]
        return query, [
            _passage(page, language, rank) for rank, page in enumerate(pages[: self._settings.results])
        ]

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def _query(self, question: str) -> str:
        try:
            return await self._write.query(question)
        except ClassifierError:
            return keywords(question)

    async def _body(self, query: str, language: str) -> bytes:
        asked = {"q": query, "format": "json", "language": language, "pageno": "1"}
        if self._settings.engines:
            asked["engines"] = self._settings.engines
        async with self._http.stream("GET", f"{self._settings.url}/search", params=asked) as reply:
            if reply.status_code != httpx2.codes.OK:
                raise UpstreamUnavailable(f"the web search answered HTTP {reply.status_code}")
            body = b""
            async for part in reply.aiter_bytes():
                body += part
                if len(body) > self._settings.max_bytes:
                    raise UpstreamUnavailable("the web search answered more than max_bytes")
            return body

    def _is_allowed(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            host = (parts.hostname or "").lower()
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or not host:
            return False
        allowed = self._settings.allowed_hosts
        return not allowed or any(host == each or host.endswith(f".{each}") for each in allowed)


def keywords(question: str) -> str:
    """The question's own words as it writes them, without those that only ask."""
    asked = asked_about(question)
    if not asked:
        return question[:LONGEST_TITLE]
    found = [m[0].rstrip(COPULA) for m in WORD.finditer(without_asking(question))]
    words = [w for w in found if w[:1].isdigit() or set(terms(folded(w)).content) & asked.keys()]
    return " ".join(words[:MOST_KEYWORDS]) or question[:LONGEST_TITLE]


def _pages(body: bytes) -> Sequence[_Page]:
    try:
        results = whole(json.loads(body))["results"]
        return [page for each in results if (page := _page(each))]
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        raise UpstreamUnavailable("the web search answered no list of results") from exc


def _page(result: Any) -> _Page | None:
    if not isinstance(result, dict):
        return None
    url, title, text = (result.get(name) for name in ("url", "title", "content"))
    if not isinstance(url, str) or not isinstance(text, str) or not text.strip():
        return None
    shown = title if isinstance(title, str) else ""
    return _Page(url, " ".join(shown.split())[:LONGEST_TITLE], text.strip()[:LONGEST_SNIPPET])


def _passage(page: _Page, language: str, rank: int) -> RetrievedPassage:
    return RetrievedPassage(
        id=f"web-{sha256(page.url.encode()).hexdigest()[:16]}",
        path=page.url,
        heading=page.title,
        text=page.snippet,
        language=language,
        score=1 / (rank + 1),
    )
