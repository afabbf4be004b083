"""Files of questions as operators write them: text, or a table with a heading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cache.errors import UnreadableTable
from cache.transfer.tables import RowProblem, format_of, read_table
from gateway.errors import ConfigurationError

__all__ = ["rows_of"]


def rows_of(file: Path, *, required: Sequence[str] = ()) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a .txt (a line each, as `text`), .csv (without empty cells) or .jsonl, each with its line.

    Args:
        required: columns that a CSV must have; its rows without them are left out.

    Raises:
        ConfigurationError: naming the file, and the line if it is of one.
    """
    try:
        match file.suffix.lower():
            case ".txt":
                lines = enumerate(file.read_text(encoding="utf-8-sig").splitlines(), start=1)
                yield from ((number, {"text": line}) for number, line in lines if line.strip())
            case ".jsonl" if file.stat().st_size == 0:  # a list without items, as an empty .txt
                return
            case ".csv" | ".jsonl":
                yield from _of_table(file, required)
            case other:
                raise ConfigurationError(
                    f"{file}: expected .txt, .csv or .jsonl, not {other or 'a name without ending'}"
                )
    except OSError as exc:
        raise ConfigurationError(f"{file} can't be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigurationError(f"{file} can't be read: expected UTF-8 text ({exc})") from exc
    except UnreadableTable as exc:
        raise ConfigurationError(str(exc)) from exc


def _of_table(file: Path, required: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for row in read_table(file, required=required):
        if isinstance(row, RowProblem):
            raise ConfigurationError(f"{file}, line {row.line}: {row.expected}")
        if format_of(file) == "jsonl":
            yield row.line, row.values
        elif all(row.values.get(name, "").strip() for name in required):
            yield row.line, {key: value for key, value in row.values.items() if value}
