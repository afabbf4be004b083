"""How likely a sentence claims nothing: a logistic model over its words or characters, for each language.

It was fitted on sentences of our own (training/fit_speech_acts.py), knows wordings that no list names, and
tells what only looks like a refusal. It weighs what stands around a claim, not what the claim is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from classifiers import ClassifierError
from classifiers.weights import probability
from languages.identification import script_language

__all__ = ["SHIPPED", "AsideModel", "asides", "features"]

SHIPPED = Path(__file__).with_name("aside_weights.json")
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d|[?:,;]")
DIGIT = re.compile(r"\d")
LONGEST_WORDS, LONGEST_CHARACTERS = 3, 4


@dataclass(frozen=True, slots=True)
class AsideModel:
    """Weights of one language, and the two cuts that go with them."""

    by_feature: Mapping[str, float]
    bias: float
    alone: float  # from here on a sentence claims nothing, whatever the rules say
    confirms: float  # below, a rule that takes it for no claim is not believed

    def probability(self, plain: str) -> float:
        """Probability that a folded sentence claims nothing."""
        weights = [self.by_feature[each] for each in features(plain) if each in self.by_feature]
        return probability(self.bias, weights, [1.0] * len(weights))


def features(plain: str) -> set[str]:
    """Runs of words (English) or characters (Japanese, Chinese) of a folded sentence, with its two ends."""
    if script_language(plain) == "en":
        words = ["^", *WORD.findall(plain), "$"]
        return {
            " ".join(words[i : i + n]) for n in range(1, LONGEST_WORDS + 1) for i in range(len(words) - n + 1)
        }
    text = f"^{DIGIT.sub('0', plain)}$"
    return {text[i : i + n] for n in range(1, LONGEST_CHARACTERS + 1) for i in range(len(text) - n + 1)}


@cache
def asides(path: Path = SHIPPED) -> Mapping[str, AsideModel]:
    """The models by language: en, ja, zh.

    Raises:
        ClassifierError: if the file is missing or unreadable.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {
            language: AsideModel(
                {k: float(v) for k, v in each["weights"].items()},
                each["bias"],
                each["alone"],
                each["confirms"],
            )
            for language, each in data["languages"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ClassifierError(
            f"{path}: expected the weights that training/fit_speech_acts.py writes ({exc})"
        ) from exc
