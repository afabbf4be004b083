from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from cache.entries import Entry
from cache.indexing import index_pending
from cache.matching import Hit
from cache.matching.evidence import EVIDENCE, Weights
from cache.shelf import Shelf
from cache.store import EntryStore
from cache.trial import Trial, Trials
from cache.trial.collisions import Collision, collisions, findable, shelf_collisions
from encoders import encode_one
from storage.testing import MemoryIndex
from storage.vectors import IndexUnavailable
from tests.cache.shelves import WEIGHTS, WordEncoder, content

FAQ = {
    "reset": ("How do I reset my account password?", "I forgot my account password, how do I reset it?"),
    "enable": ("How do I enable two-factor login for the app?", "enable two-factor login for the app"),
    "refund": ("Is a refund paid out within 5 days?", "refund paid out within 5 days"),
    "hours": ("When does the Kyoto shop open?", "opening hours of the Kyoto shop"),
}


def entry(
    *phrasings: str, name: str = "new", tenant: str = "shop", language: str = "en", group: str = ""
) -> Entry:
    return Entry(
        id=name, tenant=tenant, kind="ground_truth", language=language, group=group, phrasings=phrasings,
        answer="x", state="active", created_at=datetime.now(UTC), updated_at=datetime.now(UTC),
    )  # fmt: skip


class Desk:
    """A shelf with a small FAQ, and entries that are tried on it."""

    def __init__(self, store: EntryStore, weights: Weights = WEIGHTS) -> None:
        self.encoder = WordEncoder()
        self.index = MemoryIndex(self.encoder.identity)
        self.store = store
        self.shelf = Shelf(store, self.index, self.encoder, weights=weights)

    async def add(self, name: str, *phrasings: str, **changed: Any) -> None:
        written = content(*phrasings, answer=name, **changed)
        await self.store.create("shop", written, by="ann", state="active", entry_id=name)
        await index_pending(self.store, self.index, self.encoder)

    async def trial(self, tried: Entry) -> Trial:
        return await Trials(self.shelf, self.store, self.index, self.encoder).of(tried)

    async def collisions(self, tried: Entry) -> tuple[Collision, ...]:
        return await collisions(await self.trial(tried))


@pytest.fixture
async def desk(store: EntryStore) -> Desk:
    desk = Desk(store)
    for name, phrasings in FAQ.items():
        await desk.add(name, *phrasings)
    return desk


async def test_an_entry_in_another_s_words_would_compete_with_it(desk: Desk) -> None:
    [first] = await desk.collisions(entry("Where is the bank?", "How do I reset my own account password?"))
    assert (first.other.id, first.would) == ("reset", "answer")
    assert first.phrasing == "How do I reset my own account password?"
    assert first.other_phrasing == FAQ["reset"][0]
    assert "reaches the cut" in first.says


@pytest.mark.parametrize(
    ("words", "other", "would", "says"),
    [
        ("How do I disable two-factor login for the app?", "enable", "be_held_back", "opposites: "),
        ("Is a refund paid out within 7 days?", "refund", "be_held_back", "numbers: "),
        ("When does the Kyoto shop pay its staff?", "hours", "be_near", "below the cut"),
        ("how do I RESET my account password", "reset", "answer", "the same words"),
    ],
)
async def test_a_reviewer_reads_what_keeps_two_entries_apart(
    desk: Desk, words: str, other: str, would: str, says: str
) -> None:
    first = (await desk.collisions(entry(words)))[0]
    assert (first.other.id, first.would) == (other, would)
    assert says in first.says


async def test_an_entry_that_asks_something_else_competes_with_none(desk: Desk) -> None:
    assert await desk.collisions(entry("Which wine goes with fish?")) == ()


@pytest.mark.parametrize("shelf", [{"tenant": "bank"}, {"language": "ja"}])
async def test_entries_of_different_shelves_never_compete(desk: Desk, shelf: dict[str, str]) -> None:
    assert await desk.collisions(entry(*FAQ["reset"], **shelf)) == ()


async def test_entries_compete_only_where_one_asker_sees_both(desk: Desk) -> None:
    words = "How do I claim my travel costs?"
    await desk.add("staff", "How do I claim travel costs?", group="staff")
    for group, competes in (("", True), ("staff", True), ("guests", False)):
        found = await desk.collisions(entry(words, group=group))
        assert [one.other.id for one in found] == (["staff"] if competes else []), group
    await desk.add("everybody", words)
    await desk.add("guests", "How do I claim my own travel costs?", group="guests")
    whole = await shelf_collisions(desk.shelf, await desk.store.whole_shelf("shop", "en"), desk.encoder)
    pairs = {frozenset((one.entry.id, one.other.id)) for one in whole}
    assert pairs == {frozenset(("everybody", "guests")), frozenset(("everybody", "staff"))}


async def test_an_entry_that_is_not_served_competes_with_none(desk: Desk) -> None:
    await desk.store.change_state("shop", "reset", "paused", revision=1, by="ann")
    await index_pending(desk.store, desk.index, desk.encoder)
    assert await desk.collisions(entry("How do I reset my own account password?")) == ()


async def test_an_entry_does_not_compete_with_itself(desk: Desk) -> None:
    assert await desk.collisions(entry(*FAQ["reset"], name="reset")) == ()
    edited = entry("How do I enable two-factor login for the shop app?", name="reset")
    assert [one.other.id for one in await desk.collisions(edited)] == ["enable"]


async def test_a_trial_leaves_no_trace(desk: Desk) -> None:
    words = "How do I return a pair of shoes?"
    tried = await desk.trial(entry(words))
    await collisions(tried)
    question = await encode_one(desk.encoder, words)
    served = await tried.there().find(question, tenant="shop", language="en")
    assert isinstance(served, Hit)
    assert served.entry.id == "new"
    for shelf in (desk.shelf, tried.gone()):
        assert not isinstance(await shelf.find(question, tenant="shop", language="en"), Hit)
    assert len(await desk.store.served("shop", "en")) == len(FAQ)


async def test_a_trial_of_an_edit_is_asked_in_its_new_words_only(desk: Desk) -> None:
    tried = await desk.trial(entry("Where can I park my bicycle?", name="reset"))
    for words, answers in (("Where can I park my bicycle?", True), (FAQ["reset"][0], False)):
        found = await tried.there().find(await encode_one(desk.encoder, words), tenant="shop", language="en")
        assert isinstance(found, Hit) is answers, words


async def test_each_phrasing_says_whether_the_others_would_find_the_entry(desk: Desk) -> None:
    tried = entry(
        "Can I return a pair of shoes in the shop?",
        "Can I return my pair of shoes in the shop?",
        "What about boots?",
        "How do I reset my own account password?",
    )
    judged = await findable(await desk.trial(tried))
    assert [one.found for one in judged] == [True, True, False, False]
    assert judged[2].says.startswith("no entry is near")
    assert judged[3].says == f"“{FAQ['reset'][0]}” is nearer"


async def test_a_single_phrasing_leaves_nothing_to_be_found_by(desk: Desk) -> None:
    [only] = await findable(await desk.trial(entry("Can I return a pair of shoes?")))
    assert (only.found, only.phrasing) == (False, "Can I return a pair of shoes?")


async def test_the_pairs_of_a_shelf_come_once_and_the_worst_first(desk: Desk) -> None:
    await desk.add("recover", "How do I reset my own account password?", "account recovery by post")
    await desk.add("disable", "How do I disable two-factor login for the app?")
    await desk.add("pay", "When does the Kyoto shop pay its staff?")
    found = await shelf_collisions(desk.shelf, await desk.store.served("shop", "en"), desk.encoder)
    pairs = [({one.entry.id, one.other.id}, one.would) for one in found]
    assert pairs == [
        ({"reset", "recover"}, "answer"),
        ({"enable", "disable"}, "be_held_back"),
        ({"hours", "pay"}, "be_near"),
    ]


async def test_the_pass_over_a_shelf_says_what_asking_entry_by_entry_says(desk: Desk) -> None:
    await desk.add("recover", "How do I reset my own account password?", "account recovery by post")
    await desk.add("disable", "How do I disable two-factor login for the app?")
    entries = await desk.store.served("shop", "en")
    whole = await shelf_collisions(desk.shelf, entries, desk.encoder)
    singly = [one for tried in entries for one in await desk.collisions(tried)]
    assert {(one.entry.id, one.other.id) for one in whole} <= {(one.entry.id, one.other.id) for one in singly}
    for one in whole:
        [same] = [
            other for other in singly if (one.entry.id, one.other.id) == (other.entry.id, other.other.id)
        ]
        assert (same.phrasing, same.would) == (one.phrasing, one.would)
        assert same.score == pytest.approx(one.score, abs=1e-5)


async def test_an_empty_shelf_has_no_pairs(desk: Desk) -> None:
    assert await shelf_collisions(desk.shelf, (), desk.encoder) == ()
    lonely = await desk.store.served("shop", "en", ["hours"])
    assert await shelf_collisions(desk.shelf, lonely, desk.encoder) == ()


async def test_entries_compete_in_japanese_and_chinese_too(store: EntryStore) -> None:
    evidence = {
        name: {"weight": 9.0 if name == "characters" else 0.0, "from": -1.0, "to": 1.0} for name in EVIDENCE
    }
    reading = {"bias": -6.0, "default_cut": 0.85, "evidence": evidence}
    desk = Desk(store, Weights.from_table({"meaning": reading, "characters": reading}))
    for language, kept, asked in (
        ("ja", "パスワードを変更する方法を教えてください", "パスワードを変更する方法を教えて"),
        ("zh", "怎样才能修改我的登录密码？", "怎样才能修改登录密码？"),
    ):
        await desk.add(language, kept, language=language)
        found = await desk.collisions(entry(asked, language=language))
        assert [one.other.id for one in found] == [language]


async def test_a_tightened_shelf_tells_entries_apart_by_its_calibrated_cut(desk: Desk) -> None:
    present = await desk.shelf.cut("shop", "en")
    await desk.shelf.tighten("shop", "en", present=present, score=0.999, why="an audit found wrong answers")
    [first] = await desk.collisions(entry("How do I reset my own account password?"))
    assert first.would == "answer"


async def test_a_dead_index_is_not_an_entry_without_rivals(desk: Desk) -> None:
    desk.index.fail()
    with pytest.raises(IndexUnavailable):
        await desk.collisions(entry("How do I reset my own account password?"))
