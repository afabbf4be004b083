"""Rows of tables as sentences: each cell behind the name of its column."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["cells", "named"]

_BAR = re.compile(r"(?<!\\)\|")


def cells(row: str) -> list[str]:
    """The cells of a row in Markdown: `| Plus | £6 |`."""
    return [cell.strip() for cell in _BAR.split(row.strip().strip("|"))]


def named(row: Sequence[str], columns: Sequence[str]) -> str:
    """What a row says: "Account: Plus; Monthly fee: £6"."""
    told = (f"{name}: {cell}" if name else cell for name, cell in zip(columns, row, strict=False) if cell)
    return "; ".join(told)
