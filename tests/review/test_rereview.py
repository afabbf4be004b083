"""When a document changes, no entry that came from it is served until a person has read it again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from cache.entries import Entry, Source
from cache.errors import EntryConflict
from cache.indexing import disagreement, index_pending
from cache.shelf import Shelf
from cache.store import EntryStore
from cache.store.content import content_of
from encoders import encode_one
from gateway.documents.ingestion import DocumentChange, Documents
from gateway.domain import Correction, Draft, Passage, Step
from gateway.errors import Conflict
from gateway.rendering import rendered_steps
from gateway.retention.ageing import Ageing
from gateway.review.closing import Review
from gateway.review.closing.promotion import Publication
from gateway.review.entries.rereview import (
    Overdue,
    approve_again,
    follow_renamed,
    outdate_and_ask,
    review_overdue,
)
from gateway.review.tickets import NewTicket, Ticket, Tickets, open_within
from gateway.settings.people import RetentionSettings
from storage.edge import EdgeIndex
from storage.schema import documents, outcomes, tickets
from storage.sql import Database
from storage.testing import MemoryIndex
from storage.vectors import VectorIndex
from tests.cache.shelves import WEIGHTS, WordEncoder, content
from tests.review.asking import closing_desk, dismiss, question

OLD = "# Fees\n\nA residence card is 300 yen.\n\nPay at window 5.\n"
NEW = OLD.replace("300", "400")
NEWEST = OLD.replace("300", "500")
CARD = "How much is a residence card?"
LIKE_CARD = "How much is a new residence card?"


def version(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    opened = await EdgeIndex.open(tmp_path / "index", identity=WordEncoder().identity)
    yield opened
    await opened.close()


@dataclass
class Office:
    """A folder of documents, the entries that came from them, and the reviewers' tickets."""

    database: Database
    folder: Path
    index: VectorIndex
    entries: EntryStore
    tickets: Tickets
    documents: Documents
    shelf: Shelf

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, "utf-8")

    async def read(self) -> None:
        """As at every start."""
        await self.documents.ingest([self.folder])
        await index_pending(self.entries, self.index, WordEncoder())

    async def keep(self, text: str = CARD, *, tenant: str = "acme", **changed: object) -> Entry:
        written = content(text, **({"sources": (Source("fees.md", version(OLD)),)} | changed))
        kept = await self.entries.create(tenant, written, by="ann", state="active")
        await index_pending(self.entries, self.index, WordEncoder())
        return kept

    async def state(self, entry: Entry) -> str:
        return (await self.entries.get(entry.tenant, entry.id)).state

    async def asked(self, *, tenant: str = "acme") -> tuple[Ticket, ...]:
        return (await self.tickets.list(tenant=tenant)).items

    async def publish(
        self, ticket_id: str, answer: str, *, revision: int | None = None, **said: Any
    ) -> tuple[Ticket, Entry]:
        closing = closing_desk(self.database, self.tickets).closing
        review = Review(answer=answer, publication=Publication(**said), revision=revision)
        closed = await closing.close(ticket_id, review, tenant="acme", by="Sato")
        return closed.ticket, closed.entry

    async def finds(self, text: str) -> bool:
        found = await self.shelf.find(await encode_one(WordEncoder(), text), tenant="acme", language="en")
        return type(found).__name__ == "Hit"

    async def tell(self, document: str, version: str | None, *, tenant: str | None = None) -> int:
        async with self.database.begin() as connection:
            change = DocumentChange(document=document, version=version)
            return len(await outdate_and_ask(connection, [change], tenant=tenant))


@pytest.fixture
async def office(database: Database, index: VectorIndex, tmp_path: Path) -> Office:
    folder = tmp_path / "documents"
    folder.mkdir()
    encoder, entries = WordEncoder(), EntryStore(database)
    office = Office(
        database, folder, index, entries, Tickets(database),
        Documents(database, MemoryIndex(encoder.identity), encoder, on_changed=outdate_and_ask, on_renamed=follow_renamed),
        Shelf(entries, index, encoder, weights=WEIGHTS),
    )  # fmt: skip
    office.write("fees.md", OLD)
    office.write("hours.md", "# Hours\n\nNine to five.\n")
    await office.read()
    return office


async def test_an_entry_is_not_served_once_its_document_has_changed(office: Office) -> None:
    card = await office.keep()
    hours = await office.keep("When do you open?", sources=(Source("hours.md", ""),))
    other = await office.keep("Where are you?", sources=(Source("https://example.org/map", "7"),))
    assert await office.finds(CARD)
    assert await office.finds(LIKE_CARD)
    office.write("fees.md", NEW)
    await office.documents.ingest([office.folder])
    assert not await office.finds(CARD)  # the exact tier and
    assert not await office.finds(LIKE_CARD)  # the index, before it follows SQL
    await index_pending(office.entries, office.index, WordEncoder())
    assert not await disagreement(office.entries, office.index)
    vector = (await WordEncoder().encode([CARD]))[0]
    assert card.id not in {
        one.payload["entry"] for one in await office.index.nearest(vector, where={}, limit=9)
    }
    assert [await office.state(one) for one in (card, hours, other)] == ["stale", "active", "active"]
    last = (await office.entries.history("acme", card.id))[-1]
    assert (last.change, last.by, last.revision) == ("outdated", "gateway", 2)


async def test_the_ticket_shows_what_changed(office: Office) -> None:
    card = await office.keep(group="staff")
    office.write("fees.md", NEW)
    await office.read()
    (ticket,) = await office.asked()
    assert (ticket.outcome, ticket.reason, ticket.state) == ("stale_entry", "source_changed", "open")
    assert (ticket.question, ticket.entry_id, ticket.group, ticket.asker) == (CARD, card.id, "staff", None)
    (step,) = ticket.steps
    assert (step["document"], step["was"], step["now"]) == ("fees.md", version(OLD), version(NEW))
    assert "-A residence card is 300 yen." in step["diff"]
    assert "+A residence card is 400 yen." in step["diff"]
    assert "window 5" not in step["diff"]
    assert "---" not in step["diff"]


async def test_reading_the_documents_again_asks_nobody_twice(office: Office) -> None:
    await office.keep()
    office.write("fees.md", NEW)
    for _ in range(3):
        await office.read()
    assert len(await office.asked()) == 1


async def test_a_document_that_goes_takes_its_entries_out_of_service(office: Office) -> None:
    card = await office.keep()
    (office.folder / "fees.md").unlink()
    await office.read()
    assert await office.state(card) == "stale"
    (ticket,) = await office.asked()
    assert (ticket.reason, ticket.steps[0]["now"], ticket.steps[0]["diff"]) == ("source_gone", None, "")


async def test_entries_follow_documents_that_a_second_folder_gives_other_names(office: Office) -> None:
    card = await office.keep(sources=(Source("fees.md", version(OLD)), Source("https://example.org", "7")))
    draft = await office.entries.create(
        "acme", content("When do you open?", sources=(Source("hours.md", ""),)), by="ann", state="draft"
    )
    manuals = office.folder.parent / "manuals"
    manuals.mkdir()
    (manuals / "router.md").write_text("# Router\n\nPress the button.\n", "utf-8")
    report = await office.documents.ingest([office.folder, manuals])
    assert report.renamed == {"fees.md": "documents/fees.md", "hours.md": "documents/hours.md"}
    assert (report.added, report.removed) == (("manuals/router.md",), ())
    await index_pending(office.entries, office.index, WordEncoder())
    assert await office.finds(CARD)
    assert await office.finds(LIKE_CARD)
    assert await office.asked() == ()
    followed = await office.entries.get("acme", card.id)
    assert followed.sources == (Source("documents/fees.md", version(OLD)), Source("https://example.org", "7"))
    assert (await office.entries.get("acme", draft.id)).sources == (Source("documents/hours.md", ""),)
    last = (await office.entries.history("acme", card.id))[-1]
    assert (last.change, last.by, last.revision) == ("sources_renamed", "gateway", 2)
    office.write("fees.md", NEW)
    await office.documents.ingest([office.folder, manuals])
    assert await office.state(card) == "stale"


async def test_a_ticket_that_waits_follows_a_renamed_document(office: Office) -> None:
    card = await office.keep()
    office.write("fees.md", NEW)
    await office.read()
    (office.folder / "fees.md").rename(office.folder / "prices.md")
    await office.read()
    (ticket,) = await office.asked()
    assert [(step["document"], step["now"]) for step in ticket.steps] == [("prices.md", version(NEW))]
    stale = await office.entries.get("acme", card.id)
    assert (stale.state, stale.sources) == ("stale", (Source("prices.md", version(OLD)),))
    await approve_again(office.tickets, office.entries, stale, revision=stale.revision, by="Sato")
    assert (await office.entries.get("acme", card.id)).sources == (Source("prices.md", version(NEW)),)


async def test_entries_follow_a_document_that_is_renamed_and_changed_at_one_start(office: Office) -> None:
    card = await office.keep()
    office.write("hours.md", "# Hours\n\nTen to five.\n")
    (office.folder / "fees.md").unlink()
    office.write("prices.md", NEW)
    office.write("other.md", "# Fees\n\nA passport is 16,000 yen.\n\nPay in advance.\n")
    report = await office.documents.ingest([office.folder])
    assert report.renamed == {"fees.md": "prices.md"}
    assert (report.added, report.changed, report.removed) == (("other.md",), ("hours.md",), ())
    assert await office.state(card) == "stale"
    (ticket,) = await office.asked()
    assert ticket.reason == "source_changed"
    (step,) = ticket.steps
    assert (step["document"], step["was"], step["now"]) == ("prices.md", version(OLD), version(NEW))
    assert "-A residence card is 300 yen.\n+A residence card is 400 yen." in step["diff"]
    _, entry = await office.publish(ticket.id, "400 yen.")
    assert entry.sources == (Source("prices.md", version(NEW)),)
    office.write("prices.md", NEWEST)
    await office.read()
    assert await office.state(card) == "stale"


async def test_no_document_takes_the_place_of_one_that_went_and_said_something_else(office: Office) -> None:
    card = await office.keep()
    (office.folder / "fees.md").unlink()
    office.write("parking.md", "# Fees\n\nParking is free.\n\nPay nothing.\n")
    report = await office.documents.ingest([office.folder])
    assert (report.renamed, report.removed) == ({}, ("fees.md",))
    (ticket,) = await office.asked()
    assert (ticket.reason, await office.state(card)) == ("source_gone", "stale")


async def test_copies_follow_in_their_order_and_no_copy_replaces_one_that_went(office: Office) -> None:
    for name in ("a.md", "b.md"):
        office.write(name, "# Alike\n\nThe same.\n")
    await office.read()
    card = await office.keep(sources=(Source("b.md", ""),))
    for name in ("a.md", "b.md"):
        (office.folder / name).rename(office.folder / f"new-{name}")
    await office.read()
    assert (await office.entries.get("acme", card.id)).sources == (Source("new-b.md", ""),)
    (office.folder / "new-b.md").unlink()
    await office.read()
    assert await office.state(card) == "stale"


async def test_a_change_while_the_ticket_waits_is_added_to_it(office: Office) -> None:
    card = await office.keep(sources=(Source("fees.md", version(OLD)), Source("hours.md", "old")))
    office.write("fees.md", NEW)
    await office.read()
    newest = NEW.replace("400", "500")
    office.write("fees.md", newest)
    (office.folder / "hours.md").unlink()
    await office.read()
    (ticket,) = await office.asked()
    assert [(step["document"], step["now"]) for step in ticket.steps] == [
        ("fees.md", version(NEW)), ("fees.md", version(newest)), ("hours.md", None),
    ]  # fmt: skip
    events = await office.tickets.events(ticket.id, tenant="acme")
    assert [event.event for event in events] == ["opened", "changed"]
    await approve_again(
        office.tickets, office.entries, await office.entries.get("acme", card.id), revision=3, by="Sato"
    )
    again = await office.entries.get("acme", card.id)
    assert again.sources == (Source("fees.md", version(newest)), Source("hours.md", "old"))


async def test_an_entry_that_is_still_right_comes_back_with_the_new_version(office: Office) -> None:
    card = await office.keep()
    office.write("fees.md", NEW)
    await office.read()
    stale = await office.entries.get("acme", card.id)
    active = await approve_again(office.tickets, office.entries, stale, revision=stale.revision, by="Sato")
    assert (active.state, active.revision, active.sources) == (
        "active",
        3,
        (Source("fees.md", version(NEW)),),
    )
    (ticket,) = await office.asked()
    assert (ticket.state, ticket.claimed_by, ticket.answer) == ("answered", "Sato", card.answer)
    await office.read()
    assert await office.finds(CARD)
    office.write("fees.md", OLD)  # back again: another change, another ticket
    await office.read()
    assert await office.state(card) == "stale"
    assert [one.state for one in await office.asked()] == ["answered", "open"]


async def test_still_right_approves_no_version_that_came_after_the_entry_was_read(office: Office) -> None:
    card = await office.keep()
    office.write("fees.md", NEW)
    await office.read()
    read = await office.entries.get("acme", card.id)
    office.write("fees.md", NEWEST)
    await office.read()
    with pytest.raises(EntryConflict):
        await approve_again(office.tickets, office.entries, read, revision=read.revision, by="Sato")
    again = await office.entries.get("acme", card.id)
    assert (again.state, again.sources) == ("stale", card.sources)
    changes = [(one.change, one.by, one.revision) for one in await office.entries.history("acme", card.id)]
    assert changes[1:] == [("outdated", "gateway", 2), ("outdated", "gateway", 3)]


async def test_what_changes_right_after_still_right_is_asked_of_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = await office.keep()
    office.write("fees.md", NEW)
    await office.read()
    stale = await office.entries.get("acme", card.id)
    approve = office.entries.change_state

    async def then_another(*asked: Any, **how: Any) -> Any:
        active = await approve(*asked, **how)
        office.write("fees.md", NEWEST)
        await office.read()
        return active

    monkeypatch.setattr(office.entries, "change_state", then_another)
    await approve_again(office.tickets, office.entries, stale, revision=stale.revision, by="Sato")
    assert await office.state(card) == "stale"
    assert [one.state for one in await office.asked()] == ["answered", "open"]


async def test_an_answer_approves_no_version_that_came_after_its_ticket_was_read(office: Office) -> None:
    card = await office.keep()
    office.write("fees.md", NEW)
    await office.read()
    (read,) = await office.asked()
    await office.tickets.claim(read.id, tenant="acme", by="Sato")
    office.write("fees.md", NEWEST)
    await office.read()
    with pytest.raises(Conflict, match="a source of this entry changed since"):
        await office.publish(read.id, "400 yen.", revision=read.revision)
    (waiting,) = await office.asked()
    assert (await office.state(card), waiting.state, waiting.answer) == ("stale", "claimed", None)
    _, entry = await office.publish(read.id, "500 yen.", revision=waiting.revision)
    assert (entry.state, entry.sources) == ("active", (Source("fees.md", version(NEWEST)),))


@pytest.mark.parametrize("named", [True, False], ids=["a revision", "none"])
async def test_a_claim_and_a_release_change_nothing_that_was_read(office: Office, named: bool) -> None:
    await office.keep()
    await office.tell("fees.md", "2")
    await office.tell("fees.md", "3")
    (read,) = await office.asked()
    for _ in range(2):
        await office.tickets.claim(read.id, tenant="acme", by="Sato")
        await office.tickets.release(read.id, tenant="acme", by="Sato")
    _, entry = await office.publish(read.id, "300 yen.", revision=read.revision if named else None)
    assert entry.sources == (Source("fees.md", "3"),)


async def test_a_change_while_an_answer_is_put_together_is_approved_by_nobody(office: Office) -> None:
    card = await office.keep()
    await office.tell("fees.md", "2")
    (ticket,) = await office.asked()
    review = Review(answer="400 yen.", publication=Publication())

    async def it_changes_again(_: Entry) -> None:
        await office.tell("fees.md", "3")

    closing = closing_desk(office.database, office.tickets).closing
    with pytest.raises(Conflict, match="a source of this entry changed since"):
        await closing.close(ticket.id, review, tenant="acme", by="Sato", check=it_changes_again)
    assert await office.state(card) == "stale"


async def asked_about_words(office: Office, entry_id: str) -> NewTicket:
    """A ticket that asks whether a forgotten asker's phrasing of the entry may stay."""
    about_words = NewTicket(
        tenant="acme", group="", request_id="r", language="en", real_question=CARD, question=CARD,
        outcome="stale_entry", reason="phrasing_of_forgotten", entry_id=entry_id,
        steps=[{"type": "phrasing_of_forgotten", "phrasings": [1]}],
    )  # fmt: skip
    async with office.database.begin() as connection:
        await open_within(connection, about_words)
    return about_words


async def test_a_later_ticket_about_something_else_hides_no_change(office: Office) -> None:
    card = await office.keep()
    office.write("fees.md", NEW)
    await office.read()
    await asked_about_words(office, card.id)
    stale = await office.entries.get("acme", card.id)
    active = await approve_again(office.tickets, office.entries, stale, revision=stale.revision, by="Sato")
    assert active.sources == (Source("fees.md", version(NEW)),)
    states = {one.reason: (one.state, one.answer) for one in await office.asked()}
    assert states == {
        "source_changed": ("answered", card.answer),
        "phrasing_of_forgotten": ("open", None),  # whether it may stay is asked for itself
    }


async def test_a_change_is_never_added_to_a_ticket_that_asks_something_else(office: Office) -> None:
    card = await office.keep()
    await office.tell("fees.md", "2")
    about_words = await asked_about_words(office, card.id)
    await office.tell("fees.md", "3")
    changed, words = await office.asked()
    assert [step["now"] for step in changed.steps] == ["2", "3"]
    assert (words.reason, words.steps) == ("phrasing_of_forgotten", tuple(about_words.steps))


async def test_a_ticket_that_is_answered_brings_its_entry_back_in_other_words(office: Office) -> None:
    card = await office.keep(kind="confirmed_answer", owner="ann")
    office.write("fees.md", NEW)
    await office.read()
    (ticket,) = await office.asked()
    for _ in range(2):  # a repeat changes nothing
        answered, entry = await office.publish(ticket.id, "400 yen.", phrasings=("residence card fee",))
    assert (answered.state, answered.entry_id, entry.id) == ("answered", card.id, card.id)
    assert (entry.state, entry.answer, entry.revision) == ("active", "400 yen.", 3)
    assert entry.phrasings == (CARD, "residence card fee")
    assert (entry.kind, entry.owner, entry.sources) == (
        "confirmed_answer",
        "ann",
        (Source("fees.md", version(NEW)),),
    )
    assert (await office.entries.list("acme")).total == 1


async def test_a_dismissed_ticket_leaves_the_entry_out_of_service_until_the_next_change(
    office: Office,
) -> None:
    card = await office.keep()
    office.write("fees.md", NEW)
    await office.read()
    (ticket,) = await office.asked()
    await dismiss(office.tickets, ticket.id, tenant="acme", by="Sato")
    await office.read()
    assert (await office.state(card), len(await office.asked())) == ("stale", 1)
    office.write("fees.md", NEW.replace("400", "500"))
    await office.read()
    assert [one.state for one in await office.asked()] == ["dismissed", "open"]


@pytest.mark.parametrize(
    ("state", "after"), [("draft", "draft"), ("paused", "stale"), ("retired", "retired")]
)
async def test_what_may_come_back_without_being_read_goes_stale_too(
    office: Office, state: str, after: str
) -> None:
    written = content(CARD, sources=(Source("fees.md", version(OLD)),))
    entry = await office.entries.create("acme", written, by="ann", state=state)  # type: ignore[arg-type]
    office.write("fees.md", NEW)
    await office.read()
    assert await office.state(entry) == after


async def test_a_document_kept_elsewhere_is_told_of_once_for_each_version(office: Office) -> None:
    url = "https://example.org/手数料"
    mine = await office.keep(sources=(Source(url, "1"),))
    theirs = await office.keep(tenant="other", sources=(Source(url, "1"),))
    assert await office.tell(url, "1", tenant="acme") == 0
    assert await office.tell(url, "2", tenant="acme") == 1
    await office.tell(url, "2", tenant="acme")
    assert [await office.state(one) for one in (mine, theirs)] == ["stale", "active"]
    (ticket,) = await office.asked()
    assert len(ticket.steps) == 1
    assert await office.asked(tenant="other") == ()
    await office.tell(url, None, tenant="acme")
    (ticket,) = await office.asked()
    assert ([step["now"] for step in ticket.steps], ticket.reason) == (["2", None], "source_gone")


async def test_a_name_that_is_only_alike_is_another_document(office: Office) -> None:
    card = await office.keep()
    for name in ("fees", "fees.md ", "FEES.md", "x/fees.md"):
        assert await office.tell(name, None) == 0
    assert await office.state(card) == "active"


async def test_a_crash_in_the_middle_leaves_entry_and_document_as_they_were(office: Office) -> None:
    card = await office.keep()

    async def outdated_until_the_power_fails() -> None:
        async with office.database.begin() as connection:
            await outdate_and_ask(connection, [DocumentChange(document="fees.md", version=None)])
            raise RuntimeError("the power fails")

    with pytest.raises(RuntimeError, match="the power fails"):
        await outdated_until_the_power_fails()
    assert (await office.state(card), await office.asked()) == ("active", ())


async def test_many_entries_of_many_documents_go_stale_at_once(office: Office) -> None:
    for number in range(3):
        await office.keep(f"Question {number}?", sources=(Source(f"{number}.md", ""), Source("all.md", "")))
    changes = [DocumentChange(document=f"{number}.md", version="2") for number in range(1_200)]
    async with office.database.begin() as connection:
        outdated = await outdate_and_ask(
            connection, [*changes, DocumentChange(document="all.md", version="2")]
        )
    assert [len(one.sources) for one in outdated] == [2, 2, 2]
    assert [len(ticket.steps) for ticket in await office.asked()] == [2, 2, 2]


@pytest.mark.parametrize(("overdue", "state"), [("keep", "active"), ("stale", "stale")])
async def test_an_entry_whose_day_of_review_has_passed_is_asked_for_once(
    office: Office, overdue: str, state: str
) -> None:
    today = datetime.now(UTC).date()
    due = await office.keep("Due?", review_by=today - timedelta(days=1), sources=())
    await office.keep("Today?", review_by=today, sources=())
    await office.keep("Never?", sources=())
    assert await review_overdue(office.database, today=today, overdue=overdue) == 1  # type: ignore[arg-type]
    assert await review_overdue(office.database, today=today, overdue=overdue) == 0  # type: ignore[arg-type]
    assert await office.state(due) == state
    (ticket,) = await office.asked()
    assert (ticket.entry_id, ticket.outcome, ticket.reason) == (due.id, "stale_entry", "review_due")


async def test_a_new_day_of_review_is_asked_for_again(office: Office) -> None:
    due = await office.keep("Due?", review_by=date(2026, 1, 1), sources=())
    assert await review_overdue(office.database, today=date(2026, 1, 2)) == 1
    later = datetime.now(UTC).date() + timedelta(days=30)
    await office.entries.edit(
        "acme", due.id, replace(content_of(due), review_by=later), revision=1, by="Sato"
    )
    assert await review_overdue(office.database, today=later) == 0
    assert await review_overdue(office.database, today=later + timedelta(days=1)) == 1


@pytest.mark.parametrize("overdue", ["keep", "stale"])
async def test_who_read_an_overdue_entry_for_another_reason_is_not_asked_again(
    office: Office, overdue: Overdue
) -> None:
    today = datetime.now(UTC).date()
    card = await office.keep(review_by=today - timedelta(days=3))
    assert await review_overdue(office.database, today=today, overdue=overdue) == 1
    office.write("fees.md", NEW)
    await office.read()
    stale = await office.entries.get("acme", card.id)
    await approve_again(office.tickets, office.entries, stale, revision=stale.revision, by="Sato")
    assert {one.state for one in await office.asked()} == {"answered"}
    assert await review_overdue(office.database, today=today, overdue=overdue) == 0
    assert await office.state(card) == "active"


async def test_who_was_asked_before_the_day_and_read_the_entry_after_it_is_not_asked_again(
    office: Office,
) -> None:
    today = datetime.now(UTC).date()
    card = await office.keep(review_by=today - timedelta(days=1))
    office.write("fees.md", NEW)
    await office.read()
    async with office.database.begin() as connection:
        await connection.execute(update(tickets).values(created_at=datetime.now(UTC) - timedelta(days=9)))
    stale = await office.entries.get("acme", card.id)
    await approve_again(office.tickets, office.entries, stale, revision=stale.revision, by="Sato")
    assert await review_overdue(office.database, today=today, overdue="stale") == 0
    assert await review_overdue(office.database, today=today + timedelta(days=400), overdue="stale") == 0
    await office.entries.edit(
        "acme",
        card.id,
        replace(content_of(card), review_by=today + timedelta(days=300)),
        revision=3,
        by="Sato",
    )
    assert await review_overdue(office.database, today=today + timedelta(days=301), overdue="stale") == 1


async def test_who_read_an_overdue_entry_is_not_asked_again_when_old_tickets_are_deleted(
    office: Office,
) -> None:
    card = await office.keep(sources=(), review_by=date(2026, 1, 1))
    await review_overdue(office.database, today=date(2026, 1, 2), overdue="stale")
    stale = await office.entries.get("acme", card.id)
    await approve_again(office.tickets, office.entries, stale, revision=stale.revision, by="Sato")
    async with office.database.begin() as connection:
        await connection.execute(update(tickets).values(updated_at=datetime.now(UTC) - timedelta(days=91)))
    assert await Ageing(office.database, RetentionSettings(tickets_days=90)).forget() is None
    assert await review_overdue(office.database, today=date(2026, 4, 10), overdue="stale") == 0
    assert await office.state(card) == "active"


def draft_of(*sources: str, own: bool = False) -> tuple[Step, ...]:
    """A draft of a chatbot, or one from our own documents."""
    contexts = tuple(Passage(text="A passage.", source=source) for source in sources)
    done = Correction(label="correct", scores=(0.9,), reason="", judge="j@1") if own else None
    return (Step("rag", 1.0, Draft(text="300 yen.", contexts=contexts, model="m", correction=done)),)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, (Source("fees.md", version(OLD)), Source("https://example.org/x", ""))),
        ((), ()),
        ((Source("hours.md", ""), Source("fees.md", "mine")), None),
    ],
    ids=["the draft's", "none", "the reviewer's"],
)
async def test_a_published_answer_knows_what_it_came_from(
    office: Office, given: tuple[Source, ...] | None, expected: tuple[Source, ...] | None
) -> None:
    steps = draft_of("fees.md", "https://example.org/x", "fees.md", "", "x" * 2_000, "bell\x07.md")
    ticket = await office.tickets.open(question(CARD), outcome="withheld", reason="unchecked", steps=steps)
    _, entry = await office.publish(ticket, "300 yen.", sources=given)
    if expected is None:
        hours = version("# Hours\n\nNine to five.\n")
        expected = (Source("hours.md", hours), Source("fees.md", "mine"))
    assert entry.sources == expected


async def drafted(office: Office) -> str:
    """A ticket on an answer of RAG, from the document as it is now."""
    steps = draft_of("fees.md", "hours.md")
    return await office.tickets.open(question(CARD), outcome="withheld", reason="unchecked", steps=steps)


async def test_an_answer_from_an_older_version_is_not_published_as_from_the_present_one(
    office: Office,
) -> None:
    ticket = await drafted(office)
    office.write("fees.md", NEW)
    await office.read()
    with pytest.raises(Conflict, match=r"^fees\.md changed since this draft was written: read it again"):
        await office.publish(ticket, "300 yen.")
    assert (await office.entries.list("acme")).total == 0
    assert (await office.tickets.get(ticket, tenant="acme")).answer is None
    _, entry = await office.publish(ticket, "400 yen.", sources=(Source("fees.md", ""),))
    assert entry.sources == (Source("fees.md", version(NEW)),)


async def test_an_answer_from_a_document_that_went_is_not_published_unseen(office: Office) -> None:
    steps = draft_of("fees.md", "hours.md", "https://example.org/x", own=True)
    ticket = await office.tickets.open(question(CARD), outcome="withheld", reason="unchecked", steps=steps)
    elsewhere = await drafted(office)  # by a chatbot, which may call its documents what it likes
    (office.folder / "fees.md").unlink()
    await office.read()
    with pytest.raises(Conflict, match=r"^fees\.md changed since this draft was written"):
        await office.publish(ticket, "300 yen.")
    _, entry = await office.publish(ticket, "By hours.", sources=(Source("hours.md", ""),))
    assert [one.document for one in entry.sources] == ["hours.md"]
    _, other = await office.publish(elsewhere, "300 yen.", question=LIKE_CARD)
    assert other.sources[0] == Source("fees.md", "")


async def test_a_document_that_is_only_cut_otherwise_has_not_changed_since_the_draft(office: Office) -> None:
    ticket = await drafted(office)
    async with office.database.begin() as connection:
        await connection.execute(update(documents).values(cut="as an earlier release did"))
    await office.read()
    _, entry = await office.publish(ticket, "300 yen.")
    assert entry.sources[0] == Source("fees.md", version(OLD))


async def disputed(office: Office, **asked: Any) -> str:
    """A ticket on an answer that somebody was not content with."""
    new = NewTicket(
        tenant="acme", group="", request_id="r-1", language="en", real_question=CARD, question=CARD,
        outcome="disputed", reason="thumbs_down", **asked,
    )  # fmt: skip
    async with office.database.begin() as connection:
        return await open_within(connection, new, detail={"self_contained": True})


async def test_a_disputed_answer_is_as_old_as_its_request(office: Office) -> None:
    row = {
        "tenant": "acme",
        "request_id": "r-1",
        "at": datetime.now(UTC),
        "question_hash": "",
        "language": "en",
    }
    row |= {"outcome": "rag", "reason": "supported", "stage_ms": {}, "ms": 1.0}
    async with office.database.begin() as connection:
        await connection.execute(insert(outcomes).values(row))
    office.write("fees.md", NEW)
    await office.read()
    ticket = await disputed(office, steps=rendered_steps(draft_of("fees.md")))
    with pytest.raises(Conflict, match="changed since this draft"):
        await office.publish(ticket, "300 yen.")


@pytest.mark.parametrize("gone", [False, True], ids=["changed", "gone"])
async def test_a_dispute_brings_no_entry_back_over_a_change_that_another_ticket_tells_of(
    office: Office, gone: bool
) -> None:
    card = await office.keep()
    ticket = await disputed(office, entry_id=card.id)
    if gone:
        (office.folder / "fees.md").unlink()
    else:
        office.write("fees.md", NEW)
    await office.read()
    with pytest.raises(Conflict, match=r"^fees\.md changed since this draft was written"):
        await office.publish(ticket, "300 yen, in cash.")
    assert await office.state(card) == "stale"
    _, entry = await office.publish(ticket, "400 yen.", sources=(Source("fees.md", ""),))
    assert entry.state == "active"
    assert entry.sources == (Source("fees.md", version(OLD if gone else NEW)),)


async def test_a_dispute_is_answered_where_the_change_was_read(office: Office) -> None:
    card = await office.keep()
    office.write("fees.md", NEW)
    await office.read()
    [asks] = await office.asked()
    await office.publish(asks.id, "400 yen.")
    ticket = await disputed(office, entry_id=card.id)
    _, entry = await office.publish(ticket, "400 yen, in cash.")
    assert (entry.answer, entry.sources) == ("400 yen, in cash.", (Source("fees.md", version(NEW)),))
