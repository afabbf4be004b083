"""Entries as rows and snapshots: the only place that knows both forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, cast
from uuid import NAMESPACE_URL, uuid4, uuid5

from sqlalchemy import MappingResult, RowMapping

from cache.entries import Entry, EntryKind, EntryState, Source
from cache.errors import InvalidEntry
from cache.reading.text import exact_key, normalise
from cache.store.content import Content

__all__ = [
    "content_values",
    "entries_from_rows",
    "entry_from_snapshot",
    "is_name",
    "new_id",
    "phrasing_rows",
    "snapshot",
    "source_rows",
    "wanted_ids",
]

LONGEST_ID = 36
LONGEST_NAME = 200


def new_id() -> str:
    """A random id."""
    return str(uuid4())


def content_values(content: Content) -> dict[str, Any]:
    """The columns of `entries` that people write."""
    return {
        "kind": content.kind,
        "group": content.group,
        "language": content.language,
        "answer": content.answer,
        "owner": content.owner,
        "sources": _source_values(content.sources),
        "valid_from": content.valid_from,
        "valid_until": content.valid_until,
        "review_by": content.review_by,
    }


def phrasing_rows(entry_id: str, tenant: str, phrasings: Iterable[str]) -> list[dict[str, Any]]:
    """The rows of `entry_phrasings`; each gets an id of its own."""
    rows = []
    for position, text in enumerate(phrasings):
        normalised = normalise(text)
        rows.append(
            {
                "id": new_id(),
                "entry_id": entry_id,
                "tenant": tenant,
                "position": position,
                "text": text,
                "normalised": normalised,
                "exact_key": exact_key(normalised),
            }
        )
    return rows


def source_rows(entry_id: str, sources: Iterable[Source]) -> list[dict[str, Any]]:
    """The rows of `entry_sources`, one for each document."""
    documents = sorted({source.document for source in sources})
    return [{"entry_id": entry_id, "document_key": exact_key(document)} for document in documents]


def entries_from_rows(rows: MappingResult) -> list[Entry]:
    """Entries from a join with their phrasings (`phrasing`), ordered by entry and position."""
    first: dict[str, RowMapping] = {}
    phrasings: dict[str, list[str]] = {}
    for row in rows.all():  # fetched one by one they cost twice as much
        entry_id = row["id"]
        if entry_id not in first:
            first[entry_id], phrasings[entry_id] = row, []
        phrasings[entry_id].append(row["phrasing"])
    return [_entry(row, tuple(phrasings[entry_id])) for entry_id, row in first.items()]


def snapshot(entry: Entry) -> dict[str, Any]:
    """The whole entry as JSON, for its history."""
    return {
        "id": entry.id,
        "tenant": entry.tenant,
        "kind": entry.kind,
        "group": entry.group,
        "language": entry.language,
        "phrasings": list(entry.phrasings),
        "answer": entry.answer,
        "state": entry.state,
        "owner": entry.owner,
        "sources": _source_values(entry.sources),
        "valid_from": _day_text(entry.valid_from),
        "valid_until": _day_text(entry.valid_until),
        "review_by": _day_text(entry.review_by),
        "revision": entry.revision,
        "created_at": entry.created_at.isoformat(),
        "updated_at": entry.updated_at.isoformat(),
    }


def entry_from_snapshot(stored: Mapping[str, Any]) -> Entry:
    """The entry as it was when the snapshot was made."""
    days = {name: _day(stored[name]) for name in ("valid_from", "valid_until", "review_by")}
    moments = {name: datetime.fromisoformat(stored[name]) for name in ("created_at", "updated_at")}
    return _entry({"group": "", **stored, **days, **moments}, tuple(stored["phrasings"]))


def _entry(row: Mapping[Any, Any], phrasings: tuple[str, ...]) -> Entry:
    return Entry(
        id=row["id"],
        tenant=row["tenant"],
        kind=cast("EntryKind", row["kind"]),
        group=row["group"],
        language=row["language"],
        phrasings=phrasings,
        answer=row["answer"],
        state=cast("EntryState", row["state"]),
        owner=row["owner"],
        sources=tuple(Source(one["document"], one["version"]) for one in row["sources"]),
        valid_from=row["valid_from"],
        valid_until=row["valid_until"],
        review_by=row["review_by"],
        revision=row["revision"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _source_values(sources: Iterable[Source]) -> list[dict[str, str]]:
    return [{"document": source.document, "version": source.version} for source in sources]


def _day_text(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def is_name(entry_id: str) -> bool:
    """Whether an entry can be called so."""
    return 0 < len(entry_id) <= LONGEST_NAME and entry_id.isprintable() and " " not in entry_id


def wanted_ids(tenant: str, entry_id: str) -> tuple[str, str]:
    """What an imported entry is called here, and what if another tenant took that first.

    A name that is too long for an id gets one that is always the same.

    Raises:
        InvalidEntry: if it is no name.
    """
    if not is_name(entry_id):
        expected = f"expected 1 to {LONGEST_NAME} characters without spaces"
        raise InvalidEntry("id", f"{expected}, found “{entry_id[:50]}”")
    second = str(uuid5(NAMESPACE_URL, f"sekisho:{tenant}:{entry_id}"))
    return (entry_id if len(entry_id) <= LONGEST_ID else second), second
