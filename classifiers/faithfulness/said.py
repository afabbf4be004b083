"""A statement as it is compared with the contexts: its words with their weights, beside the question."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantities.pool import Quantity, QuantityPool
from classifiers.faithfulness.statements.citations import CITATION
from classifiers.faithfulness.told import told_numbers
from classifiers.faithfulness.wording import is_cjk, rarity

__all__ = ["ECHO", "NEAR", "Asked", "Said", "readable", "said"]

LIGHT = 0.1
ECHO = 0.5  # a word of the question is expected in the answer, but proves nothing
STEEP = 1.5  # power of a word's rarity; pairs of characters weigh as they are
SHORTEST_STATEMENT = 4  # words with content
NEAR = 36  # characters in which the neighbours of a number are looked for; a third in Japanese and Chinese
MOST_ASKED = 32  # questions; each statement of an answer is laid beside its own
MOST_REMEMBERED = 256  # statements; an evaluation compares one with contexts and with the ground truth
BEFORE_STOP = re.compile(r"\s+(?=[.,;:!?。、，；：！？])")
COUNTED = frozenset({"", "count", "person", "item", "article", "time", "day", "age"})


class Asked(Line):
    """A question, and what its asker tells in it."""

    @cached_property
    def told(self) -> tuple[Quantity, ...]:
        """The numbers that the asker states."""
        return told_numbers(self.text)

    def tells(self, number: Quantity) -> bool:
        """Whether a number is one of these."""
        return bool(self.told) and self._told_pool.find(number) == "same"

    @cached_property
    def _told_pool(self) -> QuantityPool:
        return QuantityPool(self.told)


@dataclass(frozen=True, slots=True)
class Said:
    """A statement, its words with their weights, and the question it answers."""

    line: Line
    asked: Asked
    content: dict[str, float]
    numbers: tuple[Quantity, ...]
    counted: frozenset[Decimal]  # numbers of it and its question that count something: "three tickets"

    @property
    def claims_much(self) -> bool:
        """Whether it is more than "That is correct."; Japanese answers close by taking up the question."""
        rounds_off = self.line.language != "en" and not self.asked.content.isdisjoint(self.content)
        return len(self.content) >= SHORTEST_STATEMENT and not rounds_off

    def echoes(self, term: str) -> bool:
        """Whether a word only takes up the question."""
        return term in self.asked.content


@lru_cache(MOST_REMEMBERED)
def said(text: str, question: str) -> Said:
    """Read a statement beside its question; citations say nothing."""
    line, asked = Line(CITATION.sub(" ", text)), _asked(question)
    content = {term: _weight(term) for term in line.terms.content}
    if not content:
        content = dict.fromkeys(line.terms.light, LIGHT)
    numbers = tuple(q for q in line.quantities if not _names_the_asked(q, line, asked))
    counts = ((q.written or q.value, q) for q in (*numbers, *asked.quantities))  # 2 of 2時間
    counted = (Decimal(count) for count, q in counts if q.unit in COUNTED or q.written)
    return Said(line, asked, content, numbers, frozenset(counted))


_asked = lru_cache(MOST_ASKED)(Asked)


def readable(claim: str) -> str:
    """A statement without citation marks, on which no model was trained."""
    return BEFORE_STOP.sub("", " ".join(CITATION.sub(" ", claim).split()))


def _weight(term: str) -> float:
    return rarity(term) if is_cjk(term) else rarity(term) ** STEEP


def _names_the_asked(number: Quantity, line: Line, asked: Line) -> bool:
    """Whether a number is part of a name that the question has too: "Windows 10"."""
    at = line.plain.find(number.text)
    named = re.search(r"[a-z][\w-]*[ -]?$", line.plain[max(0, at - NEAR) : max(0, at)])
    return bool(named and not number.unit and named[0] + number.text in asked.plain)
