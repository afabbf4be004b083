from __future__ import annotations

import asyncio

import pytest

from cache.entries import Entry
from cache.errors import SuggestionDecided, SuggestionNotFound
from cache.indexing import index_pending
from cache.shelf import Shelf
from cache.store import EntryStore
from cache.store.suggestions import Suggestions
from cache.trial import Trials
from cache.trial.fitting import Asked, fitting
from storage.sql import Database
from storage.testing import MemoryIndex
from tests.cache.shelves import WEIGHTS, WordEncoder, content


@pytest.fixture
def suggestions(database: Database) -> Suggestions:
    return Suggestions(database)


@pytest.fixture
async def entry(store: EntryStore) -> Entry:
    return await store.create(
        "shop", content("How do I reset my account password?"), by="ann", state="active", entry_id="reset"
    )


async def test_the_same_words_are_one_suggestion_that_counts(suggestions: Suggestions, entry: Entry) -> None:
    await suggestions.add(entry, "Lost my password!", source="accepted", by="web")
    again = await suggestions.add(entry, "  lost my  PASSWORD", source="accepted", by="web")
    assert again is not None
    assert (again.text, again.times, again.state) == ("Lost my password!", 2, "open")
    assert (await suggestions.list("shop")).total == 1


async def test_what_the_record_shows_is_not_counted_twice(suggestions: Suggestions, entry: Entry) -> None:
    for times in (3, 3, 2):
        noted = await suggestions.note(entry, "lost my password", source="ticket", by="ann", times=times)
        assert noted is not None
        assert (noted.times, noted.source) == (3, "ticket")
    accepted = await suggestions.add(entry, "lost my password", source="accepted", by="web")
    assert accepted is not None
    assert (accepted.times, accepted.source) == (4, "accepted")
    noted = await suggestions.note(entry, "lost my password", source="near_miss", by="ann", times=1)
    assert noted is not None
    assert (noted.times, noted.source) == (4, "accepted")


@pytest.mark.parametrize("text", ["how do I reset my account PASSWORD", "?!", "", "x" * 2_001])
async def test_what_can_be_no_new_phrasing_is_not_suggested(
    suggestions: Suggestions, entry: Entry, text: str
) -> None:
    assert await suggestions.add(entry, text, source="accepted", by="web") is None
    assert (await suggestions.list("shop")).total == 0


async def test_askers_who_accept_at_once_are_all_counted(suggestions: Suggestions, entry: Entry) -> None:
    words = [suggestions.add(entry, "lost my password", source="accepted", by="web") for _ in range(8)]
    await asyncio.gather(*words)
    [only] = (await suggestions.list("shop")).suggestions
    assert only.times == 8


async def test_a_decision_stands_and_the_words_may_come_again(suggestions: Suggestions, entry: Entry) -> None:
    made = await suggestions.add(entry, "Lost my password", source="accepted", by="web")
    assert made is not None
    for _ in range(2):
        rejected = await suggestions.decide("shop", made.id, "rejected", by="bob")
        assert (rejected.state, rejected.by) == ("rejected", "bob")
    with pytest.raises(SuggestionDecided, match="already rejected by bob"):
        await suggestions.decide("shop", made.id, "accepted", by="ann")
    again = await suggestions.add(entry, "Lost my password", source="accepted", by="web")
    assert again is not None
    assert (again.state, again.by, again.times) == ("rejected", "bob", 2)


async def test_another_tenant_has_no_such_suggestion(suggestions: Suggestions, entry: Entry) -> None:
    made = await suggestions.add(entry, "Lost my password", source="accepted", by="web")
    assert made is not None
    assert (await suggestions.list("bank")).total == 0
    with pytest.raises(SuggestionNotFound):
        await suggestions.get("bank", made.id)
    with pytest.raises(SuggestionNotFound):
        await suggestions.decide("bank", made.id, "accepted", by="eve")


async def test_the_list_is_narrowed_and_comes_in_pages(
    suggestions: Suggestions, entry: Entry, store: EntryStore
) -> None:
    other = await store.create("shop", content("開店は何時ですか", language="ja"), by="ann", state="active")
    for number in range(3):
        await suggestions.note(entry, f"lost {number}", source="ticket", by="ann", times=number)
    await suggestions.note(other, "何時に開きますか", source="asked", by="ann", times=9)
    first = await suggestions.list("shop", entry_id="reset", limit=2)
    assert ([one.text for one in first.suggestions], first.total) == (["lost 2", "lost 0"], 3)
    rest = await suggestions.list("shop", entry_id="reset", limit=2, offset=2)
    assert [one.text for one in rest.suggestions] == ["lost 1"]
    assert [one.entry_id for one in (await suggestions.list("shop", language="ja")).suggestions] == [other.id]
    assert (await suggestions.list("shop", state="accepted")).total == 0


def asked(*texts: str) -> list[Asked]:
    return [Asked(text=text, times=number, source="ticket") for number, text in enumerate(texts, 1)]


async def test_past_questions_that_only_this_entry_would_answer_fit(store: EntryStore, entry: Entry) -> None:
    encoder = WordEncoder()
    index = MemoryIndex(encoder.identity)
    shelf = Shelf(store, index, encoder, weights=WEIGHTS)
    words = {"enable": "How do I enable two-factor login?", "refund": "Is a refund paid within 5 days?"}
    for name, phrasing in words.items():
        await store.create("shop", content(phrasing), by="ann", state="active", entry_id=name)
    await index_pending(store, index, encoder)
    trial = await Trials(shelf, store, index, encoder).of(entry)
    past = asked(
        "How do I reset my own account password?",
        "How do I not reset my account password?",  # a guard objects
        "HOW do I reset my account password",  # it has this phrasing
        "So how do I reset my account password then?",
        "Which wine goes with fish?",  # too far
        "How do I enable my two-factor login?",  # another entry's
    )
    found = await fitting(trial, past, encoder, limit=5)
    assert [one.asked.text for one in found] == [past[3].text, past[0].text]
    assert [one.asked.text for one in await fitting(trial, past, encoder, limit=1)] == [past[3].text]
    assert await fitting(trial, [], encoder, limit=5) == ()
    await store.create(
        "shop", content("So how do I reset my account password then now?"), by="ann", state="active"
    )
    await index_pending(store, index, encoder)
    assert past[3].text not in [one.asked.text for one in await fitting(trial, past, encoder, limit=5)]
