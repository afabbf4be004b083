"""`import`, `export`, `reindex`, `calibrate` and `key`: work on the stores."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, cast

import typer
from rich.progress import Progress
from rich.table import Table

from cache.calibration import Cut
from cache.store import EntryStore
from cache.transfer import ImportReport, export_entries, import_entries
from cache.trial.collisions import Collision
from gateway.commands import ConfigOption, console, errors, on_all_cores, run, tell_rows, tenant_option
from gateway.configuration.loading import find_settings
from gateway.errors import InvalidRequest
from gateway.exports import Exported, Period, write_export
from gateway.people.access import Keys, Role
from gateway.people.tenants import known_tenants
from gateway.rendering import Json
from gateway.review.cases import as_answer_case, as_gate_case, entry_cases, reviewed_cases, traffic_cases
from gateway.settings import Settings
from gateway.stores import open_database, open_stores
from languages.identification import Language
from storage.replacing import replacing
from storage.sql import Database
from storage.vectors import IndexInUse, IndexUnavailable

__all__ = ["add_to", "calibrate_app"]

WORST = 5  # competing pairs that are shown

What = Literal[
    "entries", "cases", "gate-cases", "answer-cases", "entry-cases", "traffic-cases",
    "tickets", "audits", "feedback", "gate-examples", "outcomes",
]  # fmt: skip
Source = Callable[[Database, str], AsyncIterator[dict[str, Json]]]
Form = Callable[[dict[str, Json]], dict[str, Json] | None]
_CASES: dict[str, tuple[Source, Form]] = {
    "cases": (reviewed_cases, lambda case: case),
    "gate-cases": (reviewed_cases, as_gate_case),
    "answer-cases": (reviewed_cases, as_answer_case),
    "entry-cases": (entry_cases, lambda case: case),
    "traffic-cases": (traffic_cases, lambda case: case),
}
Tenant = Annotated[str, tenant_option("Whose entries.")]
Day = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="A day; counted itself, in UTC.")]
OfRows = Annotated[Language | None, typer.Option(help="The language of rows that state none.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("import")(import_command)
    app.command("export")(export_command)
    app.command("reindex")(reindex_command)
    app.command("key")(key_command)


def calibrate_app() -> typer.Typer:
    """`sekisho calibrate`: the cache by itself, and what is added to it."""
    calibrate = typer.Typer(help="Find the cuts that keep the stated promises.", invoke_without_command=True)
    calibrate.callback()(calibrate_command)
    calibrate.command("cache")(calibrate_cache_command)
    return calibrate


def import_command(
    file: Path,
    config: ConfigOption = None,
    tenant: Tenant = "default",
    language: OfRows = None,
    collisions: Annotated[bool, typer.Option(help="Look for entries that compete.")] = True,
) -> None:
    """Import verified entries from CSV, JSONL or XLSX; refused rows are listed by line.

    Ends with 1 if the file needs mending: not for answers that people have withdrawn since.
    """
    settings = find_settings(config)

    async def work() -> tuple[ImportReport, Sequence[Collision]]:
        async with open_database(settings) as database:
            if tenant not in (known := await known_tenants(database, settings)):
                console.print(f"{tenant} is a new tenant, beside {', '.join(sorted(known))}.")
            with _counting("importing") as progress:
                report = await import_entries(
                    EntryStore(database, timezone=settings.cache.timezone),
                    tenant,
                    file,
                    by="sekisho import",
                    language=language,
                    progress=progress,
                )
        changed = bool(report.created or report.edited)
        return report, await _indexed(settings, tenant, changed=changed, collisions=collisions)

    report, competing = run(work())
    kept = f"{report.created} created, {report.edited} edited, {report.unchanged} unchanged"
    console.print(f"{kept}, {len(report.refused)} refused")
    if competing:
        console.print(_collisions(competing))
    tell_rows("to look at", "what to know", ((one.line, one.field, one.says) for one in report.remarks))
    tell_rows("refused rows", "expected", ((one.line, one.field, one.expected) for one in report.refused))
    if language is None and any(one.field == "language" for one in report.refused):
        console.print("For a file without languages, say which it is: --language en, ja or zh")
    if any(one.why != "withdrawn" for one in report.refused):
        raise typer.Exit(1)


async def _indexed(
    settings: Settings, tenant: str, *, changed: bool, collisions: bool
) -> Sequence[Collision]:
    """Index what was imported, and look for the tenant's entries that compete."""
    try:
        async with open_stores(on_all_cores(settings)) as stores:
            with _counting("indexing") as progress:
                await stores.index_pending(progress=progress)
            if not (collisions and changed):
                return ()
            with console.status("looking for entries that compete"):
                return await stores.collisions(tenant)
    except IndexInUse:  # as ever beside a gateway, which finds them
        if changed:
            console.print("A running gateway indexes them in seconds.")
        return ()
    except IndexUnavailable as exc:  # SQL has them; whoever holds the index will find them
        console.print(f"not indexed yet: {exc}\nA running gateway indexes them in seconds.", style="yellow")
        return ()


def export_command(
    file: Path,
    config: ConfigOption = None,
    tenant: Tenant = "default",
    what: Annotated[What, typer.Option(help="Cases are JSONL, of reviewed tickets by default.")] = "entries",
    since: Day = None,
    until: Day = None,
) -> None:
    """Export to CSV, JSONL or XLSX, by the file's ending: verified entries, or whatever is asked for."""
    settings, period = find_settings(config), _period(what, since, until)

    async def work() -> int:
        async with open_database(settings) as database:
            with _counting("exporting") as progress:
                if what == "entries":
                    return await export_entries(EntryStore(database), tenant, file, progress=progress)
                if what in _CASES:
                    return await _export_cases(database, tenant, file, *_CASES[what], progress)
                rows = cast("Exported", what)
                return await write_export(database, rows, tenant, file, period, progress=progress)

    written = run(work())
    console.print(f"{written} {'row' if written == 1 else 'rows'} of {what} written to {file}")


def _period(what: What, since: datetime | None, until: datetime | None) -> Period:
    if (since or until) and (what == "entries" or what in _CASES):
        raise typer.BadParameter(f"--since and --until: {what} are exported whole")
    return Period(since.date() if since else None, until.date() if until else None)


async def _export_cases(
    database: Database, tenant: str, file: Path, source: Source, form: Form, progress: Callable[[int], object]
) -> int:
    if file.suffix != ".jsonl":
        raise InvalidRequest(f"{file}: cases are written as .jsonl")
    written = 0
    with replacing(file) as partial, partial.open("w", encoding="utf-8") as out:
        async for case in source(database, tenant):
            row = form(case)
            if row is not None:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                written += 1
                progress(1)
    return written


def reindex_command(config: ConfigOption = None) -> None:
    """Rebuild the index of entries and documents from SQL, with the configured encoder."""
    settings = find_settings(config)

    async def work() -> None:
        async with open_stores(on_all_cores(settings), rebuild=True) as stores:
            with _counting("indexing") as progress:
                await stores.reindex(progress=progress)

    run(work())
    console.print("The index was rebuilt from SQL.")


def calibrate_command(context: typer.Context, config: ConfigOption = None) -> None:
    """Find the cuts that keep the stated promises; without a command those of the cache."""
    if context.invoked_subcommand is None:
        calibrate_cache_command(config)


def calibrate_cache_command(config: ConfigOption = None) -> None:
    """Find from which score each shelf of entries is served, so that cache.target_error is kept."""
    settings = find_settings(config)

    async def work() -> list[tuple[str, str, Cut]]:
        found = []
        with _counting("calibrating") as progress:
            async with open_stores(settings, apart=True) as stores:  # probes search no index
                for shelf in await stores.entries.shelves():
                    found.append((*shelf, await stores.shelf.calibrate(*shelf)))
                    progress(1)
        return found

    found = run(work())
    if not found:
        console.print("There are no active entries to calibrate for.")
        return
    console.print(_cuts(found, settings.cache.target_error))
    unkept = sum(cut.bound is None for _, _, cut in found)
    if unkept:
        console.print(f"Nothing is promised for {unkept} of {len(found)} shelves.", style="yellow")
        raise typer.Exit(1)


def key_command(
    role: Annotated[Role, typer.Option(help="client asks, reviewer answers, admin does both and more.")],
    config: ConfigOption = None,
    tenant: Tenant = "default",
    label: Annotated[str, typer.Option(help="Whose key it is; shown in histories.")] = "",
    group: Annotated[str, typer.Option(help="Whose entries it reads besides everybody's.")] = "",
) -> None:
    """Make an API key. It is shown once; only its hash is kept."""
    settings = find_settings(config)

    async def work() -> str:
        async with open_database(settings) as database:
            return await Keys.of(settings.auth, database).create(tenant, role, label, group=group)

    console.print(run(work()), soft_wrap=True)


def _cuts(found: Sequence[tuple[str, str, Cut]], target_error: float) -> Table:
    table = Table(
        "tenant", "language", "served from", "bound", "probes served", "why",
        title=f"at most {target_error:.1%} wrong answers per request",
    )  # fmt: skip
    for tenant, language, cut in found:
        bound = "–" if cut.bound is None else f"{cut.bound:.2%}"
        table.add_row(tenant, language, f"{cut.score:.3f}", bound, f"{cut.served:.0%}", cut.why)
    return table


def _collisions(found: Sequence[Collision]) -> Table:
    """The worst pairs of entries that would answer in each other's words."""
    counts = Counter(one.would for one in found)
    title = (
        f"{counts['answer']} pairs of entries compete; "
        f"{counts['be_held_back']} are told apart by a guard, {counts['be_near']} are near"
    )
    table = Table("a question to", "in these words", "would reach", "score", "because", title=title)
    for one in found[:WORST]:
        table.add_row(one.entry.question, one.phrasing, one.other.question, f"{one.score:.3f}", one.says)
    return table


@contextmanager
def _counting(what: str) -> Iterator[Callable[[int], object]]:
    """A bar for work whose end is not known."""
    with Progress(console=errors, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda rows: bar.advance(task, rows)
