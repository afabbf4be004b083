"""What each command of `sekisho` does."""

from __future__ import annotations

import os
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
import uvloop
from rich.console import Console, ConsoleRenderable, RenderHook
from rich.table import Table

from gateway.people.tenants import check_tenant
from gateway.settings import Settings

__all__ = ["ConfigOption", "console", "errors", "on_all_cores", "run", "tell_rows", "tenant_option"]

T = TypeVar("T")


class _Fold(RenderHook):
    """A cell that is too long goes on below: where nobody has a terminal to widen, what is cut is lost."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Mark the columns of all tables."""
        for table in renderables:
            for column in table.columns if isinstance(table, Table) else ():
                column.overflow = "fold"
        return renderables


# What is printed may be what somebody wrote: a question in [brackets] is not markup.
console = Console(highlight=False, markup=False)
console.push_render_hook(_Fold())
errors = Console(highlight=False, markup=False, stderr=True)

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        envvar="SEKISHO_CONFIG",
        help="The configuration file (sekisho.yaml, where it lies here).",
    ),
]


def tenant_option(help: str) -> Any:  # noqa: A002 - as Typer calls it
    """`--tenant`, checked before the command begins: nothing is written for one that nobody can reach."""
    return typer.Option(help=help, callback=check_tenant)


def tell_rows(title: str, about: str, rows: Iterable[tuple[int, str, str]]) -> None:
    """Rows of a file with their lines and fields, and what is said of each, as a table if there are any."""
    table = Table("line", "field", about, title=title)
    for line, field, says in rows:
        table.add_row(str(line), field, says)
    if table.row_count:
        console.print(table)


def on_all_cores(settings: Settings) -> Settings:
    """The settings for work that nobody's question waits behind."""
    threads = max(settings.encoder.threads, os.cpu_count() or 1)
    return settings.model_copy(update={"encoder": settings.encoder.model_copy(update={"threads": threads})})


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work to its end; Ctrl-C is a way to end, not an error."""
    try:
        return uvloop.run(work)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
