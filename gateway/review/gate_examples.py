"""What reviewers say a question should have been: candidates that an admin makes examples of the gate.

Nothing gets in from an asker: a reviewer proposes, an admin accepts, and only then does the gate learn it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, RowMapping, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.reading.text import exact_key
from cache.store.queries import changing
from cache.store.rows import new_id
from classifiers.gate import Policy
from classifiers.gate.shipped import shipped_attacks
from classifiers.text import normalise, only_words
from gateway.database import reading, row_of
from gateway.errors import Conflict, InvalidRequest, NotFound, StoreUnavailable
from gateway.review.tickets import Ticket, Tickets, record_event
from storage.schema import gate_examples as table
from storage.schema import outcomes
from storage.sql import Database, DatabaseUnavailable
from storage.texts import storable

__all__ = ["ExampleLabel", "ExamplePage", "ExampleState", "GateExample", "GateExamples", "Proposal"]

ExampleLabel = Literal["must", "may", "must_not"]
ExampleState = Literal["candidate", "accepted", "rejected"]

LONGEST = 2_000  # characters; the gate takes nothing longer for one question


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a reviewer says that a question should have been."""

    tenant: str
    label: ExampleLabel
    topic: str = ""  # of must_not
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateExample:
    """A question, and what a reviewer says it is."""

    id: str
    tenant: str
    text: str
    label: ExampleLabel
    topic: str  # of must_not; empty without one
    state: ExampleState
    ticket_id: str | None
    request_id: str | None
    by: str
    at: datetime
    decided_by: str | None = None
    decided_at: datetime | None = None
    conflict: str = ""  # the policy's class in which the same words stand, if it is another one


@dataclass(frozen=True, slots=True)
class ExamplePage:
    """Some examples, the newest first, and how many there are."""

    examples: tuple[GateExample, ...]
    total: int


class GateExamples:
    """The examples of all tenants; every method sees one tenant's only."""

    def __init__(self, db: Database, policy: Policy) -> None:
        self._db = db
        self._stated = _stated(policy)
        self._topics = {topic.name for topic in (*policy.topics, *shipped_attacks().topics)}

    async def propose(
        self, said: Proposal, text: str, *, ticket: Ticket | None = None, request_id: str | None = None
    ) -> GateExample:
        """Keep a candidate; the same proposal again changes nothing, a rejected one may be proposed again.

        Raises:
            InvalidRequest: naming the field that can't be used.
            Conflict: if these words wait or were accepted as something else.
        """
        async with _changing(self._db, said.tenant) as connection:
            return await self.propose_within(connection, said, text, ticket=ticket, request_id=request_id)

    async def propose_within(
        self,
        connection: AsyncConnection,
        said: Proposal,
        text: str,
        *,
        ticket: Ticket | None = None,
        request_id: str | None = None,
    ) -> GateExample:
        """Keep a candidate in a transaction that changes other things, too (`queries.changing`)."""
        text = storable(" ".join(text.split()))
        self._check(text, said)
        key = exact_key(_words(text))
        values = asdict(said) | {
            "text": text, "exact_key": key, "state": "candidate", "at": datetime.now(UTC),
            "decided_by": None, "decided_at": None, "ticket_id": ticket.id if ticket else None,
            "request_id": ticket.request_id if ticket else request_id,
        }  # fmt: skip
        same = table.c.tenant == said.tenant, table.c.exact_key == key
        row = (await connection.execute(select(table).where(*same))).mappings().first()
        if row is None:
            values |= {"id": new_id(), "decision": 0}
            await connection.execute(insert(table), values)
        elif (row["label"], row["topic"]) == (said.label, said.topic) and row["state"] != "rejected":
            return self._example(row)
        elif row["state"] != "rejected":
            raise Conflict(_already(self._example(row)), param="label")
        else:
            await connection.execute(update(table).where(*same).values(values))
            values["id"] = row["id"]
        if ticket is not None:
            detail = {"example_id": values["id"], "label": said.label, "topic": said.topic}
            await record_event(connection, ticket.id, "example_proposed", by=said.by, detail=detail)
        return self._example(values)

    async def propose_of_ticket(
        self, said: Proposal, tickets: Tickets, ticket_id: str, *, text: str | None = None
    ) -> GateExample:
        """What the question of a ticket should have been; `text` says it in the reviewer's words.

        Raises:
            NotFound; InvalidRequest, too, if the question leans on earlier turns and no text is given.
        """
        ticket = await tickets.get(ticket_id, tenant=said.tenant)
        if text is None:
            await tickets.refuse_leaning(ticket, param="text")
            text = ticket.question
        return await self.propose(said, text, ticket=ticket)

    async def propose_of_request(
        self, said: Proposal, request_id: str, *, text: str | None = None
    ) -> GateExample:
        """What the question of an outcome should have been; `text` where the record keeps none.

        Raises:
            NotFound; InvalidRequest, too, if there are several questions or no text.
        """
        query = select(outcomes.c.question).where(
            outcomes.c.tenant == said.tenant, outcomes.c.request_id == storable(request_id)
        )
        async with reading(self._db, "outcomes") as connection:
            asked = (await connection.scalars(query)).all()
        if not asked:
            raise NotFound(f"there is no outcome of the request {storable(request_id)[:64]}")
        if text is None and len(asked) == 1:
            text = asked[0]
        if text is None:
            why = "that request had several questions" if len(asked) > 1 else "the record keeps no texts"
            raise InvalidRequest(f"text: expected the question, as {why}", param="text")
        return await self.propose(said, text, request_id=request_id)

    async def accept(
        self, tenant: str, example_id: str, *, by: str, over_policy: bool = False
    ) -> GateExample:
        """Make a candidate an example of its class, from the next fit on; again, it changes nothing.

        Args:
            over_policy: although the policy has these words in another class; what it forbids stays so.

        Raises:
            NotFound, Conflict: if it was rejected, or contradicts the policy.
        """
        async with _changing(self._db, tenant) as connection:
            found = await self._read(connection, tenant, example_id)
            if found.state == "accepted":
                return found
            if found.state == "rejected":
                raise Conflict(f"example {found.id} was rejected by {found.decided_by}; propose it again")
            if found.conflict == "must_not" or (found.conflict and not over_policy):
                raise Conflict(_contradicts(found), param="over_policy")
            return await self._decide(connection, found, "accepted", by=by)

    async def reject(self, tenant: str, example_id: str, *, by: str) -> GateExample:
        """Refuse a candidate, or take an accepted example out again; again, it changes nothing.

        Raises:
            NotFound: also if it is another tenant's.
        """
        async with _changing(self._db, tenant) as connection:
            found = await self._read(connection, tenant, example_id)
            if found.state == "rejected":
                return found
            return await self._decide(connection, found, "rejected", by=by)

    async def withdraw_within(
        self, connection: AsyncConnection, tenant: str, ticket_id: str, *, by: str
    ) -> None:
        """Take back what somebody proposed of a ticket, unless an admin has accepted it meanwhile."""
        own = table.c.tenant == tenant, table.c.ticket_id == ticket_id, table.c.by == by
        query = select(table).where(*own, table.c.state == "candidate")
        for row in (await connection.execute(query)).mappings().all():
            await self._decide(connection, self._example(row), "rejected", by=by)

    async def get(self, tenant: str, example_id: str) -> GateExample:
        """One example.

        Raises:
            NotFound: also if it is another tenant's.
        """
        async with reading(self._db, "examples") as connection:
            return await self._read(connection, tenant, example_id)

    async def list(
        self,
        tenant: str,
        *,
        state: ExampleState | None = None,
        label: ExampleLabel | None = None,
        ticket_id: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> ExamplePage:
        """A page of examples, the newest first."""
        wanted = {"state": state, "label": label, "ticket_id": ticket_id}
        conditions: list[ColumnElement[bool]] = [table.c.tenant == tenant]
        conditions += [table.c[name] == value for name, value in wanted.items() if value is not None]
        query = select(table).where(*conditions).order_by(table.c.at.desc(), table.c.id)
        async with reading(self._db, "examples") as connection:
            rows = (await connection.execute(query.limit(limit).offset(offset))).mappings().all()
            total = await connection.scalar(select(func.count()).select_from(table).where(*conditions))
        return ExamplePage(tuple(map(self._example, rows)), total or 0)

    async def accepted(self, tenant: str) -> tuple[GateExample, ...]:
        """What the gate is to learn, in the order in which it was accepted."""
        query = select(table).where(table.c.tenant == tenant, table.c.state == "accepted")
        async with reading(self._db, "examples") as connection:
            rows = (await connection.execute(query.order_by(table.c.decision))).mappings().all()
        return tuple(map(self._example, rows))

    async def decisions(self) -> dict[str, int]:
        """The number of the last decision of every tenant that has any: another number, another gate."""
        query = select(table.c.tenant, func.max(table.c.decision)).group_by(table.c.tenant)
        async with reading(self._db, "examples") as connection:
            rows = (await connection.execute(query)).all()
        return {tenant: number for tenant, number in rows if number}

    def _check(self, text: str, said: Proposal) -> None:
        if not _words(text):
            raise InvalidRequest("text: expected a question, found no letter and no digit", param="text")
        if len(text) > LONGEST:
            raise InvalidRequest(f"text: at most {LONGEST} characters, not {len(text)}", param="text")
        if said.topic and said.label != "must_not":
            raise InvalidRequest(f"topic: only must_not has topics, not {said.label}", param="topic")
        if said.topic and said.topic not in self._topics:
            known = ", ".join(sorted(self._topics)) or "none"
            raise InvalidRequest(f"topic: the policy has none of this name; known: {known}", param="topic")

    async def _decide(
        self, connection: AsyncConnection, found: GateExample, state: ExampleState, *, by: str
    ) -> GateExample:
        last = await connection.scalar(
            select(func.max(table.c.decision)).where(table.c.tenant == found.tenant)
        )
        decided: dict[str, Any] = {"state": state, "decided_by": by, "decided_at": datetime.now(UTC)}
        statement = update(table).where(table.c.id == found.id)
        await connection.execute(statement.values(**decided, decision=(last or 0) + 1))
        return replace(found, **decided)

    async def _read(self, connection: AsyncConnection, tenant: str, example_id: str) -> GateExample:
        return self._example(await row_of(connection, table, example_id, tenant=tenant, what="example"))

    def _example(self, row: RowMapping | Mapping[str, Any]) -> GateExample:
        kept = {name: row[name] for name in GateExample.__dataclass_fields__ if name != "conflict"}
        stated = self._stated.get(_words(row["text"]), row["label"])
        return GateExample(**kept, conflict=stated if stated != row["label"] else "")


@asynccontextmanager
async def _changing(db: Database, tenant: str) -> AsyncIterator[AsyncConnection]:
    """A transaction in which nobody else decides for this tenant; its loss is told to the caller."""
    try:
        async with changing(db, tenant) as connection:
            yield connection
    except DatabaseUnavailable as exc:
        raise StoreUnavailable("the examples can't be changed now") from exc


def _words(text: str) -> str:
    """What the gate compares examples by."""
    return only_words(normalise(text))


def _stated(policy: Policy) -> dict[str, ExampleLabel]:
    """The class of every example of the policy, the worst where one stands in several."""
    forbidden = [topic.examples for topic in policy.topics]
    groups: list[tuple[ExampleLabel, Sequence[str]]] = [
        ("must", policy.must.examples),
        ("may", policy.may.examples),
        *(("must_not", examples) for examples in (policy.must_not.examples, *forbidden)),
    ]
    return {_words(text): label for label, examples in groups for text in examples}


def _already(found: GateExample) -> str:
    what = f"{found.label}:{found.topic}" if found.topic else found.label
    if found.state == "accepted":
        return (
            f"“{found.text}” was accepted as {what} by {found.decided_by}; an admin has to reject that first"
        )
    return (
        f"“{found.text}” already waits as {what}, proposed by {found.by}; an admin has to decide that first"
    )


def _contradicts(found: GateExample) -> str:
    where = (
        f"“{found.text}” is an example of {found.conflict} in the policy, and was proposed as {found.label}"
    )
    if found.conflict == "must_not":
        return f"{where}: what the policy forbids is allowed by the policy only"
    return f"{where}: with over_policy true it takes the place of the policy's"
