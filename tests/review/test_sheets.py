"""A sheet that people filled in closes its tickets as the console would, or says by line why not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from cache.errors import UnreadableTable
from cache.shelf import Shelf
from cache.store import EntryStore
from cache.store.content import Content
from cache.transfer.tables import Row, read_table, write_table
from cache.trial import Trials
from encoders import Encoder, EncoderError, Vector
from encoders.testing import HashingEncoder
from gateway.exports import Period, write_export
from gateway.review import closing
from gateway.review.closing.sheets import FILLED_IN, DecidedReport, DecidedReviews
from gateway.review.entries.approval import Approvals, OnCollision
from gateway.review.tickets import Ticket, Tickets
from storage.sql import Database
from storage.testing import MemoryIndex
from tests.review.asking import closing_desk, question


@dataclass
class Room:
    """Where a sheet is read back."""

    tickets: Tickets
    entries: EntryStore
    reviews: DecidedReviews
    folder: Path

    async def ticket(self, text: str = "How much is a residence card?", **options: Any) -> Ticket:
        opened = await self.tickets.open(
            question(text, **options), outcome="withheld", reason="unchecked", steps=()
        )
        return await self.tickets.get(opened, tenant="acme")

    async def take(self, *rows: dict[str, Any], keep: bool = True) -> DecidedReport:
        file = self.folder / "decided.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return await self.reviews.take(file, tenant="acme", by="Sato", keep=keep)


class SilentEncoder(HashingEncoder):
    async def encode(self, texts: Sequence[str], /) -> Vector:
        raise EncoderError("the model is gone")


@pytest.fixture
def room(database: Database, tmp_path: Path) -> Room:
    return room_with(HashingEncoder(), database, tmp_path)


def room_with(
    encoder: Encoder, database: Database, tmp_path: Path, *, on_collision: OnCollision = "refuse"
) -> Room:
    entries, tickets = EntryStore(database), Tickets(database)
    index = MemoryIndex(encoder.identity)
    trials = Trials(Shelf(entries, index, encoder), entries, index, encoder)
    approvals = Approvals(database, trials, encoder, on_collision=on_collision)
    reviews = DecidedReviews(tickets, closing_desk(database, tickets).closing, approvals)
    return Room(tickets, entries, reviews, tmp_path)


def row_of(ticket: Ticket, **said: Any) -> dict[str, Any]:
    return {"id": ticket.id, "revision": ticket.revision, "decision": "answer", "answer": "300 yen.", **said}


async def test_answers_are_given_and_published_and_the_undecided_wait(room: Room) -> None:
    published, other = await room.ticket(), await room.ticket("Where is it?")
    report = await room.take(row_of(published, publish="yes"), row_of(other, decision=""))
    assert (report.closed, report.published, report.undecided, report.refused) == (1, 1, 1, ())
    assert await room.entries.find_exact("acme", "How much is a residence card?", "en") is not None
    assert (await room.tickets.get(other.id, tenant="acme")).state == "open"


@pytest.mark.parametrize(
    ("answered", "dismissed", "label", "yes", "no"),
    [
        ("回答", "回答不要", "対象外", "はい", "いいえ"),
        ("回答する", "対応不要", "対象外", "○", "×"),
        ("回复", "无需回答", "不在服务范围", "是", "否"),
        ("Answer", "DISMISS", "ｍａｙ", "Ｙｅｓ", "no"),
    ],
)
async def test_decisions_are_read_in_the_words_of_the_console(
    room: Room, answered: str, dismissed: str, label: str, yes: str, no: str
) -> None:
    published, other = await room.ticket(), await room.ticket("Where is it?")
    report = await room.take(
        row_of(published, decision=answered, publish=yes),
        row_of(other, decision=dismissed, publish=no, gate=label),
    )
    assert (report.closed, report.published, report.refused) == (2, 1, ())
    assert (await room.tickets.get(other.id, tenant="acme")).state == "dismissed"


async def test_the_columns_that_people_add_may_be_headed_in_japanese(room: Room) -> None:
    ticket = await room.ticket()
    file = room.folder / "decided.csv"
    file.write_text(
        f"id,revision,対応,回答,公開\n{ticket.id},{ticket.revision},回答,300円です。,はい\n", "utf-8"
    )
    report = await room.reviews.take(file, tenant="acme", by="Sato", keep=True)
    assert (report.closed, report.published, report.refused) == (1, 1, ())


@pytest.mark.parametrize(
    ("added", "decided", "answer", "yes"),
    [
        (("対応", "回答", "公開"), "回答", "300円です。", "はい"),
        (("处理", "答案", "发布"), "回复", "300日元。", "是"),
        (("decision", "回答", "publish"), "answer", "300 yen.", "yes"),
    ],
)
async def test_an_exported_workbook_takes_the_columns_that_people_add_beside_its_own(
    room: Room, database: Database, added: tuple[str, ...], decided: str, answer: str, yes: str
) -> None:
    ticket, other = await room.ticket(), await room.ticket("Where is it?")
    rows = {ticket.id: ("", decided, answer, yes), other.id: ("Here.", decided, "", "")}
    file = room.folder / "tickets.xlsx"
    await write_export(database, "tickets", "acme", file, Period())
    book = load_workbook(file)
    sheet = book.active
    assert sheet is not None
    heads = [cell.value for cell in sheet[1]]
    for place, head in enumerate(added, start=len(heads) + 1):
        sheet.cell(1, place, head)
    for line in (2, 3):
        exported, *cells = rows[str(sheet.cell(line, heads.index("id") + 1).value)]
        sheet.cell(line, heads.index("answer") + 1, exported)
        for place, cell in enumerate(cells, start=len(heads) + 1):
            sheet.cell(line, place, cell)
    book.save(file)
    report = await room.reviews.take(file, tenant="acme", by="Sato", keep=True)
    assert (report.closed, report.published, report.refused) == (2, 1, ())
    answers = [(await room.tickets.get(one.id, tenant="acme")).answer for one in (ticket, other)]
    assert answers == [answer, "Here."]


async def test_a_row_with_two_answers_is_refused_and_the_others_are_taken(room: Room) -> None:
    two, one = await room.ticket(), await room.ticket("Where is it?")
    report = await room.take(
        row_of(two, answer="300 yen.", 回答="300円です。"), row_of(one, answer="Here.", 回答="Here. ")
    )
    assert report.closed == 1
    [refused] = report.refused
    assert (refused.line, refused.field) == (1, "answer")
    assert refused.expected == "expected one text, found one in “answer” and another in the added column"


async def test_what_is_filled_in_without_a_decision_is_listed(room: Room) -> None:
    closed, answered, labelled, noted, lost = [
        await room.ticket(f"Where is {name}?") for name in ("it", "room one", "room two", "room three", "he")
    ]
    await room.take(row_of(closed))
    left = await room.tickets.get(closed.id, tenant="acme")
    report = await room.take(
        row_of(left, decision="", answer=left.answer),  # as the export has it
        row_of(answered, decision=""),
        row_of(labelled, decision=" ", answer="", gate="must"),
        row_of(noted, decision=None, answer=None, comment="ask the counter"),
        row_of(lost, decision="", id="T-NOWHERE1"),
    )
    assert (report.closed, report.undecided) == (0, 4)
    assert [(one.line, one.field) for one in report.remarks] == [(2, "decision"), (3, "decision")]
    assert (
        report.remarks[0].says == "expected answer or dismiss, as “answer” is filled in; the ticket waits on"
    )
    assert [(one.line, one.field) for one in report.refused] == [(5, "id")]
    assert await room.tickets.get(answered.id, tenant="acme") == answered


@pytest.mark.parametrize("at_once", [1, 100])
async def test_a_trial_reports_what_the_import_does(
    room: Room, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "AT_ONCE", at_once)
    served = Content(kind="ground_truth", language="en", phrasings=("Is it open today?",), answer="Yes.")
    await room.entries.create("acme", served, by="Suzuki", state="active")
    tickets = [
        await room.ticket(text)
        for text in [
            "How much is a card?",
            "How much is a card?",
            "Where?",
            "Where?",
            "Is it open today?",
            "When?",
        ]
    ]
    said: list[dict[str, Any]] = [
        {"gate": "must"},
        {"gate": "may"},  # of the same words as the one before it
        {"publish": "yes"},
        {"publish": "yes", "answer": "There."},  # the same question again
        {"publish": "yes"},  # an entry has it already
        {"publish": "yes", "faithful": "no", "answer": "x" * 40_000},
    ]
    rows = [row_of(ticket, **each) for ticket, each in zip(tickets, said, strict=True)]
    trial = await room.take(*rows, keep=False)
    assert [await room.tickets.get(one.id, tenant="acme") for one in tickets] == tickets
    assert (await room.entries.list("acme")).total == 1
    done = await room.take(*rows)
    assert trial == done
    assert (done.closed, done.published) == (2, 1)
    assert [(one.line, one.field) for one in done.refused] == [
        (2, "label"), (4, "publish"), (5, "publish"), (6, "faithful"),
    ]  # fmt: skip
    assert done.refused[1].expected == "line 3 publishes “Where?” with another answer, or for other people"
    assert "would compete" in done.refused[2].expected


async def test_what_an_entry_answers_otherwise_is_refused_by_a_column_of_the_sheet(
    database: Database, tmp_path: Path
) -> None:
    room = room_with(HashingEncoder(), database, tmp_path, on_collision="warn")
    served = Content(kind="ground_truth", language="en", phrasings=("Is it open today?",), answer="Yes.")
    entry = await room.entries.create("acme", served, by="Suzuki", state="active")
    [refused] = (await room.take(row_of(await room.ticket("Is it open today?"), publish="yes"))).refused
    said = f"the active entry {entry.id} has “Is it open today?” with another answer, or for other people"
    assert (refused.field, refused.expected) == ("publish", said)


async def test_one_answer_to_one_question_is_one_entry(room: Room) -> None:
    first, second, later = [await room.ticket("Where?") for _ in range(3)]
    rows = [row_of(one, publish="yes") for one in (first, second)]
    for keep in (False, True):
        report = await room.take(*rows, keep=keep)
        assert (report.closed, report.refused) == (2, ())
    assert (await room.take(row_of(later, publish="yes"))).refused == (), "nothing competes with itself"
    kept = [await room.tickets.get(one.id, tenant="acme") for one in (first, second, later)]
    assert {one.state for one in kept} == {"answered"}
    [entry] = (await room.entries.list("acme")).entries
    assert {one.entry_id for one in kept} == {entry.id}


async def test_a_refused_row_can_be_mended_and_taken_again(room: Room) -> None:
    first, second = await room.ticket("Where?"), await room.ticket("Where?")
    report = await room.take(row_of(first, publish="yes"), row_of(second, publish="yes", answer="There."))
    assert (report.closed, len(report.refused)) == (1, 1)
    assert await room.tickets.get(second.id, tenant="acme") == second, "nothing happened to it"
    assert (await room.take(row_of(second, answer="There."))).closed == 1


async def test_nothing_changes_in_a_trial(room: Room) -> None:
    ticket = await room.ticket()
    assert (await room.take(row_of(ticket, publish="yes"), keep=False)).closed == 1
    assert await room.tickets.get(ticket.id, tenant="acme") == ticket


async def test_a_ticket_that_changed_since_the_export_is_shown_and_left_alone(room: Room) -> None:
    ticket = await room.ticket()
    claimed = await room.tickets.claim(ticket.id, tenant="acme", by="Suzuki")
    report = await room.take(row_of(ticket))
    assert [(one.line, one.field) for one in report.refused] == [(1, "id")]
    assert "has changed since it was exported" in report.refused[0].expected
    assert "claimed by Suzuki" in (await room.take(row_of(claimed))).refused[0].expected
    assert (await room.tickets.get(ticket.id, tenant="acme")).answer is None


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"decision": "maybe"}, "decision"),
        ({"answer": " "}, "answer"),
        ({"revision": "first"}, "revision"),
        ({"gate": "perhaps"}, "gate"),
        ({"publish": "si"}, "publish"),
        ({"decision": "dismiss", "publish": "yes"}, "publish"),
        ({"id": "T-NOWHERE1"}, "id"),
        ({"publish": "yes", "gate": "may"}, "gate"),
        ({"faithful": "yes"}, "faithful"),
    ],
)
async def test_a_row_that_cannot_be_used_is_refused_by_line_and_field_in_a_trial_as_well(
    room: Room, said: dict[str, Any], field: str
) -> None:
    good, bad = await room.ticket(), await room.ticket("Where is it?")
    for keep in (False, True):
        report = await room.take(row_of(good), row_of(bad, **said), keep=keep)
        assert [(one.line, one.field) for one in report.refused] == [(2, field)]
        assert report.closed == 1
    left = await room.tickets.get(bad.id, tenant="acme")
    assert (left.state, left.answer, left.claimed_by) == ("open", None, None)


async def test_a_ticket_that_cannot_be_looked_at_is_held_by_nobody(
    database: Database, tmp_path: Path
) -> None:
    room = room_with(SilentEncoder(), database, tmp_path)
    ticket = await room.ticket()
    with pytest.raises(EncoderError):
        await room.take(row_of(ticket, publish="yes"))
    left = await room.tickets.get(ticket.id, tenant="acme")
    assert (left.state, left.claimed_by) == ("open", None)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
async def test_a_fresh_export_has_the_columns_that_people_fill_in(
    room: Room, database: Database, form: str
) -> None:
    ticket = await room.ticket()
    file = room.folder / f"tickets.{form}"
    await write_export(database, "tickets", "acme", file, Period())
    report = await room.reviews.take(file, tenant="acme", by="Sato", keep=True)
    assert report == DecidedReport(closed=0, published=0, undecided=1, refused=())
    [row] = read_table(file, required=FILLED_IN)
    assert isinstance(row, Row)
    assert all(row.values[name] == "" for name in FILLED_IN)
    write_table(file, [*row.values], [{**row.values, "decision": "answer", "answer": "5.", "publish": "yes"}])
    report = await room.reviews.take(file, tenant="acme", by="Sato", keep=True)
    assert (report.closed, report.published, report.refused) == (1, 1, ())
    assert (await room.tickets.get(ticket.id, tenant="acme")).answer == "5."


async def test_two_columns_that_decide_otherwise_refuse_their_row(room: Room) -> None:
    ticket = await room.ticket()
    file = room.folder / "tickets.csv"
    file.write_text(f"id,revision,decision,対応\n{ticket.id},{ticket.revision},dismiss,回答\n", "utf-8")
    [refused] = (await room.reviews.take(file, tenant="acme", by="Sato", keep=True)).refused
    assert (refused.line, refused.field) == (2, "decision")


async def test_a_sheet_without_decisions_is_told_what_they_are(room: Room) -> None:
    file = room.folder / "tickets.csv"
    file.write_text("id,revision,answer\nT-1,1,5.\n", "utf-8")
    with pytest.raises(
        UnreadableTable, match=r"missing columns: decision .*`decision` holds answer or dismiss"
    ):
        await room.reviews.take(file, tenant="acme", by="Sato", keep=True)


async def test_what_is_exported_to_csv_is_read_back(room: Room, database: Database) -> None:
    ticket = await room.ticket()
    file = room.folder / "tickets.csv"
    await write_export(database, "tickets", "acme", file, Period())
    head, line = file.read_text("utf-8-sig").splitlines()
    file.write_text(f"{head},decision,comment\n{line},dismiss,not ours\n", "utf-8")
    report = await room.reviews.take(file, tenant="acme", by="Sato", keep=True)
    assert (report.closed, report.refused) == (1, ())
    assert (await room.tickets.get(ticket.id, tenant="acme")).state == "dismissed"
