"""Entries to and from files that people edit: CSV, JSON Lines, XLSX.

Columns (keys in JSON Lines): `id`, `kind`, `group`, `language`, `question`, `answer`, `state`, `owner`,
`sources`, `valid_from`, `valid_until`, `review_by`, `revision`, and the further phrasings: `phrasing_2`,
`phrasing_3` … or `phrasings`, one a line, in CSV and XLSX, the list `phrasings` in JSON Lines. `sources`
is one `document@version` a line (`@`, line breaks and `%` in a version as `%40`, `%0A`, `%25`), in JSON
Lines a list of objects with `document` and `version`. Only `question`, `answer` and `language` have to be
there; a row with the id of an entry of this tenant replaces it, and without a column `group` it stays in
its group. With the `revision` that was exported it does so only if nobody changed the entry since; without
one it is remarked on if it brings back what people took out of service. A row without an id that says just
what an active entry says changes nothing; one that gives the answer of a paused, stale or retired entry is
refused, for people took that answer out of service: the entry's id brings it back. The columns may be
headed in Japanese or Chinese (`columns`); those that nobody knows are remarked on. What an export writes,
an import reads back as the same entries, but for numbers before questions (`numbering`). `tables` knows
the three forms of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

from anyio import to_thread

from cache.entries import Entry
from cache.errors import AnswerWithdrawn, CacheError, DuplicatePhrasing, InvalidEntry, OutdatedRow
from cache.store import EntryStore, Incoming, Put
from cache.store.content import Content, content_of
from cache.store.queries import NO_FILTERS, Filters
from cache.transfer.columns import (
    DAYS,
    HEADINGS,
    KNOWN,
    REQUIRED,
    SHARED,
    TEXTS,
    incoming,
    is_read,
    source_line,
    unknown,
)
from cache.transfer.numbering import split_number
from cache.transfer.tables import Row, RowProblem, format_of, read_table, write_table
from languages.identification import language_of
from storage.replacing import replacing

__all__ = [
    "ImportReport",
    "Refusal",
    "Remark",
    "copy_entries",
    "export_entries",
    "import_entries",
    "read_faq",
]

_TO_REPLACE = "to change it, edit its row of an export, where its id stands, and import that"
_FORMULA = ("=", "＝")
BATCH = 500  # rows a transaction; what a kill can lose of an import
LARGEST_BATCH = 250_000  # characters, 40 ms to read: askers and other writers wait for no longer


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that was not imported, and what was expected of it."""

    line: int
    field: str
    expected: str
    why: str = ""  # duplicate | contradicted | withdrawn | changed | format; else the field can't be used


@dataclass(frozen=True, slots=True)
class Remark:
    """What a person should know of rows that were imported."""

    line: int  # the first of them
    field: str  # columns | numbering | language | valid_until | answer | state
    says: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of the rows of a file."""

    created: int = 0
    edited: int = 0
    unchanged: int = 0
    refused: tuple[Refusal, ...] = ()
    remarks: tuple[Remark, ...] = ()


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

    `language` stands for an empty language.
    `progress` is told the number of rows after each batch. Without `keep` nothing is changed: the
    report says what would become of the rows, batch by batch.

    Raises:
        UnreadableTable: if the file as a whole can't be read; rows before the fault are kept.
    """
    reading = _Reading(language, store.today)
    rows = await to_thread.run_sync(
        lambda: read_table(path, required=REQUIRED, headings=HEADINGS, shared=SHARED, days=DAYS, read=is_read)
    )
    while batch := await to_thread.run_sync(lambda: _some(rows)):
        usable = reading.usable(batch)
        results = await store.put(tenant, [one for _, one in usable], by=by, keep=keep)
        for (line, one), result in zip(usable, results, strict=True):
            reading.became(line, one, result)
        if progress is not None:
            progress(len(batch))
    return reading.report()


def _some(rows: Iterator[Row | RowProblem]) -> list[Row | RowProblem]:
    """The next rows, as many as make a batch."""
    batch: list[Row | RowProblem] = []
    characters = 0
    for row in islice(rows, BATCH):
        batch.append(row)
        characters += len(str(row.values)) if isinstance(row, Row) else 0
        if characters >= LARGEST_BATCH:
            break
    return batch


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
    columns = [*TEXTS, *(f"phrasing_{n}" for n in range(2, most + 1)), "sources", *DAYS, "revision"]
    as_row = _as_json if form == "jsonl" else _as_cells
    with replacing(path) as partial:
        return await to_thread.run_sync(lambda: write_table(partial, columns, map(as_row, entries)))


async def copy_entries(source: EntryStore, target: EntryStore, tenant: str, *, by: str) -> int:
    """Put the tenant's entries into another store, as an import of their export would; returns how many."""
    copied = 0
    async for page in source.walk(tenant):
        same = [Incoming(content=content_of(entry), state=entry.state, id=entry.id) for entry in page.entries]
        copied += len(await target.put(tenant, same, by=by))
    return copied


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


class _Reading:
    """A file while its rows come in, and what became of them so far."""

    def __init__(self, language: str | None, today: date) -> None:
        self._language = language
        self._today = today
        self._counts = {"created": 0, "edited": 0, "unchanged": 0}
        self._refused: list[Refusal] = []
        self._ids: dict[str, int] = {}  # the line of each id
        self._lines: dict[str, tuple[int, int]] = {}  # of each entry that came of one: it, its answer's hash
        self._written: list[Remark] = []
        self._unknown: dict[str, int] = {}  # the first line of each column that is not read
        self._numbered: dict[int, str] = {}  # what stood before the question, by line

    def usable(self, batch: Sequence[Row | RowProblem]) -> list[tuple[int, Incoming]]:
        """The lines that hold an entry; the others are refused."""
        found = []
        for row in batch:
            if isinstance(row, RowProblem):
                self._refused.append(Refusal(row.line, row.field, row.expected, row.why))
                continue
            try:
                found.append((row.line, self._incoming(row)))
            except InvalidEntry as wrong:
                self._refused.append(_refusal(row.line, wrong))
        return found

    def became(self, line: int, one: Incoming, result: Put | CacheError) -> None:
        """Note what became of a line."""
        if isinstance(result, Put):
            self._counts[result.change] += 1
            self._lines.setdefault(result.entry.id, (line, hash(result.entry.answer)))
            self._read_script(line, result.entry)
            self._read_days(line, result.entry)
            if result.change != "unchanged":
                self._read_formula(line, result.entry)
            if one.revision is None:
                self._read_return(line, result)
        elif isinstance(result, DuplicatePhrasing) and result.other in self._lines:
            before, answer = self._lines[result.other]
            expected, why = f"“{result.phrasing}” stands in line {before} already", "duplicate"
            if hash(one.content.answer) != answer:  # and nobody knows yet which one is right
                expected, why = f"{expected}, with another answer, which was taken", "contradicted"
            self._refused.append(Refusal(line, result.field, expected, why))
        else:
            self._refused.append(_refusal(line, result))

    def report(self) -> ImportReport:
        """What became of all lines, by line."""
        return ImportReport(
            **self._counts,
            refused=tuple(sorted(self._refused, key=lambda one: one.line)),
            remarks=(*self._columns(), *self._numbers(), *self._written),
        )

    def _read_script(self, line: int, entry: Entry) -> None:
        """Remark on an entry that nobody who asks its question in these words is served."""
        found = language_of(entry.question, hint=entry.language, default="ja")
        if found != entry.language:
            says = (
                f"the question reads as {found}, and only who asks in {entry.language} is served its answer"
            )
            self._written.append(Remark(line, "language", says, found))

    def _read_days(self, line: int, entry: Entry) -> None:
        """Remark on an entry that nobody is served any more."""
        if entry.valid_until and entry.valid_until < self._today:
            says = f"its last day was {entry.valid_until}, so nobody is served its answer"
            self._written.append(Remark(line, "valid_until", says, str(entry.valid_until)))

    def _read_formula(self, line: int, entry: Entry) -> None:
        """Remark on an answer that is a formula, whose outcome CSV does not hold."""
        if entry.answer.startswith(_FORMULA):
            says = f"it begins with “{entry.answer[0]}”: the formula itself is served, not what it gives"
            self._written.append(Remark(line, "answer", says, entry.answer[0]))

    def _read_return(self, line: int, put: Put) -> None:
        """Remark on an answer that people took out of service, and that comes back unseen."""
        if put.was in ("paused", "stale", "retired") and put.entry.state == "active":
            says = f"the entry {put.entry.id} was {put.was}: with this row its answer is served again"
            self._written.append(Remark(line, "state", says, put.was))

    def _columns(self) -> Iterator[Remark]:
        if self._unknown:
            names = ", ".join(f"“{name[:50]}”" for name in self._unknown)
            known = ", ".join((*KNOWN, "phrasing_2 …"))
            says = f"not read: {names}; known are {known}"
            yield Remark(min(self._unknown.values()), "columns", says, names)

    def _numbers(self) -> Iterator[Remark]:
        refused = {one.line for one in self._refused}
        if numbered := {line: mark for line, mark in self._numbered.items() if line not in refused}:
            marks = ", ".join(f"“{mark}”" for mark in islice(dict.fromkeys(numbered.values()), 3))
            rows = f"{len(numbered)} row{'s' * (len(numbered) > 1)}"
            says = f"taken off before the question in {rows}, as nobody types it who asks: {marks}"
            yield Remark(min(numbered), "numbering", says, marks)

    def _unnumbered(self, line: int, content: Content) -> Content:
        """The content without the numbers that a sheet has before its questions."""
        split = [split_number(phrasing) for phrasing in content.phrasings]
        if mark := next((mark for mark, _ in split if mark), ""):
            self._numbered[line] = mark
        return replace(content, phrasings=tuple(phrasing for _, phrasing in split))

    def _incoming(self, row: Row) -> Incoming:
        for name in unknown(row.values):
            self._unknown.setdefault(name, row.line)
        parsed = incoming(row.values, self._language)
        parsed = replace(parsed, content=self._unnumbered(row.line, parsed.content))
        if parsed.id is not None and self._ids.setdefault(parsed.id, row.line) != row.line:
            expected = f"expected another than in line {self._ids[parsed.id]}, found “{parsed.id}” again"
            raise InvalidEntry("id", expected)
        return parsed


def _refusal(line: int, error: CacheError) -> Refusal:
    if isinstance(error, DuplicatePhrasing):
        return Refusal(line, error.field, f"{error.expected}; {_TO_REPLACE}", "duplicate")
    if isinstance(error, AnswerWithdrawn):
        return Refusal(line, error.field, f"{error.expected}; a row with that id brings it back", "withdrawn")
    if isinstance(error, OutdatedRow):
        return Refusal(line, error.field, f"{error.expected}; export it again, and edit that", "changed")
    if isinstance(error, InvalidEntry):
        return Refusal(line, error.field, error.expected)
    return Refusal(line, "row", str(error))


def _as_cells(entry: Entry) -> dict[str, str]:
    sources = "\n".join(map(source_line, entry.sources))
    further = {f"phrasing_{n}": text for n, text in enumerate(entry.phrasings[1:], start=2)}
    return {**_common(entry), **further, "sources": sources, "revision": str(entry.revision)}


def _as_json(entry: Entry) -> dict[str, Any]:
    sources = [{"document": source.document, "version": source.version} for source in entry.sources]
    further = list(entry.phrasings[1:])
    return {**_common(entry), "phrasings": further, "sources": sources, "revision": entry.revision}


def _common(entry: Entry) -> dict[str, str]:
    texts = {name: getattr(entry, name) for name in TEXTS}
    days = {name: getattr(entry, name) for name in DAYS}
    return texts | {name: day.isoformat() if day else "" for name, day in days.items()}
