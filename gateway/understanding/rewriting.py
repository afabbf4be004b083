"""A question that leans on earlier turns, said in full by a language model; None where that failed."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Protocol

import structlog
from pydantic import BaseModel, ConfigDict

from classifiers import ClassifierError
from classifiers.model_replies import read_object, response_format
from gateway.domain import Turn
from gateway.errors import UpstreamUnavailable
from gateway.understanding.leaning import points_back
from gateway.understanding.wording import Wording
from languages.identification import language_of

__all__ = ["Completes", "Completion", "Rewriter"]

_TURNS_READ, _TURN_CHARACTERS = 8, 1_000
_LONGEST_REWRITE = 600
_IDENTIFIER = re.compile(r"\w*\d[\w.-]*")


class Completion(Protocol):
    """What a model answered."""

    @property
    def text(self) -> str: ...


class Completes(Protocol):
    """Any chat model. Raises `UpstreamUnavailable` when it can't be asked."""

    async def complete(
        self, turns: Sequence[Turn], options: Mapping[str, Any] | None = None, /
    ) -> Completion: ...


class _Rewrite(BaseModel):
    """What we ask the model for; null means that it can't tell what the question is about."""

    model_config = ConfigDict(extra="ignore", strict=True)

    question: str | None


_FORMAT = response_format(_Rewrite, name="rewrite")


class Rewriter:
    """Asks a model, believes nothing that the conversation does not say, and never raises."""

    def __init__(self, llm: Completes, *, timeout_s: float = 8.0) -> None:
        self._llm = llm
        self._timeout_s = timeout_s
        self._log = structlog.get_logger("sekisho.understanding")

    async def rewrite(self, text: str, turns: Sequence[Turn], wording: Wording) -> str | None:
        """The self-contained form of a question, or None: then it stays as it is."""
        options = {"temperature": 0, "max_tokens": 400, "response_format": _FORMAT}
        try:
            async with asyncio.timeout(self._timeout_s):
                completion = await self._llm.complete(_request(text, turns, wording), options)
            question = read_object(completion.text, _Rewrite, judge="the rewriter").question
        except (UpstreamUnavailable, TimeoutError, ClassifierError) as exc:
            self._log.warning("rewrite failed", error=type(exc).__name__)
            return None
        rewritten = " ".join((question or "").split())
        if not rewritten:
            return None
        if problem := _problem(rewritten, text, turns, wording):
            self._log.warning("rewrite refused", why=problem)
            return None
        return rewritten


def _request(text: str, turns: Sequence[Turn], wording: Wording) -> list[Turn]:
    prompt = files("gateway.understanding") / "prompts" / f"{wording.language}.md"
    said = [{"role": turn.role, "text": turn.text[:_TURN_CHARACTERS]} for turn in turns[-_TURNS_READ:]]
    given = json.dumps({"conversation": said, "question": text}, ensure_ascii=False)
    return [Turn("system", prompt.read_text(encoding="utf-8")), Turn("user", given)]


def _problem(rewritten: str, text: str, turns: Sequence[Turn], wording: Wording) -> str | None:
    """Why a rewrite can't be used. A model that follows the asker's orders must not widen what they asked."""
    if len(rewritten) > _LONGEST_REWRITE:
        return "too long"
    if language_of(rewritten, default=wording.language) != wording.language:
        return "another language"
    if points_back(rewritten, wording):
        return "still leans"
    said = " ".join([text, *(turn.text for turn in turns)])
    if any(found not in said for found in _IDENTIFIER.findall(rewritten)):
        return "a number that nobody said"
    return None
