"""What the scripts that fit weights share: reading rows, and printing or writing what was fitted."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["fit_command", "given", "rows", "save_arrays"]


def rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file; a text in it may hold what else ends a line."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def given(description: str | None) -> argparse.Namespace:
    """The folder of development data (`data`), and whether to write what is fitted (`write`)."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def save_arrays(target: Path, arrays: dict[str, Any]) -> None:
    """Write fitted arrays, and say how large the file is."""
    np.savez_compressed(target, **arrays)
    print(f"{target.name}: {target.stat().st_size / 1e6:.2f} MB")


def fit_command(description: str | None, fitted: Callable[[Path], Awaitable[str]], target: Path) -> None:
    """Fit on the folder of development data, print the text of the weights, and write it if asked to."""
    arguments = given(description)

    async def text() -> str:
        return await fitted(arguments.data)

    made = asyncio.run(text())
    print("\n" + made)
    if arguments.write:
        target.write_text(made, encoding="utf-8")
