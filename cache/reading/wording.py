"""Whether two questions ask for the same thing in other words. Japanese and Chinese only.

Each word of one is held beside its best partner in the other. Words agree if they are the same in another
spelling or inflection, if they stand in one group of wording.yaml, or as far as the thesaurus says. A trap
has a heavy word without a partner; a paraphrase has a partner for each.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from cache.reading.spelling import spelt
from cache.reading.tables import read_table
from cache.reading.text import is_cjk
from languages.remembering import remembered
from languages.words import Kind, Word, word_reader

__all__ = ["WORDED", "Term", "Wording", "agreement", "agreements", "left_over", "terms"]

WORDED: Final = ("ja", "zh")
"""The languages that have tables."""

Numbers = NDArray[np.float64]

_REMEMBERED = 16_384  # texts; the phrasings that come up again and again
_RAREST = 3.5  # Zipf frequency (log10 of occurrences in a thousand million words) from which a word weighs 1
_COMMONEST = 7.0
_LEAST_WEIGHT = 0.2
_LEAST_WEIGHTS: Final[Mapping[Kind, float]] = {"number": 0.8, "name": 0.8, "noun": 0.3}
_FACET = 0.8
_ONE_CHARACTER = 0.5  # of the weight: most are the ends of compounds (料, 場, 证)
_LONGEST_PHRASE = 5  # words
_LONGEST_WORD = 25  # characters, of the thesaurus
_LIMITS = ("まで", "から")  # いつまで is another question than いつ


@dataclass(frozen=True, slots=True)
class Wording:
    """How the words of two questions agree."""

    aligned: float  # 0 to 1: weight of the words with a partner; of the side that has less
    unaligned: float  # 0 to 1: weight of the heaviest word without a partner, on either side
    heaviest: str | None  # that word as it is written; None if all have partners


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a phrase of a text that asks for something."""

    surface: str
    weight: float
    keys: tuple[str, ...]  # what others may reach it by: its base, its groups, the words it is made of
    reach: Mapping[str, float]  # how far it agrees with what has such a key


def agreement(question: str, phrasing: str, language: str) -> Wording:
    """How the words of two texts agree.

    Raises:
        LookupError: if the language has no tables.
    """
    asked, stored = terms(question, language), terms(phrasing, language)
    if not asked or not stored:
        return Wording(float(asked == stored), float(asked != stored), None)
    there, gap, lone = _covered(asked, stored)
    here, other_gap, other_lone = _covered(stored, asked)
    if other_gap > gap:
        gap, lone = other_gap, other_lone
    return Wording(min(there, here), gap, lone)


def left_over(text: str, other: str, language: str) -> float:
    """The weight, 0 to 1, of the heaviest word of a text that has no partner in another.

    Raises:
        LookupError: if the language has no tables.
    """
    some, others = terms(text, language), terms(other, language)
    return _covered(some, others)[1] if some else 0.0


def agreements(questions: Sequence[str], phrasings: Sequence[str], language: str) -> tuple[Numbers, Numbers]:
    """`aligned` and `unaligned` of every question with every phrasing, shape (questions, phrasings) each."""
    asked = [terms(text, language) for text in questions]
    stored = [terms(text, language) for text in phrasings]
    forward, gaps = _table(asked, stored)
    backward, other_gaps = _table(stored, asked)
    return np.minimum(forward, backward.T), np.maximum(gaps, other_gaps.T)


def terms(text: str, language: str) -> tuple[Term, ...]:
    """What a text asks for; texts that were read before are remembered.

    Raises:
        LookupError: if the language has no tables.
    """
    return _terms(text, language)


@remembered(_REMEMBERED)
def _terms(text: str, language: str) -> tuple[Term, ...]:
    if language not in WORDED:
        raise LookupError(f"no wording is known for the language {language!r}; known are {', '.join(WORDED)}")
    return _lexicon(language).terms(spelt(text, language))


def _covered(some: Sequence[Term], others: Sequence[Term]) -> tuple[float, float, str | None]:
    """The share of some terms that the others cover, and the heaviest one left over."""
    total = reached = heaviest = 0.0
    lone = None
    keys = [key for other in others for key in other.keys]
    for term in some:
        reach = term.reach
        best = max([reach[key] for key in keys if key in reach], default=0.0)
        total += term.weight
        reached += term.weight * best
        if term.weight * (1 - best) > heaviest:
            heaviest, lone = term.weight * (1 - best), term.surface
    return reached / total, heaviest, lone


def _table(some: Sequence[Sequence[Term]], others: Sequence[Sequence[Term]]) -> tuple[Numbers, Numbers]:
    """`_covered` of every text with every other one."""
    distinct = {term.surface + "\0" + term.keys[0]: term for text in some for term in text}
    rows = {name: at for at, name in enumerate(distinct)}
    holders: dict[str, list[int]] = {}
    for at, text in enumerate(others):
        for key in {key for term in text for key in term.keys}:
            holders.setdefault(key, []).append(at)
    cover = np.zeros((len(distinct), len(others)))
    for row, term in enumerate(distinct.values()):
        for key, score in term.reach.items():
            if key in holders:
                cover[row, holders[key]] = np.maximum(cover[row, holders[key]], score)
    share, gap = np.zeros((len(some), len(others))), np.zeros((len(some), len(others)))
    wordless = np.array([not text for text in others])
    for at, text in enumerate(some):
        if not text:
            share[at], gap[at] = wordless, ~wordless
            continue
        own = cover[[rows[term.surface + "\0" + term.keys[0]] for term in text]]
        weight = np.array([term.weight for term in text])
        share[at] = weight @ own / weight.sum()
        gap[at] = (weight[:, None] * (1 - own)).max(axis=0)
    share[:, wordless] = share[:, wordless] * 0 + np.array([[not text] for text in some])
    gap[:, wordless] = np.array([[bool(text)] for text in some])
    return share, gap


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """The tables of one language."""

    language: str
    unweighted: frozenset[str]
    groups: Mapping[tuple[str, ...], tuple[str, ...]]  # phrase, as base forms: names of its groups
    facets: frozenset[tuple[str, ...]]  # phrases that say what is wanted to be known
    frequencies: Mapping[str, float]
    synonyms: Mapping[str, Mapping[str, float]]

    @classmethod
    def load(cls, language: str) -> Self:
        table = read_table("wording.yaml", "cache.reading")[language]
        frequencies, synonyms = {}, {}
        packed = resources.files("cache.reading").joinpath("thesaurus", f"{language}.tsv.gz").read_bytes()
        for line in gzip.decompress(packed).decode().splitlines():
            word, frequency, near = line.split("\t")
            frequencies[word] = float(frequency)
            synonyms[word] = {
                other: float(score) for other, score in (one.split(":") for one in near.split())
            }
        unweighted = {word.base for text in table["unweighted"] for word in word_reader()(text, language)}
        asking = (word_reader()(str(phrase), language) for facet in table["facets"] for phrase in facet)
        single: dict[tuple[str, ...], tuple[str, ...]] = {
            (words[0].base,): () for words in asking if len(words) == 1
        }
        bare = cls(language, frozenset(unweighted), single, frozenset(), frequencies, synonyms)
        facets = bare._named(table["facets"], "?")
        groups = bare._named(table["groups"], "#")
        both = {phrase: (*facets.get(phrase, ()), *groups.get(phrase, ())) for phrase in facets | groups}
        return cls(language, bare.unweighted, both, frozenset(facets), frequencies, synonyms)

    def _named(self, groups: Sequence[Sequence[Any]], mark: str) -> dict[tuple[str, ...], tuple[str, ...]]:
        named: dict[tuple[str, ...], tuple[str, ...]] = {}
        for number, group in enumerate(groups):
            for phrase in group:
                bases = tuple(word.base for word in self._content(spelt(str(phrase), self.language)))
                if bases:
                    named[bases] = (*named.get(bases, ()), f"{mark}{number}")
        return named

    def _content(self, text: str) -> list[Word]:
        """The words of a text, without marks and the particles of Japanese."""
        words = word_reader()(text, self.language)
        if self.language == "zh":
            words = tuple(part for word in words for part in self._cut(word))
        return [word for word in words if word.kind != "mark" and self._stands_alone(word)]

    def _stands_alone(self, word: Word) -> bool:
        """Whether a word says something by itself: no particle or auxiliary, but いつ and どこ."""
        return (
            self.language != "ja"
            or word.kind != "other"
            or word.base in _LIMITS
            or (word.base,) in self.groups
        )

    def terms(self, text: str) -> tuple[Term, ...]:
        """What is asked for, phrases of the groups first."""
        content, found, at = self._content(text), [], 0
        while at < len(content):
            longest = min(_LONGEST_PHRASE, len(content) - at)
            phrases = (content[at : at + length] for length in range(longest, 1, -1))
            known = (part for part in phrases if tuple(word.base for word in part) in self.groups)
            part = next(known, content[at : at + 1])
            found += self._term(part)
            at += len(part)
        return tuple(found)

    def _cut(self, word: Word) -> list[Word]:
        """The known words that a word is made of, if it is none itself: 养狗要 is 养, 狗, 要."""
        text, parts, at = word.base, [], 0
        if word.kind == "number" or text in self.frequencies or (text,) in self.groups or not is_cjk(text):
            return [word]
        while at < len(text):
            ends = range(min(at + _LONGEST_WORD, len(text)), at, -1)
            end = next((end for end in ends if text[at:end] in self.frequencies), at + 1)
            parts.append(Word(text[at:end], text[at:end], word.kind))
            at = end
        return parts

    def _term(self, part: Sequence[Word]) -> list[Term]:
        bases = tuple(word.base for word in part)
        groups = self.groups.get(bases, ())
        if not groups and self._says_nothing(bases[0]):
            return []
        reach = {base: 1 / len(bases) for base in bases}
        for base in bases if len(bases) == 1 else ():
            reach.update(self.synonyms.get(base, {}))
        reach.update(dict.fromkeys((*groups, "+".join(bases)), 1.0))
        surface = "".join(word.surface for word in part)
        weight = _FACET if bases in self.facets else max(self._weight(word) for word in part)
        keys = tuple(dict.fromkeys(("+".join(bases), *groups, *bases)))
        return [Term(surface, weight, keys, reach)]

    def _says_nothing(self, base: str) -> bool:
        """Whether a word is only politeness, or in Chinese made of nothing else: 我要."""
        return base in self.unweighted or (self.language == "zh" and self.unweighted.issuperset(base))

    def _weight(self, word: Word) -> float:
        frequency = self.frequencies.get(word.base, _RAREST)
        weight = min((_COMMONEST - frequency) / (_COMMONEST - _RAREST), 1.0)
        if len(word.base) == 1 and not word.base.isdigit():
            weight *= _ONE_CHARACTER
        return max(weight, _LEAST_WEIGHTS.get(word.kind, _LEAST_WEIGHT))


@cache
def _lexicon(language: str) -> _Lexicon:
    """The tables of a language, read when they are first needed."""
    return _Lexicon.load(language)
