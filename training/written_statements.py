"""Passages that we wrote, each with a sister of other facts, and statements that one of the two supports.

A block of statements/LANGUAGE/*.txt has the passages, `A: …` and `B: …` (further lines: `A| …`), perhaps
`C: …` about a neighbouring matter, which stands beside either, and below them statements: `+-` is supported
by A alone, `-+` by B, `++` by both, `--` by neither. Those below a `Q: …` answer that question. « » holds the
words that decide it.
`To join you need:: a photo` is an item of a list behind what introduces it.
Since most statements are true of one sister and false of the other, their wording says nothing of what they
are.

Of every tenth block a model learns nothing: it is measured on them, and the weights beside it are fitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["Span", "Written", "written_statements"]

STATEMENTS: Final = Path(__file__).parent / "statements"
KEPT: Final = 10  # one block of so many

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Written:
    """A statement beside the passages of one sister."""

    file: str
    language: str
    passages: tuple[str, ...]
    sister: str  # of the first passage
    question: str
    text: str
    supported: bool
    wrong: tuple[Span, ...]  # where it is not
    kept: bool  # not learnt from


@cache
def written_statements(language: str) -> tuple[Written, ...]:
    """All statements of a language, each beside either sister."""
    files = sorted((STATEMENTS / language).glob("*.txt"))
    blocks = [
        (file.stem, block) for file in files for block in file.read_text(encoding="utf-8").split("\n\n")
    ]
    lines = [(file, block.strip().splitlines()) for file, block in blocks if block.strip()]
    return tuple(
        one
        for number, (file, block) in enumerate(lines)
        for one in _read(file, language, block, kept=number % KEPT == KEPT - 1)
    )


def _read(file: str, language: str, lines: Sequence[str], *, kept: bool) -> Iterator[Written]:
    beside = tuple(line[3:] for line in lines if line.startswith("C: "))
    sisters = [
        "\n".join(line[3:] for line in lines if line.startswith((f"{one}: ", f"{one}| "))) for one in "AB"
    ]
    for place, passage in enumerate(sisters):
        passages = (passage, *beside)
        question = ""
        for line in lines:
            if line.startswith("Q: "):
                question = line[3:]
            elif line[0] in "+-":
                supported = line[place] == "+"
                text, marked = _unmarked(line[3:].replace(":: ", ":\n- "))
                wrong = () if supported else marked or ((0, len(text)),)
                yield Written(
                    file, language, passages, sisters[1 - place], question, text, supported, wrong, kept
                )


def _unmarked(marked: str) -> tuple[str, tuple[Span, ...]]:
    """A statement without its « », and where they stood."""
    text, spans = "", list[Span]()
    for part in re.split("(«[^»]*»)", marked):
        plain = part.strip("«»")
        if plain != part:
            spans.append((len(text), len(text) + len(plain)))
        text += plain
    return text, tuple(spans)
