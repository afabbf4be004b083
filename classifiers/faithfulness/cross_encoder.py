"""The check by a model that reads a place of the contexts and a statement together, and nothing else.

Words and vectors only choose the places; the model alone says whether one of them supports the statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio.to_thread
import numpy as np

from classifiers import ClassifierError
from classifiers.faithfulness import (
    FaithfulnessVerdict,
    PassageSpan,
    StatementVerdict,
    Unchecked,
    verdict_of,
)
from classifiers.faithfulness.evidence import Contexts
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.placing import new_parts
from classifiers.faithfulness.said import readable
from classifiers.faithfulness.statements import Statement, statements_to_judge
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.faithfulness.wording import weight
from encoders import Encoder, EncoderError

__all__ = ["CrossEncoderJudge", "ReadsPairs"]

MOST_STATEMENTS = 200
MOST_SENTENCES = 2_000  # of the contexts; beyond, only words choose
BY_WORDS = 3  # windows that are read for a statement
BY_VECTORS = 2


class ReadsPairs(Protocol):
    """A model that reads two texts at once."""

    @property
    def name(self) -> str: ...

    async def supported(self, pairs: Sequence[tuple[str, str]], /) -> Sequence[float]:
        """For each text and statement the probability that the text supports the statement.

        Raises:
            EncoderError: if the model can't read them.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence of the contexts, and the window around it."""

    span: PassageSpan
    window: str
    content: frozenset[str]


class CrossEncoderJudge:
    """A `FaithfulnessJudge` of one model.

    Args:
        encoder: finds places that say the same in other words; without it only words do.
        cut: supported from this probability on.
    """

    def __init__(self, model: ReadsPairs, encoder: Encoder | None = None, *, cut: float = 0.5) -> None:
        self._model = model
        self._encoder = encoder
        self._cut = cut

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """Judge each statement by the window that supports it most."""
        judge = self._model.name
        found = statements_to_judge(answer, question or "", most=MOST_STATEMENTS)
        if isinstance(found, str):
            return Unchecked(reason=found, judge=judge)
        places = await anyio.to_thread.run_sync(partial(_places, contexts))
        if not places:
            return Unchecked(reason="no_contexts", judge=judge)
        try:
            return verdict_of(await self._verdicts(found, places, contexts), judge=judge)
        except EncoderError as exc:
            raise ClassifierError(str(exc)) from exc

    async def _verdicts(
        self, found: Sequence[Statement], places: Sequence[_Place], contexts: Sequence[str]
    ) -> list[StatementVerdict]:
        claims = [readable(each.claim) for each in found]
        chosen = await self._chosen(claims, places)
        pairs = [
            (places[at].window, claim) for claim, mine in zip(claims, chosen, strict=True) for at in mine
        ]
        scores = iter(await self._model.supported(pairs))
        best = [max((next(scores), -at) for at in mine) for mine in chosen]
        known = await anyio.to_thread.run_sync(partial(Contexts, contexts))
        return [
            self._verdict(statement, score, places[-at].span, known)
            for statement, (score, at) in zip(found, best, strict=True)
        ]

    def _verdict(
        self, statement: Statement, score: float, span: PassageSpan, known: Contexts
    ) -> StatementVerdict:
        supported = score >= self._cut
        return StatementVerdict(
            text=statement.text,
            start=statement.start,
            end=statement.end,
            state="supported" if supported else "unsupported",
            score=score,
            reason="supported" if supported else "no_place",
            judge=self._model.name,
            new=() if supported else new_parts(known.evidence(statement.claim).novelty),
            span=span,
        )

    async def _chosen(self, claims: Sequence[str], places: Sequence[_Place]) -> list[list[int]]:
        """For each statement the places to read: those that share its words, those that mean the like."""
        by_words = [_most(_shared(claim, places), BY_WORDS) for claim in claims]
        if self._encoder is None or len(places) > MOST_SENTENCES:
            return by_words
        vectors = await self._encoder.encode([*claims, *(place.span.text for place in places)])
        near = vectors[: len(claims)] @ vectors[len(claims) :].T
        return [
            list(dict.fromkeys([*mine, *_most(near[row], BY_VECTORS)])) for row, mine in enumerate(by_words)
        ]


def _places(contexts: Sequence[str]) -> list[_Place]:
    return [place for number, context in enumerate(contexts) for place in _of_passage(number, context)]


def _of_passage(number: int, context: str) -> list[_Place]:
    """Each sentence with its neighbours: what "it" means often stands in the one before."""
    found = sentences(context)
    places = []
    for at, one in enumerate(found):
        start, end = found[max(0, at - 1)].start, found[min(at + 1, len(found) - 1)].end
        span = PassageSpan(number, one.start, one.end, one.text)
        places.append(_Place(span, " ".join(context[start:end].split()), Line(one.text).content))
    return places


def _shared(claim: str, places: Sequence[_Place]) -> Sequence[float]:
    content = Line(claim).content
    return [weight(content & place.content) for place in places]


def _most(scores: Sequence[float], count: int) -> list[int]:
    return [int(at) for at in np.argsort(-np.asarray(scores), kind="stable")[:count]]
