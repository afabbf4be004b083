"""Questions to sections of documents that we wrote, each with the sentences that answer it, if any do.

A block of answering/LANGUAGE/*.txt has the title of a document (`D: …`), the heading of a section (`H: …`),
its numbered sentences, items or rows (`1: …`), questions that one or several of them answer (`+ 2,5: …`), and
questions in the same words that none answers (`- …`). Of every tenth block a model learns nothing: it is
measured on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["Section", "written_sections"]

ANSWERING: Final = Path(__file__).parent / "answering"
KEPT: Final = 10  # one block of so many
LINE: Final = re.compile(r"(\d+): (.+)")
ANSWERED: Final = re.compile(r"\+ ([\d, ]+): (.+)")
ANNOUNCES: Final = re.compile(r"[:：]$")
NEAR: Final = 6  # lines within which an announcing sentence stands before its items


@dataclass(frozen=True, slots=True)
class Section:
    """A section, and the places of what answers each question; of some questions none."""

    language: str
    heading: str  # with the title of its document
    sentences: tuple[str, ...]
    questions: Mapping[str, tuple[int, ...]]
    kept: bool  # not learnt from


@cache
def written_sections(language: str) -> tuple[Section, ...]:
    """All sections of a language."""
    files = sorted((ANSWERING / language).glob("*.txt"))
    blocks = (block for file in files for block in file.read_text(encoding="utf-8").split("\n\n"))
    lines = [block.strip().splitlines() for block in blocks if block.strip()]
    return tuple(_read(language, block, kept=number % KEPT == KEPT - 1) for number, block in enumerate(lines))


def _read(language: str, lines: Sequence[str], *, kept: bool) -> Section:
    told = {head: line[3:].strip() for line in lines for head in ("D: ", "H: ") if line.startswith(head)}
    sentences = [found[2].strip() for line in lines if (found := LINE.fullmatch(line))]
    questions: dict[str, tuple[int, ...]] = {}
    for line in lines:
        if found := ANSWERED.fullmatch(line):
            questions[found[2].strip()] = tuple(int(place) - 1 for place in found[1].split(","))
        elif line.startswith("- "):
            questions[line[2:].strip()] = ()
    heading = " › ".join((told["D: "], *re.split(r"\s*>\s*", told["H: "])))
    return Section(language, heading, tuple(_in_their_lists(sentences)), questions, kept)


def _in_their_lists(sentences: Sequence[str]) -> Iterator[str]:
    """Each sentence as it is read: an item after the words that announce its list."""
    announced, left = "", 0
    for one in sentences:
        if ANNOUNCES.search(one):
            announced, left = one, NEAR
            yield one
            continue
        yield f"{announced}\n{one}" if left else one
        left -= left > 0
