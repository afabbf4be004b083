"""Where a number of the statement stands in the contexts, but with another matter; its own has another.

"Tickets are refunded within 30 days" where the contexts refund them within 14, and keep what is lost for 30.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantities.pool import Quantity
from classifiers.faithfulness.said import Said
from classifiers.faithfulness.wording import IN_HIRAGANA

__all__ = ["displaced"]

SAME_MATTER = {"en": 0.5, "ja": 0.35, "zh": 0.35}  # share of the statement's words that its evidence has
BESIDE = 0.5  # of that share, which the sentence with the other number has alone
FAR = 0.5  # of that share, which no sentence with its own number reaches
FEWEST_COMMON = {"en": 2, "ja": 3, "zh": 3}  # words, or pairs of characters, that make a matter
# What counts anything, or names it: such numbers stand beside one another in every passage.
BARE = frozenset(
    {"", "count", "identifier", "address", "order", "item", "person", "weekday", "floor", "page"}
)

Share = Callable[[Set[str]], float]


def displaced(
    each: Said, window: Sequence[Line], known: Sequence[Line], new: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The number, and the sentence that says the same with another one."""
    words = {word: weight for word, weight in each.content.items() if not IN_HIRAGANA.search(word)}
    share = _share_of(words)
    near = share(frozenset[str]().union(*(line.content for line in window)))
    if near < SAME_MATTER[each.line.language]:
        return
    fewest = FEWEST_COMMON[each.line.language]
    beside = [
        line
        for line in window
        if share(line.content) >= BESIDE * near and len(line.content & words.keys()) >= fewest
    ]
    for number in dict.fromkeys(each.numbers):
        if not _tells(number, new) or _stands(number, window) or _stands(number, (each.asked,)):
            continue
        rival = next((line for line in beside if _has_another(line, number.unit, each)), None)
        there = [share(line.content) for line in known if _stands(number, (line,))]
        if rival and there and max(there) < FAR * near:
            yield number.text, rival.plain.strip()


def _share_of(words: dict[str, float]) -> Share:
    whole = sum(words.values()) or 1.0
    return lambda content: sum(weight for word, weight in words.items() if word in content) / whole


def _tells(number: Quantity, new: Sequence[str]) -> bool:
    return not (number.unit in BARE or number.is_label or number.approximate or number.text in new)


def _stands(number: Quantity, lines: Sequence[Line]) -> bool:
    return any(line.pool.find(number) == "same" for line in lines)


def _has_another(line: Line, unit: str, each: Said) -> bool:
    return any(one.unit == unit and each.line.pool.find(one) != "same" for one in line.quantities)
