"""Reviewed tickets, entries and what was answered lately become cases that the evaluations read as they are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert
from typer.testing import CliRunner

from cache.entries import Source
from cache.store import EntryStore, Incoming
from cache.store.content import Content
from evaluation.answers.cases import AnswerCase, Context, read_answer_cases
from evaluation.cases import Answer, GateCase, read_cases
from gateway.cli import app
from gateway.commands import data
from gateway.domain import Draft, Passage, Step, Turn
from gateway.review.cases import as_answer_case, as_gate_case, entry_cases, reviewed_cases, traffic_cases
from gateway.review.closing import Closing, Review
from gateway.review.closing.promotion import Publication
from gateway.review.gate_examples import GateExamples
from gateway.review.judgements import Judgements
from gateway.review.tickets import Tickets
from storage.schema import answers
from storage.sql import Database, DatabaseUnavailable
from tests.review.asking import POLICY, question

DRAFT = Draft(
    text="It is free.",
    contexts=(
        Passage(text="The fee is 300 yen.", source="fees.md"),
        Passage(text="Open at nine.", source="hours.md"),
    ),
    model="m",
)


async def reviewed(database: Database) -> None:
    tickets, entries, examples = Tickets(database), EntryStore(database), GateExamples(database, POLICY)
    closing = Closing(tickets, entries, examples, Judgements(database, tickets, examples))

    async def close(text: str, review: Review) -> None:
        ticket = await tickets.open(
            question(text),
            outcome="withheld",
            reason="unsupported_statement",
            steps=(Step("rag", 1.0, DRAFT),),
        )
        await closing.close(ticket, review, tenant="acme", by="Sato")

    fees = Publication(sources=(Source("fees.md", "1"),))
    await close("What is the fee?", Review(answer="300 yen.", publication=fees, faithful=False))
    await close("Who won the match?", Review(gate="may"))
    await close("Never mind.", Review())
    await tickets.open(question("Still waiting?"), outcome="escalated", reason="r", steps=())


async def test_a_case_says_what_was_asked_what_is_right_and_what_rag_said(database: Database) -> None:
    await reviewed(database)
    cases = {case["question"]: case async for case in reviewed_cases(database, "acme")}
    assert len(cases) == 3, "what still waits is no case"
    fee = cases["What is the fee?"]
    assert fee["real_question"] == "Hi. What is the fee? Thanks"
    assert (fee["ground_truth"], fee["ground_contexts"]) == ("300 yen.", ["The fee is 300 yen."])
    assert (fee["recorded_answer"], fee["recorded_contexts"]) == (
        "It is free.", ["The fee is 300 yen.", "Open at nine."],
    )  # fmt: skip
    assert (fee["gold"], fee["faithful"]) == ("must", False)
    assert (cases["Who won the match?"]["gold"], cases["Never mind."]["gold"]) == ("may", None)
    assert as_gate_case(cases["Never mind."]) is None
    assert as_answer_case(cases["Never mind."]) is None
    assert [case async for case in reviewed_cases(database, "other")] == []


async def _fill(file: Path) -> None:
    database = await Database.open(f"sqlite:///{file}")
    await reviewed(database)
    await database.close()


def test_the_evaluations_read_what_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    asyncio.run(_fill(tmp_path / ".sekisho" / "sekisho.db"))
    config = tmp_path / "sekisho.yaml"
    config.write_text("logging: {level: error}")

    def exported(what: str) -> Path:
        file = tmp_path / f"{what}.jsonl"
        options = ["export", str(file), "--config", str(config), "--tenant", "acme", "--what", what]
        told = CliRunner().invoke(app, options)
        assert told.exit_code == 0, told.output
        return file

    gate = read_cases(exported("gate-cases"), GateCase)
    assert sorted((case.text, case.gold) for case in gate) == [
        ("What is the fee?", "must"), ("Who won the match?", "may"),
    ]  # fmt: skip
    [answer] = read_cases(exported("answer-cases"), Answer)
    assert (answer.answer, answer.faithful) == ("It is free.", False)
    assert len([json.loads(line) for line in exported("cases").read_text("utf-8").splitlines()]) == 3
    cases = list(read_answer_cases(exported("cases")))
    assert {(case.question, case.answerable) for case in cases} == {
        ("What is the fee?", True), ("Who won the match?", False), ("Never mind.", None),
    }  # fmt: skip


def test_an_export_that_breaks_leaves_the_former_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(database: Database, tenant: str) -> AsyncIterator[dict[str, Any]]:
        yield {"question": "Fee?"}
        raise DatabaseUnavailable("the database is gone")

    monkeypatch.setitem(data._CASES, "cases", (gone, lambda case: case))
    config, file = tmp_path / "sekisho.yaml", tmp_path / "cases.jsonl"
    config.write_text("logging: {level: error}")
    file.write_text("of yesterday")
    told = CliRunner().invoke(app, ["export", str(file), "--config", str(config), "--what", "cases"])
    assert told.exit_code != 0
    assert file.read_text() == "of yesterday"
    assert sorted(path.name for path in tmp_path.glob("*cases*")) == ["cases.jsonl"]


def _read(tmp_path: Path, rows: list[dict[str, Any]]) -> list[AnswerCase]:
    file = tmp_path / "cases.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return list(read_answer_cases(file))


async def test_every_phrasing_of_an_entry_is_a_case(database: Database, tmp_path: Path) -> None:
    content = Content(kind="ground_truth", language="en", phrasings=("Fee?", "What is it?"), answer="10 yen.")
    off = Content(kind="ground_truth", language="en", phrasings=("Old?",), answer="Gone.")
    store = EntryStore(database)
    await store.put(
        "acme", [Incoming(content=content, id="fee"), Incoming(content=off, state="draft", id="old")], by="t"
    )
    found = _read(tmp_path, [case async for case in entry_cases(database, "acme")])
    assert [(case.id, case.question, case.ground_truth) for case in found] == [
        ("fee#1", "Fee?", "10 yen."), ("fee#2", "What is it?", "10 yen."),
    ]  # fmt: skip
    assert [case async for case in entry_cases(database, "other")] == []


async def test_what_was_answered_is_a_recorded_case(database: Database, tmp_path: Path) -> None:
    drafted = {
        "stage": "rag",
        "found": {"type": "draft", "text": "10 yen.", "contexts": [{"text": "It is 10."}]},
    }
    hit = {"stage": "cache", "found": {"type": "hit", "entry": {"answer": "Nine."}}}
    common = {
        "at": datetime.now(UTC),
        "tenant": "acme",
        "request_id": "r",
        "language": "en",
        "self_contained": True,
    }
    rows = [
        {**common, "real_question": "Hi, fee?", "question": "Fee?", "turns": [], "steps": [drafted], "entry_id": None},
        {
            **common, "real_question": "Hours?", "question": "Hours?", "entry_id": "e", "steps": [hit],
            "turns": [{"role": "user", "text": "Hello"}],
        },
    ]  # fmt: skip
    async with database.begin() as connection:
        await connection.execute(insert(answers), rows)
    by_rag, by_cache = _read(tmp_path, [case async for case in traffic_cases(database, "acme")])
    assert (by_rag.recorded_answer, by_rag.recorded_contexts) == ("10 yen.", (Context("It is 10."),))
    assert (by_rag.real_question, by_rag.question, by_rag.answerable) == ("Hi, fee?", "Fee?", None)
    assert (by_cache.recorded_answer, by_cache.messages) == ("Nine.", (Turn("user", "Hello"),))
    assert by_cache.tags == ("traffic", "cache")
