"""The contexts of one answer, read once: which words and numbers stand where."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantity_pool import Quantity, QuantityPool
from classifiers.faithfulness.said import ECHO, NEAR, Said
from classifiers.faithfulness.segmentation import sentences
from classifiers.faithfulness.wording import terms

__all__ = ["Passages", "covered"]

CANDIDATES = 6
NEIGHBOURS = 3  # words on each side that a number belongs to
STEM = 5  # letters in which two forms of a word agree at least: uninstall, uninstallation
STEM_SHARE = 0.7
SHORTEST_COMPOUND = 6  # letters of a word that may stand apart in the contexts: smart phone


class Passages:
    """Sentences with an index of their words and numbers."""

    def __init__(self, passages: Sequence[str]) -> None:
        self.lines = [
            Line(s.text, passage=i, start=s.start) for i, p in enumerate(passages) for s in sentences(p)
        ]
        self.plain = "\n".join(line.plain for line in self.lines)
        self.squeezed = "".join(self.plain.split())
        self.pairs = {pair for line in self.lines for pair in itertools.pairwise(line.terms.units)}
        self.units = {unit for line in self.lines for unit in line.terms.units}
        self._where: dict[str, list[int]] = defaultdict(list)
        self._first: dict[int | None, int] = {}
        for number, line in enumerate(self.lines):
            self._first.setdefault(line.passage, number)
            for term in line.content:
                self._where[term].append(number)

    def has(self, term: str) -> bool:
        """Whether a term of a statement stands somewhere, perhaps in another form."""
        if term in self._where or term in self.units:
            return True
        if not term.isascii() or len(term) < STEM:
            return False
        if len(term) >= SHORTEST_COMPOUND and term in self.squeezed:
            return True
        beginning = term[: max(STEM, int(len(term) * STEM_SHARE))]
        return any(word.startswith(beginning) for word in self._stems.get(term[:STEM], ()))

    def best(self, said: Said) -> tuple[Line | None, list[Line]]:
        """The sentence that covers most, and it with its neighbours."""
        scores: dict[int, float] = defaultdict(float)
        for term, weight in said.content.items():
            echo = ECHO if said.echoes(term) else 1
            for number in self._where.get(term, ()):
                scores[number] += weight * echo
        ranked = sorted(scores, key=lambda n: (-scores[n], n))[:CANDIDATES]
        if not ranked:
            return None, []

        def worth(number: int) -> float:
            window = self._window(number)
            pool = QuantityPool(q for line in window for q in line.quantities)
            known = sum(pool.find(q) == "same" for q in said.numbers)
            return scores[number] + 0.5 * covered(said, window) + 0.5 * known

        best = max(ranked, key=worth)
        return self.lines[best], self._window(best)

    def opening(self, line: Line) -> Line:
        """The first sentence of the passage that a sentence stands in: often its title."""
        return self.lines[self._first[line.passage]]

    def find(self, number: Quantity) -> str:
        """Whether a number stands here: same, other unit, or new."""
        return self._pool.find(number)

    def bound(self, number: Quantity, plain: str) -> float:
        """The share of the words around a number that one sentence with that number has too."""
        at = plain.find(number.text)
        reach = NEAR if plain.isascii() else NEAR // 3
        before, after = plain[max(0, at - reach) : at], plain[at + len(number.text) :][:reach]
        local = {*terms(before).content[-NEIGHBOURS:], *terms(after).content[:NEIGHBOURS]}
        lines = self._numbered.get(number.value, ())
        if not local or not lines:
            return 1.0
        return max(len(local & line.content) for line in lines) / len(local)

    def _window(self, number: int) -> list[Line]:
        passage = self.lines[number].passage
        around = self.lines[max(0, number - 1) : number + 2]
        return [line for line in around if line.passage == passage]

    @cached_property
    def _pool(self) -> QuantityPool:
        return QuantityPool(q for line in self.lines for q in line.quantities)

    @cached_property
    def _numbered(self) -> dict[str, list[Line]]:
        found: dict[str, list[Line]] = defaultdict(list)
        for line in self.lines:
            for quantity in line.quantities:
                found[quantity.value].append(line)
        return found

    @cached_property
    def _stems(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for word in self.units:
            if len(word) >= STEM and word.isascii():
                found[word[:STEM]].append(word)
        return found


def covered(said: Said, lines: Iterable[Line]) -> float:
    """How much of a statement stands in some lines; the words of the question count half."""
    known = set[str]().union(*(line.content for line in lines))
    return sum(w * (ECHO if said.echoes(t) else 1) for t, w in said.content.items() if t in known)
