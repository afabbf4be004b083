"""The default judge: lexical evidence for each statement, weighed by a logistic model for its writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread

from classifiers import ClassifierError
from classifiers.faithfulness import (
    FaithfulnessVerdict,
    StatementVerdict,
    Unchecked,
    verdict_of,
)
from classifiers.faithfulness.evidence import Contexts, Evidence, Features, Novelty
from classifiers.faithfulness.placing import new_parts, span_of
from classifiers.faithfulness.statements import Statement, statements_to_judge
from classifiers.faithfulness.statements.segmentation import script_language
from classifiers.weights import probability, read_weights

__all__ = ["SHIPPED", "LexicalJudge", "LexicalModel", "Weights", "Writing", "foreign", "writing"]

SHIPPED = Path(__file__).with_name("lexical_weights.json")
Writing = Literal["words", "characters"]
FOREIGN = 0.8  # share of new words above which an answer in another writing than its contexts is not judged
MOST_STATEMENTS = 1_000
BELOW_CUT = 0.99
NAMED = 5  # new words that a reason spells out


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic model over `Features`, and the score below which a statement is not supported."""

    by_feature: Mapping[str, float]
    bias: float
    cut: float

    def score(self, features: Features) -> float:
        """Probability that the statement is supported."""
        weights = (self.by_feature[name] for name in Features.names())
        return probability(self.bias, weights, features.values())


@dataclass(frozen=True, slots=True)
class LexicalModel:
    """The weights for words (Latin script) and for characters, with a cut for each language."""

    by_language: Mapping[str, Weights]
    judge: str

    @classmethod
    def load(cls, path: Path = SHIPPED) -> LexicalModel:
        """Read a weights file.

        Raises:
            ClassifierError: if the file is missing, unreadable, or made for other features.
        """
        words, characters, judge = read_weights(path, _weights, script="training/fit_faithfulness.py")
        return cls(words | characters, judge)

    def for_text(self, text: str) -> Weights:
        """The weights for the language of a text, by its script."""
        return self.by_language[script_language(text)]


def _weights(data: Mapping[str, Any]) -> dict[str, Weights]:
    by_feature = {name: float(data["weights"][name]) for name in Features.names()}
    bias = float(data["bias"])
    return {language: Weights(by_feature, bias, float(cut)) for language, cut in data["cuts"].items()}


class LexicalJudge:
    """A `FaithfulnessJudge` without a model: words, characters, numbers, names, negation."""

    def __init__(self, model: LexicalModel | None = None, *, cut: float | None = None) -> None:
        if cut is not None and not 0 <= cut <= 1:
            raise ClassifierError(f"cut: expected a probability from 0 to 1, not {cut}")
        self._model = model or LexicalModel.load()
        self._cut = cut

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """Judge each statement alone; the worst one decides."""
        return await anyio.to_thread.run_sync(partial(self.judge_now, answer, contexts, question=question))

    def judge_now(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """The same, for callers outside an event loop."""
        judge = self._model.judge
        found = statements_to_judge(answer, most=MOST_STATEMENTS)
        if isinstance(found, str):
            return Unchecked(reason=found, judge=judge)
        known = Contexts(contexts)
        if not len(known):
            return Unchecked(reason="no_contexts", judge=judge)
        evidence = [known.evidence(each.claim, question or "", written=each.text) for each in found]
        verdicts = [self._verdict(s, e) for s, e in zip(found, evidence, strict=True)]
        if foreign(answer, contexts, evidence):
            reason = "other_language"
            open_ones = tuple(
                replace(one, state="unchecked", score=None, reason=reason, new=()) for one in verdicts
            )
            return Unchecked(reason=reason, judge=judge, statements=open_ones)
        return verdict_of(verdicts, judge=judge)

    def _verdict(self, statement: Statement, evidence: Evidence) -> StatementVerdict:
        weights = self._model.for_text(statement.text)
        cut = weights.cut if self._cut is None else self._cut
        score = weights.score(evidence.features)
        if evidence.features.contradicted:
            # Held back, however well the rest is covered, but ranked with the doubtful ones: on answers of
            # real RAG a contradiction is more often misread than new words are.
            score = min(score, cut * BELOW_CUT)
        supported = score >= cut and not evidence.features.contradicted
        return StatementVerdict(
            text=statement.text,
            start=statement.start,
            end=statement.end,
            state="supported" if supported else "unsupported",
            score=score,
            reason="supported" if supported else _why_not(evidence.novelty),
            judge=self._model.judge,
            new=new_parts(evidence.novelty),
            span=span_of(evidence.best),
        )


def writing(text: str) -> Writing:
    """Whether a text is made of words or, as Japanese and Chinese, of characters."""
    return "words" if script_language(text) == "en" else "characters"


def foreign(answer: str, contexts: Sequence[str], evidence: Sequence[Evidence]) -> bool:
    """Words cannot be compared across languages, and that is no evidence against the answer."""
    if writing(answer) == writing("\n".join(contexts)):
        return False
    return all(len(e.novelty.words) > FOREIGN * e.novelty.word_count for e in evidence)


def _why_not(novelty: Novelty) -> str:
    """What a reviewer should look at first."""
    words = f"{len(novelty.words)} of {novelty.word_count} words not in any context"
    reasons = (
        _told("new number", novelty.numbers),
        _told("number with another unit", novelty.other_units),
        _told("opposite", _pairs(novelty.opposites)),
        _told("another name", _pairs(novelty.exchanged)),
        _told("stronger or weaker", _pairs(novelty.degrees)),
        _told("the other way round", _pairs(novelty.swapped)),
        _told("told of another subject", _pairs(novelty.crossed)),
        "negation differs" if novelty.negation else "",
        _told("new name", novelty.names[:NAMED]),
        _told(words, novelty.words[:NAMED]),
        _told("number stands elsewhere in the contexts", novelty.far_numbers),
    )
    return "; ".join(filter(None, reasons)) or "no_place"


def _told(what: str, found: Sequence[str]) -> str:
    return f"{what}: {', '.join(found)}" if found else ""


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{mine} / {theirs}" if theirs else mine for mine, theirs in pairs]
