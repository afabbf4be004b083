"""The row of headings of a sheet, which may stand below its title."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

__all__ = ["AMONG", "Heads", "as_text", "by_alias"]

AMONG = 10  # first rows that the headings are looked for in


@dataclass(frozen=True, slots=True)
class Heads:
    """What headings are known by, and what stands under them."""

    required: Sequence[str]
    aliases: Mapping[str, str]  # what columns may be called besides
    shared: Collection[str] = ()  # columns in which merged cells hold their value for all of their rows
    days: Collection[str] = ()  # columns whose days are read as days, however a workbook shows them
    beside: Collection[str] = ()  # columns that may stand twice: an empty cell leaves it to the other
    read: Callable[[str], bool] = bool  # by default, all columns that have a name

    def names(self, cells: Iterable[Any]) -> list[str]:
        """What the columns under these cells are called."""
        names = [unicodedata.normalize("NFKC", as_text(cell)).strip().lower() for cell in cells]
        return [self.aliases.get(name, name) for name in names]

    def find(self, rows: Iterable[Sequence[Any]]) -> tuple[int, list[str]]:
        """Place and names of the headings; where no row has all that are required, of the row with most."""
        place, best = 0, list[str]()
        for here, cells in enumerate(islice(rows, AMONG)):
            names = self.names(cells)
            if here == 0 or self._known(names) > self._known(best):
                place, best = here, names
            if self.complete(best):
                break
        return place, best

    def complete(self, names: Sequence[str]) -> bool:
        """Whether all columns are there."""
        return self._known(names) == len(set(self.required))

    def _known(self, names: Sequence[str]) -> int:
        return len(set(self.required) & set(names))


def by_alias(aliases: Mapping[str, str]) -> dict[str, str]:
    """The name that each of its aliases stands for; those of a name are parted by spaces."""
    return {alias: name for name, row in aliases.items() for alias in row.split()}


def as_text(cell: Any) -> str:
    """The text of a cell; of an empty one, none."""
    return "" if cell is None else str(cell)
