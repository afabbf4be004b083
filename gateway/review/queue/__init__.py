"""The queue: what waits for a person, put together by meaning and ranked by frequency times severity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from anyio import to_thread

from encoders import Encoder, EncoderError, Vector
from gateway.background import every
from gateway.errors import StoreUnavailable
from gateway.review.queue.clustering import clustered
from gateway.review.queue.waiting import (
    Waiting,
    questions_of,
    severity_of,
    tickets_in,
    topics_of,
    waiting_ids,
)
from gateway.review.tickets import WAITING
from storage.parts import in_parts
from storage.sql import Database

__all__ = ["Cluster", "Queue", "QueueView", "Wish"]

LOOKS_S = 3.0  # new tickets are read this soon; until then they stand alone
AT_ONCE = 32  # questions encoded together: nobody's request waits long behind them
NEWEST = 500  # answered or dismissed tickets that are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which tickets to see; what is empty does not matter."""

    states: tuple[str, ...] = WAITING
    language: str = ""
    reason: str = ""
    topic: str = ""
    overdue: bool = False
    mine: str = ""  # the name of whoever asks


@dataclass(frozen=True, slots=True)
class Cluster:
    """Tickets that ask much the same, the oldest first."""

    tickets: tuple[Waiting, ...]
    topic: str

    @property
    def first(self) -> Waiting:
        """The one that waits longest; it stands for all."""
        return self.tickets[0]

    @property
    def rank(self) -> int:
        """Frequency times severity."""
        return len(self.tickets) * max(severity_of(one.reason) for one in self.tickets)


@dataclass(frozen=True, slots=True)
class QueueView:
    """The clusters that fit a wish, and what there is to wish for."""

    clusters: tuple[Cluster, ...]
    total: int  # tickets in them
    overdue: int
    languages: tuple[str, ...]
    reasons: tuple[str, ...]
    topics: tuple[str, ...]


@dataclass(slots=True)
class _Known:
    """What was worked out of a ticket and its question as they were first read."""

    vector: Vector
    topic: str


class Queue:
    """All tenants' tickets. Vectors and topics of those that wait are kept in memory, SQL has the rest."""

    def __init__(self, db: Database, encoder: Encoder, *, promise_hours: float) -> None:
        self._db = db
        self._encoder = encoder
        self.promise = timedelta(hours=promise_hours)
        self._known: dict[str, _Known] = {}
        self._groups: dict[tuple[str, str], tuple[frozenset[str], dict[str, int]]] = {}

    async def run(self) -> None:
        """Read new tickets for as long as the gateway runs."""
        await every(
            LOOKS_S, self.catch_up, expected=(StoreUnavailable, EncoderError), event="queue not read",
            log="sekisho.review", told=lambda exc: type(exc).__name__,
        )  # fmt: skip

    async def catch_up(self) -> None:
        """Work out what is new among the tickets that wait, and forget those that don't wait any more."""
        waiting = await waiting_ids(self._db)
        for gone in self._known.keys() - set(waiting):
            del self._known[gone]
        new = [id_ for id_ in waiting if id_ not in self._known]
        for some in in_parts(new, AT_ONCE):
            questions = await questions_of(self._db, some)
            vectors = await self._encoder.encode([*questions.values()])
            topics = await topics_of(self._db, [*questions])
            for id_, vector in zip(questions, vectors, strict=True):
                self._known[id_] = _Known(vector, topics.get(id_, ""))

    async def view(self, tenant: str, wish: Wish) -> QueueView:
        """What a wish brings up: what waits by rank, the rest by time."""
        now = datetime.now(UTC)
        waits = set(wish.states) <= set(WAITING)
        all_ = await tickets_in(self._db, tenant, wish.states, newest=None if waits else NEWEST)
        topics = await self._topics(all_)
        fit = [one for one in all_ if self._fits(one, wish, topics[one.id], now)]
        groups = await self._grouped(tenant, all_, fit) if waits else [[one] for one in fit]
        clusters = [Cluster(tuple(group), topics[group[0].id]) for group in groups]
        if waits:
            clusters.sort(key=lambda one: (-one.rank, one.first.created_at, one.first.id))
        return QueueView(
            tuple(clusters),
            len(fit),
            sum(self._is_overdue(one, now) for one in fit),
            _sorted(one.language for one in all_),
            _sorted(one.reason for one in all_),
            _sorted(topics.values()),
        )

    def _is_overdue(self, ticket: Waiting, now: datetime) -> bool:
        """Whether a ticket waits longer than was promised."""
        return ticket.state in WAITING and now - ticket.created_at > self.promise

    def _fits(self, ticket: Waiting, wish: Wish, topic: str, now: datetime) -> bool:
        return (
            wish.language in ("", ticket.language)
            and wish.reason in ("", ticket.reason)
            and wish.topic in ("", topic)
            and (not wish.mine or ticket.claimed_by == wish.mine)
            and (not wish.overdue or self._is_overdue(ticket, now))
        )

    async def _topics(self, tickets: Sequence[Waiting]) -> dict[str, str]:
        known = {one.id: self._known[one.id].topic for one in tickets if one.id in self._known}
        missing = [one.id for one in tickets if one.id not in known]
        return {one.id: "" for one in tickets} | await topics_of(self._db, missing) | known

    async def _grouped(
        self, tenant: str, all_: Sequence[Waiting], fit: Sequence[Waiting]
    ) -> list[list[Waiting]]:
        """The tickets that fit, in the groups that all of the tenant's form: a filter moves nobody."""
        numbers: dict[str, tuple[str, int]] = {}
        for language in {one.language for one in fit}:
            known = [one.id for one in all_ if one.language == language and one.id in self._known]
            found = await self._numbers(tenant, language, known)
            numbers |= {id_: (language, number) for id_, number in found.items()}
        groups: dict[tuple[str, object], list[Waiting]] = {}
        for one in fit:
            groups.setdefault(numbers.get(one.id, (one.language, one.id)), []).append(one)
        return list(groups.values())

    async def _numbers(self, tenant: str, language: str, ids: Sequence[str]) -> dict[str, int]:
        """Which group each ticket is in; worked out again only when other tickets wait."""
        have, numbers = self._groups.get((tenant, language), (frozenset(), {}))
        if not ids:
            return {}
        if have != frozenset(ids):
            vectors = np.stack([self._known[id_].vector for id_ in ids])
            made = await to_thread.run_sync(clustered, vectors, language)
            numbers = dict(zip(ids, made, strict=True))
            self._groups[tenant, language] = (frozenset(ids), numbers)
        return numbers


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))
