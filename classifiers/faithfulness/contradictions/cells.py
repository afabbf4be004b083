"""Where a number stands in another row or column of a table than the statement names.

"The Fixed 1 Year account pays 4.05 %" beside rows for one year (4.20 %) and two (4.05 %). Values in one
sentence, "a chair costs 400 yen, a desk 800 yen", are a table of one column, for a statement with one value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from classifiers.faithfulness.lines import COMMA, Line
from classifiers.faithfulness.quantities.pool import Quantity
from classifiers.faithfulness.said import Said
from classifiers.faithfulness.wording import IN_HIRAGANA, lexicon

__all__ = ["misfiled"]

NAMED = 0.5  # share of what tells a row from its neighbours that a statement has to have of it
NAMED_IN_A_LIST = 0.75  # the same of a value in a sentence, by the statement's own words
FEWEST = 2  # rows, or values of a sentence
LONGEST_NAME = 40  # characters of a column's
_CELL = re.compile(rf"(?P<column>[^:：;；]{{1,{LONGEST_NAME}}})[:：]\s*(?P<value>\S.*)")
_OF_CELLS = re.compile(r"[;；]\s*")
_JOINTS = (re.compile(r"[;；]"), re.compile(rf"{COMMA}|\s(?:and|or|while|but|whereas)\s"))
_EMPTY = frozenset("的是了在有和与或及为每")


@dataclass(frozen=True, slots=True)
class _Cell:
    row: frozenset[str]  # what names it, as units
    column: frozenset[str]  # the same; empty in a list of values
    line: Line
    shown: str  # with the cell that names its row


@dataclass(frozen=True, slots=True)
class _Table:
    cells: tuple[_Cell, ...]
    lines: frozenset[int]  # their places in the contexts
    is_list: bool = False  # of values in a sentence


def misfiled(each: Said, known: Sequence[Line], theirs: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Numbers of the statement, and the cell that it names, which has another one of the kind.

    Args:
        theirs: numbers of the statement that do not stand in the contexts.
    """
    found = []
    numbers = [one for one in each.numbers if one.unit not in ("", "identifier", "address")]
    for number in dict.fromkeys(numbers):
        if number.is_label or number.text in theirs:
            continue
        places = [at for at, one in enumerate(known) if one.quantities and one.pool.find(number) == "same"]
        tables = [table for table in _tables(known, places) if table.lines.issuperset(places)]
        rivals = (rival for table in tables if (rival := _rival(each, number, table)))
        if rival := next(rivals, None):
            found.append((number.text, rival.shown))
    return tuple(found)


def _rival(each: Said, number: Quantity, table: _Table) -> _Cell | None:
    """A cell that the statement names with another number of the kind, if none that it names has this one."""
    if table.is_list and sum(one.unit == number.unit for one in each.numbers) > 1:
        return None
    own = _telling(each.line, number)
    words = own if table.is_list else own | _telling(each.asked, number)
    least = NAMED_IN_A_LIST if table.is_list else NAMED
    rows = _named({one.row for one in table.cells}, own, words, least)
    columns = _named({one.column for one in table.cells}, own, words, least)
    there = [one for one in table.cells if one.line.pool.find(number) == "same"]
    meant = [
        one for one in table.cells if (not rows or one.row in rows) and (not columns or one.column in columns)
    ]
    if not there or len(meant) == len(table.cells) or any(one in meant for one in there):
        return None
    same_kind = (one for one in meant if any(other.unit == number.unit for other in one.line.quantities))
    return next(same_kind, None)


def _named(
    names: Collection[frozenset[str]], own: frozenset[str], words: frozenset[str], least: float
) -> set[frozenset[str]]:
    """Which of some names a statement has, or else with its question; none where it has none."""
    every = {name for name in names if name}
    common = frozenset.intersection(*every) if len(every) > 1 else frozenset[str]()
    for there in (own, words):
        held = {name: (name - common) & there for name in every if name - common}
        best = {name for name, has in held.items() if len(has) >= least * len(name - common)}
        if best:
            return {one for one in best if not any(_says_more(one, other, held) for other in held)}
    return set()


def _says_more(
    one: frozenset[str], other: frozenset[str], held: dict[frozenset[str], frozenset[str]]
) -> bool:
    """Whether the other is meant: "Fixed 1 Year" where "Fixed" and "Year" are of both."""
    return held[one] < held[other] or (held[one] == held[other] and len(other) < len(one))


def _tables(known: Sequence[Line], places: Sequence[int]) -> Iterator[_Table]:
    """The tables, and lists of values, that these lines are part of."""
    seen = set[int]()
    for at in places:
        if at in seen:
            continue
        columns = _columns(known[at].text)
        if columns:
            first, last = at, at
            while first and _columns(known[first - 1].text) == columns:
                first -= 1
            while last + 1 < len(known) and _columns(known[last + 1].text) == columns:
                last += 1
            seen.update(range(first, last + 1))
            if last - first + 1 >= FEWEST or len(columns) > FEWEST:
                cells = tuple(cell for line in known[first : last + 1] for cell in _cells(line.text))
                yield _Table(cells, frozenset(range(first, last + 1)))
        for joint in _JOINTS if len(places) == 1 else ():
            if len(cells := _values(known[at].text, joint)) >= FEWEST:
                yield _Table(cells, frozenset([at]), is_list=True)


def _columns(text: str) -> tuple[str, ...]:
    """The names of the columns of a row, "Account: Plus; Monthly fee: £6"; none of what is no row."""
    if not _OF_CELLS.search(text):
        return ()
    found = [_CELL.fullmatch(part.strip()) for part in _OF_CELLS.split(text)]
    return tuple(cell["column"] for cell in found if cell) if len(found) > 1 and all(found) else ()


@lru_cache(1_024)
def _cells(text: str) -> tuple[_Cell, ...]:
    """The cells of a row; the first one names it."""
    found = [cell for part in _OF_CELLS.split(text) if (cell := _CELL.fullmatch(part.strip()))]
    row = _telling(Line(found[0]["value"]))
    return tuple(
        _Cell(row, _telling(Line(cell["column"])), Line(cell[0]), f"{found[0][0]}; {cell[0]}")
        for cell in found[1:]
    )


@lru_cache(1_024)
def _values(text: str, joint: re.Pattern[str]) -> tuple[_Cell, ...]:
    """The parts of a sentence, if each has a number of one kind, named by their other words."""
    parts = [Line(part) for part in joint.split(text) if part.strip()]
    kinds = [{one.unit for one in line.quantities} for line in parts]
    told = set.intersection(*kinds) if kinds else set()
    if not told:
        return ()
    return tuple(
        _Cell(
            _telling(line, *(one for one in line.quantities if one.unit in told)),
            frozenset(),
            line,
            line.text.strip(),
        )
        for line in parts
    )


def _telling(line: Line, *numbers: Quantity) -> frozenset[str]:
    """The units of a text that say what it is about, without those of some numbers."""
    plain = line.plain
    for number in numbers:
        plain = plain.replace(number.text.lower(), " ")
    units = Line(plain).terms.units if numbers else line.terms.units
    return frozenset(
        one
        for one in units
        if one not in lexicon().function and one not in _EMPTY and not IN_HIRAGANA.match(one)
    )
