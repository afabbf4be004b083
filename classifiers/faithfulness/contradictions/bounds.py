"""Where a number is the least in a statement and the most in its evidence: at least 100 Wh, 不超过100元."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantities.pool import Quantity

__all__ = ["turned_bounds"]

MOST_NUMBERS = 12  # of a statement; one with more is a table, and each is looked for in all of it
REACH = 24  # characters before and after a number
MORE = "more|longer|older|larger|bigger|later"
LESS = "less|fewer|shorter|younger|smaller|earlier"
OF_BOUNDS = re.compile(rf"exceed|{MORE}|{LESS}|超过|高于|低于|少于|多于|大于")
# The least, and the most, as it is told before a number and after it.
BEFORE = (
    re.compile(
        rf"(?:at least|no (?:{LESS}) than|minimum of|(?<!no )(?<!not )(?:{MORE}) than|\bover|\babove"
        r"|(?<!not )(?<!n't )\bexceed(?:s|ing)?)\s*(?:\w+\s)?$"
        r"|(?<![不没未勿])(?<!不得)(?<!不要)(?<!不可)(?:超过|高于|大于|多于)$"
        r"|(?:不[得能可应]?(?:少于|低于|小于)|至少|最少|少なくとも|最低)$"
    ),
    re.compile(
        rf"(?:at most|(?:no|not) (?:{MORE}) than|up to|maximum of|(?:not|n't) exceed|\bbelow|\bunder"
        rf"|(?<!no )(?<!not )(?:{LESS}) than)\s*(?:\w+\s)?$"
        r"|(?:不|没|未|勿|不得|不要|不可)(?:超过|高于|大于|多于)$|(?<!不)(?<!不[得能可应])(?:低于|小于|少于)$"
        r"|(?:至多|最多|最高|最大|上限は?|不满|未满)$"
    ),
)
AFTER = (
    re.compile(r"^\s*(?:\w+\s)?(?:or|and) (?:more|over|older|above|longer)\b|^(?:の)?(?:以上|を超え|より多)"),
    re.compile(
        r"^\s*(?:\w+\s)?(?:or|and) (?:less|fewer|under|younger|below)\b"
        r"|^(?:の)?(?:以下|以?内|未満|まで(?!に)|を限度|を上限)"
    ),
)


def turned_bounds(said: Line, here: Sequence[Line]) -> tuple[tuple[str, str], ...]:
    """Numbers with a bound that have the other one wherever the evidence has them."""
    found = []
    for number in tuple(dict.fromkeys(said.quantities))[:MOST_NUMBERS]:
        mine = _bounds(said, number)
        same = [(part, one) for part in _nearest(said, here, number) for one in part.quantities]
        same = [(part, one) for part, one in same if _is_same(one, number)]
        theirs = [(line, one, _bounds(line, one)) for line, one in same]
        if len(mine) == 1 and theirs and all(_turned(said, mine, line, sides) for line, _, sides in theirs):
            found.append((_told(said, number), _told(*theirs[0][:2])))
    return tuple(found)


def _nearest(said: Line, here: Sequence[Line], number: Quantity) -> list[Line]:
    """The parts with a number that share most with a statement: 三天以内由经理批准, 三天以上由人事部批准."""
    parts = [
        part for line in here for part in line.parts if any(_is_same(q, number) for q in part.quantities)
    ]
    shared = [len(said.content & part.content) for part in parts]
    return [part for part, count in zip(parts, shared, strict=True) if count == max(shared)]


def _is_same(one: Quantity, other: Quantity) -> bool:
    return one.value == other.value and one.unit == other.unit


def _turned(said: Line, mine: set[int], line: Line, theirs: set[int]) -> bool:
    """What is denied above a number is allowed up to it, so both have to deny or neither."""
    return bool(theirs) and mine.isdisjoint(theirs) and _denies(said) == _denies(line)


def _denies(line: Line) -> bool:
    """Whether it denies more than a bound: "not exceed", 不超过."""
    return any(not OF_BOUNDS.search(" ".join(near)) for near in line.denials)


def _bounds(line: Line, number: Quantity) -> set[int]:
    """0 where a number is the least, 1 where it is the most; both where it stands there twice."""
    sides = set()
    for place in re.finditer(re.escape(number.text), line.plain):
        before, after = line.plain[max(0, place.start() - REACH) : place.start()], line.plain[place.end() :]
        sides |= {n for n in (0, 1) if BEFORE[n].search(before.rstrip()) or AFTER[n].search(after[:REACH])}
    return sides


def _told(line: Line, number: Quantity) -> str:
    at = line.plain.find(number.text)
    return line.plain[max(0, at - REACH // 2) : at + len(number.text) + REACH // 4].strip()
