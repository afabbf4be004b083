"""Where a statement joins what the contexts say of two things: the subject of one sentence, told what another
sentence tells of its own. "A red light means an update" beside "an orange light means an update; a red light
means no connection".

A sentence of the contexts is read as facts: what it speaks of, and what it tells of that. A statement is
misplaced if two facts have all of it and neither has it alone: one gives the subject, the other something of
what it tells, with a subject of its own that the statement lacks. Long sentences are left alone: there a
subject is often told once and meant all along.
"""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.faithfulness.contradictions.facts import Fact, telling
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.said import Said
from classifiers.faithfulness.wording import weight

__all__ = ["misplaced"]

LONGEST = {"en": (10, 4), "ja": (20, 8), "zh": (22, 9)}  # terms of a fact and of its subject
ALONE = {"en": 0.85, "ja": 0.9, "zh": 0.9}  # share of a statement from which one fact has it
TOGETHER = 0.85  # share of it that two facts have to have
TAKEN = 0.5  # share of what a fact tells that the statement took
TAKEN_OF_LIKE = 0.3  # the same where the two subjects share a word: the Basic plan, the Team plan
NAMED = 0.6  # share of a subject by which it is named
LEAST = 0.5  # weight of what each of the two gives
MOST_LINES = 3  # with a word of the subject; what is in more of them is what all of the passage is about
# Whoever it is told of: the statement may say "you" instead; and in which case, if no more is said.
ANYONE_EN = frozenset(
    ["custom", "client", "member", "guest", "user", "visitor", "person", "peopl", "subscrib"]
)
ANYONE = ANYONE_EN | {"客様", "客户", "用户", "顾客", "場合"}


def misplaced(each: Said, near: Sequence[Fact], known: Sequence[Line]) -> tuple[tuple[str, str], ...]:
    """What is told of a subject, and the clause, of those near the statement, that tells it of another."""
    longest, longest_subject = LONGEST[each.line.language]
    found = [fact for fact in near if len(fact.content) <= longest]
    if not found:
        return ()
    statement = _Statement(each, found)
    if statement.stands_in_one():
        return ()
    for other in found:
        if not 0 < len(other.subject) <= longest_subject or not statement.takes_from(other, TAKEN_OF_LIKE):
            continue
        for subject in found:
            if 0 < len(subject.subject) <= longest_subject and statement.joins(subject, other, known):
                return ((each.line.plain, other.line.plain.strip()),)
    return ()


class _Statement:
    """A statement beside the facts that share words or numbers with it."""

    def __init__(self, each: Said, facts: Sequence[Fact]) -> None:
        self._each = each
        self._own = telling(each.line)
        self._asked = telling(each.asked)
        self._facts = facts
        self._numbers = frozenset(number.text for number in each.numbers)
        self._has = {
            id(fact): frozenset(q.text for q in each.numbers if fact.line.pool.find(q) == "same")
            for fact in facts
        }
        self._weight = weight(self._own) + len(self._numbers)

    def stands_in_one(self) -> bool:
        """Whether one fact has nearly all of it."""
        shares = (weight(self._own & fact.content) + len(self._has[id(fact)]) for fact in self._facts)
        return any(share >= ALONE[self._each.line.language] * self._weight for share in shares)

    def takes_from(self, other: Fact, least: float) -> bool:
        """Whether it has this share of what a fact tells, but not whom it is told of."""
        lacked = weight(other.subject - self._own - ANYONE)
        numbers = len(self._told_numbers(other))
        taken = weight(other.told & self._own) + numbers
        whole = weight(other.told) + max(numbers, len(other.line.quantities))
        another = lacked >= max(LEAST, (1 - NAMED) * weight(other.subject))
        return another and taken >= max(LEAST, least * whole)

    def joins(self, subject: Fact, other: Fact, known: Sequence[Line]) -> bool:
        """Whether it tells of the subject of one fact what another fact tells."""
        if subject is other or weight(subject.subject & self._own) < NAMED * weight(subject.subject):
            return False
        alike = bool(subject.subject & other.subject - ANYONE)
        if not alike and not self.takes_from(other, TAKEN):
            return False
        named = (self._own - other.content) & subject.subject
        told = (self._own - subject.content) & other.told
        numbers = self._told_numbers(other) - self._has[id(subject)]
        if not numbers and self._told_numbers(subject):  # shortened: "staff have 20 days' leave, others 10"
            return False
        if weight(named) < LEAST or weight(told - ANYONE) + len(numbers) < LEAST:
            return False
        if named <= self._asked and not alike:
            return False
        both = self._has[id(subject)] | self._has[id(other)]
        covered = weight(self._own & (subject.content | other.content)) + len(both)
        if covered < TOGETHER * self._weight or _is_meant(named, subject, other, known):
            return False
        return not any(self._tells(fact, named, told, numbers) for fact in self._facts)

    def _told_numbers(self, fact: Fact) -> frozenset[str]:
        """The numbers of it that a fact tells, and not as a part of its subject ("five days or more")."""
        about = (q.text for q in self._each.numbers if fact.about.pool.find(q) == "same")
        return self._has[id(fact)].difference(about)

    def _tells(
        self, fact: Fact, named: frozenset[str], told: frozenset[str], numbers: frozenset[str]
    ) -> bool:
        """Whether a fact tells the same of the same subject."""
        share = weight(told & fact.content) + len(numbers & self._has[id(fact)])
        of_it = weight(named & fact.content) >= NAMED * weight(named)
        return of_it and share >= NAMED * (weight(told) + len(numbers))


def _is_meant(named: frozenset[str], subject: Fact, other: Fact, known: Sequence[Line]) -> bool:
    """Whether a fact may speak of this subject without a word of it: the sentence before does, or many do."""
    if min(sum(term in line.content for line in known) for term in named) > MOST_LINES:
        return True
    before = other.source - 1
    if before < 0 or before == subject.source:
        return False
    return weight(named & known[before].content) >= NAMED * weight(named)
