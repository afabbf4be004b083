"""Statements of a text, and whether other texts support them: by local evidence, or by a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol

import anyio.to_thread
from pydantic import BaseModel

from classifiers import ClassifierError
from classifiers.faithfulness.evidence import Contexts
from classifiers.faithfulness.lexical import LexicalModel, writing
from classifiers.faithfulness.statements import statements
from classifiers.text import has_words
from evaluation.metrics.asking import Examiner, Steps

__all__ = ["AskedStatements", "LocalStatements", "StatementJudge", "Support"]

OTHER_LANGUAGE = 0.2  # of a statement's words at most that texts in two languages share


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
    person's wording has.
    """

    def __init__(self, model: LexicalModel | None = None) -> None:
        self._model = model or LexicalModel.load()

    @property
    def version(self) -> str:
        """The judge whose evidence it is."""
        return f"shares@1:{self._model.judge}"

    async def split(self, text: str, question: str, /, *, language: str, steps: Steps) -> list[str]:
        """The statements, or the whole text where it makes none: "42" and "I don't know" count, too."""
        found = [each.claim for each in statements(text)]
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
        shares, verdicts = [], []
        for each in found:
            features, weights = known.evidence(each, question).features, self._model.for_text(each)
            score = weights.score(features)
            shares.append((1 - features.new_content, score))
            verdicts.append(score >= weights.cut)
        foreign = writing("\n".join(found)) != writing("\n".join(texts))
        if foreign and max(words for words, _ in shares) < OTHER_LANGUAGE:
            raise ClassifierError("the texts are in two languages, and words can't be compared across them")
        return [
            Support(each, min(1.0, max(0.0, (words + score) / 2)), supported=verdict)
            for each, (words, score), verdict in zip(found, shares, verdicts, strict=True)
        ]


class _Statements(BaseModel):
    statements: list[str]


class _Verdict(BaseModel):
    statement: str
    reason: str
    verdict: Literal[0, 1]


class _Verdicts(BaseModel):
    statements: list[_Verdict]


class AskedStatements:
    """By a language model, in the two steps of RAGAS (Es et al. 2023): statements, then verdicts."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner

    @property
    def version(self) -> str:
        """The prompts and the model."""
        return self._examiner.version

    async def split(self, text: str, question: str, /, *, language: str, steps: Steps) -> list[str]:
        """What the model takes for statements; empty ones are none."""
        given = {"question": question, "answer": text}
        read = await self._examiner.ask("statements", _Statements, given, language=language, steps=steps)
        return [each for each in read.statements if each.strip()]

    async def support(
        self, found: Sequence[str], texts: Sequence[str], question: str, /, *, language: str, steps: Steps
    ) -> list[Support]:
        """A verdict for each, in order; with more or fewer verdicts than statements there is none."""
        if not found:
            return []
        given = {"context": "\n".join(texts), "statements": list(found)}
        read = await self._examiner.ask("verdicts", _Verdicts, given, language=language, steps=steps)
        if len(read.statements) != len(found):
            raise ClassifierError(
                f"the model gave {len(read.statements)} verdicts on {len(found)} statements"
            )
        return [
            Support(each, float(one.verdict), supported=one.verdict == 1, reason=one.reason)
            for each, one in zip(found, read.statements, strict=True)
        ]
