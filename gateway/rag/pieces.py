"""What can be quoted of a passage by itself: a sentence, a row of a table, a list or table as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from classifiers.faithfulness.statements.segmentation import LIST_MARK, Sentence, announces, sentences
from gateway.rag.chunking import GOES_ON, PATH_SEPARATOR
from gateway.rag.passages import RetrievedPassage

__all__ = ["Piece", "introduces", "merged", "pieces", "quoted"]

LONGEST_LIST = 700  # characters

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Neighbouring sentences of a passage that can be quoted by themselves."""

    passage: RetrievedPassage
    sentences: tuple[Sentence, ...]  # of the whole passage
    span: range  # what is quoted of them
    text: str  # what it says: the span, or of an announced list this item after its introduction
    list: range | None = None  # the one in which it stands, with its introduction
    listed_whole: bool = False  # whether all of that is here, and not too long to be quoted
    item: bool = False  # one of several of that

    @property
    def read(self) -> str:
        """It as a model reads it: under its headings."""
        return f"{self.passage.heading}\n{self.text}"

    @property
    def last_heading(self) -> str:
        """The heading right above it."""
        return self.passage.heading.rpartition(PATH_SEPARATOR)[2]


def pieces(passage: RetrievedPassage) -> Iterator[Piece]:
    """All of a passage, a list as a whole before its items. What only heads, announces or asks is none."""
    parts = tuple(_known(passage.text, one) for one in sentences(passage.text))
    at = 0
    while at < len(parts):
        end = _end_of_list(parts, at)
        if end > at:
            yield from _of_list(passage, parts, at, end)
        elif not (parts[at].kind == "heading" or _announces(parts, at) or _asks(parts[at])):
            span = range(at - 1, at + 1) if _leans(parts, at) else range(at, at + 1)
            yield Piece(passage=passage, sentences=parts, span=span, text=quoted(passage, parts, span))
        at = max(end, at + 1)


def introduces(text: str) -> bool:
    """Whether a sentence right before a list says that it comes."""
    return announces(text) or _POINTS_AHEAD.search(text) is not None


def _of_list(passage: RetrievedPassage, parts: tuple[Sentence, ...], at: int, end: int) -> Iterator[Piece]:
    """A list or table as a whole, and its items; one that is announced is only quoted as a whole."""
    announced = at > 0 and _announces(parts, at - 1)
    span = range(at - announced, end)
    short = parts[end - 1].end - parts[span.start].start <= LONGEST_LIST
    whole = short and all(part.text != _CUT for part in parts[at:end])
    items = [item for item in _items(passage.text, parts, at, end) if parts[item.start].text != _CUT]
    piece = partial(Piece, passage=passage, sentences=parts, list=span, listed_whole=whole)
    if whole and len(items) + announced > 1:
        yield piece(span=span, text=quoted(passage, parts, span))
    for item in items:
        alone = quoted(passage, parts, item)
        text = f"{parts[at - 1].text}\n{alone}" if announced else alone
        yield piece(span=span if announced and whole else item, text=text, item=True)


def _items(text: str, parts: Sequence[Sentence], at: int, end: int) -> Iterator[range]:
    """The items of a list, of one sentence or more."""
    begun = at
    for here in range(at + 1, end):
        if text[parts[here - 1].end : parts[here].start].strip():  # the mark of the next one
            yield range(begun, here)
            begun = here
    yield range(begun, end)


def merged(spans: Sequence[range]) -> list[range]:
    """In the document's order; neighbours as one."""
    found: list[range] = []
    for span in sorted(spans, key=lambda span: span.start):
        if found and span.start <= found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, span.stop))
        else:
            found.append(span)
    return found


def quoted(
    passage: RetrievedPassage, parts: Sequence[Sentence], span: range, *, among_others: bool = False
) -> str:
    """The words of the passage; an item among others keeps its mark."""
    text, start = passage.text, parts[span.start].start
    line, several_lines = _line(text, start), "\n" in text[start : parts[span.stop - 1].start]
    if (among_others or several_lines) and LIST_MARK.fullmatch(text, line, start):
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
