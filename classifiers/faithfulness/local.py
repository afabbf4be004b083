"""The default judge: what words say of a statement, weighed with what a model reads beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import anyio.to_thread

from classifiers import ClassifierError
from classifiers.faithfulness import FaithfulnessVerdict, StatementVerdict, Unchecked, verdict_of
from classifiers.faithfulness.evidence import Contexts, Evidence, Features
from classifiers.faithfulness.examination import NO_PLACE, Examined, examine
from classifiers.faithfulness.one_script import Texts
from classifiers.faithfulness.statements import Statement
from classifiers.faithfulness.weighing import BELOW_CUT, EvidenceModel, weighed
from encoders import EncoderError
from encoders.pairs import PairModel
from languages.identification import script_language

__all__ = ["FIGURES", "SHIPPED", "LocalJudge", "Pair", "contradicted", "figures", "to_read"]

SHIPPED: Final = Path(__file__).with_name("local_weights.json")
FIGURES: Final = (*Features.names(), "reading", "doubted_words")
SUREST: Final = 4.0  # log odds beyond which a reading says no more
UNREAD: Final = 0.0  # log odds of what is not read: they say nothing
# Log odds above which a reading overrules what contradicts a statement. Of reworded ones that only a negation
# speaks against 53 of 75 true ones pass by it and 17 of 72 false ones, of those with another number 44 of 283
# and 18 of 468 (training/answers and kept statements, RAGTruth, FactCG).
OVERRULED: Final = {
    "negation_added": 0.0,
    "negation_dropped": 0.0,
    "new_numbers": 1.5,
    "other_units": 1.5,
    "exchanged": 1.5,
    "crossed": 1.5,
}
# What stands under the wrong heading is read as true where its words stand below the right one.
OF_AN_ITEM: Final = {"crossed": 2.0}
# Of copies with another negation 8 of 42 true ones and none of 78 false ones (the same, and the passages' own
# sentences beside their sisters); with other numbers, or parts turned round, false ones are read as true.
OVERRULED_IN_A_COPY: Final = {"negation_added": 2.0, "negation_dropped": 2.0}

# When the reading of a statement holds it back though its words stand there: "needs a credit card" where none
# is needed. Long ones are misread, those whose subject stands before them, and items of lists, so only a
# plain reading is believed of a longer one. Of statements that pass by their words the first row stops 149 of
# 478 false ones and 40 of 1,357 true ones (training/answers and kept statements). The others were chosen with
# RAGTruth, JHARS and our probes in view: some 20 more of 780 wrong answers, and 8 of 1,130 right ones.
DOUBTS: Final = (  # log odds; share of its words that the sentences beside it leave open; characters
    (-1.75, 0.7, {"en": 60, "ja": 36, "zh": 36}),
    (-2.5, 0.85, {"en": 60, "ja": 36, "zh": 36}),
    (-3.3, 0.7, {"en": 80, "ja": 48, "zh": 48}),
)
OPENS_WITH_PRONOUN: Final = re.compile(
    r"(?:it|its|they|their|this|that|these|those|he|she)\b|[こそ][れの]|[这那它]", re.I
)
READ_AGAINST: Final = "its words stand there, but read as something else"

Pair = tuple[str, str]  # the sentences that are read, and the statement


def figures(evidence: Evidence, reading: float) -> tuple[float, ...]:
    """All that is weighed, in the order of `FIGURES`; each speaks against a statement as it grows.

    New words count twice: by themselves, and as far as the reading doubts the statement. Of answers in other
    words than their passages the reading tells which are true, of invented ones the new words do.
    """
    sure = max(-SUREST, min(SUREST, reading))
    doubt = 1 / (1 + math.exp(sure))
    return (*evidence.features.values(), -sure, evidence.features.new_content * doubt)


def contradicted(evidence: Evidence, reading: float) -> bool:
    """Whether a statement is held back whatever its score, as no reading overrules what contradicts it."""
    overruled = OVERRULED_IN_A_COPY
    if evidence.reworded:
        overruled = OVERRULED | OF_AN_ITEM if evidence.introduced else OVERRULED
    return any(reading <= overruled.get(name, math.inf) for name in evidence.features.contradictions)


def _believed_below(statement: Statement, evidence: Evidence) -> float:
    """The log odds below which a reading against a statement is believed though its words stand there."""
    claim = statement.claim
    if evidence.copied or statement.introduction or OPENS_WITH_PRONOUN.match(claim):
        return -math.inf
    language, left_open = script_language(claim), evidence.features.uncovered_window
    fitting = (
        below for below, most, longest in DOUBTS if left_open <= most and len(claim) < longest[language]
    )
    return max(fitting, default=-math.inf)


def to_read(statement: Statement, evidence: Evidence, known: Contexts) -> Pair | float:
    """What a model has to read of a statement; the log odds where that goes without reading."""
    if evidence.quoted:
        return SUREST
    window, readable = known.read_with(statement.introduced)
    return (window, readable) if window else -SUREST


@dataclass(frozen=True, slots=True)
class _Doubt:
    """A statement, and what reading it could change."""

    examined: Examined
    asked: Pair | float  # what is to be read; where nothing is, its log odds
    decides: bool  # whether the surest readings for and against it end in two verdicts


class LocalJudge:
    """A `FaithfulnessJudge` of words, characters, numbers, names, negation, and of a model of ours.

    What contradicts the contexts holds a statement back by itself, unless it is said in other words and read
    as supported; so does a reading that is plainly against a short one. The model reads the sentences of the
    contexts that share a statement's words, and the statement, but only where that can change the verdict: a
    reading takes as long as all other evidence of a statement. What is not read has its score from words.

    Args:
        reader: gives the log odds that the first text supports the second.
        cut: supported from this probability on, in every language; None: the model's own.
    """

    def __init__(
        self, reader: PairModel, model: EvidenceModel | None = None, *, cut: float | None = None
    ) -> None:
        self._reader = reader
        self._own = model or EvidenceModel.load(SHIPPED, FIGURES)
        self._model = self._own.at(cut)

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """Judge each statement alone; the worst one decides."""
        written = Texts.of(answer, contexts, question)
        read = written.in_one_script()
        return written.as_written(await self._judge(read), read)

    async def _judge(self, texts: Texts) -> FaithfulnessVerdict:
        work = partial(self._examined, texts)
        doubts = await anyio.to_thread.run_sync(work)
        if isinstance(doubts, Unchecked):
            return doubts
        readings = await self._readings([doubt.asked for doubt in doubts])
        verdicts = [self._verdict(doubt, reading) for doubt, reading in zip(doubts, readings, strict=True)]
        return verdict_of(verdicts, judge=self._model.judge)

    def _examined(self, texts: Texts) -> list[_Doubt] | Unchecked:
        """The statements with their evidence, and what is to be read of each."""
        known = Contexts(texts.contexts)
        examined = examine(texts.answer, known, texts.question, judge=self._model.judge)
        return examined if isinstance(examined, Unchecked) else [self._doubt(one, known) for one in examined]

    def _doubt(self, one: Examined, known: Contexts) -> _Doubt:
        """What is to be read of a statement, if anything; else what its words leave open."""
        decides = self._decides(one)
        if not decides and not self._may_be_doubted(one):
            return _Doubt(one, UNREAD, decides)
        asked = to_read(one.statement, one.evidence, known)
        return _Doubt(one, UNREAD if isinstance(asked, float) and not decides else asked, decides)

    def _may_be_doubted(self, one: Examined) -> bool:
        """Whether its words let a statement pass that its reading may hold back."""
        if _believed_below(one.statement, one.evidence) == -math.inf or contradicted(one.evidence, UNREAD):
            return False
        return self._model.for_text(one.statement.text).supports(figures(one.evidence, UNREAD))

    def _decides(self, one: Examined) -> bool:
        """Whether the surest readings for and against a statement end in two verdicts."""
        weights = self._model.for_text(one.statement.text)
        most, least = (
            weights.supports(figures(one.evidence, reading)) and not contradicted(one.evidence, reading)
            for reading in (SUREST, -SUREST)
        )
        return most and not least

    async def _readings(self, asked: Sequence[Pair | float]) -> list[float]:
        pairs = [one for one in asked if not isinstance(one, float)]
        try:
            read = iter(await self._reader.scores(pairs))
        except EncoderError as exc:
            raise ClassifierError(str(exc)) from exc
        return [one if isinstance(one, float) else float(next(read)) for one in asked]

    def _verdict(self, doubt: _Doubt, reading: float) -> StatementVerdict:
        one, read = doubt.examined, not isinstance(doubt.asked, float)
        doubted = read and not doubt.decides and reading < _believed_below(one.statement, one.evidence)
        weighing = reading if doubt.decides else UNREAD  # what could change nothing has its score from words
        verdict = weighed(
            one,
            figures(one.evidence, weighing),
            self._model,
            contradicted=contradicted(one.evidence, reading),
            at_most=BELOW_CUT * self._own.for_text(one.statement.text).cut if doubted else 1.0,
        )
        return replace(verdict, reason=READ_AGAINST) if verdict.reason == NO_PLACE and doubted else verdict
