"""What a reviewer says of a ticket, in one go: the answer, the entry it becomes, what the judges learn.

Everything is one transaction. The answer goes out, the entry is served, the gate gets its example and the
faithfulness judge its label, or nothing of it happens.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry
from cache.errors import CacheError
from cache.store import EntryStore
from cache.store.content import Content
from cache.store.queries import changing
from gateway.errors import Conflict, InvalidRequest, NotFound, SekishoError
from gateway.review.closing.promotion import OF_ENTRY, Publication, publish_within, to_be
from gateway.review.closing.rehearsal import together, touched
from gateway.review.entries.provenance import refuse_changed
from gateway.review.entries.rereview import refuse_unread
from gateway.review.gate_examples import ExampleLabel, GateExample, GateExamples, Proposal
from gateway.review.judgements import Judgements, draft_of
from gateway.review.tickets import Ticket, Tickets
from gateway.review.tickets.within import refuse_unless_held
from storage.locking import in_turns
from storage.texts import storable

__all__ = ["REFUSALS", "Closed", "Closing", "Review"]

REFUSALS = (InvalidRequest, NotFound, Conflict, CacheError)  # why a ticket is not closed as a review says
AT_ONCE = 100  # reviews in one transaction of a rehearsal: nobody who writes waits long


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a reviewer says of a ticket. Whatever is left out stays as it is.

    Raises:
        InvalidRequest: if it contradicts itself.
    """

    answer: str | None = None  # what the asker gets; None: the ticket is dismissed
    publication: Publication | None = None  # the answer becomes a verified entry
    entry_id: str | None = None  # the entry that this answer became with another ticket
    gate: ExampleLabel | None = None  # what the question should have been
    topic: str = ""  # of must_not
    faithful: bool | None = None  # whether the draft was supported by its passages
    comment: str = ""
    revision: int | None = None  # of the ticket, as the reviewer read it; None: as it is found

    def __post_init__(self) -> None:
        if self.publication is not None and self.answer is None:
            raise InvalidRequest("answer: expected one, as it is to be published", param="answer")
        if self.publication is not None and self.gate in ("may", "must_not"):
            raise InvalidRequest(
                f"gate: {self.gate} is refused, so its answer can't be published as well", param="gate"
            )
        if self.topic and self.gate != "must_not":
            raise InvalidRequest("topic: only must_not has topics", param="topic")


@dataclass(frozen=True, slots=True)
class Closed:
    """What became of a ticket."""

    ticket: Ticket
    entry: Entry | None = None
    example: GateExample | None = None


class _TakenBack(Exception):  # noqa: N818 - ends a transaction that was only tried
    """What was tried is rolled back."""


class Closing:
    """Closes tickets. Everything that one of them teaches is kept with it."""

    def __init__(
        self, tickets: Tickets, entries: EntryStore, examples: GateExamples, judgements: Judgements
    ) -> None:
        self._tickets = tickets
        self._entries = entries
        self._examples = examples
        self._judgements = judgements

    async def close(
        self,
        ticket_id: str,
        review: Review,
        *,
        tenant: str,
        by: str,
        check: Callable[[Entry], Awaitable[None]] | None = None,
    ) -> Closed:
        """Answer or dismiss a ticket; the same review by the same person again changes nothing.

        Args:
            check: is shown the entry before it is kept, and raises what keeps it from being published.

        Raises:
            NotFound, InvalidRequest: naming the field; CacheError: if the entry can't be kept.
            Conflict: if another holds the ticket, it was closed otherwise, a source of its entry changed
                since it was read, a document of its draft since that was written, or the question waits as an
                example of another class.
        """
        ticket = await self._tickets.get(ticket_id, tenant=tenant)
        if ticket.state in ("answered", "dismissed"):
            return await self._repeated(ticket, review, by=by)
        refuse_unless_held(ticket, by=by)
        review = replace(review, revision=review.revision or ticket.revision)
        content = await self.look(ticket, review, by=by, check=check)
        async with changing(self._entries.db, tenant) as connection:
            return await self._close(connection, ticket, review, content, by=by)

    async def look(
        self,
        ticket: Ticket,
        review: Review,
        *,
        by: str,
        check: Callable[[Entry], Awaitable[None]] | None = None,
    ) -> Content | None:
        """What the entry is to be, if one; raises what `close` refuses before its transaction."""
        await self.refuse_unfit(ticket, review)
        return await self._content(ticket, review, by=by, check=check)

    async def rehearse(
        self, reviews: Sequence[tuple[Ticket, Review]], *, tenant: str, by: str
    ) -> list[SekishoError | CacheError | None]:
        """What each review would be refused for if they were carried out in this order; nothing is kept.

        Some at a time are carried out in a transaction that is taken back, so that others write in between;
        those that may meet are in one, so that each meets what those before it leave.
        """
        refused: list[SekishoError | CacheError | None] = [None] * len(reviews)
        contents: dict[int, Content | None] = {}
        for place, (ticket, review) in enumerate(reviews):
            try:
                contents[place] = await self._content(ticket, review, by=by)
            except REFUSALS as wrong:
                refused[place] = wrong
        parts = {
            place: touched(reviews[place][0], content, teaches=reviews[place][1].gate is not None)
            for place, content in contents.items()
        }
        async for places in in_turns(together(parts, AT_ONCE)):
            async with self._taken_back(tenant) as connection:
                for place in places:
                    refused[place] = await self._tried(connection, *reviews[place], contents[place], by=by)
        return refused

    async def _content(
        self,
        ticket: Ticket,
        review: Review,
        *,
        by: str,
        check: Callable[[Entry], Awaitable[None]] | None = None,
    ) -> Content | None:
        if review.publication is None:
            return None
        return await to_be(self._entries, ticket, review.answer or "", review.publication, by=by, check=check)

    async def _tried(
        self, connection: AsyncConnection, ticket: Ticket, review: Review, content: Content | None, *, by: str
    ) -> SekishoError | CacheError | None:
        try:
            async with connection.begin_nested():
                await self._close(connection, ticket, review, content, by=by)
        except REFUSALS as refused:
            return refused
        return None

    @asynccontextmanager
    async def _taken_back(self, tenant: str) -> AsyncIterator[AsyncConnection]:
        """A transaction of which nothing is kept."""
        with suppress(_TakenBack):
            async with changing(self._entries.db, tenant) as connection:
                yield connection
                raise _TakenBack

    async def refuse_unfit(self, ticket: Ticket, review: Review) -> None:
        """Raise `InvalidRequest` for what a review says of a ticket that has no such thing."""
        if review.publication is not None and review.publication.question is None:
            await self._tickets.refuse_leaning(ticket, param="question")
        if review.gate is not None:
            await self._tickets.refuse_leaning(ticket, param="gate")
        if review.faithful is not None:
            draft_of(ticket)
        if review.entry_id is not None:
            entry = await self._entries.get(ticket.tenant, review.entry_id)
            if entry.group not in ("", ticket.group):
                raise InvalidRequest(
                    f"entry_id: ticket {ticket.id} is not of the group that entry {entry.id} is for",
                    param="entry_id",
                )

    async def take_back(self, ticket_id: str, *, tenant: str, by: str) -> None:
        """Take a dismissal back: the ticket waits again, and its example goes unless an admin took it.

        Raises:
            Conflict: if somebody else dismissed it, or it was answered.
        """
        async with changing(self._entries.db, tenant) as connection:
            ticket = await self._tickets.reopen_within(connection, ticket_id, tenant=tenant, by=by)
            await self._examples.withdraw_within(connection, tenant, ticket.id, by=by)

    async def _close(
        self, connection: AsyncConnection, ticket: Ticket, review: Review, content: Content | None, *, by: str
    ) -> Closed:
        entry = example = None
        if review.publication is not None and review.publication.sources is None:
            await refuse_changed(connection, ticket)
        if content is not None:
            entry = await publish_within(connection, self._entries, ticket, content, by=by)
        if review.gate is not None:
            said = Proposal(tenant=ticket.tenant, label=review.gate, topic=review.topic, by=by)
            example = await self._examples.propose_within(connection, said, ticket.question, ticket=ticket)
        if review.faithful is not None:
            await self._judgements.label_within(connection, ticket, faithful=review.faithful, by=by)
        if review.answer is None:
            closed = await self._tickets.dismiss_within(
                connection, ticket.id, tenant=ticket.tenant, by=by, comment=review.comment
            )
        else:
            closed = await self._tickets.answer_within(
                connection, ticket.id, tenant=ticket.tenant, by=by, answer=review.answer,
                entry_id=entry.id if entry else review.entry_id,
            )  # fmt: skip
        refuse_unread(closed, review.revision or ticket.revision)
        return Closed(closed, entry, example)

    async def _repeated(self, ticket: Ticket, review: Review, *, by: str) -> Closed:
        """What the first try returned; what was edited since then, or is left out, stays as it is."""
        answer = None if review.answer is None else storable(review.answer).strip()
        example = await self._judgements.proposed(ticket.id, tenant=ticket.tenant)
        labels = await self._judgements.labels(ticket.tenant, ticket_id=ticket.id)
        publishes = review.publication is not None or review.entry_id is not None
        kept: list[object] = [ticket.claimed_by, ticket.answer]
        said: list[object] = [by, answer]
        if ticket.outcome not in OF_ENTRY:  # such a ticket names one from the start
            kept.append(ticket.entry_id is not None)
            said.append(publishes)
        if review.gate is not None:
            kept.append((example.label, example.topic) if example else None)
            said.append((review.gate, review.topic))
        if review.faithful is not None:
            kept.append(labels[0].faithful if labels else None)
            said.append(review.faithful)
        if kept != said:
            raise Conflict(f"ticket {ticket.id} was already {ticket.state} by {ticket.claimed_by}")
        entry = await self._entries.get(ticket.tenant, ticket.entry_id) if ticket.entry_id else None
        return Closed(ticket, entry, example)
