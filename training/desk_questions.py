"""Small helpdesks with plain questions, and what a right reply to each has to hold.

A folder of training/desks or benchmarks/desks has `documents/`, `entries.jsonl`, `must.txt`, `may.txt`,
`description.txt` and `questions.jsonl`. One that has only questions asks the helpdesk of `examples/`. A line:

    {"question", "kind": "answered" | "not_in_documents" | "not_ours" | "unclear",
     "section": "file.md › heading", "holds": [["a", "b"], ["c"]], "not": ["d"], "note"}

`holds`: alternatives, of one of which all must stand in the reply; `not`: what no right reply holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from gateway.demo import HELPDESK
from training.command import rows

__all__ = ["LEARNT", "UNSEEN", "Asked", "Desk", "desks"]

LEARNT: Final = Path(__file__).parent / "desks"
UNSEEN: Final = Path(__file__).parents[1] / "benchmarks" / "desks"
Kind = Literal["answered", "not_in_documents", "not_ours", "unclear"]
_BETWEEN = re.compile(r"[\s*`|]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a user."""

    text: str
    kind: Kind
    holds: tuple[tuple[str, ...], ...]
    never: tuple[str, ...]

    def answered_by(self, reply: str) -> bool:
        """Whether a reply holds what a right one has to, however it is spaced; never if nothing answers."""
        there = _plain(reply)
        held = any(all(_plain(part) in there for part in parts) for parts in self.holds)
        return held and not any(_plain(part) in there for part in self.never)

    def touched_by(self, text: str) -> bool:
        """Whether a text holds a part of what a right reply has to."""
        there = _plain(text)
        return any(_plain(part) in there for parts in self.holds for part in parts)


@dataclass(frozen=True, slots=True)
class Desk:
    """A helpdesk and what it is asked."""

    name: str  # begins with its language
    home: Path  # of its documents, entries and policy
    asked: tuple[Asked, ...]

    @property
    def language(self) -> str:
        """ISO 639-1."""
        return self.name[:2]

    @property
    def documents(self) -> Path:
        """The folder of its documents."""
        return self.home / "documents"


def desks(folder: Path = LEARNT) -> list[Desk]:
    """All helpdesks of a folder."""
    return [_read(one) for one in sorted(folder.iterdir()) if one.is_dir()]


def _read(folder: Path) -> Desk:
    own = (folder / "documents").is_dir()
    home = folder if own else HELPDESK / folder.name[:2]
    asked = tuple(
        Asked(row["question"], row["kind"], _parts(row["holds"]), tuple(row["not"]))
        for row in rows(folder / "questions.jsonl")
    )
    return Desk(folder.name, home, asked)


def _parts(alternatives: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(parts) for parts in alternatives)


def _plain(text: str) -> str:
    return _BETWEEN.sub("", unicodedata.normalize("NFKC", text))
