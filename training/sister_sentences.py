"""Sentences of written passages, each beside its own passage and beside its sister's, which has other facts.

Beside its own it is supported, word for word; beside the sister's a few words are wrong, as in the near
copies that chatbots get wrong: another unit, party, order or bound. The statements written beside them say
nearly everything in other words, and a model that learns from those alone hardly looks at single words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from classifiers.faithfulness.statements.segmentation import sentences
from training.written_statements import Span, Written, written_statements

__all__ = ["sister_sentences"]

NEAR: Final = 0.5  # share of its pieces that the nearest sentence of the sister has, in their order
SHORTEST: Final = {"en": 25, "ja": 12, "zh": 10}  # characters of a sentence that says something
PIECE: Final = re.compile(r"[a-zA-Z]+|\d[\d.,:]*|\S")
TELLS: Final = re.compile(r"[a-zA-Z]{2,}|\d|[一-鿿ァ-ヺ]")


def sister_sentences(language: str, *, kept: bool) -> Iterator[Written]:
    """Each sentence that has a near one in the sister, with the words that its own does not share."""
    pairs = dict.fromkeys(
        (one.file, one.passages, one.sister) for one in written_statements(language) if one.kept == kept
    )
    for file, passages, sister in pairs:
        there = [each.text for each in sentences(sister)]
        for each in sentences(passages[0]):
            if len(each.text) >= SHORTEST[language] and (wrong := _differs(each.text, there)):
                yield Written(file, language, passages, sister, "", each.text, True, (), kept)
                beside = (sister, *passages[1:])
                yield Written(file, language, beside, passages[0], "", each.text, False, wrong, kept)


def _differs(text: str, there: list[str]) -> tuple[Span, ...]:
    """Where it says something else than the nearest of these sentences; nowhere if none is near."""
    pieces = list(PIECE.finditer(text))
    mine = [piece[0].lower() for piece in pieces]
    matches = [SequenceMatcher(None, PIECE.findall(other.lower()), mine, False) for other in there]
    near, match = max(((one.ratio(), one) for one in matches), key=lambda of: of[0])
    if near < NEAR:
        return ()
    other = [(b, end) for what, _, _, b, end in match.get_opcodes() if what != "equal" and b < end]
    spans = [(pieces[b].start(), pieces[end - 1].end()) for b, end in other]
    return tuple(span for span in spans if TELLS.search(text[slice(*span)]))
