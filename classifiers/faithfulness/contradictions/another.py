"""What a statement tells of one thing, and the contexts of another: one way to see it after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from classifiers.faithfulness.contradictions.cells import misfiled
from classifiers.faithfulness.contradictions.crossed import crossed
from classifiers.faithfulness.contradictions.days import of_another_day
from classifiers.faithfulness.contradictions.displaced import displaced
from classifiers.faithfulness.contradictions.facts import Fact
from classifiers.faithfulness.contradictions.halves import turned_halves
from classifiers.faithfulness.contradictions.misplaced import misplaced
from classifiers.faithfulness.contradictions.recounted import recounted
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.said import Said

__all__ = ["told_of_another"]


def told_of_another(
    each: Said,
    window: Sequence[Line],
    known: Sequence[Line],
    near: Sequence[Fact],
    theirs: Sequence[str],
    *,
    copied: bool,
) -> Iterator[tuple[str, str]]:
    """What is told, and where it is told of another.

    Args:
        window: the sentences that cover most of the statement, of all `known` ones.
        near: facts of the contexts that share its words.
        theirs: numbers of the statement that do not stand in the contexts.
        copied: it stands there word for word.
    """
    yield from crossed(each, window, known, theirs)
    yield from of_another_day(each, known, theirs)
    if not copied:
        yield from recounted(each.line, window, known)
    if not copied:
        yield from displaced(each, window, known, theirs)
    yield from misplaced(each, near, known)
    yield from misfiled(each, known, theirs)
    yield from turned_halves(each, known)
