"""Two-person approval: nothing is served that only its writer approved."""

from __future__ import annotations

from datetime import date

import pytest

from cache.errors import SecondPersonNeeded
from cache.store import EntryStore, Incoming, Put
from cache.store.queries import Filters
from storage.sql import Database
from tests.cache.shelves import content


@pytest.fixture
def store(database: Database) -> EntryStore:
    return EntryStore(database, two_persons=True)


async def test_who_wrote_it_may_not_activate_it(store: EntryStore) -> None:
    entry = await store.create("shop", content(), by="ann", state="active")
    assert entry.state == "draft"
    with pytest.raises(SecondPersonNeeded, match="ann wrote"):
        await store.change_state("shop", entry.id, "active", revision=1, by="ann")
    assert (await store.get("shop", entry.id)).state == "draft"
    assert (await store.change_state("shop", entry.id, "active", revision=1, by="ben")).state == "active"


async def test_an_edit_of_what_is_served_waits_for_another(store: EntryStore) -> None:
    entry = await store.create("shop", content(answer="First."), by="ann")
    await store.change_state("shop", entry.id, "active", revision=1, by="ben")
    edited = await store.edit("shop", entry.id, content(answer="Second."), revision=2, by="ben")
    assert edited.state == "draft"
    with pytest.raises(SecondPersonNeeded):
        await store.change_state("shop", entry.id, "active", revision=3, by="ben")
    assert (await store.change_state("shop", entry.id, "active", revision=3, by="ann")).state == "active"


async def test_owner_and_day_of_review_answer_nobody(store: EntryStore) -> None:
    entry = await store.create("shop", content(), by="ann")
    await store.change_state("shop", entry.id, "active", revision=1, by="ben")
    kept = content(owner="cy", review_by=date(2030, 1, 1))
    assert (await store.edit("shop", entry.id, kept, revision=2, by="ann")).state == "active"


async def test_who_only_named_another_owner_has_not_vouched_for_the_text(store: EntryStore) -> None:
    entry = await store.create("shop", content(), by="ann")
    await store.edit("shop", entry.id, content(owner="ben"), revision=1, by="ben")
    with pytest.raises(SecondPersonNeeded, match="ann wrote"):
        await store.change_state("shop", entry.id, "active", revision=2, by="ann")
    assert (await store.change_state("shop", entry.id, "active", revision=2, by="ben")).state == "active"


async def test_a_pause_may_be_ended_by_the_writer_once_another_has_approved(store: EntryStore) -> None:
    entry = await store.create("shop", content(), by="ann")
    await store.change_state("shop", entry.id, "active", revision=1, by="ben")
    await store.change_state("shop", entry.id, "paused", revision=2, by="ann")
    assert (await store.change_state("shop", entry.id, "active", revision=3, by="ann")).state == "active"


async def test_an_import_approves_nothing(store: EntryStore) -> None:
    draft = await store.create("shop", content(), by="ann")
    incoming = [Incoming(content=content(), id=draft.id), Incoming(content=content("New?"))]
    puts = await store.put("shop", incoming, by="ann")
    states = [(one.entry.state, one.change) for one in puts if isinstance(one, Put)]
    assert states == [("draft", "unchanged"), ("draft", "created")]


async def test_a_sheet_without_ids_makes_no_draft_twice(store: EntryStore) -> None:
    sheet = [Incoming(content=content("One?", answer="1.")), Incoming(content=content("Two?", answer="2."))]
    first = await store.put("shop", [*sheet, sheet[0]], by="ann")
    second = await store.put("shop", sheet, by="ann")
    assert [one.change for one in first if isinstance(one, Put)] == ["created", "created", "unchanged"]
    assert [one.change for one in second if isinstance(one, Put)] == ["unchanged", "unchanged"]
    one = (await store.list("shop", Filters(search="One?"))).entries[0]
    await store.change_state("shop", one.id, "active", revision=1, by="ben")
    approved, _ = await store.put("shop", sheet, by="ann")
    assert isinstance(approved, Put)
    assert (approved.change, approved.entry.state) == ("unchanged", "active")


async def test_without_the_setting_one_person_is_enough(database: Database) -> None:
    store = EntryStore(database)
    entry = await store.create("shop", content(), by="ann")
    assert (await store.change_state("shop", entry.id, "active", revision=1, by="ann")).state == "active"
