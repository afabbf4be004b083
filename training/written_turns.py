"""Conversations that we wrote, each with turns that could come next: some lean on it, some are complete.

A block of turns/LANGUAGE/*.txt has the turns so far (`U: ` the asker's, `B: ` the bot's) and below them next
turns: `L ` leans on what was said, `C ` asks by itself for all that it wants. They are near twins, of like
length and in like words, so that neither says by its wording alone what it is. From files named kept… the
model does not learn: the weights beside it are fitted on them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from gateway.understanding.leaning import as_read
from training.faq_pairs import Pair

__all__ = ["NextTurn", "read_turns", "turn_pairs", "written_turns"]

TURNS: Final = Path(__file__).parent / "turns"
KEPT: Final = "kept"


@dataclass(frozen=True)
class NextTurn:
    """What the asker said before, and what comes next."""

    earlier: tuple[str, ...]
    text: str
    leans: bool
    kept: bool  # for fitting the weights beside the model

    @property
    def as_pair(self) -> Pair:
        """What the model reads, and 1 if the turn leans."""
        return *as_read(self.earlier, self.text), int(self.leans)


@cache
def written_turns(language: str) -> tuple[NextTurn, ...]:
    """All next turns of a language."""
    return tuple(one for file in sorted((TURNS / language).glob("*.txt")) for one in read_turns(file))


def read_turns(file: Path) -> Iterator[NextTurn]:
    """All next turns of a file."""
    for block in file.read_text(encoding="utf-8").split("\n\n"):
        yield from _next_turns(block.strip().splitlines(), kept=file.name.startswith(KEPT))


def _next_turns(lines: Sequence[str], *, kept: bool) -> Iterator[NextTurn]:
    earlier = tuple(line[3:] for line in lines if line.startswith("U: "))
    for line in lines:
        if line.startswith(("L ", "C ")):
            yield NextTurn(earlier, line[2:], line.startswith("L "), kept)


def turn_pairs(languages: Sequence[str], number: int) -> list[Pair]:
    """So many pairs of what was said and what comes next, as many of each language: 1 if it leans."""
    found: list[Pair] = []
    for language in languages:
        learnt = [one.as_pair for one in written_turns(language) if not one.kept]
        left = number // len(languages)
        while left:  # each turn about as often
            again = random.sample(learnt, min(len(learnt), left))
            found += again
            left -= len(again)
    return found
