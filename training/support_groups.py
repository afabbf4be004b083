"""Passage windows, each with statements that it supports and statements that it does not.

Every group has a twin: the same window with words exchanged (another number, name, unit, month, a negation),
in which the true statements are false and the false ones true. Sentences of the same document that the window
does not hold are unsupported here and supported at home. So neither a statement nor its wording says what it
is, which `fit_support --artefacts` measures.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.faithfulness.wording import folded, rarity, terms
from training.perturbations import NUMBER
from training.rewording import LEAD_INS, Rewriter, Span, exchanged
from training.support_windows import gathered, joined

__all__ = ["Document", "Group", "Said", "groups", "sentence_lines"]

LONGEST_RUN: Final = {"en": 340, "ja": 150, "zh": 120}  # characters of neighbouring sentences
LONGEST_SENTENCE: Final = {"en": 260, "ja": 110, "zh": 90}
SHORTEST: Final = {"en": 25, "ja": 12, "zh": 9}
LEAST_LOST: Final = 0.2  # of what a statement says, so that it is no longer supported
MOST_SAID: Final = 9  # statements a window
JOINED: Final = {"en": ", and ", "ja": "、また", "zh": "，并且"}
STOPS: Final = ".。 "


@dataclass(frozen=True, slots=True)
class Said:
    """A statement about a window; `wrong` is where it differs, None if that isn't known."""

    text: str
    supported: bool
    kind: str
    wrong: tuple[Span, ...] | None = ()


@dataclass(frozen=True, slots=True)
class Group:
    """One window and what is said about it."""

    source: str
    lang: str
    window: str
    said: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences that stand together, and what people or models truly said about them."""

    source: str
    lang: str
    sentences: tuple[str, ...]
    said: tuple[str, ...] = ()  # supported statements, in somebody else's words
    unsaid: tuple[tuple[str, tuple[str, ...]], ...] = ()  # unsupported ones, with their wrong parts if known


def content(text: str) -> dict[str, float]:
    """The words of a text with their rarity, and its numbers."""
    plain = folded(text)
    return {term: rarity(term) for term in terms(plain).content} | dict.fromkeys(NUMBER.findall(plain), 1.0)


def covered(said: Mapping[str, float], lines: Sequence[Mapping[str, float]]) -> float:
    """How much of what is said stands in the lines."""
    known = set().union(*lines) if lines else set()
    return sum(weight for term, weight in said.items() if term in known) / (sum(said.values()) or 1.0)


def _new_parts(text: str, window: str, lang: str) -> tuple[Span, ...] | None:
    """The words of a baseless statement that the window does not have; None if it has them all."""
    known = folded(window)
    lead = max((len(one) for one in LEAD_INS[lang] if text.startswith(one)), default=0)
    found = tuple(
        (m.start(), m.end())
        for m in re.finditer(r"[A-Za-z]{4,}|\d[\d.,]*|[一-鿿ァ-ヺー]{2,}", text)
        if m.start() >= lead and folded(m[0])[:6] not in known
    )
    return found or None


class _Maker:
    """Makes the groups of one document."""

    def __init__(self, document: Document, rewriter: Rewriter, rng: random.Random) -> None:
        self.document, self.rewriter, self.rng = document, rewriter, rng
        self.lang = document.lang
        longest = LONGEST_SENTENCE[self.lang]
        self.lines = [line for line in document.sentences if SHORTEST[self.lang] // 2 <= len(line) <= longest]
        self.contents = [content(line) for line in self.lines]

    def groups(self) -> Iterator[Group]:
        """The groups of every window and their twins."""
        for text in self.document.said:
            here = self._gathered(content(text), set())
            if here:
                kept = [self._reworded(at) for at in self.rng.sample(here, 1)]
                yield from self._about(here, [self._natural(text), *kept])
                yield from self._withheld(self._natural(text), here)
        at = self.rng.choice((0, 0, 1)) if len(self.lines) > 3 else 0
        while at < len(self.lines):
            here = self._run(at)
            yield from self._about(here, [self._reworded(one) for one in here[:4]])
            if self.rng.random() < 0.25:
                one = self.rng.choice(here)
                yield from self._withheld(self._reworded(one), [one])
            at = max(here[-1] + 1, at + 1)
        yield from self._unsaid()

    def _reworded(self, at: int) -> str:
        return self.rewriter.reworded(self.lines[at], self.rng)

    def _run(self, at: int) -> list[int]:
        """A sentence and those after it, as far as they fit."""
        here, size = [at], len(self.lines[at])
        while (
            here[-1] + 1 < len(self.lines) and size + len(self.lines[here[-1] + 1]) <= LONGEST_RUN[self.lang]
        ):
            here.append(here[-1] + 1)
            size += len(self.lines[here[-1]])
        return here

    def _gathered(self, said: Mapping[str, float], without: set[int]) -> list[int]:
        left = [at for at in range(len(self.lines)) if at not in without]
        found = gathered(
            said, [self.contents[at] for at in left], [len(self.lines[at]) for at in left], self.lang
        )
        return [left[at] for at in found]

    def _window(self, here: Sequence[int]) -> str:
        return joined([self.lines[at] for at in here], self.lang)

    def _natural(self, text: str) -> str:
        return self.rewriter.reworded(text, self.rng) if self.rng.random() < 0.5 else text

    def _about(self, here: list[int], facts: list[str]) -> Iterator[Group]:
        facts = [text for text in facts if len(text) >= SHORTEST[self.lang]]
        if not facts:
            return
        window = self._window(here)
        mapping, kinds = self._mapping(facts, window)
        true, false = [], []
        for text in facts:
            changed, old, new = exchanged(text, mapping)
            kind = "+".join(sorted({kinds[text[a:b]] for a, b in old})) or "true"
            true.append((text, old, kind))
            if old:
                false.append((changed, new, kind))
        baseless = [self._baseless(here, window) for _ in range(max(2, len(facts) - len(false)))]
        half = self._half(here, window, facts)
        said = [Said(text, True, "true") for text, _, _ in true]
        said += [Said(text, False, kind, new) for text, new, kind in false]
        said += [one for one in (*baseless, *half) if one]
        yield self._group(window, said)
        if false:
            twin, _, _ = exchanged(window, mapping)
            yield self._group(twin, self._twin_said(true, false))

    def _twin_said(
        self, true: Sequence[tuple[str, tuple[Span, ...], str]], false: Sequence[tuple[str, object, str]]
    ) -> list[Said]:
        said = [Said(text, True, "true") for text, _, _ in false]
        return said + [Said(text, not old, kind if old else "true", old) for text, old, kind in true]

    def _mapping(self, facts: Sequence[str], window: str) -> tuple[dict[str, str], dict[str, str]]:
        """Exchanges for as many facts as possible that do not touch each other."""
        mapping: dict[str, str] = {}
        kinds: dict[str, str] = {}
        for text in facts:
            if exchanged(text, mapping)[1]:
                continue
            offered = defaultdict(list)
            for kind, one in self.rewriter.wrong(text, window, self.rng):
                offered[kind].append(one)
            for kind in self.rng.sample(list(offered), len(offered)):
                one = self.rng.choice(offered[kind])
                used = " ".join([*mapping, *mapping.values()])
                if not any(part in used or any(k in part for k in mapping) for part in (*one, *one.values())):
                    mapping |= one
                    kinds |= dict.fromkeys((*one, *one.values()), kind)
                    break
        return mapping, kinds

    def _baseless(self, here: Sequence[int], window: str) -> Said | None:
        """A sentence of the same document that looks most as if it stood here, or any other."""
        near = {at + step for at in here for step in (-1, 0, 1)}
        apart = [at for at in range(len(self.lines)) if at not in near]
        apart = [at for at in apart if len(self.lines[at]) >= SHORTEST[self.lang]]
        if not apart:
            return None
        tried = self.rng.sample(apart, min(len(apart), self.rng.choice((1, 4, 10))))
        inside = [self.contents[at] for at in here]
        at = max(tried, key=lambda one: covered(self.contents[one], inside))
        if covered(self.contents[at], inside) > 0.8:
            return None
        text = self._reworded(at)
        return Said(text, False, "baseless", _new_parts(text, window, self.lang))

    def _half(self, here: Sequence[int], window: str, facts: Sequence[str]) -> Iterator[Said]:
        """Two statements in one: both from here, or one from elsewhere."""
        if self.rng.random() < 0.5 or not facts:
            return
        first = self.rng.choice(facts).rstrip(STOPS)
        elsewhere = self._baseless(here, window)
        if elsewhere and self.rng.random() < 0.55:
            at = len(first) + len(JOINED[self.lang])
            text = first + JOINED[self.lang] + elsewhere.text
            wrong = tuple((a + at, b + at) for a, b in elsewhere.wrong or ())
            yield Said(text, False, "half", wrong or None)
        elif len(facts) > 1:
            second = self.rng.choice([one for one in facts if one.rstrip(STOPS) != first] or facts[:1])
            yield Said(first + JOINED[self.lang] + second, True, "true")

    def _withheld(self, text: str, home: Sequence[int]) -> Iterator[Group]:
        """A statement before what looks best once the sentences that support it are gone."""
        words = content(text)
        here = self._gathered(words, set(home))
        inside = [self.contents[at] for at in here]
        lost = covered(words, [self.contents[at] for at in home]) - covered(words, inside)
        if len(text) < SHORTEST[self.lang] or not here or lost < LEAST_LOST:
            return
        window = self._window(here)
        said = [Said(text, False, "removed", _new_parts(text, window, self.lang))]
        said += [Said(self._reworded(at), True, "true") for at in here[:2]]
        yield self._group(window, said)

    def _unsaid(self) -> Iterator[Group]:
        """Statements that people marked as unsupported, each before the window that looks best."""
        for text, parts in self.document.unsaid:
            window = self._window(self._gathered(content(text), set()))
            if not window:
                continue
            for said in (text, *(self.rewriter.reworded(text, self.rng) for _ in range(2))):
                found = [(said.find(part), part) for part in parts]
                wrong = tuple((at, at + len(part)) for at, part in found if at >= 0) or None
                yield self._group(window, [Said(said, False, "marked", wrong)])

    def _group(self, window: str, said: Sequence[Said]) -> Group:
        chosen = self.rng.sample(list(said), min(len(said), MOST_SAID))
        return Group(self.document.source, self.lang, window, tuple(chosen))


def groups(documents: Sequence[Document], rewriter: Rewriter, seed: int = 0) -> list[Group]:
    """All groups of documents of one language, in random order."""
    rng = random.Random(seed)
    made = [one for document in documents for one in _Maker(document, rewriter, rng).groups()]
    made = [replace(one, said=tuple(s for s in one.said if len(s.text) > 5)) for one in made]
    made = [one for one in made if one.said]
    rng.shuffle(made)
    return made


def sentence_lines(text: str) -> tuple[str, ...]:
    """The sentences of a passage as plain lines."""
    return tuple(" ".join(one.text.split()) for one in sentences(text))
