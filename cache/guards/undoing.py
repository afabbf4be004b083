"""Taking back what ends something or is gone: to undo a cancellation is not to cancel; 解約の取り消し."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple, Self

from cache.guards import Compared
from cache.reading.tables import Found, Terms, read_table
from cache.reading.words import REMEMBERED, Text, clauses
from languages.remembering import remembered

__all__ = ["UndoingGuard"]

_DONE = "done"
_RETURNED = "returned"
_GONE, _GOING = "gone", "going"
_FAR = {"en": 24, "ja": 10, "zh": 12}  # characters between what takes back and what is taken back
_BESIDE = {"en": 6, "ja": 10, "zh": 1}  # where a return comes second: 取消订单退款 asks for one
_LAST = re.compile("(?:申请|掉|一下|回来|吗|呢|么|嘛|啊|了|行|可以)*")


class _Acts(NamedTuple):
    undone: frozenset[str]  # classes of what is taken back
    said: frozenset[str]  # classes of what is named at all
    stops: bool  # whether something is stopped, cancelled, taken back


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of one language."""

    language: str
    terms: Terms
    apart: tuple[str, ...]
    joined: tuple[str, ...]

    @classmethod
    def of(cls, language: str, table: Mapping[str, Any]) -> Self:
        kinds = ("undo", "surely", "back", _DONE, _GONE, _GOING)
        meanings = {kind: table[kind] for kind in kinds} | table["ends"]
        terms = Terms.of(meanings, passed=table["passed"], inflected=True)
        return cls(language, terms, tuple(table["apart"]), tuple(table["joined"]))

    def read(self, text: Text) -> _Acts:
        """What a text takes back."""
        undone, said, stops = set[str](), set[str](), False
        for clause in clauses(text):
            found = self.terms.find(clause)
            for one in found:
                stops |= "undo" in one.meanings
                if "surely" in one.meanings:
                    undone |= said
                elif "undo" in one.meanings:  # "it was already sent, can I cancel it?"
                    undone |= said & {_DONE}
                if "back" in one.meanings:
                    undone |= said & {_GONE}
                said |= _ends(one)
            for undo, end in permutations(found, 2):
                if undo.meanings & {"undo", "back"} and self._belong(undo, end, clause):
                    undone |= _undone(undo, end)
        return _Acts(frozenset(undone), frozenset(said), stops)

    def _belong(self, undo: Found, end: Found, clause: str) -> bool:
        """Whether what is taken back stands where this language puts it."""
        first, last = sorted((undo, end), key=lambda one: one.start)
        if last.end <= first.end:  # "get the deleted file back"
            return undo is first
        between = clause[first.end : last.start]
        far = _BESIDE if undo is first and _RETURNED in end.meanings else _FAR
        if len(between) > far[self.language] and not end.meanings & {_DONE, _GONE}:
            return False
        if undo is first:
            return self.language != "ja" and not self._apart(between, self.apart)
        if self.language == "ja":
            return bool(between) and not self._apart(between, self.apart)
        last_word = self.language == "zh" and _LAST.fullmatch(clause, undo.end)
        return bool(last_word) and not self._apart(between, self.joined)

    def _apart(self, between: str, words: tuple[str, ...]) -> bool:
        """Whether such a word stands between the two."""
        told = between.split() if self.language == "en" else between
        return any(word in told for word in words)


def _ends(found: Found) -> frozenset[str]:
    return found.meanings - {"undo", "surely", "back"}


def _undone(undo: Found, end: Found) -> frozenset[str]:
    """What of an end a word takes back: one stops what is done, but nothing that is gone."""
    gone = _ends(end) & {_GONE, _GOING}
    return (_ends(end) - gone if "undo" in undo.meanings else frozenset[str]()) | (
        gone & {_GONE} if "back" in undo.meanings else frozenset[str]()
    )


@dataclass(frozen=True, slots=True)
class UndoingGuard:
    """Vetoes an entry that tells how to do what the question takes back, and the other way round."""

    read: Mapping[str, Callable[[Text], _Acts]]
    name: str = "undoing"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped words."""
        table = read_table("undoing.yaml", "cache.guards")
        return cls(
            {
                language: remembered(REMEMBERED)(_Words.of(language, own).read)
                for language, own in table.items()
            }
        )

    def veto(self, compared: Compared, /) -> str | None:
        """Which of the two takes back."""
        read = self.read[compared.language]
        asked, nearest = read(compared.asked), read(compared.nearest)
        stored = [read(text) for text in compared.stored]
        for one in sorted(asked.undone):
            if _only_does(nearest, one) and not any(one in text.undone for text in stored):
                return "the question takes back what the entry does"
        for one in sorted(nearest.undone):
            if _only_does(asked, one) and not any(_only_does(text, one) for text in stored):
                return "the entry takes back what the question does"
        return None


def _only_does(acts: _Acts, one: str) -> bool:
    """Whether a text does what another takes back, stops in time what is done there, or asks when it goes."""
    if one in acts.undone:
        return False
    return acts.stops if one == _DONE else (_GOING if one == _GONE else one) in acts.said
