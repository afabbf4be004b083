"""What each command of `sekisho` does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["ConfigOption"]

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="The configuration file.", envvar="SEKISHO_CONFIG", show_default="sekisho.yaml, if there"),
]
