"""A language model as evaluator of what a search found, and as writer of the query for another search."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from classifiers import ClassifierError
from classifiers.model_replies import AsksModel, read_object, response_format
from classifiers.retrieval import PassageEvidence, RelevanceJudge, RelevanceVerdict
from encoders import Encoded
from languages.identification import script_language

__all__ = ["AskedQuery", "AskedRelevance", "OnReply"]

JUDGE = "asked-relevance@1"
SCORES = {"yes": 1.0, "partly": 0.5, "no": 0.0}
UNKNOWN = 0.5
LONGEST_PASSAGE = 4_000  # characters of each passage that the model reads
LONGEST_QUERY = 200
OnReply = Callable[[Literal["answered", "unreadable", "failed"]], object]


class _OfPassage(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    number: int
    answers: Literal["yes", "partly", "no"]


class _Reply(BaseModel):
    """What we ask the model for."""

    model_config = ConfigDict(extra="ignore", strict=True)

    passages: list[_OfPassage]


class _Query(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    query: str


_FORMAT = response_format(_Reply, name="relevance")
_QUERY_FORMAT = response_format(_Query, name="query")


class AskedRelevance:
    """A `RelevanceJudge` that asks a model; where it can't be asked, another judge decides."""

    def __init__(
        self,
        model: AsksModel,
        otherwise: RelevanceJudge,
        *,
        timeout_s: float = 10.0,
        correct_from: float = 0.75,
        incorrect_below: float = 0.25,
        on_reply: OnReply = lambda result: None,
    ) -> None:
        self._model = model
        self._otherwise = otherwise
        self._timeout_s = timeout_s
        self._correct_from = correct_from
        self._incorrect_below = incorrect_below
        self._on_reply = on_reply

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        """The model's verdict; *ambiguous* if it can't be read; the other judge's if it can't be asked."""
        if not passages:
            return await self._otherwise.judge(question, passages)
        try:
            reply = await _asked(
                self._model,
                _prompt(script_language(question.text)),
                _given(question.text, passages),
                _FORMAT,
                self._timeout_s,
            )
        except ClassifierError:
            self._on_reply("failed")
            return await self._otherwise.judge(question, passages)
        scores = _scores(reply, len(passages))
        self._on_reply("unreadable" if scores is None else "answered")
        return self._verdict(scores, len(passages))

    def _verdict(self, scores: list[float] | None, count: int) -> RelevanceVerdict:
        judge = f"{JUDGE}:{self._model.model}"
        if scores is None:
            unknown = (UNKNOWN,) * count
            return RelevanceVerdict(
                label="ambiguous", scores=unknown, reason="the model's reply can't be read", judge=judge
            )
        best = max(scores)
        label: Literal["correct", "ambiguous", "incorrect"] = "ambiguous"
        if best >= self._correct_from:
            label = "correct"
        elif best < self._incorrect_below:
            label = "incorrect"
        full, part = scores.count(1.0), scores.count(0.5)
        reason = f"of {count} passages {full} hold the answer and {part} a part of it"
        return RelevanceVerdict(label=label, scores=tuple(scores), reason=reason, judge=judge)


class AskedQuery:
    """A model that puts a question into the keywords of a search."""

    def __init__(self, model: AsksModel, *, timeout_s: float = 5.0) -> None:
        self._model = model
        self._timeout_s = timeout_s

    async def query(self, question: str) -> str:
        """The keywords, on one line.

        Raises:
            ClassifierError: if it can't be asked, is too slow, or answers something else.
        """
        given = json.dumps({"question": question}, ensure_ascii=False)
        prompt = _prompt(f"query.{script_language(question)}")
        reply = await _asked(self._model, prompt, given, _QUERY_FORMAT, self._timeout_s)
        query = " ".join(read_object(reply, _Query, judge=f"query:{self._model.model}").query.split())
        if not query:
            raise ClassifierError("the model wrote an empty query")
        return query[:LONGEST_QUERY]


def _given(question: str, passages: Sequence[PassageEvidence]) -> str:
    numbered = [{"number": i, "text": each.shown[:LONGEST_PASSAGE]} for i, each in enumerate(passages, 1)]
    return json.dumps({"question": question, "passages": numbered}, ensure_ascii=False)


def _scores(reply: str, count: int) -> list[float] | None:
    """A score for each passage, by its number, 0.5 for one that was left out; None if nothing can be read."""
    try:
        read = read_object(reply, _Reply, judge=JUDGE)
    except ClassifierError:
        return None
    by_number = {each.number: SCORES[each.answers] for each in read.passages}
    return [by_number.get(number, UNKNOWN) for number in range(1, count + 1)]


async def _asked(model: AsksModel, prompt: str, given: str, form: Mapping[str, Any], timeout_s: float) -> str:
    try:
        async with asyncio.timeout(timeout_s):
            return await model.ask(prompt, given, form)
    except TimeoutError:
        raise ClassifierError(f"{model.model} did not answer within {timeout_s:g} s") from None


@cache
def _prompt(name: str) -> str:
    return (files("classifiers.retrieval") / "prompts" / f"{name}.md").read_text(encoding="utf-8")
