"""Passages that we wrote, each with a sister of other facts, and statements that one of the two supports.

A block of statements/LANGUAGE/*.txt has the passages, `A: …` and `B: …`, and below them statements: `+-` is
supported by A alone, `-+` by B, `++` by both, `--` by neither. « » holds the words that decide it. Since most
statements are true of one sister and false of the other, their wording says nothing of what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from training.rewording import Span
from training.support_groups import Group, Said

__all__ = ["written_groups"]

STATEMENTS: Final = Path(__file__).parent / "statements"


def written_groups(lang: str) -> list[Group]:
    """Both passages of every block of a language, with its statements."""
    files = sorted((STATEMENTS / lang).glob("*.txt"))
    blocks = [block for file in files for block in file.read_text(encoding="utf-8").split("\n\n")]
    return [group for block in blocks if block.strip() for group in _groups(lang, block.strip().splitlines())]


def _groups(lang: str, lines: list[str]) -> Iterator[Group]:
    passages, statements = lines[:2], lines[2:]
    for place, passage in enumerate(passages):
        said = tuple(_said(line[3:], supported=line[place] == "+") for line in statements)
        yield Group("written", lang, passage.removeprefix("A: ").removeprefix("B: "), said)


def _said(marked: str, *, supported: bool) -> Said:
    text, wrong = "", list[Span]()
    for part in re.split("(«[^»]*»)", marked):
        plain = part.strip("«»")
        if plain != part and not supported:
            wrong.append((len(text), len(text) + len(plain)))
        text += plain
    return Said(text, supported, "true" if supported else "written", tuple(wrong))
