"""A ticket: a question that waits for a person, and what happened to it."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import RowMapping

from gateway.rendering import Json

__all__ = [
    "WAITING",
    "NewTicket",
    "Ticket",
    "TicketEvent",
    "TicketOutcome",
    "TicketState",
    "canonical_id",
    "drawn_id",
    "ticket_of",
]

# answered: RAG did, and people read it; disputed: somebody was not content with an answer
TicketOutcome = Literal["withheld", "escalated", "answered", "disputed", "stale_entry"]
TicketState = Literal["open", "claimed", "answered", "dismissed"]
WAITING: Final = ("open", "claimed")  # for a person

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # no I, L, O, U: nothing to mishear or misread
_MISREAD = str.maketrans("OIL", "011")
_ID_LENGTH = 8  # 2**40 ids
_LONGEST_TYPED = 64  # characters of what may be an id, with spaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A question that waits for a person, or waited, with everything the person needs."""

    id: str
    tenant: str
    group: str  # the asker's
    request_id: str
    asker: str | None
    language: str
    real_question: str
    question: str
    turns: tuple[Mapping[str, str], ...]  # the conversation before it: role, text
    outcome: TicketOutcome
    reason: str
    steps: tuple[Mapping[str, Any], ...]  # as gateway.rendering renders them
    state: TicketState
    claimed_by: str | None
    answer: str | None
    entry_id: str | None  # the entry it became, or (stale_entry) asks to review
    revision: int
    created_at: datetime
    updated_at: datetime
    answered_at: datetime | None
    told_at: datetime | None = None  # in the conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTicket:
    """What a ticket is opened with."""

    tenant: str
    group: str
    request_id: str
    asker: str | None = None  # None: nobody asked, or nobody says who
    language: str
    real_question: str
    question: str
    turns: Sequence[Mapping[str, str]] = ()
    outcome: TicketOutcome
    reason: str
    steps: Sequence[Json] = ()
    entry_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketEvent:
    """Something that happened to a ticket, and who did it."""

    at: datetime
    by: str
    event: str
    detail: Mapping[str, Any]


def drawn_id() -> str:
    """A random id that can be read out over the telephone."""
    return "T-" + "".join(secrets.choice(_CROCKFORD) for _ in range(_ID_LENGTH))


def canonical_id(ticket_id: str) -> str:
    """The id as we write it, from what a person typed.

    `t-7k3mo q2x` may have been read out, and `Ｔー７Ｋ３Ｍ０Ｑ２Ｘ` is what a Japanese keyboard types.
    """
    typed = unicodedata.normalize("NFKC", ticket_id[:_LONGEST_TYPED]).upper()
    letters = re.sub("[^0-9A-Z]", "", typed)
    if len(letters) > _ID_LENGTH:
        letters = letters.removeprefix("T")
    return f"T-{letters.translate(_MISREAD)}"


def ticket_of(row: RowMapping) -> Ticket:
    """The ticket of a row."""
    return Ticket(**dict(row) | {"turns": tuple(row["turns"]), "steps": tuple(row["steps"])})
