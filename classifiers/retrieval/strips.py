"""A passage into strips, and of those the ones that bear on the question (CRAG's knowledge refinement).

A strip is a pair of sentences, cut as the three languages write them; a list stays with what announces it, a
table with its head, a heading with what follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from classifiers.faithfulness.statements.segmentation import Sentence, announces, sentences
from classifiers.retrieval.asking import coverage

__all__ = ["KEPT_FROM", "Strip", "refined", "strips"]

STRIP_SENTENCES = 2
LONGEST_STRIP = 1_200  # characters; a list or table that is longer is cut
# Of the best strip's share of the question's words: keeps the answer of 95 to 99 % of development questions
# in 58 to 65 % of the text (benchmarks/corrective.py).
KEPT_FROM = 0.3


@dataclass(frozen=True, slots=True)
class Strip:
    """A part of a passage; `passage[start:end]`."""

    start: int
    end: int


def strips(passage: str) -> list[Strip]:
    """The strips of a passage, in order, without overlap."""
    found: list[list[Sentence]] = []
    for sentence in sentences(passage):
        if found and _goes_with(found[-1], sentence):
            found[-1].append(sentence)
        else:
            found.append([sentence])
    return [Strip(group[0].start, group[-1].end) for group in found]


def refined(question: str, passage: str, *, kept_from: float = KEPT_FROM) -> str:
    """The passage without the strips that hold little of the question; whole where none holds any."""
    cut = strips(passage)
    shares = [coverage(question, passage[strip.start : strip.end]) for strip in cut]
    best = max(shares, default=0.0)
    if not best:
        return passage
    kept = [strip for strip, share in zip(cut, shares, strict=True) if share >= kept_from * best]
    return "".join(_recomposed(passage, kept))


def _goes_with(group: Sequence[Sentence], sentence: Sentence) -> bool:
    last = group[-1]
    if sentence.end - group[0].start > LONGEST_STRIP or sentence.kind == "heading":
        return False
    if last.kind == "heading" or (last.kind == sentence.kind and sentence.kind in ("row", "item", "code")):
        return True
    if sentence.kind != "text":
        return announces(last.text)
    return last.kind == "text" and len(group) < STRIP_SENTENCES


def _recomposed(passage: str, kept: Sequence[Strip]) -> Iterator[str]:
    """What is kept, in order, with the white space that stood before each part."""
    for before, strip in zip((None, *kept), kept, strict=False):
        if before is not None:
            gap = passage[before.end : strip.start]
            yield (
                gap
                if not gap.strip()
                else "\n"
                if "\n" in gap
                else " "
                if passage[strip.start].isascii()
                else ""
            )
        yield passage[strip.start : strip.end]
