"""Which of the documents that came are some that went, under another name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain, product

__all__ = ["MOST_COMPARED", "mostly_the_same", "the_same"]

MOSTLY = 0.5  # of the lines of the longer text; who follows a wrong one is shown what differs
MOST_COMPARED = 50_000  # pairs of texts, a second or so; beyond, a corpus was replaced


def the_same(gone: Mapping[str, str], came: Mapping[str, str]) -> dict[str, str]:
    """The old names of documents to their new ones, of texts of which as many are new as are gone.

    Of copies the first by name is the first: a folder that all names begin with keeps their order.

    Args:
        gone: names to versions, as `came`.
    """
    old, new = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for path, version in gone.items():
        old[version].append(path)
    for path, version in came.items():
        new[version].append(path)
    pairs = (
        zip(sorted(old[one]), sorted(new[one]), strict=True) for one in old if len(old[one]) == len(new[one])
    )
    return dict(chain.from_iterable(pairs))


def mostly_the_same(gone: Mapping[str, str], came: Mapping[str, str]) -> dict[str, str]:
    """The old names of documents to those of the texts that share most of their lines, the most alike first.

    Args:
        gone: names to texts, as `came`.
    """
    if len(gone) * len(came) > MOST_COMPARED:
        return {}
    old, new = ({path: _lines(text) for path, text in texts.items()} for texts in (gone, came))
    alike = [(_share(old[was], new[now]), was, now) for was, now in product(old, new)]
    found: dict[str, str] = {}
    for share, was, now in sorted(alike, key=lambda pair: (-pair[0], *pair[1:])):
        if share >= MOSTLY and was not in found and now not in found.values():
            found[was] = now
    return found


def _lines(text: str) -> Counter[str]:
    return Counter(line for each in text.splitlines() if (line := each.strip()))


def _share(one: Counter[str], other: Counter[str]) -> float:
    return (one & other).total() / max(one.total(), other.total(), 1)
