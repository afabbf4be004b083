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

from classifiers.faithfulness.segmentation import sentences
from classifiers.faithfulness.windows import LONGEST_WINDOW, reach
from classifiers.faithfulness.wording import folded, rarity, terms
from training.rewording import Rewriter, Span, exchanged

__all__ = ["Document", "Group", "Said", "groups", "joined", "sentence_lines"]

LONGEST_SENTENCE: Final = {"en": 260, "ja": 110, "zh": 90}
SHORTEST: Final = {"en": 25, "ja": 12, "zh": 9}
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


def joined(lines: Sequence[str], lang: str) -> str:
    """Sentences as a passage."""
    return (" " if lang == "en" else "").join(lines)


def content(text: str) -> dict[str, float]:
    """The words of a text with their rarity."""
    return {term: rarity(term) for term in terms(folded(text)).content}


def covered(said: Mapping[str, float], lines: Sequence[Mapping[str, float]]) -> float:
    """How much of what is said stands in the lines."""
    known = set().union(*lines) if lines else set()
    return sum(weight for term, weight in said.items() if term in known) / (sum(said.values()) or 1.0)


def _best(said: Mapping[str, float], lines: Sequence[Mapping[str, float]], left_out: set[int]) -> int | None:
    scored = [(covered(said, [line]), -at) for at, line in enumerate(lines) if at not in left_out]
    return -max(scored)[1] if scored else None


def _new_parts(text: str, window: str) -> tuple[Span, ...] | None:
    """The words of a baseless statement that the window does not have; None if it has them all."""
    known = folded(window)
    found = tuple(
        (m.start(), m.end())
        for m in re.finditer(r"[A-Za-z]{4,}|\d[\d.,]*|[一-鿿ァ-ヺー]{2,}", text)
        if folded(m[0])[:6] not in known
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

    def windows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Parts of the document, each with what is truly said about it."""
        homes: dict[tuple[int, int], list[str]] = defaultdict(list)
        for text in self.document.said:
            best = _best(content(text), self.contents, set())
            if best is not None:
                homes[reach(self.lines, best, self.lang)].append(text)
        for (start, end), said in homes.items():
            for at in range(0, len(said), MOST_SAID // 2):
                yield start, end, said[at : at + MOST_SAID // 2]
        at = self.rng.choice((0, 0, 1)) if len(self.lines) > 3 else 0
        while at < len(self.lines):
            start, end = reach(self.lines, at, self.lang)
            yield start, end, []
            at = max(end, at + 1)

    def groups(self) -> Iterator[Group]:
        """The groups of every window and their twins."""
        for start, end, said in self.windows():
            own = [line for line in self.lines[start:end] if len(line) >= SHORTEST[self.lang]]
            facts = [self.rewriter.reworded(line, self.rng) for line in own[:4]]
            if said:
                kept = self.rng.sample(facts, min(1, len(facts)))
                facts = [self._natural(one) for one in said] + kept
            if facts:
                yield from self._about(start, end, facts, natural=bool(said))
        yield from self._unsaid()

    def _natural(self, text: str) -> str:
        return self.rewriter.reworded(text, self.rng) if self.rng.random() < 0.5 else text

    def _about(self, start: int, end: int, facts: list[str], *, natural: bool) -> Iterator[Group]:
        window = joined(self.lines[start:end], self.lang)
        mapping, kinds = self._mapping(facts, window)
        true, false = [], []
        for text in facts:
            changed, old, new = exchanged(text, mapping)
            kind = "+".join(sorted({kinds[text[a:b]] for a, b in old})) or "true"
            true.append((text, old, kind))
            if old:
                false.append((changed, new, kind))
        baseless = [self._baseless(start, end, window) for _ in range(max(2, len(facts) - len(false)))]
        half = self._half(start, end, window, facts)
        said = [Said(text, True, "true") for text, _, _ in true]
        said += [Said(text, False, kind, new) for text, new, kind in false]
        said += [one for one in (*baseless, *half) if one]
        yield self._group(window, said)
        if false:
            twin, _, _ = exchanged(window, mapping)
            yield self._group(twin, self._twin_said(true, false))
        if (natural or self.rng.random() < 0.2) and end - start >= 2:
            yield from self._without(start, end, facts)

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

    def _baseless(self, start: int, end: int, window: str) -> Said | None:
        """A sentence of the same document that looks most as if it stood here, or any other."""
        apart = [at for at in range(len(self.lines)) if not start - 1 <= at <= end]
        apart = [at for at in apart if len(self.lines[at]) >= SHORTEST[self.lang]]
        if not apart:
            return None
        tried = self.rng.sample(apart, min(len(apart), self.rng.choice((1, 4, 10))))
        inside = self.contents[start:end]
        at = max(tried, key=lambda one: covered(self.contents[one], inside))
        if covered(self.contents[at], inside) > 0.8:
            return None
        text = self.rewriter.reworded(self.lines[at], self.rng)
        return Said(text, False, "baseless", _new_parts(text, window))

    def _half(self, start: int, end: int, window: str, facts: Sequence[str]) -> Iterator[Said]:
        """Two statements in one: both from here, or one from elsewhere."""
        if self.rng.random() < 0.5 or not facts:
            return
        first = self.rng.choice(facts).rstrip(STOPS)
        elsewhere = self._baseless(start, end, window)
        if elsewhere and self.rng.random() < 0.55:
            at = len(first) + len(JOINED[self.lang])
            text = first + JOINED[self.lang] + elsewhere.text
            wrong = tuple((a + at, b + at) for a, b in elsewhere.wrong or ())
            yield Said(text, False, "half", wrong or None)
        elif len(facts) > 1:
            second = self.rng.choice([one for one in facts if one.rstrip(STOPS) != first] or facts[:1])
            yield Said(first + JOINED[self.lang] + second, True, "true")

    def _without(self, start: int, end: int, facts: Sequence[str]) -> Iterator[Group]:
        """The window after the sentence that supports a fact was taken out."""
        contents = [content(one) for one in facts]
        target = self.rng.randrange(len(facts))
        gone = max(range(start, end), key=lambda at: covered(contents[target], [self.contents[at]]))
        left = [at for at in range(max(0, start - 1), min(len(self.lines), end + 1)) if at != gone]
        window = joined([self.lines[at] for at in left], self.lang)[: LONGEST_WINDOW[self.lang] + 100]
        said = []
        for text, words in zip(facts, contents, strict=True):
            best = max(range(start, end), key=lambda at: covered(words, [self.contents[at]]))
            still = covered(words, [self.contents[at] for at in left])
            before = covered(words, self.contents[start:end])
            if best == gone and before - still > 0.25:
                said.append(Said(text, False, "removed", _new_parts(text, window)))
            elif best != gone and before - still < 0.02:
                said.append(Said(text, True, "true"))
        if any(not one.supported for one in said):
            yield self._group(window, said)

    def _unsaid(self) -> Iterator[Group]:
        """Statements that people marked as unsupported, each before the window that looks best."""
        for text, parts in self.document.unsaid:
            best = _best(content(text), self.contents, set())
            if best is None:
                continue
            window = joined(self.lines[slice(*reach(self.lines, best, self.lang))], self.lang)
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
