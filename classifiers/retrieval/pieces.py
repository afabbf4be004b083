"""What of a passage can answer by itself: a sentence, an item or row, a list or table as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from classifiers.faithfulness.statements.segmentation import LIST_MARK, Sentence, announces, sentences

__all__ = ["GOES_ON", "REMEMBERED", "Piece", "introduces", "pieces"]

LONGEST_LIST = 700  # characters
REMEMBERED = 4_096  # passages: the same ones are found again and again
GOES_ON = "- …"  # an item in place of those that another passage holds

_POINTS_BACK = re.compile(
    r"(?:It|Its|They|Them|Their|This|These|That|Those|He|She|His|Her|Both|Such|However|Otherwise|But|Then|Also|"
    r"In (?:this|that|these|such) cases?|If (?:so|not))\b|"
    r"(?:これ|それ|この|その|ここ|そこ|こう|そう|ただし|また|なお|しかし|どちら|いずれ|同)|"
    r"(?:它|他们|她们|他|她|这|那|此|该|其|但|否则|另外|同时|上述)"
)
_HEADS = ("■", "□", "◆", "◇", "▼", "●", "★")  # with which plain text heads a part
_ENDS = re.compile(r"[。．.!！:：;；]|\d")
_POINTS_AHEAD = re.compile(r"\b(?:the following|as follows|these)\b|次の|下記|如下|以下", re.IGNORECASE)
_CUT = GOES_ON.removeprefix("- ")


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring sentences of a passage that say something by themselves."""

    text: str  # an item after what announces its list
    item_of: int | None = None  # which list of the passage it is an item of


@lru_cache(maxsize=REMEMBERED)
def pieces(text: str) -> tuple[Piece, ...]:
    """All of a passage, a list as a whole before its items. What only heads, announces or asks is none."""
    return tuple(_pieces(text))


def introduces(text: str) -> bool:
    """Whether a sentence right before a list says that it comes."""
    return announces(text) or _POINTS_AHEAD.search(text) is not None


def _pieces(text: str) -> Iterator[Piece]:
    parts = tuple(_known(text, one) for one in sentences(text))
    at = 0
    while at < len(parts):
        end = _end_of_list(parts, at)
        if end > at:
            yield from _of_list(text, parts, at, end)
        elif not (parts[at].kind == "heading" or _announces(parts, at) or _asks(parts[at])):
            start = at - 1 if _leans(parts, at) else at
            yield Piece(_said(text, parts, range(start, at + 1)))
        at = max(end, at + 1)


def _of_list(text: str, parts: Sequence[Sentence], at: int, end: int) -> Iterator[Piece]:
    """A list or table as a whole, if it is short, and its items."""
    announced = at > 0 and _announces(parts, at - 1)
    span = range(at - announced, end)
    short = parts[end - 1].end - parts[span.start].start <= LONGEST_LIST
    whole = short and all(part.text != _CUT for part in parts[at:end])
    items = [item for item in _items(text, parts, at, end) if parts[item.start].text != _CUT]
    if whole and len(items) + announced > 1:
        yield Piece(_said(text, parts, span))
    for item in items:
        alone = _said(text, parts, item)
        yield Piece(f"{parts[at - 1].text}\n{alone}" if announced else alone, item_of=at)


def _items(text: str, parts: Sequence[Sentence], at: int, end: int) -> Iterator[range]:
    """The items of a list, of one sentence or more."""
    begun = at
    for here in range(at + 1, end):
        if text[parts[here - 1].end : parts[here].start].strip():  # the mark of the next one
            yield range(begun, here)
            begun = here
    yield range(begun, end)


def _said(text: str, parts: Sequence[Sentence], span: range) -> str:
    """The words of the passage; of several items each keeps its mark."""
    start = parts[span.start].start
    line, several_lines = _line(text, start), "\n" in text[start : parts[span.stop - 1].start]
    if several_lines and LIST_MARK.fullmatch(text, line, start):
        start = line
    return text[start : parts[span.stop - 1].end].strip()


def _known(text: str, sentence: Sentence) -> Sentence:
    """With its kind, where a mark says that it only heads what follows: ■ 返品."""
    mark = text[_line(text, sentence.start) : sentence.start].strip()
    heads = mark in _HEADS and not _ENDS.search(sentence.text)
    return replace(sentence, kind="heading") if heads else sentence


def _asks(sentence: Sentence) -> bool:
    """Whether it is a document's own question, which is no answer."""
    return sentence.text.rstrip().endswith(("?", "？"))


def _line(text: str, at: int) -> int:
    """Where the line begins that this place is in."""
    return text.rfind("\n", 0, at) + 1


def _leans(parts: Sequence[Sentence], at: int) -> bool:
    """Whether a sentence points back to the one before it."""
    points = _POINTS_BACK.match(parts[at].text.lstrip("「『“\"'（("))
    return at > 0 and parts[at].kind == parts[at - 1].kind == "text" and points is not None


def _announces(parts: Sequence[Sentence], at: int) -> bool:
    """Whether a sentence only says that a list comes, which does."""
    if not (parts[at].kind == "text" and _end_of_list(parts, at + 1) > at + 1):
        return False
    return introduces(parts[at].text)


def _end_of_list(parts: Sequence[Sentence], at: int) -> int:
    while at < len(parts) and parts[at].kind == "item":
        at += 1
    return at
