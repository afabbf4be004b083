"""A model for tests that says what its script says, by the name of the form that is asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from classifiers import ClassifierError
from evaluation.answers.cases import AnswerCase, AnsweredCase, Context
from evaluation.metrics.examiner import Examiner

Replies = Mapping[str, list[Any]]  # objects become JSON; texts stay as they are


class ScriptedModel:
    """Replies by form, in order; the last one again and again. `silent` never answers."""

    model = "scripted"  # a language model that never was

    def __init__(self, replies: Replies, *, silent: bool = False) -> None:
        self._replies = {name: list(said) for name, said in replies.items()}
        self._silent = silent
        self.asked: list[tuple[str, str, dict[str, Any]]] = []  # form, prompt, data

    async def ask(self, system: str, user: str, response_format: Mapping[str, Any], /) -> str:
        form = response_format.get("json_schema", {}).get("name", "text")
        self.asked.append((form, system, json.loads(user)))
        if self._silent:
            await asyncio.sleep(60)
        if form not in self._replies:
            raise ClassifierError(f"the script has no {form}")
        waiting = self._replies[form]
        said = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def examiner(replies: Replies) -> Examiner:
    return Examiner(ScriptedModel(replies))


def answered(
    answer: str = "",
    *,
    question: str = "What is the fee?",
    truth: str = "",
    contexts: tuple[str | Context, ...] = (),
    ground: tuple[str | Context, ...] = (),
    lang: str = "en",
    answerable: bool | None = None,
    is_answered: bool = True,
) -> AnsweredCase:
    """A case with its answer, as short as a test can say it."""
    case = AnswerCase(
        id="1",
        lang=lang,
        real_question=question,
        question=question,
        ground_truth=truth,
        ground_contexts=tuple(one if isinstance(one, Context) else Context(one) for one in ground),
        answerable=answerable,
    )
    shown = tuple(one if isinstance(one, Context) else Context(one) for one in contexts)
    return AnsweredCase(case=case, answer=answer, contexts=shown, outcome="rag", answered=is_answered)


def verdicts(*given: Any) -> dict[str, Any]:
    """The reply of a judge of statements."""
    return {
        "statements": [{"statement": f"s{at}", "reason": "so", "verdict": v} for at, v in enumerate(given)]
    }


def split(*found: str) -> dict[str, Any]:
    """The reply of who takes an answer apart."""
    return {"statements": list(found)}


def classes(right: int, wrong: int, missing: int) -> dict[str, Any]:
    """The reply of who classifies statements."""

    def some(name: str, count: int) -> list[dict[str, str]]:
        return [{"statement": f"{name}{at}", "reason": "so"} for at in range(count)]

    return {"TP": some("right", right), "FP": some("wrong", wrong), "FN": some("missing", missing)}
