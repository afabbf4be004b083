"""Files that somebody evaluates on, a row at a time: JSON Lines, CSV and XLSX, the keys being the columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cache.transfer.tables import RowProblem, read_table
from encoders.problems import first_problem
from gateway.errors import InvalidRequest
from languages.identification import Language

__all__ = ["DEFAULT", "listed", "problem_of", "rows"]

DEFAULT: Language = "ja"  # where the script of a text does not tell: as a gateway without a configuration


def rows(file: Path, **how: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a file, each with its line.

    Args:
        how: as `read_table` takes it.

    Raises:
        UnreadableTable, InvalidRequest: naming file, line and field of the first row that can't be read.
    """
    try:
        for row in read_table(file, **{"required": (), **how}):
            if isinstance(row, RowProblem):
                raise InvalidRequest(f"{file}, line {row.line}: {row.field}: {row.expected}")
            yield row.line, row.values
    except OSError as exc:
        raise InvalidRequest(f"{file} can't be read: {exc.strerror}") from exc


def problem_of(error: ValidationError) -> str:
    """What of a row can't be used, as one sentence."""
    no_text = "expected UTF-8 text: save a sheet as “CSV UTF-8”"  # bytes of a CSV in another encoding
    return first_problem(error, whole="the row", says={"string_unicode": no_text})


def listed(value: Any) -> Any:
    """A list written as JSON in a cell, or a single text; of an empty cell, none."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return []
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except json.JSONDecodeError as exc:
            if value.lstrip()[1:].lstrip()[:1] in ('"', "{"):  # else a text such as “[1] The fee is …”
                raise ValueError(f"expected a list as JSON: {exc.msg} at character {exc.pos}") from exc
    return [value]
