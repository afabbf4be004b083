"""What askers thought of an answer. A thumbs down opens a ticket and counts against the entry that answered.

Nobody can pause an entry alone, or flood the reviewers: a request has one verdict, its last; whoever is
not content counts once for an entry, by the asker's id that came with the question (never with the feedback);
askers without one count together, once for each API key. Only requests that the entry answered count, only
those since a person last changed or activated it. Further thumbs join the ticket that waits already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import RowMapping, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry
from cache.store.queries import changing, with_phrasings
from cache.store.rows import entries_from_rows
from cache.store.writing import remember, write_next
from gateway.errors import StoreUnavailable
from gateway.review.feedback.given import GivenAnswers
from gateway.review.tickets import WAITING, NewTicket, open_within, record_event
from gateway.settings.people import FeedbackSettings
from storage.schema import answers, entries, feedback, outcomes, ticket_events, tickets
from storage.schema.base import holds
from storage.sql import Database, DatabaseUnavailable
from storage.texts import storable

__all__ = ["Feedback", "Kept", "Verdict"]

Verdict = Literal["up", "down"]

EVENT = "disputed"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a verdict did."""

    entry_id: str | None  # the verified entry that it counts for, if one answered
    known: bool = True  # False: no record of the request, so a wrong id, small talk, or too long ago
    tickets: tuple[str, ...] = ()
    paused: bool = False


class Feedback:
    """Takes verdicts. Each is one transaction with all that follows from it."""

    def __init__(self, db: Database, given: GivenAnswers, settings: FeedbackSettings) -> None:
        self._db = db
        self._given = given
        self._settings = settings

    async def keep(
        self, *, tenant: str, request_id: str, verdict: Verdict, comment: str = "", by: str
    ) -> Kept:
        """Keep a verdict; a second one on the same request by the same key takes its place.

        Raises:
            StoreUnavailable: nothing was kept.
        """
        said = {
            "at": datetime.now(UTC),
            "tenant": tenant,
            "request_id": storable(request_id),
            "verdict": verdict,
            "comment": storable(comment),
            "by": by,
        }
        try:
            await self._given.flush()  # an asker may be faster than the record
            async with changing(self._db.quick, tenant) as connection:
                return await self._keep(connection, said)
        except DatabaseUnavailable as exc:
            raise StoreUnavailable("the feedback could not be kept") from exc

    async def _keep(self, connection: AsyncConnection, said: dict[str, Any]) -> Kept:
        of_request = {name: said[name] for name in ("tenant", "request_id")}
        query = select(answers).filter_by(**of_request).order_by(answers.c.id)
        given = (await connection.execute(query)).mappings().all()
        entry_id = await _entry_of(connection, given, of_request)
        known = bool(given) or await _is_known(connection, of_request)
        asker = next((one["asker"] for one in given if one["asker"]), None)
        await connection.execute(delete(feedback).filter_by(**of_request, by=said["by"]))
        await connection.execute(insert(feedback).values(said | {"entry_id": entry_id, "asker": asker}))
        if said["verdict"] == "up":
            return Kept(entry_id, known)
        opened = [await _dispute(connection, one, said) for one in given]
        paused = entry_id is not None and await self._pause_if_many(connection, said["tenant"], entry_id)
        return Kept(entry_id, known, tuple(opened), paused)

    async def _pause_if_many(self, connection: AsyncConnection, tenant: str, entry_id: str) -> bool:
        """Take an entry off the shelf that enough askers were not content with; a person puts it back."""
        query = with_phrasings().where(entries.c.id == entry_id, entries.c.tenant == tenant)
        found = entries_from_rows((await connection.execute(query)).mappings())
        if not found or found[0].state != "active" or not self._settings.pause_after:
            return False
        entry, now = found[0], datetime.now(UTC)
        since = max(entry.updated_at, now - timedelta(days=self._settings.window_days))
        if await _discontent(connection, entry, since) < self._settings.pause_after:
            return False
        paused = replace(entry, state="paused", revision=entry.revision + 1, updated_at=now)
        await write_next(connection, paused)
        await remember(connection, paused, by="feedback", change="paused")
        return True


async def _entry_of(
    connection: AsyncConnection, given: Sequence[RowMapping], of_request: dict[str, Any]
) -> str | None:
    """The entry that answered a request; with two of them nobody can say which was meant."""
    found = [one["entry_id"] for one in given if one["entry_id"]]
    if not given:  # too old, or not kept: the record of outcomes still knows
        recorded = select(outcomes.c.entry_id).filter_by(**of_request)
        recorded = recorded.where(outcomes.c.entry_id.is_not(None)).limit(2)
        found = list(await connection.scalars(recorded))
    return found[0] if len(found) == 1 else None


async def _is_known(connection: AsyncConnection, of_request: dict[str, Any]) -> bool:
    """Whether anything is kept of a request that was not answered, or not lately."""
    for table in (outcomes, tickets):
        if await connection.scalar(select(table.c.id).filter_by(**of_request).limit(1)) is not None:
            return True
    return False


async def _discontent(connection: AsyncConnection, entry: Entry, since: datetime) -> int:
    """How many different askers were not content with an entry since then."""
    query = (
        select(feedback.c.asker, feedback.c.by)
        .where(feedback.c.tenant == entry.tenant, feedback.c.entry_id == entry.id)
        .where(feedback.c.verdict == "down", feedback.c.at > since)
        .distinct()
    )
    voters = (await connection.execute(query)).all()
    return len({("asker", one.asker) if one.asker else ("key", one.by) for one in voters})


async def _dispute(connection: AsyncConnection, given: RowMapping, said: dict[str, Any]) -> str:
    """The ticket on an answer that somebody was not content with: the one that waits, or a new one."""
    detail = {"request_id": given["request_id"], "comment": said["comment"]}
    waiting = await _waiting_for(connection, given)
    ticket_id = waiting["id"] if waiting else await _open(connection, given)
    if not await _told_before(connection, ticket_id, given["request_id"]):
        await record_event(connection, ticket_id, EVENT, by=said["by"], detail=detail)
    return ticket_id


async def _waiting_for(connection: AsyncConnection, given: RowMapping) -> RowMapping | None:
    """The ticket that was opened for this request, or waits for the same entry or question."""
    disputed = (tickets.c.tenant == given["tenant"], tickets.c.outcome == "disputed")
    same = tickets.c.entry_id == given["entry_id"]
    same_question = holds(connection, tickets.c.question, given["question"])
    if given["entry_id"] is None:
        same = same_question & (tickets.c.language == given["language"]) & (tickets.c.group == given["group"])
    this = (tickets.c.request_id == given["request_id"]) & same_question
    query = select(tickets.c.id, tickets.c.state).where(
        *disputed, this | (same & tickets.c.state.in_(WAITING))
    )
    return (await connection.execute(query.limit(1))).mappings().first()


async def _told_before(connection: AsyncConnection, ticket_id: str, request_id: str) -> bool:
    query = select(ticket_events.c.detail).where(
        ticket_events.c.ticket_id == ticket_id, ticket_events.c.event == EVENT
    )
    return any(one["request_id"] == request_id for one in await connection.scalars(query))


async def _open(connection: AsyncConnection, given: RowMapping) -> str:
    """A ticket with everything that led to the answer."""
    copied = (
        "tenant", "group", "request_id", "asker", "language", "real_question", "question", "turns", "steps",
        "entry_id",
    )  # fmt: skip
    same = {name: given[name] for name in copied}
    new = NewTicket(**same, outcome="disputed", reason="thumbs_down")
    return await open_within(connection, new, detail={"self_contained": given["self_contained"]})
