"""Whether passages can answer a question: cosine, BM25, and how much of its words they hold. No model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread

from classifiers.faithfulness.statements.segmentation import script_language, sentences
from classifiers.faithfulness.wording import folded, rarity, terms
from classifiers.retrieval import PassageEvidence, RelevanceVerdict
from classifiers.weights import probability, read_weights
from encoders import Encoded
from encoders.scripts import HAN, HIRAGANA, KATAKANA

__all__ = ["SHIPPED", "EvidenceJudge", "EvidenceModel", "Signals", "asked_about", "signals", "without_asking"]

SHIPPED = Path(__file__).with_name("evidence_weights.json")
LONGEST_QUESTION = 2_000  # characters; more is a pasted document
KANA = re.compile(f"[{HIRAGANA}]")
MEANINGFUL = re.compile(f"[{HAN}{KATAKANA}]")
NAMED = 4  # missing words that a reason spells out
# Words that ask; with them gone, what is left is what is asked about.
ASKING = re.compile(
    r"何(?!度|回)|誰|だれ|どこ|いつ|どの|どれ|どう|どんな|どちら|なぜ|いくら|いくつ|教えて|知りたい|ください|できますか|ですか|ますか|でしょうか"
    r"|什么|谁|哪[个些里年一儿]?|何时|何地|多少|几|怎么样?|如何|为什么|吗|呢|请问|是否"
    r"|\b(?:please|tell|know|want|need|like|explain|describe|kind|type|sort|name|many|much|long|often|possible)\b"
)


@dataclass(frozen=True, slots=True)
class Signals:
    """What speaks for one passage, on scales that don't depend on its length or on the size of the index."""

    cosine: float
    bm25: float  # logarithm of the score per word of the question
    covered: float  # share of the question's words, by rarity, that stand in the passage
    covered_nearby: float  # in three neighbouring sentences
    covered_characters: float  # of its kanji and katakana, one by one: 払えますか finds 支払


@dataclass(frozen=True, slots=True)
class _Weights:
    by_signal: tuple[float, ...]
    bias: float
    incorrect_below: float
    correct_from: float

    def score(self, found: Signals) -> float:
        return probability(self.bias, self.by_signal, astuple(found))


@dataclass(frozen=True, slots=True)
class EvidenceModel:
    """Weights and cuts for words (Latin script) and for characters (Japanese, Chinese).

    A cosine weighs as that of the encoder it was fitted for, and nothing with any other.
    """

    words: _Weights
    characters: _Weights
    judge: str

    @classmethod
    def load(cls, path: Path = SHIPPED, *, encoder: str | None = None) -> EvidenceModel:
        """Read a weights file for the encoder of that name; None: the one that it was fitted for.

        Raises:
            ClassifierError: if the file is missing, unreadable, or made for other signals.
        """
        read = partial(_weights, encoder=encoder)
        return cls(*read_weights(path, read, script="training/fit_evidence.py"))

    def cut_at(self, correct_from: float | None, incorrect_below: float | None) -> EvidenceModel:
        """The same weights with other cuts; None keeps the fitted one."""

        def cut(weights: _Weights) -> _Weights:
            below = weights.incorrect_below if incorrect_below is None else incorrect_below
            upper = weights.correct_from if correct_from is None else correct_from
            return replace(weights, incorrect_below=below, correct_from=max(below, upper))

        return EvidenceModel(cut(self.words), cut(self.characters), self.judge)

    def for_question(self, text: str) -> _Weights:
        """The weights for the writing of a question."""
        return self.words if script_language(text) == "en" else self.characters


class EvidenceJudge:
    """A `RelevanceJudge` without a model. The best passage decides."""

    def __init__(
        self,
        model: EvidenceModel | None = None,
        *,
        correct_from: float | None = None,
        incorrect_below: float | None = None,
    ) -> None:
        """With other cuts than the fitted ones, if given.

        Raises:
            ClassifierError: if the weights can't be read.
        """
        self._model = (model or EvidenceModel.load()).cut_at(correct_from, incorrect_below)

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        """Score each passage; the best one decides, and between the two cuts it is `ambiguous`."""
        return await anyio.to_thread.run_sync(partial(self.judge_now, question.text, passages))

    def judge_now(self, question: str, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        """The same, for callers outside an event loop."""
        judge = self._model.judge
        if not passages:
            return RelevanceVerdict(label="incorrect", scores=(), reason="no passage was found", judge=judge)
        weights = self._model.for_question(question)
        scores = tuple(weights.score(signals(question, passage)) for passage in passages)
        best = max(range(len(scores)), key=lambda i: scores[i])
        label = _label(scores[best], weights)
        if label == "incorrect" and not asked_about(question):
            label = "ambiguous"  # "How does that work?" holds no word that a passage could lack
        return RelevanceVerdict(
            label=label, scores=scores, reason=_reason(label, question, passages[best]), judge=judge
        )


def signals(question: str, passage: PassageEvidence) -> Signals:
    """What speaks for a passage."""
    asked = asked_about(question)
    total = sum(asked.values()) or 1.0
    lines = [set(terms(folded(s.text)).content) for s in sentences(passage.text)]
    windows = [set[str]().union(*lines[max(0, i - 1) : i + 2]) for i in range(len(lines))]
    characters = set(MEANINGFUL.findall(folded(question)))
    return Signals(
        cosine=passage.similarity,
        bm25=math.log1p(max(0.0, passage.bm25) / max(1, len(asked))),
        covered=_covered(asked, set[str]().union(*lines)) / total,
        covered_nearby=max((_covered(asked, window) for window in windows), default=0.0) / total,
        covered_characters=len(characters & set(folded(passage.text))) / len(characters)
        if characters
        else 0.0,
    )


def _covered(asked: Mapping[str, float], there: set[str]) -> float:
    return sum(weight for term, weight in asked.items() if term in there)


def without_asking(question: str) -> str:
    """A question with blanks for the words that only ask."""
    return ASKING.sub(lambda found: " " * len(found[0]), question)


def asked_about(question: str) -> dict[str, float]:
    """The question's own words with their weights; a particle with its noun says half of what a noun says."""
    found = terms(ASKING.sub(" ", folded(question[:LONGEST_QUESTION]))).content
    return {term: rarity(term) * (0.5 if KANA.search(term) else 1.0) for term in found}


def _label(score: float, weights: _Weights) -> Literal["correct", "ambiguous", "incorrect"]:
    if score < weights.incorrect_below:
        return "incorrect"
    return "correct" if score >= weights.correct_from else "ambiguous"


def _reason(label: str, question: str, passage: PassageEvidence) -> str:
    asked = asked_about(question)
    there = set(terms(folded(passage.text)).content)
    missing = sorted(asked.keys() - there, key=lambda term: (-asked[term], term))
    held = f"the best passage holds {len(asked) - len(missing)} of {len(asked)} words of the question"
    return f"{held}; not: {', '.join(missing[:NAMED])}" if missing and label != "correct" else held


def _weights(data: Mapping[str, Any], *, encoder: str | None) -> _Weights:
    fitted = data["meaning" if encoder in (None, data["encoder"]) else "words"]
    by_signal = tuple(float(fitted["weights"][f.name]) for f in fields(Signals))
    return _Weights(
        by_signal, float(fitted["bias"]), float(fitted["incorrect_below"]), float(fitted["correct_from"])
    )
