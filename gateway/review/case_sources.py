"""Cases for `sekisho evaluate answers` besides reviewed tickets: entries, and what was answered lately."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from cache.entries import Entry
from cache.queries import Filters
from cache.store import EntryStore
from gateway.review.cases import source_passages
from gateway.review.steps import Json
from storage.schema import answers
from storage.sql import Database

__all__ = ["entry_cases", "traffic_cases"]

AT_ONCE = 200  # answers


async def entry_cases(db: Database, tenant: str) -> AsyncIterator[dict[str, Json]]:
    """A case for every phrasing of a tenant's active entries; the passages are those of its documents."""
    async for page in EntryStore(db).walk(tenant, Filters(state="active")):
        for entry in page.entries:
            contexts = await source_passages(db, [source.document for source in entry.sources])
            for place, phrasing in enumerate(entry.phrasings, 1):
                yield _of_entry(entry, place, phrasing, contexts)


async def traffic_cases(db: Database, tenant: str) -> AsyncIterator[dict[str, Json]]:
    """What was answered in the last days, as far as it is kept (`feedback`); nobody wrote a truth to it."""
    last = 0
    while True:
        query = select(answers).where(answers.c.tenant == tenant, answers.c.id > last)
        async with db.connect() as connection:
            rows = (await connection.execute(query.order_by(answers.c.id).limit(AT_ONCE))).mappings().all()
        if not rows:
            return
        last = rows[-1]["id"]
        for row in rows:
            yield _of_answer(row)


def _of_entry(entry: Entry, place: int, phrasing: str, contexts: Sequence[str]) -> dict[str, Json]:
    return {
        "id": f"{entry.id}#{place}",
        "lang": entry.language,
        "real_question": phrasing,
        "question": phrasing,
        "ground_truth": entry.answer,
        "ground_contexts": list(contexts),
        "tags": ["entry", entry.kind],
    }


def _of_answer(row: Mapping[Any, Any]) -> dict[str, Json]:
    found = {step["stage"]: step["found"] for step in row["steps"]}
    draft = found.get("rag", {})
    cached = found.get("cache", {}).get("entry") or {}
    text = cached.get("answer") if row["entry_id"] else draft.get("text")
    return {
        "id": f"{row['request_id']}-{row['id']}",
        "lang": row["language"],
        "messages": [{"role": turn["role"], "text": turn["text"]} for turn in row["turns"]],
        "real_question": row["real_question"],
        "question": row["question"],
        "recorded_answer": text,
        "recorded_contexts": [passage["text"] for passage in draft.get("contexts", ()) if passage["text"]],
        "tags": ["traffic", "cache" if row["entry_id"] else "rag"],
    }
