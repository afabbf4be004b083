"""How far the detector yields to the operator: it learnt what harm sounds like, not what a helpdesk is for.

A helpdesk for security asks how attackers work, and its examples show it by the suspicion that they raise.
From a handful the detector foresees how high the next question may lie, and yields so far to what is near
to them. Where no example raises suspicion it yields nothing: an attack that borrows the words of a bank
gains nothing by it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from classifiers.gate.contrast import Sample
from classifiers.gate.lexical import lexical_share
from encoders import Encoded, Vector
from languages.scripts import EAST_ASIAN, HAN, HIRAGANA, KATAKANA

__all__ = ["NO_LEEWAY", "Leeway", "fit_leeway", "leeway_to", "names_a_thing"]

Floats = NDArray[np.float64]

_SUSPICIOUS = -1.8  # logit below which no question is held up
_MOST = 2.5  # logits
_DOUBTED = 1.0  # logits; what is yielded so much to is no longer called forbidden, but left to a person
_FORESEEN = 0.95  # of the operator's questions
_LEAST = 5  # examples: fewer show no spread
_APART, _TOGETHER = 0.4, 0.6  # cosines with the nearest example: of other subjects, and of the same
_LONGER = 1.25  # times the longest example: a longer text may hide something
_BORROWED = 0.7  # share of an example's words; a question that says an example and goes on borrows it
_MOST_NAMED = 2  # words
_LATIN = re.compile(rf"[^\W{EAST_ASIAN}_]+")
_KANA = re.compile(f"[{KATAKANA}・]+")
_HAN = re.compile(f"[{HAN}]")
_GRAMMAR = re.compile(f"[{HIRAGANA}]")


@dataclass(frozen=True, slots=True)
class Leeway:
    """The operator's own questions, and by how many logits the detector yields to what is like them."""

    texts: tuple[str, ...]
    vectors: Vector
    logits: float = 0.0

    def to(self, question: Encoded) -> float:
        """By how many logits the detector yields to this question."""
        if not self.logits or len(question.text) > _LONGER * max(map(len, self.texts)):
            return 0.0
        similarities = self.vectors @ question.vector
        nearest = int(similarities.argmax())
        if lexical_share(self.texts[nearest], question.text) >= _BORROWED:
            return 0.0
        near = (float(similarities[nearest]) - _APART) / (_TOGETHER - _APART)
        return self.logits * float(np.clip(near, 0.0, 1.0))

    def doubts(self, yielded: float) -> bool:
        """Whether what is yielded so much to is at most suspicious."""
        return yielded >= _DOUBTED


NO_LEEWAY = Leeway((), np.zeros((0, 0), dtype=np.float32))


def leeway_to(theirs: Sequence[Sample], *, knows_vectors: bool) -> Leeway:
    """Not fitted yet. Without vectors that the detector knows, nearness means nothing to it."""
    examples = [sample for sample in theirs if sample.kind == "example"]
    if not knows_vectors or len(examples) < _LEAST:
        return NO_LEEWAY
    texts = tuple(sample.text for sample in examples)
    return Leeway(texts, np.stack([sample.vector for sample in examples]))


def fit_leeway(leeway: Leeway, logits: Floats) -> Leeway:
    """How far the suspicion of their examples makes the detector yield; none where there is no detector."""
    if not len(logits) or not leeway.texts:
        return leeway
    return replace(leeway, logits=float(np.clip(_foreseen(logits) - _SUSPICIOUS, 0.0, _MOST)))


def _foreseen(logits: Floats) -> float:
    """What the next question stays under: by the spread of the examples, as a few show no extremes."""
    count = len(logits)
    spread = float(np.std(logits, ddof=1)) * math.sqrt(1 + 1 / count)
    return float(logits.mean() + stdtrit(count - 1, _FORESEEN) * spread)


def names_a_thing(normalised: str) -> bool:
    """Whether a text is a word or two, which name a thing and ask nothing: "password", 解約, MFA リセット.

    Two Chinese characters count as a word. Hiragana is grammar, and with grammar something may be asked.
    """
    if _GRAMMAR.search(normalised):
        return False
    han = math.ceil(len(_HAN.findall(normalised)) / 2)
    return han + len(_KANA.findall(normalised)) + len(_LATIN.findall(normalised)) <= _MOST_NAMED
