"""How rare an English word is: by its place in the shipped encoder's vocabulary, which frequency orders."""

from __future__ import annotations

import json
import math
from functools import cache

from encoders.onnx import SHIPPED
from gateway.understanding.naming import stem

__all__ = ["rarity"]

_MOST_FREQUENT = "the"  # before it stand signs, letters and digits


def rarity(word: str) -> float:
    """0 for "the", .7 for "card", .9 for "passport", 1 for a word that the vocabulary lacks: 401k."""
    word = word.lower().replace("’", "'").removesuffix("'s")
    vocabulary = _vocabulary()
    first = vocabulary[_MOST_FREQUENT]
    places = [place for form in (word, stem(word)) if (place := vocabulary.get(form, -1)) >= first]
    if not places:
        return 1.0
    return math.log(min(places) - first + 1) / math.log(len(vocabulary) - first)


@cache
def _vocabulary() -> dict[str, int]:
    tokenizer = json.loads((SHIPPED / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary: dict[str, int] = tokenizer["model"]["vocab"]
    return vocabulary
