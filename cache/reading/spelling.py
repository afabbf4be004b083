"""One spelling where a reader sees no difference: what is compared and encoded, on both sides alike.

Japanese and Chinese: width, numerals (二十三天 is 23天), variants, traditional characters. No exact key is
made of it: the stored ones were made without.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cache.reading.numerals import numerals
from encoders import Encoder, Vector
from languages.remembering import remembered
from languages.spelling import one_spelling
from languages.words import simplified

__all__ = ["encode_spelt", "spelt"]

_MODEL = re.compile(r"(?<=[A-Za-z]) (?=\d)")  # iPhone 15, iPhone15
_REMEMBERED = 16_384  # texts; the phrasings that come up again and again


def spelt(text: str, language: str) -> str:
    """A text in the spelling that questions and phrasings are compared in; in English as it is."""
    return text if language == "en" else _spelt(text, language)


async def encode_spelt(encoder: Encoder, texts: Sequence[str], language: str) -> Vector:
    """The vectors of texts in that spelling, shape (texts, dimensions).

    Raises:
        EncoderError: if they can't be encoded.
    """
    return await encoder.encode([spelt(text, language) for text in texts])


@remembered(_REMEMBERED)
def _spelt(text: str, language: str) -> str:
    known = one_spelling(simplified(text) if language == "zh" else text)
    return numerals().kanji_in_digits(_MODEL.sub("", known))
