"""Entries and what was answered lately, as the cases that `sekisho evaluate answers` reads."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from cache.content import Content
from cache.store import EntryStore, Incoming
from evaluation.answers.cases import AnswerCase, Context, read_answer_cases
from gateway.domain import Turn
from gateway.review.case_sources import entry_cases, traffic_cases
from storage.schema import answers
from storage.sql import Database


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
