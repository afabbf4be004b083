"""A language model as judge, with the policy's descriptions as criteria. What can't be read is no verdict.

Asked where the gate is unsure, it may decide what the gate could not, but can't allow what is suspected to be
forbidden. As a detector it may only forbid.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from classifiers import ClassifierError
from classifiers.gate import ClassPolicy, Gate, GateLabel, GateVerdict, Policy
from classifiers.gate.detectors import Clear, Flagged
from classifiers.gate.examples import LONGEST_QUESTION
from classifiers.gate.rules import EVERY_RULE, TORN, Rules
from classifiers.model_replies import AsksModel, read_object, response_format
from classifiers.text import has_words, normalise
from encoders import Encoded
from languages.identification import script_language

__all__ = ["CriteriaDetector", "CriteriaJudge", "Opinion", "SecondOpinion", "can_be_asked"]

JUDGE = "criteria@1"
EXAMPLES_SHOWN = 8  # of each class; descriptions are the criteria, examples only show what they mean
_LONGEST_REASON = 300
Told = Callable[[GateLabel | Literal["failed"]], object]


class _Reply(BaseModel):
    """What we ask the model for."""

    model_config = ConfigDict(extra="ignore", strict=True)

    reason: str = ""  # before the label: a model that has said why judges better
    label: Literal["must", "may", "must_not", "unsure"]
    topic: str | None = None


_FORMAT = response_format(_Reply, name="verdict")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the model says of a question."""

    label: GateLabel
    topic: str | None
    reason: str


class CriteriaJudge:
    """Asks a model which class of the policy a question belongs to."""

    def __init__(self, model: AsksModel, policy: Policy, *, timeout_s: float = 5.0) -> None:
        self._model = model
        self._timeout_s = timeout_s
        self._topics = {topic.name for topic in policy.topics}
        self._criteria = _criteria(policy)

    @property
    def judge(self) -> str:
        """The version of the prompt, and the model."""
        return f"{JUDGE}:{self._model.model}"

    async def opinion(self, text: str) -> Opinion:
        """The model's opinion.

        Raises:
            ClassifierError: if it can't be asked, is too slow, or answers something else.
        """
        given = json.dumps({"criteria": self._criteria, "question": text}, ensure_ascii=False)
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await self._model.ask(_prompt(script_language(text)), given, _FORMAT)
        except TimeoutError:
            raise ClassifierError(f"{self.judge} did not answer within {self._timeout_s:g} s") from None
        read = read_object(reply, _Reply, judge=self.judge)
        topic = read.topic if read.label == "must_not" and read.topic in self._topics else None
        return Opinion(read.label, topic, " ".join(read.reason.split())[:_LONGEST_REASON])


class SecondOpinion:
    """A gate, and a model that is asked where it is unsure."""

    def __init__(
        self,
        gate: Gate,
        judge: CriteriaJudge,
        *,
        rules: Rules = EVERY_RULE,
        told: Told = lambda result: None,
    ) -> None:
        self._gate = gate
        self._rules = rules
        self._judge = judge
        self._told = told

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """The gate's verdict, or the model's where the gate is unsure of the scope."""
        verdict = await self._gate.judge(question, tenant=tenant, group=group)
        if verdict.label != "unsure" or not can_be_asked(verdict, question.text):
            return verdict
        try:
            opinion = await self._judge.opinion(question.text)
        except ClassifierError as exc:
            self._told("failed")
            return replace(verdict, reason=f"{verdict.reason}; {exc}")
        self._told(opinion.label)
        said = f"{verdict.reason}; a model says {opinion.label}: {opinion.reason}"
        suspected = verdict.rule in ("forbidden", TORN) or verdict.topic is not None
        if opinion.label == "unsure" or (opinion.label == "must" and suspected):
            return replace(verdict, reason=said)
        decided = replace(
            verdict,
            label=opinion.label,
            topic=opinion.topic or verdict.topic if opinion.label == "must_not" else None,
            rule="llm",
            reason=said,
            judge=f"{verdict.judge} {self._judge.judge}",
        )
        if not self._rules.in_shadow(decided):
            return decided
        told = replace(verdict, shadow=(*verdict.shadow, decided.as_shadow()))
        if opinion.label == "must_not" or suspected:
            return told  # what the model said is not enforced, that the gate is unsure still is
        return replace(told, label="must", rule="shadow", reason="nothing that is enforced stops it")


class CriteriaDetector:
    """The same model as a detector: it forbids what it calls *must not*, and is asked for nothing else."""

    def __init__(self, judge: CriteriaJudge, *, topic: str) -> None:
        self._judge = judge
        self._topic = topic  # where the model names none of the policy's

    @property
    def judge(self) -> str:
        """The version of the prompt, and the model."""
        return self._judge.judge

    async def detect(self, text: str, /) -> Clear | Flagged:
        """Flagged if the model says *must not*."""
        opinion = await self._judge.opinion(text)
        if opinion.label != "must_not":
            return Clear()
        return Flagged(opinion.topic or self._topic, opinion.reason)


def can_be_asked(verdict: GateVerdict, text: str) -> bool:
    """Not where a check failed, nor about what hides more than it asks: people look at those."""
    if verdict.rule.startswith("detector:") or verdict.rule in ("empty", "length"):
        return False
    return has_words(normalise(text)) and len(text) <= LONGEST_QUESTION


def _criteria(policy: Policy) -> dict[str, Any]:
    def shown(section: ClassPolicy) -> dict[str, Any]:
        return {"description": section.description, "examples": section.examples[:EXAMPLES_SHOWN]}

    topics = [
        {
            "name": topic.name,
            "description": topic.description,
            "examples": topic.examples[:EXAMPLES_SHOWN],
        }
        for topic in policy.topics
    ]
    return {
        "must": shown(policy.must),
        "may": shown(policy.may),
        "must_not": shown(policy.must_not) | {"topics": topics},
    }


@cache
def _prompt(language: str) -> str:
    return (files("classifiers.gate") / "prompts" / f"{language}.md").read_text(encoding="utf-8")
