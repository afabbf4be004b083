from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Select, Table, text
from sqlalchemy.sql import visitors

from cache.entries import Entry, EntryState, Source
from cache.errors import (
    CacheError,
    DuplicatePhrasing,
    EntryConflict,
    EntryNotFound,
    ForbiddenChange,
    InvalidEntry,
)
from cache.reading.text import normalise
from cache.store import TRANSITIONS, EntryStore, Incoming, Put, known
from cache.store import content as entry_content
from cache.store.content import content_of
from cache.store.queries import SERVED, SERVED_BY_ID, SERVED_EXACT, SERVED_REVISIONS, Filters
from storage.sql import Database
from tests.cache.shelves import content


async def test_what_was_created_is_read_back(store: EntryStore) -> None:
    written = content(
        "How do I pay?",
        "支払い方法は？",
        owner="finance",
        sources=(Source("pay.md", "ab12"),),
        valid_from=date(2026, 1, 1),
        valid_until=date(2099, 1, 1),
        review_by=date(2027, 1, 1),
    )
    created = await store.create("shop", written, by="ann", state="active")
    read = await store.get("shop", created.id)
    assert content_of(read) == written
    assert (read.state, read.revision, read.created_at.tzinfo) == ("active", 1, UTC)
    assert read == created


async def test_a_stale_edit_is_refused_and_changes_nothing(store: EntryStore) -> None:
    entry = await store.create("shop", content(), by="ann")
    await store.edit("shop", entry.id, content(answer="Second."), revision=1, by="ben")
    with pytest.raises(EntryConflict, match="at revision 2, the change was made on revision 1"):
        await store.edit("shop", entry.id, content(answer="Third."), revision=1, by="cy")
    assert (await store.get("shop", entry.id)).answer == "Second."


async def test_the_history_keeps_every_version_in_full(store: EntryStore) -> None:
    entry = await store.create("shop", content("First?"), by="ann")
    edited = await store.edit("shop", entry.id, content("Second?", "Third?"), revision=1, by="ben")
    active = await store.change_state("shop", entry.id, "active", revision=2, by="cy")
    history = await store.history("shop", entry.id)
    assert [(step.change, step.by, step.revision) for step in history] == [
        ("created", "ann", 1),
        ("edited", "ben", 2),
        ("activated", "cy", 3),
    ]
    assert [step.entry for step in history] == [entry, edited, active]


async def test_only_named_changes_of_state_are_allowed(store: EntryStore) -> None:
    for state, following in product(TRANSITIONS, repeat=2):
        phrasing = f"From {state} to {following}?"
        entry = await store.create("shop", content(phrasing), by="ann", state=state)
        if following in TRANSITIONS[state]:
            changed = await store.change_state("shop", entry.id, following, revision=1, by="ann")
            assert changed.state == following
            continue
        with pytest.raises(ForbiddenChange, match=f"is {state} and can't become {following}"):
            await store.change_state("shop", entry.id, following, revision=1, by="ann")


async def test_a_tenant_never_meets_an_entry_of_another(store: EntryStore) -> None:
    entry = await store.create("shop", content("How do I pay?"), by="ann", state="active")
    for attempt in (
        store.get("bank", entry.id),
        store.history("bank", entry.id),
        store.edit("bank", entry.id, content(), revision=1, by="eve"),
        store.change_state("bank", entry.id, "paused", revision=1, by="eve"),
    ):
        with pytest.raises(EntryNotFound):
            await attempt
    assert await store.find_exact("bank", "How do I pay?", "en") is None
    assert await store.served("bank", "en", (entry.id,)) == ()
    assert (await store.list("bank")).total == 0
    assert [page async for page in store.walk("bank")] == []
    assert await store.shelves() == (("shop", "en"),)


async def test_two_tenants_may_import_the_same_id_and_never_share_it(store: EntryStore) -> None:
    incoming = Incoming(content=content("How do I pay?"), id="pay")
    (ours,) = await store.put("shop", [incoming], by="ann")
    (theirs,) = await store.put("bank", [incoming], by="ben")
    assert isinstance(ours, Put)
    assert isinstance(theirs, Put)
    assert ours.entry.id == "pay"
    assert theirs.entry.id != "pay"
    (again,) = await store.put("bank", [incoming], by="ben")
    assert again == Put(theirs.entry, "unchanged")


@pytest.mark.parametrize(
    ("state", "language", "asked", "found"),
    [
        ("active", "en", "how do i PAY", True),
        ("active", "en", "ＨＯＷ do I pay!!", True),
        ("active", "en", "How do I not pay?", False),
        ("active", "en", "…", False),
        ("active", "ja", "How do I pay?", False),
        ("draft", "en", "How do I pay?", False),
        ("paused", "en", "How do I pay?", False),
        ("stale", "en", "How do I pay?", False),
        ("retired", "en", "How do I pay?", False),
    ],
)
async def test_the_exact_tier_serves_active_entries_of_its_shelf(
    store: EntryStore, state: EntryState, language: str, asked: str, found: bool
) -> None:
    entry = await store.create("shop", content("Payment?", "How do I pay?"), by="ann", state=state)
    met = await store.find_exact("shop", asked, language)
    assert (met is not None) is found
    if met is not None:
        assert (met.entry, met.phrasing) == (entry, "How do I pay?")


@pytest.mark.parametrize(("days_from", "days_until", "found"), [(0, 0, True), (1, 2, False), (-2, -1, False)])
async def test_only_entries_valid_today_are_served(
    database: Database, days_from: int, days_until: int, found: bool
) -> None:
    now = datetime(2026, 4, 1, 23, 59, tzinfo=UTC)
    store = EntryStore(database, now=lambda: now)
    valid = content(
        valid_from=now.date() + timedelta(days=days_from), valid_until=now.date() + timedelta(days=days_until)
    )
    await store.create("shop", valid, by="ann", state="active")
    assert (await store.find_exact("shop", valid.phrasings[0], "en") is not None) is found
    assert bool(await store.served("shop", "en")) is found


async def test_the_days_of_an_entry_are_those_of_the_stores_time_zone(database: Database) -> None:
    """Prices change at an office's midnight, nine hours before that of Greenwich."""
    tokyo = ZoneInfo("Asia/Tokyo")
    now = [datetime(2026, 3, 31, 23, 59, tzinfo=tokyo).astimezone(UTC)]
    store = EntryStore(database, timezone=tokyo, now=lambda: now[-1])
    old = content("How much is it?", answer="100 yen.", valid_until=date(2026, 3, 31))
    new = content("How much is it?", answer="120 yen.", valid_from=date(2026, 4, 1))
    for one in (old, new):
        await store.create("shop", one, by="ann", state="active")

    async def served() -> set[str]:
        met = await store.find_exact("shop", "How much is it?", "en")
        entries = (*await store.served("shop", "en"), *await store.whole_shelf("shop", "en"))
        return {entry.answer for entry in entries} | ({met.entry.answer} if met else set())

    assert (store.today, await served()) == (date(2026, 3, 31), {"100 yen."})
    now.append(now[-1] + timedelta(minutes=1))
    assert (store.today, await served()) == (date(2026, 4, 1), {"120 yen."})


async def test_an_entry_that_was_read_before_is_served_as_another_replica_left_it(database: Database) -> None:
    day = datetime(2026, 4, 1, tzinfo=UTC)
    store, replica = EntryStore(database, now=lambda: day), EntryStore(database)
    entry = await replica.create("shop", content(valid_until=day.date()), by="ann", state="active")

    async def served(group: str = "") -> tuple[Entry, ...]:
        return await store.served("shop", "en", [entry.id, "unknown"], group=group)

    assert await served() == await served() == (entry,)
    edited = await replica.edit(
        "shop", entry.id, content(answer="Ask Bob.", group="staff"), revision=1, by="bob"
    )
    assert await served() == ()
    assert await served("staff") == (edited,)
    await replica.change_state("shop", entry.id, "paused", revision=2, by="bob")
    assert await served("staff") == ()
    back = await replica.change_state("shop", entry.id, "active", revision=3, by="bob")
    assert await served("staff") == (back,)
    assert await store.served("bank", "en", [entry.id], group="staff") == ()


async def test_entries_that_were_read_before_are_served_beside_new_ones(database: Database) -> None:
    store = EntryStore(database)
    ids = [
        (await store.create("shop", content(f"Question {number}?"), by="ann", state="active")).id
        for number in range(3)
    ]
    await store.served("shop", "en", ids[1:2])
    await store.edit("shop", ids[1], content("Another?"), revision=1, by="ben")
    await store.served("shop", "en", ids[2:])
    served = await store.served("shop", "en", ids)
    assert [entry.id for entry in served] == sorted(ids)
    assert {entry.phrasings[0] for entry in served} == {"Question 0?", "Another?", "Question 2?"}


async def test_an_entry_that_was_read_before_ends_on_its_last_day(database: Database) -> None:
    days = [date(2026, 4, 1)]
    store = EntryStore(database, now=lambda: datetime.combine(days[-1], time(), UTC))
    entry = await store.create("shop", content(valid_until=days[0]), by="ann", state="active")
    assert await store.served("shop", "en", [entry.id]) == (entry,)
    days.append(date(2026, 4, 2))
    assert await store.served("shop", "en", [entry.id]) == ()


async def test_the_entries_met_last_are_the_ones_remembered(
    store: EntryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "REMEMBERED", 2)
    made = [await store.create("shop", content(f"Q {at}?"), by="ann", state="active") for at in range(5)]
    ids = sorted(entry.id for entry in made)
    for _ in range(2):
        assert [entry.id for entry in await store.served("shop", "en", ids)] == ids


async def test_a_phrasing_belongs_to_one_active_entry_of_a_shelf(store: EntryStore) -> None:
    first = await store.create("shop", content("How do I pay?"), by="ann", state="active")
    again = content("Payment", "how do I PAY")
    with pytest.raises(
        DuplicatePhrasing, match=f"“how do I PAY” already belongs to the active entry {first.id}"
    ):
        await store.create("shop", again, by="ann", state="active")
    draft = await store.create("shop", again, by="ann")
    with pytest.raises(DuplicatePhrasing):
        await store.change_state("shop", draft.id, "active", revision=1, by="ann")
    await store.create("bank", again, by="ann", state="active")
    await store.change_state("shop", first.id, "retired", revision=1, by="ann")
    await store.change_state("shop", draft.id, "active", revision=1, by="ann")


async def test_two_entries_may_share_a_phrasing_if_never_valid_together(store: EntryStore) -> None:
    await store.create("shop", content(valid_until=date(2026, 12, 31)), by="ann", state="active")
    await store.create("shop", content(valid_from=date(2027, 1, 1)), by="ann", state="active")
    with pytest.raises(DuplicatePhrasing):
        await store.create("shop", content(), by="ann", state="active")


@pytest.mark.parametrize(
    ("changed", "field", "expected"),
    [
        ({"phrasings": ()}, "question", "at least one"),
        ({"phrasings": ("?!",)}, "phrasings", "letters or digits"),
        ({"phrasings": ("x" * 2_001,)}, "phrasings", "at most 2000"),
        ({"phrasings": ("a\ud800b",)}, "phrasings", "UTF-8"),
        ({"phrasings": tuple(f"{n}?" for n in range(201))}, "phrasings", "at most 200, found 201"),
        ({"answer": " "}, "answer", "expected a text"),
        ({"answer": "a\x00b"}, "answer", "control characters"),
        ({"language": "english"}, "language", "expected en, ja or zh, found “english”"),
        ({"kind": "guess"}, "kind", "ground_truth or confirmed_answer"),
        ({"valid_from": date(2026, 2, 1), "valid_until": date(2026, 1, 1)}, "valid_until", "not before"),
        ({"sources": (Source(" ", "v"),)}, "sources", "name of a document"),
    ],
)
async def test_an_invalid_field_is_named(
    store: EntryStore, changed: dict[str, object], field: str, expected: str
) -> None:
    with pytest.raises(InvalidEntry, match=expected) as refused:
        await store.create("shop", content(**changed), by="ann")
    assert refused.value.field == field


async def test_a_list_is_filtered_searched_and_paged(store: EntryStore) -> None:
    for number in range(5):
        await store.create("shop", content(f"Question {number}?", owner=f"o{number % 2}"), by="ann")
    await store.create("shop", content("料金は？", language="ja", answer="100%"), by="ann", state="active")
    first = await store.list("shop", limit=4)
    rest = await store.list("shop", limit=4, offset=4)
    assert (first.total, len(first.entries), len(rest.entries)) == (6, 4, 2)
    assert {entry.id for entry in first.entries}.isdisjoint(entry.id for entry in rest.entries)
    for filters, total in (
        (Filters(state="active"), 1),
        (Filters(language="ja"), 1),
        (Filters(owner="o1"), 2),
        (Filters(search="question 3"), 1),
        (Filters(search="料金"), 1),
        (Filters(search="0%"), 1),
        (Filters(search="_"), 0),
    ):
        assert (await store.list("shop", filters)).total == total, filters


async def test_a_long_name_from_elsewhere_stands_for_the_same_entry_again(store: EntryStore) -> None:
    named = Incoming(content=content(), id="a-name-that-is-longer-than-any-id-may-be")
    (first,) = await store.put("shop", [named], by="ann")
    (again,) = await store.put("shop", [named], by="ann")
    assert isinstance(first, Put)
    assert again == Put(first.entry, "unchanged")


async def test_many_are_put_in_one_go_and_the_bad_ones_are_told(store: EntryStore) -> None:
    results = await store.put(
        "shop",
        [
            Incoming(content=content("One?"), id="one"),
            Incoming(content=content("ONE")),
            Incoming(content=content("Two?", language="")),
            Incoming(content=content("Three?"), id="a b"),
            Incoming(content=content("Four?"), state="draft"),
        ],
        by="ann",
    )
    kinds = [result.change if isinstance(result, Put) else type(result) for result in results]
    assert kinds == ["created", DuplicatePhrasing, InvalidEntry, InvalidEntry, "created"]
    assert all(isinstance(result, Put | CacheError) for result in results)
    (edited,) = await store.put(
        "shop", [Incoming(content=content("One!"), id="one", state="paused")], by="ben"
    )
    assert isinstance(edited, Put)
    assert (edited.change, edited.entry.state, edited.entry.revision) == ("edited", "paused", 2)


async def test_entries_that_come_in_together_meet_each_other(store: EntryStore) -> None:
    results = await store.put(
        "shop",
        [
            Incoming(content=content("One?"), id="a"),
            Incoming(content=content("one"), id="b"),
            Incoming(content=content("Two?"), id="a"),
            Incoming(content=content("One!"), id="c"),
            Incoming(content=content("two"), id="c", state="paused"),
            Incoming(content=content("ONE"), id="b"),
        ],
        by="ann",
    )
    kinds = [result.change if isinstance(result, Put) else type(result) for result in results]
    assert kinds == ["created", DuplicatePhrasing, "edited", "created", "edited", "created"]
    kept = {entry.id: (entry.question, entry.state) for entry in (await store.list("shop")).entries}
    assert kept == {"a": ("Two?", "active"), "b": ("ONE", "active"), "c": ("two", "paused")}
    assert [step.change for step in await store.history("shop", "a")] == ["created", "edited"]


async def test_a_group_sees_its_own_entries_and_everybodys(store: EntryStore) -> None:
    for name, group in {"all": "", "staff": "staff", "board": "board"}.items():
        await store.create("shop", content(f"{name}?", group=group), by="ann", state="active", entry_id=name)
    for group, seen in {"": {"all"}, "staff": {"all", "staff"}, "guest": {"all"}}.items():
        assert {entry.id for entry in await store.served("shop", "en", group=group)} == seen
        found = {
            name
            for name in ("all", "staff", "board")
            if await store.find_exact("shop", name, "en", group=group)
        }
        assert found == seen
    assert {entry.id for entry in await store.whole_shelf("shop", "en")} == {"all", "staff", "board"}
    assert await store.questions("shop", limit=9) == ("all?",)
    assert (await store.list("shop", Filters(group="staff"))).total == 1
    assert (await store.list("shop", Filters(group=""))).total == 1


@pytest.mark.parametrize(
    ("first", "second", "refused"),
    [
        ("", "", True),
        ("staff", "staff", True),
        ("", "staff", True),
        ("staff", "", True),
        ("staff", "board", False),
    ],
)
async def test_two_entries_may_share_a_phrasing_if_nobody_reads_both(
    store: EntryStore, first: str, second: str, refused: bool
) -> None:
    await store.create("shop", content(group=first), by="ann", state="active")
    again = store.create("shop", content(group=second), by="ann", state="active")
    if refused:
        with pytest.raises(DuplicatePhrasing):
            await again
    else:
        assert (await again).group == second


@pytest.mark.parametrize("group", ["Staff", "sales team", "x" * 41, "1st", "*", "staff\n"])
async def test_a_group_has_a_plain_name(store: EntryStore, group: str) -> None:
    with pytest.raises(InvalidEntry, match="a letter first") as refused:
        await store.create("shop", content(group=group), by="ann")
    assert refused.value.field == "group"


async def test_entries_are_found_by_the_documents_they_came_from(store: EntryStore) -> None:
    fees = Source("手数料.md", "1")
    entry = await store.create(
        "shop", content(sources=(fees, Source("手数料.md", "2"), Source("a.md", ""))), by="ann"
    )
    for document, total in {"手数料.md": 1, "a.md": 1, "手数料": 0}.items():
        assert (await store.list("shop", Filters(document=document))).total == total
        assert (await store.list("bank", Filters(document=document))).total == 0
    await store.edit("shop", entry.id, content(sources=(Source("b.md", ""),)), revision=1, by="ann")
    assert (await store.list("shop", Filters(document="a.md"))).total == 0
    assert (await store.list("shop", Filters(document="b.md"))).total == 1


@pytest.mark.parametrize("statement", [SERVED_BY_ID, SERVED_REVISIONS], ids=["entries", "revisions"])
async def test_a_lookup_reads_the_entries_it_asks_for_and_not_the_whole_shelf(
    tmp_path: Path, statement: Select[Any]
) -> None:
    values = {"tenant": "shop", "language": "en", "group": "", "today": date(2026, 4, 1)}
    asked = statement.params(**values, ids=[f"e{at}" for at in range(16)])
    database = await Database.open(f"sqlite:///{tmp_path / 'shelf.db'}")
    async with database.connect() as connection:
        written = asked.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
        plan = (await connection.execute(text(f"EXPLAIN QUERY PLAN {written}"))).all()
    await database.close()
    steps = [row.detail for row in plan if " entries " in row.detail]
    assert steps
    assert all("(id=?)" in step for step in steps), steps


@pytest.mark.parametrize(
    "statement",
    [SERVED, SERVED_BY_ID, SERVED_EXACT, SERVED_REVISIONS],
    ids=["all", "by id", "exact", "revisions"],
)
def test_serving_reads_entries_and_their_phrasings_and_nothing_else(statement: Select[Any]) -> None:
    """What a changed document does to an entry is done when it changes, not when somebody asks."""
    read = {table.name for table in visitors.iterate(statement) if isinstance(table, Table)}
    assert read <= {"entries", "entry_phrasings"}
    assert "entries" in read


def test_of_far_too_many_phrasings_no_more_are_read_than_an_entry_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def counted(text: str) -> str:
        read.append(text)
        return normalise(text)

    monkeypatch.setattr(entry_content, "normalise", counted)
    with pytest.raises(InvalidEntry, match="found 100000"):
        entry_content.checked(content(*(f"How do I reset {n}?" for n in range(100_000))))
    assert len(read) == entry_content.MOST_PHRASINGS + 1
