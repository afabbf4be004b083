"""Text into sentences with character spans, in English, Japanese and Chinese.

`sentencex` finds the boundaries inside running text. Around it stands what it does not do (checked with
1.0.32): it joins list items and table rows, reads code, cuts "Mon.-Fri.", "Ms. Keller" and "approx. 20",
takes "1." for a sentence, reads over a Japanese stop before a digit, and parts a Japanese quotation from its
verb.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import sentencex

from languages.identification import script_language

__all__ = ["LIST_MARK", "Sentence", "announces", "lines", "sentences"]

Kind = Literal["text", "item", "heading", "row", "code"]

LIST_MARK = re.compile(
    r"[ \t　]*(?:[-*+•·・‣▪●○◦◆■□★※][ \t　]+|[・●○◆■※•]|\(?\d{1,3}[.)、．）](?![\d])[ \t　]*"
    r"|[（(][\d一二三四五六七八九十]{1,3}[)）]"
    r"|[一二三四五六七八九十]{1,3}、|[①-⑳][ \t　]*|[a-zA-Z][.)][ \t]+)"
)
# What may be the mark of a list inside a line: 1. and 2、 after a stop, (1) also after "and", 1), ① always.
INLINE_MARK = re.compile(
    r"(?:^[ \t　]*|(?P<stop>[:：。.!?！？;；,，、)）」』\"”*])[ \t　]*"
    r"|\b(?:and|or)[ \t]|[ \t　](?=\d{1,2}\)|[①-⑳]))(?P<mark>)"
    r"(?:[（(](?P<bracketed>\d{1,2})[)）]|(?P<plain>\d{1,2})(?:[.)](?=[ \t　]|[^\x00-\u2e7f])|[、．])"
    r"|(?P<circled>[①-⑳]))(?=[ \t　]*\w)",
    re.MULTILINE,
)
HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
TITLE_LINE = re.compile(r"[ \t]*(?:(\*\*|__)[^*_]+\1|【[^【】]+】)[:：]?[ \t]*")
LABEL = re.compile(r"(\*\*|__)[^*_]+(?:\1[:：]|[:：]\1)[ \t]*")
ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
RULE = re.compile(r"[\s|:=\-_*~+]*")
FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
QUOTE_MARK = re.compile(r"[ \t]{0,3}>(?:[ \t]{0,4}>)*[ \t]?")
TERMINATED = re.compile(r"[.!?。！？｡．…:：；;][\"'”’」』)）\]】*_]*\s*")
# What sentencex takes for the end of a sentence: "approx. 20", "Mon.-Fri.", "p. 5".
OPENS_WORD = r"(?:^|[\s(\[\"“])"
SHORT_WORDS = (
    r"approx|mon|tues?|wed|thurs?|fri|sat|sun|no|nos|fig|figs|sec|ch|art|vol|pp?|ext|tel|est|min|max|"
    r"incl|excl|dept|vs|cf|resp|e\.g|i\.e|etc|al|ca|[a-z]"
)
TITLES = "mrs?|ms|dr|prof|st|messrs|rev|hon|capt|lt|col|gen|sgt"
ABBREVIATED = re.compile(rf"{OPENS_WORD}(?:{SHORT_WORDS})\.\s*", re.IGNORECASE)
TITLED = re.compile(rf"{OPENS_WORD}(?:{TITLES})\.\s*", re.IGNORECASE)
ENDS_SHORT = re.compile(rf"{OPENS_WORD}(?:{SHORT_WORDS}|{TITLES})\.$", re.IGNORECASE)
SHORT_END = 8  # characters: no abbreviation is longer than "messrs.", with what stands before it
ENUMERATOR = re.compile(r"\s*(?:\(?(?:\d{1,3}|[a-zA-Z])[.)]|[①-⑳])\s*")
CLOSING = re.compile(
    r"[\s\"'”’」』)）\]】*_~`]*(?:\s*[\[［(（【]?(?:\d{1,3}|出典|来源|source)[\d\s,，、;:–-]*[\]］)）】])*[\s。.．]*",
    re.I,
)
QUOTATION_GOES_ON = re.compile(r"(?:と|という|って|との|などと|を|の(?=[一-龥ァ-ヶ])|に(?=つい|関し|対し))")
STOP_BEFORE_DIGIT = re.compile(r"[。！？｡](?=[0-9０-９])")
BRACKETS = (*"「『（(【［[“", *"」』）)】］]”")
LONGEST_BRACKET = 1000  # characters; what stays open for longer was never closed
SHORT = 60  # characters: longer than any enumerator, citation or abbreviation
HARD_WRAP_COLUMNS = 60  # a line that is at least so long was broken by its width, not by its meaning


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, list item, table row, heading or block of code of a text."""

    text: str  # == source[start:end]
    start: int
    end: int
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    kind: Kind


def announces(text: str) -> bool:
    """Whether what comes next belongs to it: it ends in a colon."""
    return text.rstrip().endswith((":", "："))


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, in order, without overlap; `text[s.start:s.end] == s.text`."""
    found: list[Sentence] = []
    for block in _blocks(text):
        spans = (
            [(block.start, block.end)]
            if block.kind in ("row", "code")
            else _cut(text, block.start, block.end)
        )
        for start, end in spans:
            start, end = _trimmed(text, start, end)
            if start < end and not RULE.fullmatch(text, start, end):
                found.append(Sentence(text[start:end], start, end, block.kind))
    return found


def _blocks(text: str) -> Iterator[_Block]:
    """Lines, joined where a sentence was only broken by the width of the page."""
    open_block: _Block | None = None
    fence: int | None = None
    for start, end in lines(text):
        if FENCE.match(text, start, end) or fence is not None:
            if open_block:
                yield open_block
                open_block = None
            if fence is None:
                fence = end
            elif FENCE.match(text, start, end):
                yield _Block(fence, start, "code")
                fence = None
            continue
        line = _line_block(text, start, end)
        if open_block and line and _continues(text, open_block, line):
            open_block = _Block(open_block.start, line.end, open_block.kind)
            continue
        if open_block:
            yield open_block
        open_block = line
    if open_block:
        yield open_block
    if fence is not None:
        yield _Block(fence, len(text), "code")


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Where the lines of a text begin and end; items of a list that stands on one line are lines, too."""
    physical = itertools.accumulate(map(len, text.splitlines(keepends=True)), initial=0)
    for start, following in itertools.pairwise(sorted({*physical, *_inline_items(text)})):
        yield start, start + len(text[start:following].rstrip())


def _inline_items(text: str) -> Iterator[int]:
    """Where items begin that are numbered alike from one on: "Do this: 1. Open it. 2. Press it."."""
    runs: list[list[int]] = []
    latest: dict[str, list[int]] = {}  # of each form of numbers
    for found in INLINE_MARK.finditer(text):
        form = found.lastgroup or ""
        number = int(unicodedata.normalize("NFKC", found[form]))
        if number == 1:
            latest[form] = []
            runs.append(latest[form])
        run = latest.get(form, [])
        if number == len(run) + 1 and (number == 1 or found["stop"] not in (":", "：")):  # 「大人：2」
            run.append(found.start("mark"))
    return (start for run in runs if len(run) > 1 for start in run)


def _line_block(text: str, start: int, end: int) -> _Block | None:
    if quoted := QUOTE_MARK.match(text, start, end):
        start = quoted.end()
    if RULE.fullmatch(text, start, end):
        return None
    if heading := HEADING.match(text, start, end):
        return _Block(heading.end(), end, "heading")
    if TITLE_LINE.fullmatch(text, start, end):
        return _Block(start, end, "heading")
    if ROW.fullmatch(text, start, end):
        return _Block(start, end, "row")
    if mark := LIST_MARK.match(text, start, end):
        return _Block(mark.end(), end, "heading" if LABEL.fullmatch(text, mark.end(), end) else "item")
    return _Block(start, end, "text")


def _continues(text: str, before: _Block, line: _Block) -> bool:
    """Whether a line goes on with the sentence of the line before."""
    if line.kind != "text" or before.kind not in ("text", "item"):
        return False
    last = text.rfind("\n", before.start, before.end) + 1 or before.start
    tail = text[last : before.end].rstrip()
    if TERMINATED.search(tail[-3:]) and TERMINATED.fullmatch(tail[-1:]):
        return False
    first = text[line.start : line.end].lstrip()[:1]
    if first.islower() or tail[-1:] in ",，、-—":
        return True
    indented = text[line.start].isspace()
    return _columns(tail) >= HARD_WRAP_COLUMNS and (before.kind == "text" or indented)


def _columns(text: str) -> int:
    return sum(2 if ord(c) > 0x2E7F else 1 for c in text)


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the sentences of one block: sentencex's, with its known mistakes mended."""
    block = text[start:end]
    spans: list[tuple[int, int]] = []
    at = 0
    for piece in _pieces(block):
        found = block.find(piece, at)
        if found < 0:  # it changed the text: then the rest stays one sentence, and nothing is lost
            break
        if spans and _belongs_together(block, spans[-1], found, found + len(piece)):
            spans[-1] = (spans[-1][0], found + len(piece))
        else:
            spans.append((spans[-1][1] if spans else 0, found + len(piece)))
        at = found + len(piece)
    if at < len(block):
        spans.append((at, len(block)))
    return [(start + a, start + b) for a, b in spans]


def _pieces(block: str) -> Iterator[str]:
    """What sentencex cuts, and the stops it reads over: 「です。3日」."""
    for piece in sentencex.segment(script_language(block), block):
        at = 0
        for match in STOP_BEFORE_DIGIT.finditer(piece):
            if match.end() - at > LONGEST_BRACKET or _is_closed(piece[at : match.end()]):
                yield piece[at : match.end()]
                at = match.end()
        yield piece[at:]


def _is_closed(text: str) -> bool:
    half = len(BRACKETS) // 2
    return all(text.count(a) <= text.count(b) for a, b in zip(BRACKETS[:half], BRACKETS[half:], strict=True))


def _belongs_together(block: str, before: tuple[int, int], start: int, end: int) -> bool:
    head, tail = block[before[0] : before[1]], block[start:end]
    if (len(head) <= SHORT and ENUMERATOR.fullmatch(head)) or (
        len(tail) <= SHORT and CLOSING.fullmatch(tail)
    ):
        return True
    if head.rstrip().endswith(("」", "』")):
        return bool(QUOTATION_GOES_ON.match(tail))
    first = tail.lstrip()[:1]
    head = head if len(head) <= SHORT else "x" + head[-SHORT:]
    if ENDS_SHORT.search(head.rstrip()[-SHORT_END:]):
        if any(match.end() == len(head) for match in TITLED.finditer(head)):
            return True
        abbreviated = list(ABBREVIATED.finditer(head))
        if abbreviated and abbreviated[-1].end() == len(head):
            return not first.isupper() or (len(abbreviated[-1][0].strip(" .")) > 1 and first.isdigit())
    return first.islower() and head.rstrip().endswith(".") and not head.rstrip().endswith("..")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
