"""Questions to sections of documents that we wrote, each with the pieces that answer it, if any do.

A block of answering/LANGUAGE/*.txt has the title of a document (`D: …`), the heading of a section (`H: …`),
its numbered sentences, items and rows (`1: …`, `2: - …`, `3: 1. …`), questions that one or several of them
answer (`+ 2,5: …`) or a list only as a whole (`+ 2-6: …`), and questions in the same words that none answers
(`- …`). Of every tenth block a model learns nothing: it is measured on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final

from classifiers.faithfulness.statements.segmentation import LIST_MARK
from classifiers.retrieval import PATH_SEPARATOR
from classifiers.retrieval.pieces import introduces

__all__ = ["Answer", "Piece", "Section", "written_sections"]

ANSWERING: Final = Path(__file__).parent / "answering"
KEPT: Final = 10  # one block of so many
LINE: Final = re.compile(r"(\d+): (.+)")
ANSWERED: Final = re.compile(r"\+ ([\d, -]+): (.+)")


@dataclass(frozen=True, slots=True)
class Answer:
    """The places of the lines that answer a question; none where nothing does."""

    places: frozenset[int] = frozenset()
    together: bool = False  # a list answers, and none of its items by itself


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document, and what is asked about it."""

    language: str
    document: str
    heading: str  # below the document's title
    lines: tuple[str, ...]
    questions: Mapping[str, Answer]
    kept: bool  # not learnt from

    def pieces(self) -> tuple[Piece, ...]:
        """What can be quoted of it."""
        return tuple(_pieces(self.lines, f"{self.document}{PATH_SEPARATOR}{self.heading}"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A line, or a list as a whole, as classifiers.retrieval.pieces makes them."""

    read: str  # under its headings
    places: frozenset[int]
    item: bool
    announced: bool  # an item that is, and so is quoted with all others

    def answers(self, answer: Answer) -> bool | None:
        """Whether it answers; None: it can't be called either."""
        if not self.places & answer.places:
            return False
        if not (answer.together and self.item):
            return True
        return None if self.announced else False


@cache
def written_sections(language: str) -> tuple[Section, ...]:
    """All sections of a language."""
    files = sorted((ANSWERING / language).glob("*.txt"))
    blocks = (block for file in files for block in file.read_text(encoding="utf-8").split("\n\n"))
    lines = [block.strip().splitlines() for block in blocks if block.strip()]
    return tuple(_read(language, block, kept=number % KEPT == KEPT - 1) for number, block in enumerate(lines))


def _read(language: str, lines: Sequence[str], *, kept: bool) -> Section:
    told = {head: line[3:].strip() for line in lines for head in ("D: ", "H: ") if line.startswith(head)}
    questions: dict[str, Answer] = {}
    for line in lines:
        if answered := ANSWERED.fullmatch(line):
            questions[answered[2].strip()] = Answer(frozenset(_places(answered[1])), "-" in answered[1])
        elif line.startswith("- "):
            questions[line[2:].strip()] = Answer()
    return Section(
        language,
        document=told["D: "],
        heading=re.sub(r"\s*>\s*", PATH_SEPARATOR, told["H: "]),
        lines=tuple(found[2].strip() for line in lines if (found := LINE.fullmatch(line))),
        questions=questions,
        kept=kept,
    )


def _pieces(lines: Sequence[str], heading: str) -> Iterator[Piece]:
    for listed, places in groupby(range(len(lines)), key=lambda at: LIST_MARK.match(lines[at]) is not None):
        here = list(places)
        before = lines[here[0] - 1] if here[0] else ""
        introduction = f"{before}\n" if listed and introduces(before) else ""
        above = f"{heading}\n{introduction}"
        if listed and len(here) > 1:
            whole = "\n".join(lines[at] for at in here)
            yield Piece(f"{above}{whole}", frozenset(here), item=False, announced=False)
        for at in here:
            line = LIST_MARK.sub("", lines[at], count=1) if listed else lines[at]
            yield Piece(f"{above}{line}", frozenset([at]), item=listed, announced=bool(introduction))


def _places(told: str) -> Iterator[int]:
    """2,4 or 2-6, counted from 0."""
    for part in told.split(","):
        first, _, last = part.strip().partition("-")
        yield from range(int(first) - 1, int(last or first))
