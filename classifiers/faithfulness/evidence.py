"""What the contexts have to say of a statement, in figures: found, new, far apart, contradicted. No model."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher

from classifiers.faithfulness.contradictions import denied, opposites
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantities import Quantity, QuantityPool, is_unit
from classifiers.faithfulness.segmentation import sentences
from classifiers.faithfulness.wording import (
    content_runs,
    folded,
    is_cjk,
    lexicon,
    names,
    rarity,
    terms,
    units,
)

__all__ = ["Contexts", "Evidence", "Features", "Novelty"]

TELLING = 0.75  # rarity from which a compound is a name or a term, and not 場合 or 方法
LIGHT = 0.1
KANA = re.compile("[ぁ-ゖー]")
SHORTEST_ALIGNED = 4  # units
COPIED = 0.6
SHORTEST_NAME = 4  # letters; サイズ is a word
LONGEST_ALIGNED = 150  # units; aligning grows with the square of the length
HAN = re.compile("[一-鿿㐀-䶿々〆]")
ECHO = 0.5  # a word of the question is expected in the answer, but proves nothing
CANDIDATES = 6
# Coverage from which a statement and its evidence speak of one thing, and can contradict. Pairs of characters
# agree less often than words: an ending or a particle makes new ones.
SAME_MATTER = {"en": 0.75, "ja": 0.4, "zh": 0.4}
NEIGHBOURS = 3  # words on each side that a number belongs to
NEAR = 36  # characters in which they are looked for; a third of it in Japanese and Chinese
UNBOUND = 0.7
UNFOUNDED = 0.05
SHORTEST_STATEMENT = 4  # words with content
CITATION = re.compile(
    r"\(?\b(?:passages?|sources?|documents?)\s*\d+(?:\s*(?:,|&|and)\s*\d+)*\)?|(?:出典|来源|資料|文書|资料|文档|段落)\s*\d+"
    r"|[\[［【]\d{1,3}(?:[\s,、–-]{1,3}\d{1,3}){0,20}[\]］】]|https?://\S+(?<![.,)])|[*`#>|]+",
    re.IGNORECASE,
)
# Numbers by what became of them, unbound numbers, new names, new words, opposites.
_Found = tuple[
    dict[str, tuple[str, ...]],
    dict[str, float],
    tuple[str, ...],
    list[str],
    tuple[tuple[str, str], ...],
]


@dataclass(frozen=True, slots=True)
class Features:
    """Evidence about one statement; each speaks against it as it grows."""

    new_content: float  # share of its content, by rarity, that stands in no context
    new_pairs: float  # share of its neighbouring words (characters) that are neighbours in no context
    uncovered_window: float  # what the best three neighbouring sentences leave open
    uncovered_sentence: float
    unfounded: float  # nothing of a whole statement stands in any one place
    new_numbers: float
    new_counts: float  # "two ways", "3つ": often counted by the writer himself
    other_units: float
    unbound_number: float  # stands in the contexts, but not beside the words that stand beside it here
    new_names: float  # in Latin letters or katakana
    new_compounds: float  # in kanji, where a name cannot be told from a word
    exchanged: float  # a new name stands where the evidence, copied else, has something other
    negation_added: float
    negation_dropped: float
    opposite: float

    def values(self) -> tuple[float, ...]:
        """The figures in the order of `names`."""
        return tuple(getattr(self, name) for name in self.names())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The features in their order."""
        return tuple(f.name for f in fields(cls))


@dataclass(frozen=True, slots=True)
class Novelty:
    """What is new in a statement, to be told to a reviewer."""

    numbers: tuple[str, ...] = ()
    other_units: tuple[str, ...] = ()
    far_numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    word_count: int = 0
    negation: bool = False
    opposites: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best place in the contexts, and what it leaves open."""

    features: Features
    novelty: Novelty
    passage: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class _Said:
    """A statement as it is compared."""

    line: Line
    asked: Line  # the question
    content: dict[str, float]  # its words with their weights
    numbers: tuple[Quantity, ...]

    @property
    def weight(self) -> float:
        return sum(self.content.values()) or 1.0

    @property
    def claims_much(self) -> bool:
        """Whether it is more than "That is correct."; Japanese answers close by taking up the question."""
        rounds_off = self.line.language != "en" and not self.asked.content.isdisjoint(self.content)
        return len(self.content) >= SHORTEST_STATEMENT and not rounds_off


class Contexts:
    """The contexts of one answer, read once, to be asked about each of its statements."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._lines = [Line(s.text, passage=i) for i, p in enumerate(passages) for s in sentences(p)]
        self._plain = "\n".join(line.plain for line in self._lines)
        self._squeezed = "".join(self._plain.split())
        self._known = {unit for line in self._lines for unit in line.terms.units}
        self._pairs = {pair for line in self._lines for pair in _pairs(line.terms.units)}
        self._numbers = QuantityPool(q for line in self._lines for q in line.quantities)
        self._where: dict[str, list[int]] = defaultdict(list)
        self._numbered: dict[str, set[int]] = defaultdict(set)
        for number, line in enumerate(self._lines):
            for term in line.content:
                self._where[term].append(number)
            for quantity in line.quantities:
                self._numbered[quantity.value].add(number)
        self._known.update(self._where)

    def __len__(self) -> int:
        """How many sentences there are to support anything."""
        return len(self._lines)

    def evidence(self, statement: str, question: str = "") -> Evidence:
        """What supports a statement best, and what does not."""
        said = _said(CITATION.sub(" ", statement), question)
        best, window = self._best(said)
        here = [best] if best else []
        against = opposites(said.line, here, window)
        numbers = self._numbers_of(said)
        unbound = self._unbound(said)
        strange = self._strange_names(said)
        fresh = sorted((t for t in said.content if t not in self._known), key=lambda t: -said.content[t])
        features = self._features(said, here, window, (numbers, unbound, strange, fresh, against))
        novelty = Novelty(
            numbers=numbers["new"],
            other_units=numbers["other unit"],
            far_numbers=tuple(n for n, share in unbound.items() if share > UNBOUND),
            names=strange,
            words=tuple(fresh),
            word_count=len(said.content),
            negation=bool(features.negation_added or features.negation_dropped),
            opposites=against if features.opposite else (),
        )
        return Evidence(features, novelty, best.passage if best else None, best.text if best else "")

    def _features(self, said: _Said, here: Sequence[Line], window: Sequence[Line], found: _Found) -> Features:
        numbers, unbound, strange, fresh, against = found
        grams = _pairs(said.line.terms.units)
        new_pairs = [pair for pair in grams if pair not in self._pairs]
        asked = set(_pairs(said.asked.terms.units))
        in_window, in_sentence = (_covered(said.content, lines) / said.weight for lines in (window, here))
        same_matter = SAME_MATTER[said.line.language]
        added, dropped = denied(said.line, here, window)
        kanji = sum(bool(HAN.match(name)) for name in strange)
        named = any(not HAN.match(name) and len(name) >= SHORTEST_NAME for name in strange)
        return Features(
            new_content=sum(said.content[term] for term in fresh) / said.weight,
            new_pairs=sum(pair not in asked for pair in new_pairs) / max(1, len(grams)),
            uncovered_window=1 - in_window,
            uncovered_sentence=1 - in_sentence,
            unfounded=float(in_window <= UNFOUNDED and said.claims_much),
            new_numbers=min(len(numbers["new"]), 2),
            new_counts=min(len(numbers["new count"]), 2),
            other_units=min(len(numbers["other unit"]), 2),
            unbound_number=max(unbound.values(), default=0.0),
            new_names=min(len(strange) - kanji, 3),
            new_compounds=min(kanji, 3),
            exchanged=float(named and self._exchanged(said.line, here)),
            negation_added=float(added and in_window >= same_matter),
            negation_dropped=float(dropped and in_sentence >= same_matter),
            opposite=min(len(against), 2) if in_window >= same_matter else 0,
        )

    def _best(self, said: _Said) -> tuple[Line | None, list[Line]]:
        """The sentence that covers most, and it with its neighbours."""
        scores: dict[int, float] = defaultdict(float)
        for term, weight in said.content.items():
            for number in self._where.get(term, ()):
                scores[number] += weight
        ranked = sorted(scores, key=lambda n: (-scores[n], n))[:CANDIDATES]
        if not ranked:
            return None, []

        def worth(number: int) -> float:
            window = self._window(number)
            pool = QuantityPool(q for line in window for q in line.quantities)
            known = sum(pool.find(q) == "same" for q in said.numbers)
            return scores[number] + 0.5 * _covered(said.content, window) + 0.5 * known

        best = max(ranked, key=worth)
        return self._lines[best], self._window(best)

    def _window(self, number: int) -> list[Line]:
        passage = self._lines[number].passage
        around = self._lines[max(0, number - 1) : number + 2]
        return [line for line in around if line.passage == passage]

    def _numbers_of(self, said: _Said) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {"new": [], "other unit": [], "same": [], "new count": []}
        for number in said.numbers:
            verdict = self._numbers.find(number)
            found["new count" if number.is_count and verdict != "same" else verdict].append(number.text)
        return {verdict: tuple(texts) for verdict, texts in found.items()}

    def _unbound(self, said: _Said) -> dict[str, float]:
        """For each number the share of its neighbouring words that no sentence with that number has."""
        found, plain = {}, said.line.plain
        for number in said.numbers:
            at = plain.find(number.text)
            reach = NEAR if plain.isascii() else NEAR // 3
            before, after = plain[max(0, at - reach) : at], plain[at + len(number.text) :][:reach]
            local = {*terms(before).content[-NEIGHBOURS:], *terms(after).content[:NEIGHBOURS]}
            lines = [self._lines[n] for n in self._numbered.get(number.value, ())]
            if local and lines and self._numbers.find(number) == "same":
                found[number.text] = 1 - max(len(local & line.content) for line in lines) / len(local)
        return found

    def _strange_names(self, said: _Said) -> tuple[str, ...]:
        """Names and compounds that neither a context nor the question has."""
        strange = []
        for name in names(said.line.text):
            plain = folded(name)
            known = plain in self._plain or all(part in self._known for part in units(plain))
            if not known and plain not in said.asked.plain:
                strange.append(name)
        # In Chinese, where nothing parts the words, a run is no word.
        runs = content_runs(said.line.plain) if said.line.language != "zh" else ()
        strange += [run for run in runs if run not in said.asked.plain and self._is_strange(run)]
        return tuple(strange)

    def _is_strange(self, run: str) -> bool:
        """Whether a compound is rare, no unit, and not put together from what stands here: 手数料 + 無料."""
        text = self._squeezed
        cuts = range(2, len(run) - 1)
        composed = run in text or any(run[:cut] in text and run[cut:] in text for cut in cuts)
        rare = max(rarity(a + b) for a, b in itertools.pairwise(run)) >= TELLING
        return rare and not composed and not is_unit(run)

    def _exchanged(self, said: Line, here: Sequence[Line]) -> bool:
        """Whether a sentence was copied but for one place, where something new replaced something."""
        sequence = said.terms.units
        if not here or not SHORTEST_ALIGNED <= len(sequence) <= LONGEST_ALIGNED:
            return False
        aligned = SequenceMatcher(None, sequence, here[0].terms.units[:LONGEST_ALIGNED], autojunk=False)
        changes = [
            (tag, start, end)
            for tag, start, end, _, _ in aligned.get_opcodes()
            if tag in ("replace", "insert") and not all(map(_is_light, sequence[start:end]))
        ]
        if len(changes) != 1 or changes[0][0] != "replace":
            return False
        _, start, end = changes[0]
        copied = sum(block.size for block in aligned.get_matching_blocks())
        return copied >= COPIED * len(sequence) and self._is_new(sequence, start, end)

    def _is_new(self, sequence: tuple[str, ...], start: int, end: int) -> bool:
        part = [unit for unit in sequence[start:end] if not _is_light(unit)]
        if any(is_cjk(unit) for unit in part):
            return all(pair not in self._pairs for pair in _pairs(sequence[max(0, start - 1) : end + 1]))
        return all(unit not in self._known for unit in part)


def _said(text: str, question: str) -> _Said:
    line, asked = Line(text), Line(question)
    weights = {t: rarity(t) for t in line.terms.content} or dict.fromkeys(line.terms.light, LIGHT)
    content = {t: w * (ECHO if t in asked.content else 1) for t, w in weights.items()}
    return _Said(
        line, asked, content, tuple(q for q in line.quantities if not _names_the_asked(q, line, asked))
    )


def _names_the_asked(number: Quantity, line: Line, asked: Line) -> bool:
    """Whether a number is part of a name that the question has too: "Windows 10"."""
    at = line.plain.find(number.text)
    named = re.search(r"[a-z][\w-]*[ -]?$", line.plain[max(0, at - NEAR) : max(0, at)])
    return bool(named and not number.unit and named[0] + number.text in asked.plain)


def _is_light(unit: str) -> bool:
    """Function words, kana and numbers, which are compared elsewhere."""
    return unit in lexicon().function or unit[0].isdigit() or bool(KANA.match(unit))


def _pairs(sequence: Sequence[str]) -> list[tuple[str, str]]:
    return list(itertools.pairwise(sequence))


def _covered(content: dict[str, float], lines: Iterable[Line]) -> float:
    known = set[str]().union(*(line.content for line in lines))
    return sum(weight for term, weight in content.items() if term in known)
