"""Where a statement and its evidence speak of one thing and say the opposite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.wording import is_cjk, lexicon

__all__ = ["denied", "opposites"]


def denied(said: Line, here: Sequence[Line], window: Iterable[Line]) -> tuple[bool, bool]:
    """Whether the statement denies what its evidence says, and whether it says what that denies."""
    window = list(window)
    known = {term for line in window for term in line.content}
    denied_there = {term for line in window for near in line.denials for term in near}
    more = len(said.denials) > sum(len(line.denials) for line in here)
    added = more and any(
        len(near & known) * 2 >= len(near) > 0 and not near & denied_there for near in said.denials
    )
    content = set(said.terms.content)
    dropped = not said.denials and any(near and near <= content for line in here for near in line.denials)
    return added, dropped


def opposites(said: Line, here: Sequence[Line], window: Iterable[Line]) -> tuple[tuple[str, str], ...]:
    """Pairs of opposite words of which the statement has one and its evidence only the other."""
    window = list(window)
    own = {term for near in said.denials for term in near}
    found = []
    for pair in lexicon().opposites:
        one, other = (_present(side, [said]) for side in pair)
        if bool(one) == bool(other) or (one or other) in own:
            continue  # "not allowed" is no opposite of "forbidden"
        mine, theirs = pair if one else pair[::-1]
        if not _present(mine, window) and (word := _present(theirs, here)):
            found.append((one or other, word))
    return tuple(found)


def _present(side: frozenset[str], lines: Sequence[Line]) -> str:
    return next((word for word in sorted(side) if any(_stands_in(word, line) for line in lines)), "")


def _stands_in(word: str, line: Line) -> bool:
    return word in line.plain if is_cjk(word) else word in line.content
