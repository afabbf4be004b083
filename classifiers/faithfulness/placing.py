"""Where a statement in other words stands in its answer, and what the contexts have nearest to it."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.faithfulness import NewPart, PassageSpan
from classifiers.faithfulness.evidence import Novelty
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.passages import Place
from classifiers.faithfulness.quantities.pool import QuantityPool
from classifiers.faithfulness.statements import Statement
from classifiers.faithfulness.statements.citations import CITATION
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.faithfulness.wording import weight

__all__ = ["left_out", "new_parts", "placed", "span_of"]

LEAST_SHARED = 0.3  # of a statement's content in a sentence that it was taken from; pronouns were resolved
LEAST_TAKEN_UP = 0.5  # of a sentence's content in the statements that were taken from it


def placed(claim: str, answer: str) -> Statement:
    """A statement in other words, with the sentence of the answer that it was taken from; 0, 0 if none."""
    said = Line(claim)
    best, most = None, LEAST_SHARED
    for sentence in sentences(answer):
        shared = weight(said.content & Line(sentence.text).content) / (weight(said.content) or 1.0)
        if shared > most:
            best, most = sentence, shared
    return Statement(best.text, best.start, best.end, claim) if best else Statement("", 0, 0, claim)


def left_out(own: Sequence[Statement], found: Sequence[Statement]) -> list[Statement]:
    """Claims of the answer that nothing found takes up: most of their content is missing, or a number.

    Whoever may take an answer apart may also be talked into leaving something out.
    """
    lines = [Line(CITATION.sub(" ", each.claim)) for each in found]
    content = frozenset[str]().union(*(line.content for line in lines))
    numbers = QuantityPool(quantity for line in lines for quantity in line.quantities)
    return [each for each in own if not _taken_up(Line(CITATION.sub(" ", each.claim)), content, numbers)]


def _taken_up(line: Line, content: frozenset[str], numbers: QuantityPool) -> bool:
    if any(numbers.find(quantity) != "same" for quantity in line.quantities):
        return False
    return weight(line.content & content) >= LEAST_TAKEN_UP * weight(line.content)


def span_of(best: Place | None) -> PassageSpan | None:
    """The best sentence with its place in its passage."""
    if best is None:
        return None
    line = best.line
    return PassageSpan(best.passage, line.start, line.start + len(line.written), line.written)


def new_parts(novelty: Novelty) -> tuple[NewPart, ...]:
    """What is new, by kind."""
    return (
        *(NewPart("number", number) for number in novelty.numbers),
        *(NewPart("unit", number) for number in novelty.other_units),
        *(NewPart("name", mine, theirs) for mine, theirs in novelty.exchanged),
        *(NewPart("opposite", mine, theirs) for mine, theirs in (*novelty.opposites, *novelty.degrees)),
        *([NewPart("negation", "")] if novelty.negation else []),
        *(NewPart("name", name) for name in novelty.names),
        *(NewPart("relation", f"{one} … {other}", f"{other} … {one}") for one, other in novelty.swapped),
        *(NewPart("relation", number, other) for number, other in novelty.crossed),
        *(NewPart("relation", number) for number in novelty.far_numbers),
        *(NewPart("wording", word) for word in novelty.words),
    )
