"""Where a statement takes one half of a contrast for the other.

"Shipping after the warranty is paid by us" beside "within it by us, after the warranty by the buyer": the
halves are laid side by side, and what differs between them comes in pairs (within, after; us, the buyer). A
short statement about one of them takes the same side of each pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from classifiers.faithfulness.lines import COMMA, Line
from classifiers.faithfulness.said import Said
from classifiers.faithfulness.wording import IN_HIRAGANA

__all__ = ["agrees_with_a_half", "turned_halves"]

LONGEST_HALF = {"en": 16, "ja": 36, "zh": 28}  # units; a longer one says more than its half of a contrast
LONGEST = {"en": 20, "ja": 40, "zh": 32}  # units of a statement
ALIKE = 0.4  # share of the shorter half that both halves have
FEWEST_ALIKE = 2  # units
SHARED = 0.5  # of what both halves have, in the statement
LONGEST_PAIR = 8  # units on a side of a pair
FEWEST = 2  # pairs
_JOINTS = (re.compile("[;；]"), re.compile(rf"{COMMA}|\s(?:and|but|while|whereas)\s"))
_DENIES = frozenset(["no", "not", "never", "free", "without", "免", "不", "无", "未", "無", "非"])


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Two halves: what both have, and by what they differ, in pairs."""

    text: str
    common: frozenset[str]
    pairs: tuple[tuple[frozenset[str], frozenset[str]], ...]


def turned_halves(each: Said, known: Sequence[Line]) -> tuple[tuple[str, str], ...]:
    """The statement, and the contrast of which it mixes the halves."""
    for contrast in _contrasts(each, known):
        sides = _sides(each, contrast)
        if len(sides) >= FEWEST and {0, 1} == set(sides):
            return ((each.line.plain, contrast.text),)
    return ()


def agrees_with_a_half(each: Said, known: Sequence[Line]) -> bool:
    """Whether it takes the same side of every pair of a contrast, of two at least."""
    sides = [_sides(each, contrast) for contrast in _contrasts(each, known)]
    return any(len(one) >= FEWEST and len(set(one)) == 1 for one in sides)


def _sides(each: Said, contrast: _Contrast) -> list[int]:
    """Which side of each pair the statement takes; of a pair that it has both sides of, or neither, none."""
    own = frozenset(each.line.terms.units)
    taken = []
    for one, other in contrast.pairs:
        first, second = bool(one) and one <= own, bool(other) and other <= own
        if first != second:
            taken.append(int(second))
    return taken


def _contrasts(each: Said, known: Sequence[Line]) -> Iterator[_Contrast]:
    own = frozenset(each.line.terms.units)
    if len(each.line.terms.units) > LONGEST[each.line.language]:
        return
    for line in known:
        for one in _within(line.text):
            if len(one.common & own) >= SHARED * len(one.common):
                yield one


@lru_cache(2_048)
def _within(text: str) -> tuple[_Contrast, ...]:
    joint = next((one for one in _JOINTS if one.search(text)), _JOINTS[0])
    parts = [part for part in joint.split(text) if part.strip()]
    return tuple(found for one, other in pairwise(parts) if (found := _contrast(one, other)))


def _contrast(one: str, other: str) -> _Contrast | None:
    half, following = Line(one), Line(other)
    mine, theirs = half.terms.units, following.terms.units
    shorter = min(len(mine), len(theirs))
    if not shorter or max(len(mine), len(theirs)) > LONGEST_HALF[half.language]:
        return None
    shared, pairs = list[str](), []
    for tag, a, b, c, d in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            shared += mine[a:b]
        elif max(b - a, d - c) <= LONGEST_PAIR:
            pair = _telling(mine[a:b]), _telling(theirs[c:d])
            if all(pair) or any(side & _DENIES for side in pair):
                pairs.append(pair)
    common = _telling(shared)
    if len(common) < FEWEST_ALIKE or len(common) < ALIKE * shorter or len(pairs) < FEWEST:
        return None
    return _Contrast(f"{one} … {other}".strip(), common, tuple(pairs))


def _telling(units: Sequence[str]) -> frozenset[str]:
    return frozenset(unit for unit in units if not IN_HIRAGANA.match(unit) and unit not in "的是了の")
