"""Statements of a text, and whether other texts support them: by local evidence, or by a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio.to_thread

from classifiers import ClassifierError
from classifiers.faithfulness.evidence import Contexts, Features
from classifiers.faithfulness.examination import foreign
from classifiers.faithfulness.lexical import shipped_weights
from classifiers.faithfulness.llm import LlmJudge
from classifiers.faithfulness.statements import Statement, statements
from classifiers.faithfulness.weighing import EvidenceModel
from classifiers.text import has_words
from evaluation.metrics.examiner import Examiner, Steps

__all__ = ["AskedStatements", "LocalStatements", "StatementJudge", "Support"]


@dataclass(frozen=True, slots=True)
class Support:
    """One statement and how far the texts support it."""

    statement: str
    share: float  # 0..1; 0 or 1 from a model that says yes or no
    supported: bool  # the verdict, by the judge's own cut
    reason: str = ""


class StatementJudge(Protocol):
    """Takes texts apart and judges the parts. Raises `ClassifierError` when it can't."""

    @property
    def version(self) -> str: ...

    async def split(self, text: str, question: str, /, *, language: str, steps: Steps) -> list[str]:
        """The statements of a text; none if it claims nothing."""
        ...

    async def support(
        self, found: Sequence[str], texts: Sequence[str], question: str, /, *, language: str, steps: Steps
    ) -> list[Support]:
        """A verdict for each statement, in order."""
        ...


class LocalStatements:
    """Without a model: the statements of the faithfulness judge, and its evidence.

    `share` is the mean of two figures: the part of the statement's words, by rarity, that the texts have,
    and the judge's probability of support. The first alone overlooks numbers and negations; the second
    alone was fitted for answers beside the passages they were written from, and asks for more than another
    person's wording has. Of a statement that the texts contradict ("500 yen" beside "300 yen") half of it
    counts: it has their words, and is wrong.
    """

    def __init__(self, model: EvidenceModel | None = None) -> None:
        self._model = model or shipped_weights()

    @property
    def version(self) -> str:
        """The judge whose evidence it is."""
        return f"shares@2:{self._model.judge}"

    async def split(self, text: str, question: str, /, *, language: str, steps: Steps) -> list[str]:
        """The statements, or the whole text where it makes none: "42" and "I don't know" count, too."""
        found = [each.claim for each in statements(text, question)]
        return found or ([text.strip()] if has_words(text) else [])

    async def support(
        self, found: Sequence[str], texts: Sequence[str], question: str, /, *, language: str, steps: Steps
    ) -> list[Support]:
        """Evidence for each; texts in another language are no evidence at all."""
        return await anyio.to_thread.run_sync(partial(self._support, found, texts, question))

    def _support(self, found: Sequence[str], texts: Sequence[str], question: str) -> list[Support]:
        known = Contexts(texts)
        if not found or not len(known):
            return [Support(each, 0.0, supported=False) for each in found]
        numbers = known.worked_out(found, question)
        evidence = [known.evidence(each, question, worked_out=numbers) for each in found]
        if foreign("\n".join(found), texts, evidence):
            raise ClassifierError("the texts are in two languages, and words can't be compared across them")
        return [self._supported(each, one.features) for each, one in zip(found, evidence, strict=True)]

    def _supported(self, statement: str, features: Features) -> Support:
        weights = self._model.for_text(statement)
        score = weights.score(features.values())
        share = min(1.0, max(0.0, (1 - features.new_content + score) / 2))
        contradicted = features.contradicted
        supported = score >= weights.cut and not contradicted
        return Support(statement, share / 2 if contradicted else share, supported=supported)


class AskedStatements:
    """By a language model, in the two steps of RAGAS (Es et al. 2023), asked as the gateway asks them."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner

    @property
    def version(self) -> str:
        """The prompts and the model."""
        return f"{self._judge({}).name}:{self._examiner.version}"

    async def split(self, text: str, question: str, /, *, language: str, steps: Steps) -> list[str]:
        """The model's statements, and each sentence that none of them takes up."""
        return [each.claim for each in await self._judge(steps).split(text, question)]

    async def support(
        self, found: Sequence[str], texts: Sequence[str], question: str, /, *, language: str, steps: Steps
    ) -> list[Support]:
        """A verdict for each, in order; if one is missing or can't be read there is none."""
        if not found:
            return []
        claims = [Statement(each, 0, len(each)) for each in found]
        judged = await self._judge(steps).verdicts(claims, texts)
        unchecked = sum(each.state == "unchecked" for each in judged)
        if unchecked:
            raise ClassifierError(f"the model gave no verdict on {unchecked} of {len(found)} statements")
        return [
            Support(each, float(one.supported), supported=one.supported, reason=one.reason)
            for each, one in zip(found, judged, strict=True)
        ]

    def _judge(self, steps: Steps) -> LlmJudge:
        return LlmJudge(self._examiner.recorded(steps), timeout_s=self._examiner.timeout_s)
