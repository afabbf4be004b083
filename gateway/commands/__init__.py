"""What each command of `sekisho` does."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
import uvloop

__all__ = ["ConfigOption", "run"]

T = TypeVar("T")

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        envvar="SEKISHO_CONFIG",
        help="The configuration file (sekisho.yaml, where it lies here).",
    ),
]


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work to its end; Ctrl-C is a way to end, not an error."""
    try:
        return uvloop.run(work)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
