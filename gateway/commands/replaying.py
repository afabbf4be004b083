"""`replay`: past questions through another policy."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import Progress
from rich.table import Table

from gateway.commands import ConfigOption, console, errors, run
from gateway.configuration.loading import find_settings, load_settings
from gateway.errors import InvalidRequest
from gateway.gatekeeping.elsewhere import gate_elsewhere
from gateway.gatekeeping.replay import Past, Record, Replay, past_questions, questions_of_file, replay
from gateway.recording.logs import configure_logging
from gateway.settings import Settings
from gateway.stores import open_database

__all__ = ["add_to"]


File = Annotated[
    Path | None, typer.Argument(help='Questions: .txt, or .csv or .jsonl with "text" or "question".')
]
Other = Annotated[
    Path | None,
    typer.Option("--with", help="The configuration to try; without it, --config against the record."),
]
Which = Annotated[
    Literal["outcomes", "tickets"],
    typer.Option("--record", help="Without a file: outcomes (where texts are kept) or tickets."),
]
Since = Annotated[datetime | None, typer.Option(help="Only questions of the record from then on (UTC).")]
Limit = Annotated[int, typer.Option(help="At most so many, the newest.", min=1)]
Tenant = Annotated[str, typer.Option(help="Whose questions, examples and entries.")]
Shown = Annotated[int, typer.Option("--examples", help="Examples to show of each change.", min=0)]
AsJson = Annotated[Path | None, typer.Option("--json", help="Write everything there.")]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("replay")(replay_command)


def replay_command(
    file: File = None,
    config: ConfigOption = None,
    other: Other = None,
    record: Which = "outcomes",
    since: Since = None,
    limit: Limit = 10_000,
    tenant: Tenant = "default",
    shown: Shown = 5,
    json_file: AsJson = None,
) -> None:
    """What another policy would have decided, with examples. Nothing is stored, no model is asked."""
    if file and not other:
        raise InvalidRequest(
            "a file doesn't say what was decided: give the configuration to compare with (--with)"
        )
    settings = find_settings(config)
    configure_logging(settings.logging.model_copy(update={"level": "error"}))
    found = run(
        _replayed(settings, load_settings(other) if other else None, file, record, _utc(since), limit, tenant)
    )
    for table in _tables(found, shown):
        console.print(table)
    if json_file:
        json_file.write_text(json.dumps(found.as_json(), indent=2, ensure_ascii=False) + "\n", "utf-8")


async def _replayed(
    settings: Settings, other: Settings | None, file: Path | None,
    record: Record, since: datetime | None, limit: int, tenant: str,
) -> Replay:  # fmt: skip
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        questions: list[Past] = (
            questions_of_file(file)
            if file
            else await past_questions(database, record, tenant=tenant, since=since, limit=limit)
        )
        if not questions:
            raise InvalidRequest(
                f"the record of {record} holds no question as text (outcomes keep texts with logging.texts)"
            )
        with console.status("fitting"):
            gate = await stack.enter_async_context(gate_elsewhere(other or settings, database, tenant))
            was = (
                await stack.enter_async_context(gate_elsewhere(settings, database, tenant)) if other else None
            )
        with Progress(console=errors, transient=True) as bar:
            task = bar.add_task("judging", total=len(questions))
            return await replay(questions, gate, was=was, tenant=tenant, progress=lambda: bar.advance(task))


def _tables(found: Replay, shown: int) -> list[Table]:
    title = f"{found.n} questions, {len(found.judged)} different; intervals are Wilson's, 95 %"
    classes = Table("class", "was", "becomes", title=title)
    was, becomes = found.rates("was"), found.rates("becomes")
    for label, rate in was.items():
        classes.add_row(label, str(rate), str(becomes[label]))
    changes = Table("was", "becomes", "questions", "share of all", "examples", title="what changes")
    for change in found.changes():
        examples = [
            f"{past.text[:70]} ({before.rule or '?'} → {after.rule})"
            for past, before, after in change.examples[:shown]
        ]
        changes.add_row(
            change.was, change.becomes, str(change.rate.count), str(change.rate), "\n".join(examples)
        )
    return [classes, changes]


def _utc(since: datetime | None) -> datetime | None:
    return since.replace(tzinfo=UTC) if since and since.tzinfo is None else since
