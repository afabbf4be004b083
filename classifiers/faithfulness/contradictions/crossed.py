"""Where a number stands beside the wrong subject: each is in the contexts, but not with the other.

"The fixed desk costs 190 euros" beside "A flex desk costs 190 euros, a fixed desk 290 euros". The contexts
are cut at commas and joints, so that each part has a number with what it belongs to. A statement is crossed
if another part has its words, with another number of the same kind that the statement does not give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantities.pool import Quantity, QuantityPool
from classifiers.faithfulness.said import Said
from classifiers.faithfulness.wording import IN_HIRAGANA

__all__ = ["crossed"]

LEAST_TOLD = 0.3  # weight of the words that only the other part has
MOST_OF_IT = 0.6  # of the statement's part that the other part has, with what stands before it
JOINTS = re.compile("[的是了]")  # in a pair of Chinese characters
REACHED_AT = re.compile(r"\bext(?:\.|ension)|\broom\b|内線|号室|分机|房间")  # makes a number one of somebody
FEWEST = 2  # terms of a part of the statement that can be compared alone


def crossed(
    each: Said, window: Sequence[Line], known: Iterable[Line], new: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Numbers of the statement, and the part of its evidence that has its words with another number."""
    own = each.line.pool
    parts = list(_with_before(window))
    asked = {term for term in each.asked.content - each.line.content if not IN_HIRAGANA.search(term)}
    found = []
    for number in dict.fromkeys(each.numbers):
        counts = not number.unit and "." not in number.value and not REACHED_AT.search(each.line.plain)
        if counts or number.is_label or number.text in new:
            continue
        here = [one for one in parts if _has(one[0], number)]
        if not here:
            same = [line for line in known if any(one.value == number.value for one in line.quantities)]
            here = [one for one in _with_before(same) if _has(one[0], number)]
        if any(_is_frame(part) for part, _ in here):
            continue
        rivals = [one for one in parts if not _has(one[0], number) and _has_other(one[0], number.unit, own)]
        words = _words_beside(each, number)
        for rival, before in rivals:
            meant = any(asked & (own_before - before) for _, own_before in here)
            if here and not meant and _fits(each, words, rival, before, here):
                found.append((number.text, rival.text.strip()))
                break
    return tuple(found)


def _with_before(lines: Iterable[Line]) -> Iterator[tuple[Line, frozenset[str]]]:
    """Each part, and its words with those before it in the sentence: "paid up to 140, in London 190"."""
    for line in lines:
        before = frozenset[str]()
        for part in line.parts:
            before |= part.content
            yield part, before


def _has(part: Line, number: Quantity) -> bool:
    return part.pool.find(number) == "same"


def _has_other(part: Line, unit: str, own: QuantityPool) -> bool:
    return any(one.unit == unit and own.find(one) != "same" for one in part.quantities)


def _is_frame(part: Line) -> bool:
    """ "In 2040, …": what follows belongs to it as well."""
    telling = [term for term in part.terms.content if not IN_HIRAGANA.search(term)]
    return part.opens and len(telling) < FEWEST


def _words_beside(each: Said, number: Quantity) -> set[str]:
    """What the statement says of a number, without endings and particles."""
    words = {term for term in each.content if not (IN_HIRAGANA.search(term) or JOINTS.search(term))}
    told = [part.content for part in each.line.parts if _has(part, number)]  # 50％…, so half
    beside = words & frozenset[str]().union(*told) if told else words
    return beside if len(beside) >= FEWEST else words


def _fits(
    each: Said,
    words: set[str],
    rival: Line,
    before: frozenset[str],
    here: Sequence[tuple[Line, frozenset[str]]],
) -> bool:
    """Whether the words are the other part's: it has some that those with the number lack, and all else."""
    for part, own_before in here:
        only_there = words & ((rival.content - part.content) | (before - own_before))
        only_here = words & (part.content - before)
        if only_here or _told(each, only_there) < LEAST_TOLD:
            return False
    return _told(each, words & before) >= MOST_OF_IT * _told(each, words)


def _told(each: Said, terms: Iterable[str]) -> float:
    return sum(each.content[term] for term in terms)
