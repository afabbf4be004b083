"""What the commands of `sekisho evaluate` share: options, stores of their own, progress, and how to tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from evaluation.pages import check_drawing
from gateway.commands import console, errors
from gateway.configuration.loading import find_settings
from gateway.settings import Settings

__all__ = [
    "BASELINE",
    "Config",
    "Json",
    "Report",
    "bar",
    "console",
    "errors",
    "latency",
    "scratch",
    "tell",
]

BASELINE = "dim"  # the style of what is trivial, in a table

Config = Annotated[
    Path | None, typer.Option("--config", "-c", help="The configuration to measure.", envvar="SEKISHO_CONFIG")
]
Json = Annotated[Path | None, typer.Option("--json", help="Write the figures there.")]


def _drawable(file: Path | None) -> Path | None:
    if file:
        check_drawing()
    return file


Report = Annotated[
    Path | None,
    typer.Option(
        help="Write tables and curves there, as one HTML file (extra “report”).",
        dir_okay=False,
        callback=_drawable,
    ),
]


@contextmanager
def scratch(config: Path | None) -> Iterator[Settings]:
    """The configuration over stores of its own: measuring never touches, nor reads, what is served."""
    settings = find_settings(config)
    with TemporaryDirectory(prefix="sekisho-") as folder:
        yield settings.stored_in(Path(folder))


@contextmanager
def bar(total: int, what: str = "judging") -> Iterator[Callable[[], None]]:
    """A bar that moves with each case."""
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)


def tell(found: list[Table], figures: dict[str, Any], file: Path | None) -> None:
    """Tables to people, figures to the file."""
    for table in found:
        console.print(table)
    if file:
        file.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def latency(found: dict[str, Any], *, at_once: int = 1) -> str:
    """Times of a case, as a caption."""
    how = "one after the other" if at_once == 1 else f"up to {at_once} at a time"
    return "p50 {p50} ms, p95 {p95} ms a case, {how}".format(how=how, **found["latency_ms"])
