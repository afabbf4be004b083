"""One spelling where a reader sees no difference: what is compared and encoded, on both sides alike.

Japanese and Chinese: width, numerals (二十三天 is 23天), variants, traditional characters. No exact key is
made of it: the stored ones were made without.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from cache.reading.numerals import numerals
from cache.reading.tables import read_table
from encoders import Encoder, Vector
from encoders.words import simplified

__all__ = ["encode_spelt", "spelt"]

_MODEL = re.compile(r"(?<=[A-Za-z]) (?=\d)")  # iPhone 15, iPhone15
_REMEMBERED = 16_384  # texts; the phrasings that come up again and again


def spelt(text: str, language: str) -> str:
    """A text in the spelling that questions and phrasings are compared in; in English as it is."""
    return text if language == "en" else _remembered(text, language)


async def encode_spelt(encoder: Encoder, texts: Sequence[str], language: str) -> Vector:
    """The vectors of texts in that spelling, shape (texts, dimensions).

    Raises:
        EncoderError: if they can't be encoded.
    """
    return await encoder.encode([spelt(text, language) for text in texts])


@lru_cache(_REMEMBERED)
def _remembered(text: str, language: str) -> str:
    variants = _variants().get(language)
    if variants is None:
        return text
    folded = unicodedata.normalize("NFKC", text)
    known = variants.fold(simplified(folded) if language == "zh" else folded)
    return numerals().kanji_in_digits(_MODEL.sub("", known))


@dataclass(frozen=True, slots=True)
class _Variants:
    """The variants of one language."""

    first: Mapping[str, str]
    any: re.Pattern[str]

    def fold(self, text: str) -> str:
        """The text with the first spelling for each other one."""
        return self.any.sub(lambda found: self.first[found.group()], text)


@cache
def _variants() -> dict[str, _Variants]:
    found = {}
    for language, rows in read_table("spelling.yaml", "cache.reading").items():
        first = {variant: row[0] for row in rows for variant in row}
        longest_first = sorted(map(re.escape, first), key=len, reverse=True)
        found[language] = _Variants(first, re.compile("|".join(longest_first)))
    return found
