"""What each rate counts, and of what. The same definition picks counts, and the questions behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from sqlalchemy import Column, ColumnElement, and_, or_, true

__all__ = ["FIGURES", "Base", "Counted", "Figure", "Outcomes"]

Base = Literal["questions", "lookups", "drafts"]


class Counted(Protocol):
    """An outcome, or a count of outcomes that are alike."""

    @property
    def outcome(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def tier(self) -> str | None: ...
    @property
    def unchecked(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Which outcomes are meant: all that agree with everything that is said here."""

    names: frozenset[str] | None = None
    reason: str | None = None  # whole, or the class before its topic: "must_not" is all of "must_not:…"
    tiers: frozenset[str] | None = None
    unchecked: bool | None = None

    def include(self, counted: Counted) -> bool:
        """Whether an outcome is one of them."""
        return (
            (self.names is None or counted.outcome in self.names)
            and (self.reason is None or self.reason in (counted.reason, counted.reason.partition(":")[0]))
            and (self.tiers is None or counted.tier in self.tiers)
            and (self.unchecked is None or counted.unchecked == self.unchecked)
        )

    def among(self, rows: _Columns) -> ColumnElement[bool]:
        """The same as a condition on rows of outcomes."""
        said: list[ColumnElement[bool]] = [true()]
        if self.names is not None:
            said.append(rows.outcome.in_(sorted(self.names)))
        if self.reason is not None:
            topics = rows.reason.startswith(f"{self.reason}:", autoescape=True)
            said.append(or_(rows.reason == self.reason, topics))
        if self.tiers is not None:
            said.append(rows.tier.in_(sorted(self.tiers)))
        if self.unchecked is not None:
            said.append(rows.unchecked.is_(self.unchecked))
        return and_(*said)


class _Columns(Protocol):
    outcome: Column[str]
    reason: Column[str]
    tier: Column[str]
    unchecked: Column[bool]


@dataclass(frozen=True, slots=True)
class Figure:
    """A rate: `counted` of `base`. Lookups are questions that came to the cache, drafts are RAG's answers."""

    counted: Outcomes
    base: Base = "questions"


def _named(*names: str) -> Outcomes:
    return Outcomes(names=frozenset(names))


_HITS = Outcomes(tiers=frozenset({"exact", "vector"}))

# `questions` is everything that came out of the gateway with an outcome: not small talk, which asks nothing,
# and not requests that ended in an HTTP error.
FIGURES: dict[str, Figure] = {
    "questions": Figure(Outcomes()),
    "refused": Figure(_named("refused")),
    "refused_may": Figure(Outcomes(names=frozenset({"refused"}), reason="may")),
    "refused_must_not": Figure(Outcomes(names=frozenset({"refused"}), reason="must_not")),
    "cache_hits": Figure(_HITS),  # without offers that an asker accepted: they were asked first
    "cache_exact": Figure(Outcomes(tiers=frozenset({"exact"}))),
    "cache_vector": Figure(Outcomes(tiers=frozenset({"vector"}))),
    "cache_hits_of_lookups": Figure(_HITS, "lookups"),
    "accepted_offers": Figure(Outcomes(reason="accepted_offer")),
    "rag": Figure(_named("rag")),
    "withheld": Figure(_named("withheld")),
    "escalated": Figure(_named("escalated")),
    "unchecked": Figure(Outcomes(unchecked=True), "drafts"),
}
