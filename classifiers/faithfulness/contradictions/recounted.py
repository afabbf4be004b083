"""Where a sentence was copied but for a number: "three permits" where "two permits" stand.

The other number stands somewhere in the contexts, or it would be new: what counts is the word behind it. In
Japanese and Chinese, whose words nothing parts, it is the characters on both sides: 授权码24小时内有效 beside
授权码75分钟内有效. A number that the evidence itself has is another case's.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from classifiers.faithfulness.contradictions.exchanged import LONGEST_ALIGNED, replaced
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantities.numerals import WORDS
from classifiers.faithfulness.quantities.pool import Quantity, QuantityPool
from classifiers.faithfulness.wording import lexicon, stem

__all__ = ["recounted"]

VALUES = {stem(word): str(value) for word, value in WORDS.items()}
FEWEST_COPIED = 2  # words with content beside the number, if the same word follows it, and one more if not
REACH = 2  # characters on each side that are the same
LEFT_OF_UNIT = re.compile("^(?:钟|鐘|間)")  # 75分 of 75分钟
TIMES = {"minute", "day", "workday", "month"}
LEAST_COPIED = 0.5  # of the words with content, if the same word follows


def recounted(line: Line, window: Sequence[Line], known: Iterable[Line]) -> tuple[tuple[str, str], ...]:
    """The number, and the one in its place."""
    if line.language != "en":
        return _between_the_same(line, window, list(known))
    mine = line.terms.units
    if len(mine) > LONGEST_ALIGNED or not any(map(_value, mine)):
        return ()
    known = list(known)
    found = []
    for one in window:
        for a, c in _other_numbers(mine, one.terms.units):
            head = _after(mine, a)
            same_head = head == _after(one.terms.units, c) and _tells(head)
            rest = {unit for unit in (*mine[:a], *mine[a + 1 :]) if _tells(unit)}
            copied = len(rest & {*one.terms.units})
            if same_head and copied >= max(FEWEST_COPIED, LEAST_COPIED * len(rest)):
                elsewhere = _stands_before(head, mine[a], known)
            elif copied == len(rest) > FEWEST_COPIED:
                elsewhere = any(_value(mine[a]) in map(_value, other.terms.units) for other in window)
            else:
                continue
            if not elsewhere:
                found.append((f"{mine[a]} {head}", f"{one.terms.units[c]} {head}"))
    return tuple(dict.fromkeys(found))


def _between_the_same(
    line: Line, window: Sequence[Line], known: Sequence[Line]
) -> tuple[tuple[str, str], ...]:
    """Numbers that stand where the evidence has another, and nowhere between these characters."""
    here = QuantityPool(one for each in window for one in each.quantities)
    mine = [
        one for one in _set_in(line) if len(one[1]) == len(one[2]) == REACH and here.find(one[0]) != "same"
    ]
    if not mine:
        return ()
    copied = [each for each in window if len(line.content & each.content) >= LEAST_COPIED * len(line.content)]
    there = [one for each in copied for one in _set_in(each)]
    found = []
    for number, before, after in mine:
        others = [one for one, *sides in there if sides == [before, after] and _alike(number, one)]
        if not others or number.approximate:
            continue
        everywhere = (one for each in known for one in _set_in(each))
        pool = QuantityPool(one for one, *sides in everywhere if sides == [before, after])
        if pool.find(number) != "same":
            found.append((number.text, others[0].text))
    return tuple(dict.fromkeys(found))


def _set_in(line: Line) -> Iterator[tuple[Quantity, str, str]]:
    """Its numbers that stand there once, with the characters on either side."""
    text = line.plain
    for number in line.quantities:
        at = text.find(number.text)
        if at >= 0 and text.find(number.text, at + 1) < 0:
            yield (
                number,
                text[max(0, at - REACH) : at],
                LEFT_OF_UNIT.sub("", text[at + len(number.text) :])[:REACH],
            )


def _alike(one: Quantity, other: Quantity) -> bool:
    """Whether two numbers measure the same: both a time, or in one unit."""
    return one.unit == other.unit or {one.unit, other.unit} <= TIMES


def _other_numbers(mine: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where one number stands for another."""
    for a, b, c, d in replaced(mine, theirs):
        if (b - a, d - c) == (1, 1) and "" != _value(mine[a]) != _value(theirs[c]) != "":
            yield a, c


def _stands_before(head: str, number: str, lines: Iterable[Line]) -> bool:
    pairs = (pair for line in lines for pair in itertools.pairwise(line.terms.units))
    return any(two == head and _value(one) == _value(number) for one, two in pairs)


def _after(sequence: Sequence[str], at: int) -> str:
    return sequence[at + 1] if at + 1 < len(sequence) else ""


def _tells(unit: str) -> bool:
    return bool(unit) and not _value(unit) and unit not in lexicon().function


def _value(unit: str) -> str:
    """What a word or figure counts, "" if nothing."""
    return unit if unit.isdecimal() else VALUES.get(unit, "")
