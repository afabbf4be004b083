"""`sekisho evaluate followups`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop

from evaluation.cases import FollowUp, read_cases
from evaluation.command_line import Config, Json, bar, tell
from evaluation.followups.judging import evaluate_followups
from evaluation.followups.tables import followups_table
from gateway.configuration.loading import find_settings

__all__ = ["followups_command"]


def followups_command(
    cases: Annotated[
        Path,
        typer.Option(help="Conversations, JSONL, CSV or XLSX: messages (role, content), standalone, lang."),
    ],
    config: Config = None,
    json_file: Json = None,
) -> None:
    """Follow-ups: what is looked up though it leans on earlier turns, or held back though it does not."""
    settings = find_settings(config)
    rows = read_cases(cases, FollowUp, settings.understanding.default_language)

    async def measure(progress: Callable[[], None]) -> Any:
        return await evaluate_followups(rows, settings.understanding, progress=progress)

    with bar(len(rows)) as progress:
        found = uvloop.run(measure(progress))
    tell(followups_table(found), found.as_json(), json_file)
