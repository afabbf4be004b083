"""How likely an English question leans on earlier turns, where no pronoun gives it away: a logistic model
over a few signs. `weights.yaml` is made by training/fit_leaning.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml

from gateway.understanding.naming import is_name, naming_words, stem
from gateway.understanding.rarity import rarity
from gateway.understanding.wording import Wording

__all__ = ["Caution", "Nearness", "Readings", "Weights", "read_weights", "signs"]

Caution = Literal["strict", "balanced", "lenient"]

_WORD = re.compile(r"[A-Za-z0-9][\w'’&.-]*")
_MOST_NAMING = 3  # words, the rarest; more say nothing more
_LONGEST_NAME = 4  # words
# Cosines from which nearness says that a question repeats the subject. What lies below says nothing: a vague
# question and a new subject are both far from what was said.
_NEAR_FIRST, _NEAR_CLOSEST = 0.3, 0.4


@dataclass(frozen=True, slots=True)
class Nearness:
    """Cosines of a question with what its asker said before."""

    first: float  # with the first turn, which opened the subject
    closest: float  # with the turn that is closest


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign adds to the log odds that a question leans."""

    bias: float
    signs: Mapping[str, float]
    cuts: Mapping[Caution, float]

    def probability(self, found: Mapping[str, float]) -> float:
        """P(the question leans)."""
        weighed = self.bias + sum(weight * found[name] for name, weight in self.signs.items())
        return 1 / (1 + math.exp(-weighed))

    def hold_back(self, found: Mapping[str, float], caution: Caution) -> bool:
        """Whether that is too likely to look the question up."""
        return self.probability(found) >= self.cuts[caution]


@dataclass(frozen=True, slots=True)
class Readings:
    """Weights for signs with nearness, measured by one encoder, and for signs without."""

    encoder: str
    meaning: Weights
    words: Weights

    def of(self, nearness: Nearness | None) -> Weights:
        """The weights for what is at hand."""
        return self.meaning if nearness else self.words


def signs(
    text: str, wording: Wording, *, earlier: Sequence[str], nearness: Nearness | None = None
) -> dict[str, float]:
    """What a question shows, each 0..1; `earlier` are the asker's turns before it."""
    known = {stem(word) for turn in earlier for word in naming_words(turn, wording)}
    own = naming_words(text, wording)
    found: dict[str, float] = {
        "hint": wording.hint.search(wording.exempt.sub(" _ ", text)) is not None,
        "definite": wording.definite.search(text) is not None,
        "indefinite": wording.indefinite.search(text) is not None,
        "defines": _defines(text, own, wording),
        "name": any(is_name(word) for word in own if not text.startswith(word)),
        "repeated": any(stem(word) in known for word in own),
        "mine": wording.mine.search(text) is not None,
        "naming": sum(sorted(map(rarity, own))[-_MOST_NAMING:]) / _MOST_NAMING,
    }
    if nearness:
        found["near_first"] = max(0.0, nearness.first - _NEAR_FIRST) / (1 - _NEAR_FIRST)
        found["near_closest"] = max(0.0, nearness.closest - _NEAR_CLOSEST) / (1 - _NEAR_CLOSEST)
    return {name: float(value) for name, value in found.items()}


@cache
def read_weights() -> Readings:
    """The shipped weights."""
    source = files("gateway.understanding") / "weights.yaml"
    data = yaml.safe_load(source.read_text(encoding="utf-8"))
    return Readings(data["encoder"], Weights(**data["meaning"]), Weights(**data["words"]))


def _defines(text: str, own: Sequence[str], wording: Wording) -> bool:
    """Whether it asks what a thing is, and has a name for it: "What is intermittent fasting?"."""
    form = wording.names.match(text)
    thing = _WORD.findall(text[form.end() :]) if form else []
    return 0 < len(thing) <= _LONGEST_NAME and set(own).issuperset(thing)
