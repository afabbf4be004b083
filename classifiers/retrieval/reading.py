"""Whether a passage answers a question: what a model reads in it, beside its rank, its meaning and its words.

The model of answers (`encoders/models/answering-e5`) reads the likeliest pieces of all passages, each with
the question. Alone it is too sure of single sentences (docs/experiments/models.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from classifiers import ClassifierError
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.gate.lexical import Rarity, lexical_share
from classifiers.retrieval import PassageEvidence, RelevanceVerdict
from classifiers.retrieval.asking import asked_about
from classifiers.retrieval.pieces import REMEMBERED, Piece, pieces
from classifiers.weights import probability, read_weights
from encoders import Encoded, Encoder, EncoderError
from encoders.memo import MemoEncoder
from encoders.pairs import PairModel
from languages.identification import script_language

__all__ = ["ANSWERS_FROM", "READ", "SHIPPED", "PassageReader", "ReadingJudge", "ReadingModel", "Signals"]

SHIPPED = Path(__file__).with_name("reading_weights.json")

# Which pieces the model reads, about 10 ms each: the likeliest of every passage, then the likeliest of all.
READ = 12
MOST_OF_A_LIST = 3  # items, beside the list as a whole
# What the model itself takes for no answer is never called correct. At the helpdesks of training/desks this
# costs no right answer; of what nothing answers (`benchmarks.quotations`) half as much is quoted.
ANSWERS_FROM = 1.0  # log odds
MEANING_WEIGHT = 2.0
PASSAGE_WEIGHT = 0.5  # the subject often stands in the heading or in the sentence before
RANK_WEIGHT = 1.5
_SILENT = -8.0  # log odds of a passage that is not there


@dataclass(frozen=True, slots=True)
class Signals:
    """What speaks for one passage."""

    answers: float  # log odds by the model that a piece answers, of its likeliest one
    ahead: float  # of the likeliest piece of any other passage
    first: float  # 1 / rank in the search
    cosine: float  # of the question and the piece that is nearest to it
    piece_words: float  # share of the question's words, of those that any passage holds, in one piece
    passage_words: float  # in the passage with its headings
    heading_words: float  # in its headings


@dataclass(frozen=True, slots=True)
class _Weights:
    by_signal: tuple[float, ...]
    bias: float
    incorrect_below: float
    correct_from: float

    def score(self, found: Signals) -> float:
        return probability(self.bias, self.by_signal, astuple(found))

    def label(self, score: float) -> Literal["correct", "ambiguous", "incorrect"]:
        if score < self.incorrect_below:
            return "incorrect"
        return "correct" if score >= self.correct_from else "ambiguous"


@dataclass(frozen=True, slots=True)
class ReadingModel:
    """Weights and cuts for words (Latin script) and for characters (Japanese, Chinese).

    A cosine weighs as that of the encoder it was fitted for, and nothing with any other.
    """

    words: _Weights
    characters: _Weights
    judge: str
    reads_meaning: bool

    @classmethod
    def load(cls, path: Path = SHIPPED, *, encoder: str | None = None) -> ReadingModel:
        """Read a weights file for the encoder of that name; None: the one that it was fitted for.

        Raises:
            ClassifierError: if the file is missing, unreadable, or made for other signals.
        """
        words, characters, judge = read_weights(path, dict, script="training/fit_reading.py")
        reads_meaning = encoder in (None, words["encoder"])
        kind = "meaning" if reads_meaning else "words"
        return cls(_weights(words[kind]), _weights(characters[kind]), judge, reads_meaning)

    def cut_at(self, correct_from: float | None, incorrect_below: float | None) -> ReadingModel:
        """The same weights with other cuts; None keeps the fitted one."""

        def cut(weights: _Weights) -> _Weights:
            below = weights.incorrect_below if incorrect_below is None else incorrect_below
            upper = weights.correct_from if correct_from is None else correct_from
            return replace(weights, incorrect_below=below, correct_from=max(below, upper))

        return replace(self, words=cut(self.words), characters=cut(self.characters))

    def for_question(self, text: str) -> _Weights:
        """The weights for the writing of a question."""
        return self.words if script_language(text) == "en" else self.characters


@dataclass(frozen=True, slots=True)
class _Likely:
    """A piece that may answer, and what its words and its meaning say."""

    at: int  # which passage
    piece: Piece
    words: float
    cosine: float
    likely: float


class PassageReader:
    """Reads passages with a question: what speaks for each."""

    def __init__(self, encoder: Encoder, reader: PairModel, *, reads_meaning: bool = True) -> None:
        """`reads_meaning`: whether cosines of this encoder count, where it knows the language."""
        # The same passages are read again and again: 32,768 pieces are 48 MiB with the shipped encoder.
        self._encoder = MemoEncoder(encoder, size=32_768)
        self._reader = reader
        self._reads_meaning = reads_meaning

    async def signals(self, question: Encoded, passages: Sequence[PassageEvidence]) -> list[Signals | None]:
        """What speaks for each passage; None where there is nothing to read.

        Raises:
            EncoderError: if one of the models could not be run.
        """
        asked, read = await self._likeliest(question, passages)
        pairs = [(question.text, passages[one.at].headed(one.piece.text)) for one in read]
        logits = await self._reader.scores(pairs) if read else ()
        answers: dict[int, float] = {}
        for one, logit in zip(read, logits, strict=True):
            answers[one.at] = max(float(logit), answers.get(one.at, -np.inf))
        signals: list[Signals | None] = []
        for at, passage in enumerate(passages):
            if at not in answers:
                signals.append(None)
                continue
            here = [one for one in read if one.at == at]
            others = [of for other, of in answers.items() if other != at]
            signals.append(
                Signals(
                    answers=answers[at],
                    ahead=answers[at] - max(others, default=_SILENT),
                    first=1 / (at + 1),
                    cosine=max(one.cosine for one in here),
                    piece_words=max(one.words for one in here),
                    passage_words=asked.share(passage.shown),
                    heading_words=asked.share(passage.heading),
                )
            )
        return signals

    async def likeliest(
        self, question: Encoded, passages: Sequence[PassageEvidence]
    ) -> list[tuple[int, str]]:
        """What the model is given to read: which passage it is of, and a piece under its headings.

        Raises:
            EncoderError: if the encoder could not be run.
        """
        _, read = await self._likeliest(question, passages)
        return [(one.at, passages[one.at].headed(one.piece.text)) for one in read]

    async def _likeliest(
        self, question: Encoded, passages: Sequence[PassageEvidence]
    ) -> tuple[_Asked, list[_Likely]]:
        asked = _Asked.of(question.text, passages)
        found = [await self._of(question, asked, at, passage) for at, passage in enumerate(passages)]
        return asked, list(_chosen(found))

    async def _of(self, question: Encoded, asked: _Asked, at: int, passage: PassageEvidence) -> list[_Likely]:
        """The pieces of a passage, and how likely the answer is in each before it is read."""
        there = pieces(passage.text)
        cosines = await self._cosines(question, passage, there)
        of_passage = PASSAGE_WEIGHT * asked.share(passage.shown) + RANK_WEIGHT / (at + 2)
        words = [asked.share(piece.text) for piece in there]
        return [
            _Likely(at, piece, held, cosine, of_passage + held + MEANING_WEIGHT * cosine)
            for piece, held, cosine in zip(there, words, cosines, strict=True)
        ]

    async def _cosines(
        self, question: Encoded, passage: PassageEvidence, there: Sequence[Piece]
    ) -> list[float]:
        """Of a passage at a time, as the memory holds what comes in small calls."""
        readable = self._encoder.identity.may_read(script_language(question.text))
        if not there or not (self._reads_meaning and readable):
            return [0.0] * len(there)
        vectors = await self._encoder.encode([f"{passage.last_heading}. {one.text}" for one in there])
        return [float(cosine) for cosine in vectors @ question.vector]


class ReadingJudge:
    """A `RelevanceJudge` that reads. The best passage decides."""

    def __init__(
        self,
        encoder: Encoder,
        reader: PairModel,
        model: ReadingModel | None = None,
        *,
        correct_from: float | None = None,
        incorrect_below: float | None = None,
    ) -> None:
        """With other cuts than the fitted ones, if given.

        Raises:
            ClassifierError: if the weights can't be read.
        """
        model = model or ReadingModel.load(encoder=encoder.identity.name)
        self._model = model.cut_at(correct_from, incorrect_below)
        self._reader = PassageReader(encoder, reader, reads_meaning=model.reads_meaning)

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        """Score each passage; the best one decides, and between the two cuts it is `ambiguous`."""
        judge, weights = self._model.judge, self._model.for_question(question.text)
        if not passages:
            return RelevanceVerdict(label="incorrect", scores=(), reason="no passage was found", judge=judge)
        try:
            signals = await self._reader.signals(question, passages)
        except EncoderError as exc:
            raise ClassifierError(f"the passages could not be read: {exc}") from exc
        scores = tuple(weights.score(one) if one else 0.0 for one in signals)
        best = max(range(len(scores)), key=lambda i: scores[i])
        label, reason = weights.label(scores[best]), _reason(passages[best], scores[best], weights)
        decides = signals[best]
        if label == "correct" and decides and decides.answers < ANSWERS_FROM:
            label, reason = "ambiguous", f"{reason}, but no sentence of it does by itself"
        if label == "incorrect" and not asked_about(question.text):
            label = "ambiguous"  # "How does that work?" holds no word that a passage could lack
        return RelevanceVerdict(label=label, scores=scores, reason=reason, judge=judge)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question against the passages that were found for it."""

    text: str
    rarity: Rarity
    held: float  # by all passages together; a word that none of them holds tells nothing

    @classmethod
    def of(cls, text: str, passages: Sequence[PassageEvidence]) -> _Asked:
        rarity = Rarity.fitted(sentence for passage in passages for sentence in _sentences(passage.text))
        return cls(text, rarity, lexical_share(text, "\n".join(one.shown for one in passages), rarity))

    def share(self, text: str) -> float:
        """How much of what can be answered stands in a text, 0..1."""
        return lexical_share(self.text, text, self.rarity) / self.held if self.held else 0.0


@lru_cache(maxsize=REMEMBERED)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in sentences(text))


def _chosen(found: Sequence[Sequence[_Likely]]) -> Iterator[_Likely]:
    """What is read: the likeliest piece of each passage, then the likeliest of the others.

    Of the items of one list only a few, which would leave nothing else to read.
    """
    firsts = [max(of_passage, key=lambda one: one.likely) for of_passage in found if of_passage]
    yield from firsts
    others = sorted((one for of_passage in found for one in of_passage), key=lambda one: -one.likely)
    items, left = Counter[tuple[int, int]](), READ - len(firsts)
    for one in others:
        if left <= 0:
            return
        if any(one is first for first in firsts):
            continue
        if one.piece.item_of is not None:
            items[one.at, one.piece.item_of] += 1
            if items[one.at, one.piece.item_of] > MOST_OF_A_LIST:
                continue
        left -= 1
        yield one


def _reason(passage: PassageEvidence, score: float, weights: _Weights) -> str:
    named = f" (“{passage.last_heading}”)" if passage.last_heading else ""
    return f"the likeliest passage{named} answers it with {score:.2f} of the {weights.correct_from:.2f} asked"


def _weights(data: Mapping[str, Any]) -> _Weights:
    by_signal = tuple(float(data["weights"][f.name]) for f in fields(Signals))
    cuts = float(data["incorrect_below"]), float(data["correct_from"])
    return _Weights(by_signal, float(data["bias"]), *cuts)
