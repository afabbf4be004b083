"""The contexts of one answer, read once: which words and numbers stand where."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from classifiers.faithfulness.arithmetic import Reckoning
from classifiers.faithfulness.lines import STOPS, Line
from classifiers.faithfulness.quantities.pool import Quantity, QuantityPool
from classifiers.faithfulness.said import ECHO, NEAR, Said
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.faithfulness.tables import cells, named
from classifiers.faithfulness.wording import folded, is_cjk, terms

__all__ = ["Passage", "Passages", "Place", "covered"]

CANDIDATES = 6
NEIGHBOURS = 3  # words on each side that a number belongs to
STEM = 5  # letters in which two forms of a word agree at least: uninstall, uninstallation
STEM_SHARE = 0.7
MOST_REMEMBERED = 128  # passages; 65 bytes a character in English, 280 in Japanese
LONGEST_REMEMBERED = 4_000  # characters
EDGES = "\n.。!！?？,，、;；:：()[]{}「」『』“”\"'|*•·"  # of a clause; "" is one, too
RULE = re.compile(r"[ \t|]*\n[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*(?:\n|$)")  # below the first row of a table
SHORTEST_COMPOUND = 6  # letters of a word that may stand apart in the contexts: smart phone


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence of a passage with its neighbours."""

    passage: int
    line: Line
    window: tuple[Line, ...]


class Passage:
    """One text, read once: its sentences with an index of their words."""

    def __init__(self, text: str) -> None:
        self.lines = list(_lines(text))
        written = [folded(line.written) for line in self.lines]
        self.plain = "\n".join(written)
        self.squeezed = "\n".join("".join(line.split()) for line in written)
        self.pairs = {pair for line in self.lines for pair in itertools.pairwise(line.terms.units)}
        self.units = {unit for line in self.lines for unit in line.terms.units}
        self.where: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(self.lines):
            for term in line.content:
                self.where[term].append(number)

    @cached_property
    def listed(self) -> str:
        """Its English words, each on a line."""
        return "\n".join(["", *filter(str.isascii, self.units)])


def _lines(text: str) -> Iterator[Line]:
    """Its sentences; the cells of a table each behind the name of its column, which stands above the rule."""
    columns: list[str] = []
    for sentence in sentences(text):
        row = sentence.text
        if not row.startswith("|"):
            columns = []
        elif RULE.match(text, sentence.start + len(row)):
            columns = cells(row)
            continue
        yield Line(named(cells(row), columns) if columns else row, start=sentence.start, written=row)


_remembered = lru_cache(MOST_REMEMBERED)(Passage)


class Passages:
    """The passages of an answer; those of the answers before are remembered."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._passages = [
            _remembered(text) if len(text) <= LONGEST_REMEMBERED else Passage(text) for text in passages
        ]
        read = self._passages
        self.lines = [line for passage in read for line in passage.lines]
        self._passage_of = [number for number, passage in enumerate(read) for _ in passage.lines]
        self._first = [0, *itertools.accumulate(len(passage.lines) for passage in read)]
        self.plain = "\n".join(passage.plain for passage in read)
        self.squeezed = "\n".join(passage.squeezed for passage in read)
        self.pairs = set[tuple[str, str]]().union(*(passage.pairs for passage in read))
        self.units = set[str]().union(*(passage.units for passage in read))

    def has(self, term: str) -> bool:
        """Whether a term of a statement stands somewhere, perhaps in another form."""
        if term in self.units or any(term in passage.where for passage in self._passages):
            return True
        if not term.isascii() or len(term) < STEM:
            return False
        if len(term) >= SHORTEST_COMPOUND and term in self.squeezed:
            return True
        beginning = term[: max(STEM, int(len(term) * STEM_SHARE))]
        return any(f"\n{beginning}" in passage.listed for passage in self._passages)

    def says(self, squeezed: str) -> bool:
        """Whether they have it word for word; without spaces, whole clauses, not 支持退货 in 不支持退货."""
        if not any(map(is_cjk, squeezed)):
            return squeezed in self.squeezed
        found = re.finditer(re.escape(squeezed), self.squeezed)
        edges = ((self.squeezed[: at.start()][-1:], self.squeezed[at.end() :][:1]) for at in found)
        return any(before in EDGES and after in EDGES for before, after in edges)

    def quotes(self, squeezed: str) -> bool:
        """Whether a whole sentence of them says it word for word, but for spaces and its last mark."""
        return squeezed in self._sentences

    def best(self, said: Said) -> Place | None:
        """The sentence that covers most, and it with its neighbours."""
        scores: dict[int, float] = defaultdict(float)
        for term, weight in said.content.items():
            echo = ECHO if said.echoes(term) else 1
            for passage, first in zip(self._passages, self._first, strict=False):
                for number in passage.where.get(term, ()):
                    scores[first + number] += weight * echo
        ranked = sorted(scores, key=lambda n: (-scores[n], n))[:CANDIDATES]
        if not ranked:
            return None

        def worth(number: int) -> float:
            window = self._window(number)
            known = 0
            if said.numbers:
                pool = QuantityPool(q for line in window for q in line.quantities)
                known = sum(pool.find(q) == "same" for q in said.numbers)
            return scores[number] + 0.5 * covered(said, window) + 0.5 * known

        best = max(ranked, key=worth)
        return Place(self._passage_of[best], self.lines[best], tuple(self._window(best)))

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
        passage = self._passage_of[number]
        first, end = self._first[passage], self._first[passage + 1]
        return self.lines[max(first, number - 1) : min(end, number + 2)]

    @cached_property
    def _sentences(self) -> frozenset[str]:
        return frozenset("".join(line.plain.split()).strip(STOPS) for line in self.lines)

    @cached_property
    def reckoning(self) -> Reckoning:
        """What can be reckoned from its numbers."""
        return Reckoning(self.lines)

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


def covered(said: Said, lines: Iterable[Line]) -> float:
    """How much of a statement stands in some lines; the words of the question count half."""
    known = set[str]().union(*(line.content for line in lines))
    return sum(w * (ECHO if said.echoes(t) else 1) for t, w in said.content.items() if t in known)
