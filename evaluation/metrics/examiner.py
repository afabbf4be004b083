"""How metrics ask a language model: a prompt from a file, data as JSON, one object back, in time.

Every reply is kept in the steps of the measurement. What can't be had is a `ClassifierError`, which
`determined` turns into `Undetermined`: nonsense, silence and too few verdicts are counted, and never become
a number.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from pydantic import BaseModel

from classifiers import ClassifierError
from classifiers.model_replies import AsksModel, read_object, response_format
from encoders import EncoderError
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score, Undetermined

__all__ = ["LANGUAGES", "PROMPTS", "Examiner", "Recorded", "Steps", "determined", "lacking", "prompt_of"]

PROMPTS = "prompts@1"  # part of the version of every metric that asks
LANGUAGES = ("en", "ja", "zh")
Form = TypeVar("Form", bound=BaseModel)
Steps = dict[str, Any]

_TEXT: Mapping[str, Any] = {"type": "text"}
_LACKING = {
    "answer": "there is no answer",
    "contexts": "there are no contexts",
    "ground_truth": "the case has no ground truth",
    "ground_contexts": "the case has no ground contexts",
}


class Recorded:
    """A model whose replies are kept, by the form that was asked for."""

    def __init__(self, model: AsksModel, steps: Steps) -> None:
        self._model = model
        self._steps = steps

    @property
    def model(self) -> str:
        """What the endpoint calls it."""
        return self._model.model

    async def ask(self, system: str, user: str, response_format: Mapping[str, Any], /) -> str:
        """The model's reply."""
        reply = await self._model.ask(system, user, response_format)
        form = response_format.get("json_schema", {}).get("name", "text")
        self._steps.setdefault("replies", []).append({"form": form, "reply": reply})
        return reply


class Examiner:
    """A language model, asked for one object at a time."""

    def __init__(self, model: AsksModel, *, timeout_s: float = 60.0) -> None:
        self._model = model
        self.timeout_s = timeout_s

    @property
    def version(self) -> str:
        """The prompts and the model: another one may judge otherwise."""
        return f"{PROMPTS}:{self._model.model}"

    def recorded(self, steps: Steps) -> AsksModel:
        """The model for a judge that asks by itself; its replies are kept in the steps."""
        return Recorded(self._model, steps)

    async def ask(
        self, prompt: str, form: type[Form], given: Mapping[str, Any], /, *, language: str, steps: Steps
    ) -> Form:
        """What the model makes of the data, in this form.

        Raises:
            ClassifierError: if it can't be asked, is too slow, or answers something else.
        """
        reply = await self._reply(prompt, given, response_format(form, name=prompt), language, steps)
        return read_object(reply, form, judge=self._model.model)

    async def write(self, prompt: str, given: Mapping[str, Any], /, *, language: str, steps: Steps) -> str:
        """What the model writes, as it is.

        Raises:
            ClassifierError: if it can't be asked, is too slow, or says nothing.
        """
        reply = await self._reply(prompt, given, _TEXT, language, steps)
        if not reply.strip():
            raise ClassifierError(f"{self._model.model} answered nothing")
        return reply

    async def _reply(
        self, prompt: str, given: Mapping[str, Any], wanted: Mapping[str, Any], language: str, steps: Steps
    ) -> str:
        data = json.dumps(given, ensure_ascii=False)
        try:
            async with asyncio.timeout(self.timeout_s):
                return await Recorded(self._model, steps).ask(prompt_of(prompt, language), data, wanted)
        except TimeoutError:
            raise ClassifierError(f"{self._model.model} did not answer within {self.timeout_s:g} s") from None


async def determined(work: Awaitable[Score], steps: Mapping[str, Any]) -> Measured:
    """The score, or why there is none, with the steps that were made until then."""
    try:
        return await work
    except (ClassifierError, EncoderError) as exc:
        return Undetermined(str(exc), steps)


def lacking(case: AnsweredCase, *needed: str) -> Undetermined | None:
    """What the case lacks of what a metric needs."""
    there = {
        "answer": case.answered and bool(case.answer.strip()),
        "contexts": any(context.text.strip() for context in case.contexts),
        "ground_truth": bool(case.case.ground_truth.strip()),
        "ground_contexts": bool(case.case.ground_contexts),
    }
    return next((Undetermined(_LACKING[name]) for name in needed if not there[name]), None)


@cache
def prompt_of(name: str, language: str) -> str:
    """The prompt in this language; in English where there is none."""
    folder = language if language in LANGUAGES else "en"
    return (files("evaluation.metrics") / "prompts" / folder / f"{name}.md").read_text(encoding="utf-8")
