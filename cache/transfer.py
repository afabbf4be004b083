"""Entries to and from files that people edit: CSV, JSON Lines, XLSX.

Columns (keys in JSON Lines): `id`, `kind`, `group`, `language`, `question`, `answer`, `state`, `owner`,
`sources`, `valid_from`, `valid_until`, `review_by`, and the further phrasings: `phrasing_2`,
`phrasing_3` … in CSV and XLSX, the list `phrasings` in JSON Lines. `sources` is one
`document@version` a line, in JSON Lines a list of objects with `document` and `version`. Only
`question`, `answer` and `language` have to be there; a row with the id of an entry of this tenant
replaces it, and without a column `group` it stays in its group. A row without an id that says just what
an active entry says changes nothing; one that gives the answer of a paused, stale or retired entry is
refused, for people took that answer out of service: the entry's id brings it back. The columns may be
headed in Japanese or Chinese (質問 and 回答, 问题 and 答案). What an export writes, an import reads back
as the same entries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, cast, get_args

from anyio import to_thread

from cache.content import Content
from cache.entries import Entry, EntryKind, EntryState, Source
from cache.errors import AnswerWithdrawn, CacheError, DuplicatePhrasing, InvalidEntry
from cache.queries import NO_FILTERS, Filters
from cache.store import EntryStore, Incoming, Put
from cache.tables import Row, RowProblem, format_of, read_table, write_table

__all__ = ["ImportReport", "Refusal", "export_entries", "import_entries", "read_faq"]

BATCH = 500  # rows a transaction; what a kill can lose of an import
_TEXTS = ("id", "kind", "group", "language", "question", "answer", "state", "owner")
_DAYS = ("valid_from", "valid_until", "review_by")
_REQUIRED = ("question", "answer")
_HEADINGS = {  # as helpdesks head their own sheets
    "質問": "question", "質問文": "question", "问题": "question", "問題": "question", "提问": "question",
    "回答": "answer", "回答文": "answer", "答え": "answer", "答案": "answer", "答复": "answer",
    "言語": "language", "语言": "language", "語言": "language",
}  # fmt: skip
_FURTHER = re.compile(r"phrasing_(\d+)")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that was not imported, and what was expected of it."""

    line: int
    field: str
    expected: str
    why: str = ""  # duplicate | withdrawn; else the field can't be used


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of the rows of a file."""

    created: int = 0
    edited: int = 0
    unchanged: int = 0
    refused: tuple[Refusal, ...] = ()


async def import_entries(
    store: EntryStore,
    tenant: str,
    path: Path,
    *,
    by: str,
    language: str | None = None,
    progress: Callable[[int], object] | None = None,
    keep: bool = True,
) -> ImportReport:
    """Import a file; rows that can't be used are refused by line, the rest is kept.

    `language` stands for an empty language; `progress` is told the number of rows after each batch.
    Without `keep` nothing is changed: the report says what would become of the rows, batch by batch.

    Raises:
        UnreadableTable: if the file as a whole can't be read; rows before the fault are kept.
    """
    counts = {"created": 0, "edited": 0, "unchanged": 0}
    refused: list[Refusal] = []
    lines: dict[str, int] = {}
    rows = await to_thread.run_sync(lambda: read_table(path, required=_REQUIRED, headings=_HEADINGS))
    while batch := await to_thread.run_sync(lambda: list(islice(rows, BATCH))):
        usable: list[tuple[int, Incoming]] = []
        for row in batch:
            parsed = _incoming(row, language, lines)
            if isinstance(parsed, Refusal):
                refused.append(parsed)
            else:
                usable.append((row.line, parsed))
        for (line, _), result in zip(
            usable, await store.put(tenant, [one for _, one in usable], by=by, keep=keep), strict=True
        ):
            if isinstance(result, Put):
                counts[result.change] += 1
            else:
                refused.append(_refusal(line, result))
        if progress is not None:
            progress(len(batch))
    return ImportReport(**counts, refused=tuple(sorted(refused, key=lambda one: one.line)))


async def export_entries(
    store: EntryStore,
    tenant: str,
    path: Path,
    filters: Filters = NO_FILTERS,
    *,
    progress: Callable[[int], object] | None = None,
) -> int:
    """Write the tenant's entries to a file, in the place of an older one; returns how many."""
    form = format_of(path)
    entries: list[Entry] = []
    async for page in store.walk(tenant, filters):
        entries.extend(page.entries)
        if progress is not None:
            progress(len(page.entries))
    most = max((len(entry.phrasings) for entry in entries), default=1)
    columns = [*_TEXTS, *(f"phrasing_{n}" for n in range(2, most + 1)), "sources", *_DAYS]
    as_row = _as_json if form == "jsonl" else _as_cells
    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    written = await to_thread.run_sync(lambda: write_table(partial, columns, map(as_row, entries)))
    partial.replace(path)
    return written


def read_faq(path: Path) -> list[Incoming]:
    """Entries of an evaluation set: JSON Lines of `entry_id`, `questions`, `lang`, without answers.

    Raises:
        InvalidEntry: naming line and key.
    """
    found = []
    for row in read_table(path, required=()):
        if isinstance(row, RowProblem):
            raise InvalidEntry(f"{path.name}, line {row.line}", row.expected)
        try:
            questions, language, name = row.values["questions"], row.values["lang"], row.values["entry_id"]
        except KeyError as missing:
            raise InvalidEntry(f"{path.name}, line {row.line}", f"expected the key {missing}") from missing
        content = Content(
            kind="ground_truth",
            language=language,
            phrasings=tuple(questions),
            answer=row.values.get("answer", name),
        )
        found.append(Incoming(content=content, id=name))
    return found


def _incoming(row: Row | RowProblem, language: str | None, lines: dict[str, int]) -> Incoming | Refusal:
    """The entry of a row; `lines` remembers where each id stood."""
    if isinstance(row, RowProblem):
        return Refusal(row.line, "row", row.expected)
    try:
        parsed = _parsed(row.values, language)
        if parsed.id is not None and lines.setdefault(parsed.id, row.line) != row.line:
            raise InvalidEntry(
                "id", f"expected another than in line {lines[parsed.id]}, found “{parsed.id}” again"
            )
    except InvalidEntry as wrong:
        return _refusal(row.line, wrong)
    return parsed


def _parsed(values: Mapping[str, Any], language: str | None) -> Incoming:
    texts = {name: _text(values, name) for name in _TEXTS}
    state = texts["state"].lower() or "active"
    if state not in get_args(EntryState):
        raise InvalidEntry("state", f"expected one of {', '.join(get_args(EntryState))}, found “{state}”")
    if not texts["question"]:
        raise InvalidEntry("question", "expected a text, found nothing")
    content = Content(
        kind=cast("EntryKind", texts["kind"].lower() or "ground_truth"),
        group=texts["group"].lower(),
        language=texts["language"].lower() or language or "",
        phrasings=(texts["question"], *_further(values)),
        answer=texts["answer"],
        owner=texts["owner"],
        sources=_sources(values.get("sources")),
        valid_from=_day(values, "valid_from"),
        valid_until=_day(values, "valid_until"),
        review_by=_day(values, "review_by"),
    )
    return Incoming(
        content=content,
        state=cast("EntryState", state),
        id=texts["id"] or None,
        names_group="group" in values,
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidEntry(name, f"expected a text, found {json.dumps(value)[:60]}")
    return value.strip()


def _further(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The phrasings after the question, from the list or the numbered columns."""
    listed = values.get("phrasings") or []
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InvalidEntry("phrasings", f"expected a list of texts, found {json.dumps(listed)[:60]}")
    numbered = [(int(found[1]), name) for name in values if (found := _FURTHER.fullmatch(name))]
    return (*listed, *(_text(values, name) for _, name in sorted(numbered)))


def _sources(value: Any) -> tuple[Source, ...]:
    match value:
        case None:
            return ()
        case str():
            return tuple(_source_line(line) for line in value.splitlines() if line.strip())
        case list():
            return tuple(_source_object(one) for one in value)
        case _:
            raise InvalidEntry("sources", f"expected a list of documents, found {json.dumps(value)[:60]}")


def _source_line(line: str) -> Source:
    document, at, version = line.strip().rpartition("@")
    return Source(document, version) if at else Source(version, "")


def _source_object(one: Any) -> Source:
    match one:
        case {"document": str(document), "version": str(version)}:
            return Source(document, version)
        case {"document": str(document)} | str(document):
            return Source(document, "")
        case _:
            raise InvalidEntry(
                "sources", f"expected objects with document and version, found {json.dumps(one)[:60]}"
            )


def _day(values: Mapping[str, Any], name: str) -> date | None:
    text = _text(values, name)
    if not text:
        return None
    try:
        return date.fromisoformat(text.replace("/", "-"))
    except ValueError as wrong:
        raise InvalidEntry(name, f"expected a day such as 2026-04-01, found “{text[:40]}”") from wrong


def _refusal(line: int, error: CacheError) -> Refusal:
    if isinstance(error, DuplicatePhrasing):
        return Refusal(line, error.field, f"{error.expected}; a row with that id replaces it", "duplicate")
    if isinstance(error, AnswerWithdrawn):
        return Refusal(line, error.field, f"{error.expected}; a row with that id brings it back", "withdrawn")
    if isinstance(error, InvalidEntry):
        return Refusal(line, error.field, error.expected)
    return Refusal(line, "row", str(error))


def _as_cells(entry: Entry) -> dict[str, str]:
    sources = "\n".join(f"{source.document}@{source.version}" for source in entry.sources)
    further = {f"phrasing_{n}": text for n, text in enumerate(entry.phrasings[1:], start=2)}
    return {**_common(entry), **further, "sources": sources}


def _as_json(entry: Entry) -> dict[str, Any]:
    sources = [{"document": source.document, "version": source.version} for source in entry.sources]
    return {**_common(entry), "phrasings": list(entry.phrasings[1:]), "sources": sources}


def _common(entry: Entry) -> dict[str, str]:
    texts = {name: getattr(entry, name) for name in _TEXTS}
    days = {name: getattr(entry, name) for name in _DAYS}
    return texts | {name: day.isoformat() if day else "" for name, day in days.items()}
