"""An asker's words in other hands: suggestions, examples of the gate, phrasings of entries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from secrets import token_bytes
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.reading.text import exact_key, normalise
from cache.store.rows import entry_from_snapshot
from gateway.retention.traces import AT_ONCE, Traces, chunks
from gateway.review.tickets import WAITING, NewTicket, Ticket, open_within
from gateway.review.tickets.within import change, fetch
from storage.parts import in_parts
from storage.schema import entries, entry_history, entry_phrasings, gate_examples, suggestions, tickets

__all__ = ["ask_about_phrasings", "forget_examples", "forget_suggestions", "wipe_example"]

REASON = "phrasing_of_forgotten"
BY = "gateway"


async def forget_suggestions(connection: AsyncConnection, traces: Traces) -> int:
    """Phrasings that were suggested in their words, whoever else asked so."""
    gone = 0
    for some in _some(traces.words):
        own = (suggestions.c.tenant == traces.left.tenant, suggestions.c.exact_key.in_(some))
        gone += (await connection.execute(delete(suggestions).where(*own))).rowcount
    return gone


async def forget_examples(connection: AsyncConnection, traces: Traces, *, by: str) -> int:
    """What the gate was taught in their words; what it learnt already it is fitted without.

    An accepted one becomes a rejected one without words: the count of decisions, by which replicas see
    that their gate is behind, must go up.
    """
    tenant = traces.left.tenant
    found = await _examples(connection, tenant, gate_examples.c.request_id.in_(traces.left.requests))
    for some in chunks(traces.tickets):
        found |= await _examples(connection, tenant, gate_examples.c.ticket_id.in_(some))
    for keys in _some(traces.gate_words):
        found |= await _examples(connection, tenant, gate_examples.c.exact_key.in_(keys))
    for id_, state in sorted(found):
        if state == "accepted":
            await _unteach(connection, tenant, id_, by=by)
        else:
            await wipe_example(connection, id_)
    return len(found)


async def wipe_example(connection: AsyncConnection, id_: str) -> None:
    """Take the words out of an example that the gate does not know."""
    values = _WORDLESS | {"exact_key": token_bytes(16), "state": "rejected"}
    await connection.execute(update(gate_examples).where(gate_examples.c.id == id_).values(values))


async def ask_about_phrasings(connection: AsyncConnection, traces: Traces) -> tuple[str, ...]:
    """Ask in a ticket for every entry that is asked for in their words; the ids of the entries.

    Not for words that it had before anything is known of them.
    """
    found: dict[str, dict[int, bytes]] = {}
    for some in _some(traces.words):
        query = select(
            entry_phrasings.c.entry_id, entry_phrasings.c.position, entry_phrasings.c.exact_key
        ).where(entry_phrasings.c.tenant == traces.left.tenant, entry_phrasings.c.exact_key.in_(some))
        for entry_id, position, key in (await connection.execute(query)).all():
            found.setdefault(entry_id, {})[position] = key
    asked = []
    for entry_id in sorted(found):
        before = await _words_before(connection, entry_id, traces.left.since)
        places = {position + 1 for position, key in found[entry_id].items() if key not in before}
        if places:
            await _ask(connection, entry_id, places)
            asked.append(entry_id)
    return tuple(asked)


async def _words_before(connection: AsyncConnection, entry_id: str, since: datetime | None) -> set[bytes]:
    """In which words an entry was asked for until then."""
    if since is None:
        return set()
    until = select(entry_history.c.snapshot).where(
        entry_history.c.entry_id == entry_id, entry_history.c.at < since
    )
    last = await connection.scalar(until.order_by(entry_history.c.id.desc()).limit(1))
    return {exact_key(normalise(text)) for text in entry_from_snapshot(last).phrasings} if last else set()


async def _examples(
    connection: AsyncConnection, tenant: str, which: ColumnElement[bool]
) -> set[tuple[str, str]]:
    query = select(gate_examples.c.id, gate_examples.c.state).where(
        gate_examples.c.tenant == tenant, gate_examples.c.text != "", which
    )
    return {(id_, state) for id_, state in (await connection.execute(query)).all()}


_WORDLESS: dict[str, Any] = {"text": "", "ticket_id": None, "request_id": None}


async def _unteach(connection: AsyncConnection, tenant: str, id_: str, *, by: str) -> None:
    last = await connection.scalar(
        select(func.max(gate_examples.c.decision)).where(gate_examples.c.tenant == tenant)
    )
    await wipe_example(connection, id_)
    decided = {"decided_by": by, "decided_at": datetime.now(UTC), "decision": (last or 0) + 1}
    await connection.execute(update(gate_examples).where(gate_examples.c.id == id_).values(decided))


async def _ask(connection: AsyncConnection, entry_id: str, places: set[int]) -> None:
    """A ticket that nobody asked. It names the phrasings by their place, from 1, and repeats none of them.

    Where one waits that names some phrasings of this revision, the others are added to it.
    """
    query = select(entries.c.tenant, entries.c.group, entries.c.language, entries.c.revision)
    entry = (await connection.execute(query.where(entries.c.id == entry_id))).mappings().one()
    request_id = f"{entry_id}@{entry['revision']}"
    waiting = await _waiting(connection, entry["tenant"], entry_id, request_id)
    told = {place for step in waiting.steps for place in step["phrasings"]} if waiting else set[int]()
    if places <= told:
        return
    others = entry_phrasings.c.position.not_in([place - 1 for place in places | told])
    kept = select(entry_phrasings.c.text).where(entry_phrasings.c.entry_id == entry_id, others)
    first = await connection.scalar(kept.order_by(entry_phrasings.c.position).limit(1))
    says: dict[str, Any] = {
        "real_question": first or entry_id,
        "question": first or entry_id,
        "steps": [{"type": REASON, "phrasings": sorted(places | told)}],
    }
    if waiting:
        await change(connection, waiting, "changed", by=BY, values=says)
        return
    new = NewTicket(
        tenant=entry["tenant"],
        group=entry["group"],
        request_id=request_id,
        language=entry["language"],
        outcome="stale_entry",
        reason=REASON,
        entry_id=entry_id,
        **says,
    )
    await open_within(connection, new, by=BY)


async def _waiting(connection: AsyncConnection, tenant: str, entry_id: str, request_id: str) -> Ticket | None:
    own = (tickets.c.entry_id == entry_id, tickets.c.request_id == request_id, tickets.c.reason == REASON)
    query = select(tickets.c.id).where(*own, tickets.c.state.in_(WAITING))
    found = await connection.scalar(query.order_by(tickets.c.created_at).limit(1))
    return await fetch(connection, found, tenant=tenant, to_change=True) if found else None


def _some(keys: Collection[bytes]) -> Iterator[Sequence[bytes]]:
    return in_parts(sorted(keys), AT_ONCE)
