"""What the scripts that fit weights share: reading rows, and printing or writing what was fitted."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

__all__ = ["fit_command", "rows"]


def rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file; a text in it may hold what else ends a line."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def fit_command(description: str | None, fitted: Callable[[Path], Awaitable[str]], target: Path) -> None:
    """Fit on the folder of development data, print the text of the weights, and write it if asked to."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()

    async def text() -> str:
        return await fitted(arguments.data)

    made = asyncio.run(text())
    print("\n" + made)
    if arguments.write:
        target.write_text(made, encoding="utf-8")
