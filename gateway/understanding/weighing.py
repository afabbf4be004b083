"""How likely a question leans on earlier turns: a logistic model over what it shows and what a model says
that read it with them. `weights.yaml` is made by training/fit_leaning.py.
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

from gateway.understanding.leaning import RULES, Shown, plain
from gateway.understanding.naming import is_name, naming_words, stem
from gateway.understanding.rarity import rarity
from gateway.understanding.wording import Wording
from languages.identification import Language

__all__ = ["Caution", "Weights", "read_weights", "signs"]

Caution = Literal["strict", "balanced", "lenient"]

_WORD = re.compile(r"[A-Za-z0-9][\w'’&.-]*")
_MOST_NAMING = 3  # words, the rarest; more say nothing more
_LONG_NAME = {"ja": 4, "zh": 3}  # characters: 住民票写し names more than 番号, 信用卡 more than 审批
_NAMES_ENOUGH = 4  # such names, a long one counting twice
_LONGEST_NAME = 4  # words
_SUREST = 6.0  # logit of the model; beyond it says nothing more


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign adds to the log odds that a question of one language leans."""

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


def signs(
    text: str, wording: Wording, *, earlier: Sequence[str], by_rule: Shown | None, read: float
) -> dict[str, float]:
    """What a question shows, each 0..1, but for `read`, -1..1, from the logit of the model.

    `earlier` are the asker's turns before it, `by_rule` is the rule by which it seems to lean.
    """
    text = plain(text)
    known = {stem(word) for turn in earlier for word in naming_words(turn, wording)}
    own = naming_words(text, wording)
    found: dict[str, float] = {
        **{rule: by_rule is not None and by_rule.rule == rule for rule in RULES},
        "indefinite": wording.indefinite.search(text) is not None,
        "defines": _defines(text, own, wording),
        "name": any(is_name(word) for word in own if not text.startswith(word)),
        "repeated": any(stem(word) in known for word in own),
        "mine": wording.mine.search(text) is not None,
        "asks": bool(wording.question_start.match(text) or wording.question.search(text)),
        "naming": _naming(own, wording),
        "read": max(-_SUREST, min(_SUREST, read)) / _SUREST,
    }
    return {name: float(value) for name, value in found.items()}


@cache
def read_weights() -> Mapping[Language, Weights]:
    """The shipped weights of each language."""
    source = files("gateway.understanding") / "weights.yaml"
    data = yaml.safe_load(source.read_text(encoding="utf-8"))
    return {language: Weights(**weights) for language, weights in data.items()}


def _naming(own: Sequence[str], wording: Wording) -> float:
    if wording.language == "en":
        return sum(sorted(map(rarity, own))[-_MOST_NAMING:]) / _MOST_NAMING
    names = sum(1 + (len(word) >= _LONG_NAME[wording.language]) for word in own)
    return min(names, _NAMES_ENOUGH) / _NAMES_ENOUGH


def _defines(text: str, own: Sequence[str], wording: Wording) -> bool:
    """Whether it asks what a thing is, and has a name for it: "What is intermittent fasting?"."""
    form = wording.names.match(text)
    if wording.language != "en":
        return form is not None
    thing = _WORD.findall(text[form.end() :]) if form else []
    return 0 < len(thing) <= _LONGEST_NAME and set(own).issuperset(thing)
