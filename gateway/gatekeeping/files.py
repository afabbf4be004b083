"""Files of questions as operators write them: text, a table with a heading, or JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cache.errors import UnreadableTable
from cache.transfer.tables import RowProblem, read_table
from gateway.errors import ConfigurationError

__all__ = ["rows_of"]


def rows_of(file: Path, *, required: Sequence[str] = ()) -> Iterator[tuple[int, Any]]:
    """The rows of a .txt (a line each, as `text`), .csv (without empty cells) or .jsonl, each with its line.

    Args:
        required: columns that a CSV must have; its rows without them are left out.

    Raises:
        ConfigurationError: naming the file, and the line if it is of one.
    """
    match file.suffix.lower():
        case ".txt":
            lines = enumerate(_text(file).splitlines(), start=1)
            yield from ((number, {"text": line}) for number, line in lines if line.strip())
        case ".csv":
            yield from _csv(file, required)
        case ".jsonl":
            for number, line in enumerate(_text(file).split("\n"), start=1):
                if line.strip():
                    yield number, _json(line, f"{file}, line {number}")
        case other:
            raise ConfigurationError(
                f"{file}: expected .txt, .csv or .jsonl, not {other or 'a name without ending'}"
            )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as exc:
        raise ConfigurationError(f"{file} can't be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigurationError(f"{file} can't be read: expected UTF-8 text ({exc})") from exc


def _csv(file: Path, required: Sequence[str]) -> Iterator[tuple[int, Any]]:
    try:
        for row in read_table(file, required=required):
            if isinstance(row, RowProblem):
                raise ConfigurationError(f"{file}, line {row.line}: {row.expected}")
            if all(row.values.get(name, "").strip() for name in required):
                yield row.line, {key: value for key, value in row.values.items() if value}
    except OSError as exc:
        raise ConfigurationError(f"{file} can't be read: {exc.strerror}") from exc
    except UnreadableTable as exc:
        raise ConfigurationError(str(exc)) from exc


def _json(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as exc:
        raise ConfigurationError(f"{where}: not JSON: {exc.msg}") from exc
    except (ValueError, RecursionError) as exc:  # an integer of thousands of digits, nesting without end
        raise ConfigurationError(f"{where}: not JSON: {exc}") from exc
