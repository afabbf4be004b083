"""What the contexts have to say of a statement, in figures: found, new, far apart, contradicted. No model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from classifiers.faithfulness.contradictions import denied, groundless, opposites, overstated, swapped
from classifiers.faithfulness.contradictions.alternatives import agreed, alternatives, turned
from classifiers.faithfulness.contradictions.another import told_of_another
from classifiers.faithfulness.contradictions.bounds import turned_bounds
from classifiers.faithfulness.contradictions.exchanged import exchanged_names, exchanged_things
from classifiers.faithfulness.contradictions.facts import facts
from classifiers.faithfulness.contradictions.halves import agrees_with_a_half
from classifiers.faithfulness.contradictions.items import denied_wherever_named
from classifiers.faithfulness.contradictions.refused import refused
from classifiers.faithfulness.lines import STOPS, Line
from classifiers.faithfulness.passages import Passages, Place, covered
from classifiers.faithfulness.quantities.pool import Quantity
from classifiers.faithfulness.quantities.units import is_unit
from classifiers.faithfulness.said import ECHO, Said, readable, said
from classifiers.faithfulness.windows import window_for
from classifiers.faithfulness.wording import (
    IN_HIRAGANA,
    content_runs,
    folded,
    is_cjk,
    names,
    rarity,
    terms,
    units,
)
from classifiers.faithfulness.worked_out import worked_out

__all__ = ["Contexts", "Evidence", "Features", "Novelty"]

TELLING = 0.75  # rarity from which a compound is a name or a term, and not 場合 or 方法
# Coverage from which a statement and its evidence speak of one thing, and can contradict. Pairs of characters
# agree less often than words: an ending or a particle makes new ones.
SAME_MATTER = {"en": 0.75, "ja": 0.4, "zh": 0.4}
# A denial counts against a statement if its sentence alone has this share of what it has with its neighbours:
# the subject, "the pass", often stands in the sentence before.
BULK = 0.6
# Coverage from which a sentence has the same words.
SAME_WORDS = {"en": 0.85, "ja": 0.6, "zh": 0.6}
UNBOUND = 0.7
THINGS = 0.75
UNFOUNDED = 0.05
VETOES = (
    "new_numbers",
    "other_units",
    "exchanged",
    "swapped",
    "negation_added",
    "negation_dropped",
    "opposite",
    "degree",
    "crossed",
)
# Weight of a word from which an introduction says by it what its items are told of, and not "as follows".
LENT = {"en": 0.5, "ja": 0.75, "zh": 0.75}
REWORDED = 0.2  # of a statement's content that its evidence leaves open
# What the new words (pairs of characters) of a statement are a share of: so much of its own length, and so
# much whatever its length, since one new word of three says less than ten of thirty. With 1.0 and 1.5 in
# English, short answers in words of their own were held back twice as often, at the same F1 on RAGTruth.
LENGTH = {"en": (0.6, 4.7), "ja": (1.0, 6.0), "zh": (1.0, 6.0)}


@dataclass(frozen=True, slots=True)
class Features:
    """Evidence about one statement; each speaks against it as it grows."""

    new_content: float  # share of its content, by rarity, that stands in no context and not in the question
    new_pairs: float  # share of its neighbouring words (characters) that are neighbours in neither
    uncovered_window: float  # what the best three neighbouring sentences leave open
    unfounded: float  # nothing of a whole statement stands in any one place
    new_numbers: float
    new_counts: float  # "two ways", "3つ": often counted by the writer
    other_units: float
    unbound_number: float  # stands in the contexts, but not beside the words that stand beside it here
    new_names: float
    new_compounds: float  # of kanji or katakana
    exchanged: float  # a name stands where the evidence, copied else, has another
    swapped: float  # two parts stand the other way round
    negation_added: float
    negation_dropped: float
    opposite: float
    degree: float  # must for may, all for some
    crossed: float  # what another subject has, a number or more

    def values(self) -> tuple[float, ...]:
        """The figures in the order of `names`."""
        return tuple(getattr(self, name) for name in self.names())

    @property
    def contradicted(self) -> bool:
        """Whether one point alone is enough: another number, unit or name, a denial, an opposite."""
        return bool(self.contradictions)

    @property
    def contradictions(self) -> frozenset[str]:
        """The names of those points."""
        return frozenset(name for name in VETOES if getattr(self, name))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The features in their order."""
        return tuple(f.name for f in fields(cls))


@dataclass(frozen=True, slots=True)
class Novelty:
    """What is new in a statement, to be told to a reviewer. Pairs hold its word and that of the evidence."""

    numbers: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    other_units: tuple[str, ...] = ()
    far_numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    compounds: tuple[str, ...] = ()
    exchanged: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()
    word_count: int = 0
    negation: bool = False
    opposites: tuple[tuple[str, str], ...] = ()
    degrees: tuple[tuple[str, str], ...] = ()
    swapped: tuple[tuple[str, str], ...] = ()
    crossed: tuple[tuple[str, str], ...] = ()  # what is told, and where it is told of another


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best place in the contexts, and what it leaves open."""

    features: Features
    novelty: Novelty
    best: Place | None  # the sentence that covers most
    copied: bool  # it stands in the contexts word for word
    quoted: bool  # and is a whole sentence there, or an item after the same introduction
    reworded: bool  # in other words than the contexts, whatever it denies; or an item by itself
    introduced: bool  # something before it says of what it tells


class Contexts:
    """The contexts of one answer, to be asked about each of its statements."""

    def __init__(self, passages: Sequence[str]) -> None:
        self.passages = tuple(passages)
        self._known = Passages(passages)

    def __len__(self) -> int:
        """How many sentences there are to support anything."""
        return len(self._known.lines)

    def read_with(self, statement: str) -> tuple[str, str]:
        """The sentences that a model reads with a statement, and how it reads the statement."""
        return window_for(said(statement, ""), self._known.lines), readable(statement)

    def worked_out(self, statements: Sequence[str], question: str) -> frozenset[Quantity]:
        """The numbers of an answer that follow from those that its asker tells."""
        return worked_out([said(one, question) for one in statements], self._known)

    def evidence(
        self,
        statement: str,
        question: str = "",
        *,
        written: str = "",
        listed: str = "",
        introduced: str = "",
        worked_out: frozenset[Quantity] = frozenset(),
    ) -> Evidence:
        """What supports a statement best, and what does not.

        Args:
            written: a clause without a lent subject.
            listed: of an item, its list up to it.
            introduced: the statement after what introduces it, which says of what it tells.
            worked_out: numbers that follow from the asker's own.
        """
        each = said(statement, question)
        place = self._known.best(each)
        best, window = (place.line, place.window) if place else (None, ())
        unbound = self._unbound(each)
        open_share = 1 - self._covered(each, window)
        squeezed = _squeezed(written or statement)
        copied = self._known.says(squeezed)
        whole = copied and self._known.quotes(squeezed)
        same_matter = not copied and (
            1 - open_share >= SAME_MATTER[each.line.language] or _has_the_things(each, window)
        )
        denies = same_matter and not turned(each, self._known.lines)
        negations = self._negations(each, best, window) if denies else (False, False)
        numbers = self._numbers_of(each, window, worked_out)
        novelty = self._novelty(
            each, best, window, numbers, unbound, negations, same_matter, copied=copied, whole=whole
        )
        if introduced and not novelty.crossed:
            novelty = replace(novelty, crossed=self._crossed_as_introduced(each, introduced, numbers))
        if listed and not any(negations) and denied_wherever_named(each, introduced, self._known.lines):
            negations, novelty = (False, True), replace(novelty, negation=True)
        features = self._features(each, novelty, unbound, negations, open_share, best)
        if listed:  # the words of an item say little without its introduction, which may deny it
            quoted = copied and self._known.says(_squeezed(listed))
            reworded = not quoted
        else:
            quoted = whole
            known = any(each.line.affirmed in line.affirmed for line in window)
            reworded = open_share >= REWORDED and not known
        return Evidence(features, novelty, place, copied, quoted, reworded, bool(introduced))

    def _crossed_as_introduced(
        self, alone: Said, introduced: str, numbers: Mapping[str, tuple[str, ...]]
    ) -> tuple[tuple[str, str], ...]:
        """What a statement tells of what introduces it, and the contexts of something else."""
        each = said(introduced, alone.asked.text)
        place, known = self._known.best(each), self._known.lines
        near, window = facts(each.line, known), place.window if place else ()
        found = told_of_another(each, window, known, near, _not_theirs(numbers), copied=False)
        least, new = LENT[each.line.language], each.content.keys() - alone.content.keys()
        lent = {term for term in new if each.content[term] >= least}
        return tuple((told, where) for told, where in found if not lent.isdisjoint(Line(where).content))

    def _features(
        self,
        each: Said,
        new: Novelty,
        unbound: dict[str, float],
        negations: tuple[bool, bool],
        open_share: float,
        best: Line | None,
    ) -> Features:
        return Features(
            new_content=sum(each.content[t] for t in new.words) / _length(sum(each.content.values()), each),
            new_pairs=self._new_pairs(each),
            uncovered_window=open_share,
            unfounded=float(1 - open_share <= UNFOUNDED and each.claims_much),
            new_numbers=min(len(new.numbers), 2),
            new_counts=min(len(new.counts), 2),
            other_units=min(len(new.other_units), 2),
            unbound_number=max(unbound.values(), default=0.0),
            new_names=min(len(new.names), 3),
            new_compounds=min(len(new.compounds), 3),
            exchanged=float(bool(new.exchanged)),
            swapped=float(bool(new.swapped)),
            negation_added=float(negations[0]),
            negation_dropped=float(negations[1]),
            opposite=min(len(new.opposites), 2),
            degree=float(bool(new.degrees)),
            crossed=float(bool(new.crossed)),
        )

    def _novelty(
        self,
        each: Said,
        best: Line | None,
        window: Sequence[Line],
        numbers: Mapping[str, tuple[str, ...]],
        unbound: dict[str, float],
        negations: tuple[bool, bool],
        same_matter: bool,
        *,
        copied: bool,
        whole: bool,
    ) -> Novelty:
        here, known = [best] if best else [], self._known.lines
        denies = same_matter and not turned(each, known)
        near = () if copied else facts(each.line, known)
        found = [*numbers["same"], *numbers["reckoned"]]
        counted = {term for text in found for term in terms(folded(text)).content}
        fresh = [
            t for t in each.content if t not in counted and not each.echoes(t) and not self._known.has(t)
        ]
        other_side = () if copied else alternatives(each, known) or refused(each, near)
        if other_side and agrees_with_a_half(each, known):
            other_side = ()
        # Nothing of a whole sentence of theirs is another's.
        another = told_of_another(each, window, known, near, _not_theirs(numbers), copied=copied)
        return Novelty(
            numbers=numbers["new"],
            counts=numbers["new count"],
            other_units=numbers["other unit"],
            far_numbers=tuple(n for n, share in unbound.items() if share > UNBOUND),
            names=self._strange_names(each),
            compounds=self._strange_compounds(each),
            exchanged=() if copied or not best else self._exchanged(each, best, window, same_matter),
            words=tuple(sorted(fresh, key=lambda t: -each.content[t])),
            word_count=len(each.content.keys() - counted),
            negation=any(negations),
            opposites=(opposites(each.line, here, window) if denies else ()) or other_side,
            degrees=(overstated(each.line, here, window) if denies else ())
            or groundless(each.line, self._known.plain)
            or (turned_bounds(each.line, window) if same_matter else ()),
            swapped=swapped(each.line, here) if same_matter and self._is_the_same(each, here) else (),
            crossed=() if whole else tuple(itertools.islice(another, 1)),
        )

    def _covered(self, each: Said, lines: Sequence[Line]) -> float:
        """The share of a statement that some lines cover; one without content leaves nothing open."""
        weight = sum(w * (ECHO if each.echoes(t) else 1) for t, w in each.content.items())
        return covered(each, lines) / weight if weight else 1.0

    def _new_pairs(self, each: Said) -> float:
        grams = list(itertools.pairwise(each.line.terms.units))
        asked = set(itertools.pairwise(each.asked.terms.units))
        new = sum(pair not in self._known.pairs and pair not in asked for pair in grams)
        return new / _length(len(grams), each)

    def _is_the_same(self, each: Said, lines: Sequence[Line]) -> bool:
        """Whether hardly a word differs."""
        return self._covered(each, lines) >= SAME_WORDS[each.line.language]

    def _negations(self, each: Said, best: Line | None, window: Sequence[Line]) -> tuple[bool, bool]:
        here = [best] if best else []
        added, dropped = denied(each.line, here, window)
        return added, dropped and covered(each, here) >= BULK * covered(each, window)

    def _numbers_of(
        self, each: Said, window: Sequence[Line], worked_out: frozenset[Quantity]
    ) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {v: [] for v in ("new", "other unit", "same", "new count", "reckoned")}
        for number in each.numbers:
            verdict: str = self._known.find(number)
            if verdict != "same":
                if each.asked.tells(number):
                    verdict = "same"
                elif number in worked_out or self._known.reckoning.gives(number, each, window):
                    verdict = "reckoned"
                elif any(number.text in word for word in agreed(each, self._known.lines)):
                    verdict = "same"
                elif number.is_count:
                    verdict = "new count"
            found[verdict].append(number.text)
        return {verdict: tuple(texts) for verdict, texts in found.items()}

    def _unbound(self, each: Said) -> dict[str, float]:
        """For each number the share of its neighbouring words that no sentence with that number has."""
        known = [number for number in each.numbers if self._known.find(number) == "same"]
        return {number.text: 1 - self._known.bound(number, each.line.plain) for number in known}

    def _exchanged(
        self, each: Said, best: Line, window: Sequence[Line], same_matter: bool
    ) -> tuple[tuple[str, str], ...]:
        """In English a sentence that is a copy but for one word is about the same matter for that."""
        if not same_matter and each.line.language != "en":
            return ()
        found = exchanged_names(each.line, best) if same_matter else ()
        return found or exchanged_things(each.line, window, self._known.pairs, each.asked.plain)

    def _strange_names(self, each: Said) -> tuple[str, ...]:
        """Names that neither a context nor the question has."""
        strange = []
        for name in names(each.line.text):
            plain = folded(name)
            known = plain in self._known.plain or all(part in self._known.units for part in units(plain))
            if not known and plain not in each.asked.plain:
                strange.append(name)
        squeezed = self._known.squeezed
        strange += [n for n in each.line.proper_names if n not in squeezed and n not in each.asked.plain]
        return tuple(dict.fromkeys(strange))

    def _strange_compounds(self, each: Said) -> tuple[str, ...]:
        """Runs of kanji or katakana that are in neither; nothing parts the words of Chinese: none."""
        runs = content_runs(each.line.plain) if each.line.language == "ja" else ()
        return tuple(run for run in runs if run not in each.asked.plain and self._is_strange(run))

    def _is_strange(self, run: str) -> bool:
        """Whether a compound is rare, no unit, and not put together from what stands here: 手数料 + 無料."""
        text = self._known.squeezed
        cuts = range(2, len(run) - 1)
        composed = run in text or any(run[:cut] in text and run[cut:] in text for cut in cuts)
        return _rarest(run) >= TELLING and not composed and not is_unit(run)


def _not_theirs(numbers: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The numbers of a statement that do not stand in the contexts."""
    return (*numbers["new"], *numbers["other unit"], *numbers["reckoned"])


def _squeezed(text: str) -> str:
    """As a copy is looked for: without spaces and stops at its ends."""
    return "".join(folded(text).split()).strip(STOPS)


def _length(own: float, each: Said) -> float:
    """Between its own length and a usual one; never 0."""
    share, fixed = LENGTH[each.line.language]
    return share * own + fixed


def _rarest(run: str) -> float:
    return max(rarity(a + b) for a, b in itertools.pairwise(run))


def _has_the_things(each: Said, window: Sequence[Line]) -> bool:
    """Whether its words without kana, the things it speaks of, are in its evidence: 申請は要りません."""
    things = {term for term in each.content if is_cjk(term) and not IN_HIRAGANA.search(term)}
    known = set[str]().union(*(line.content for line in window))
    return bool(things) and len(things & known) >= THINGS * len(things)
