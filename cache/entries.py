"""Verified entries: what a person approved, with its phrasings, owner, sources and life cycle."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

__all__ = ["Entry", "EntryKind", "EntryStanding", "EntryState", "Source"]

EntryKind = Literal["ground_truth", "confirmed_answer"]
EntryState = Literal["draft", "active", "paused", "stale", "retired"]
EntryStanding = Literal[EntryState, "upcoming", "expired"]


@dataclass(frozen=True, slots=True)
class Source:
    """A document that an entry was written from, and its version at that time."""

    document: str
    version: str  # sha256 of the document's text


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A verified answer. Only `active` entries inside their validity are served."""

    id: str
    tenant: str
    kind: EntryKind
    group: str = ""  # who may read it; "" is everybody of the tenant
    language: str  # ISO 639-1
    phrasings: tuple[str, ...]  # the first is the entry's question; never empty
    answer: str
    state: EntryState
    owner: str = ""
    sources: tuple[Source, ...] = ()
    valid_from: date | None = None
    valid_until: date | None = None  # inclusive
    review_by: date | None = None
    revision: int = 1  # counts up with every change; a stale write is refused
    created_at: datetime
    updated_at: datetime

    @property
    def question(self) -> str:
        """The phrasing that stands for the entry."""
        return self.phrasings[0]

    def standing(self, today: date) -> EntryStanding:
        """Its state; of an active one outside its validity, why nobody is served it `today`."""
        if self.state != "active":
            return self.state
        if self.valid_from and today < self.valid_from:
            return "upcoming"
        return "expired" if self.valid_until and self.valid_until < today else "active"
