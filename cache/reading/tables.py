"""Words from the YAML files of a package, and where they stand in a text."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import chain
from typing import Any, NamedTuple, Self

import yaml

from cache.reading.text import is_cjk

__all__ = ["Found", "Terms", "read_table"]

# The tables are large, and PyYAML in pure Python takes half a second for them.
_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_GAP = "…"
_LONGEST_GAP = 3  # words: "turn the alarm off"
_TOKEN = re.compile(r"[a-z0-9][a-z0-9']*")
_CJK_RUN = re.compile(r"[0-9\u0250-\U0010ffff]+")  # with the digits of 4月入園


@cache  # several ask for some of them, and nobody changes what is given
def read_table(name: str, package: str) -> Any:
    """A table by its file name, as YAML gives it; whoever asked for it checks its form."""
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=_LOADER)  # noqa: S506 - both loaders are safe ones


class Found(NamedTuple):
    """A term that stands in a text."""

    start: int
    end: int
    word: str  # as it stands there
    meanings: frozenset[Any]  # of all terms spelt so; empty if it was listed only to be passed over


@dataclass(frozen=True, slots=True)
class Terms:
    """Finds the terms of a table, each as long as it can be, so that 非公開 is not read as 公開.

    Japanese and Chinese terms are found anywhere, others as whole words, in all their endings where
    `inflected`; `…` in a term stands for up to three words ("turn … off").
    """

    words: Mapping[str, tuple[tuple[tuple[str, ...], frozenset[Hashable]], ...]]  # by their first word
    runs: Mapping[str, tuple[tuple[str, frozenset[Hashable]], ...]]  # by their first character

    @classmethod
    def of(
        cls, meanings: Mapping[Any, Iterable[str | list[str]]], *, passed: Iterable[str] = (), inflected: bool
    ) -> Self:
        """The finder of terms, given by what they mean; terms in `passed` mean nothing.

        A list among the terms is one that several meanings share: an alias in the table.
        """
        known: dict[str, set[Hashable]] = {str(term): set() for term in passed}
        for meaning, terms in meanings.items():
            for term in chain.from_iterable(one if isinstance(one, list) else [one] for one in terms):
                known.setdefault(str(term), set()).add(meaning)
        words: dict[str, dict[tuple[str, ...], frozenset[Hashable]]] = {}
        runs: dict[str, list[tuple[str, frozenset[Hashable]]]] = {}
        for term, all_means in known.items():
            means = frozenset(all_means)
            if is_cjk(term):
                runs.setdefault(term[0], []).append((term, means))
                continue
            first, *others = term.split()
            rest = tuple(others)
            for form in _forms(first) if inflected else (first,):
                found = words.setdefault(form, {})
                found[rest] = found[rest] | means if rest in found else means
        return cls(
            {first: tuple(sorted(found.items(), key=_long_first)) for first, found in words.items()},
            {first: tuple(sorted(found, key=_long_first)) for first, found in runs.items()},
        )

    def find(self, plain: str) -> tuple[Found, ...]:
        """The terms in a normalised text; those that were passed over are left out."""
        found = [one for one in self._in_words(plain) if one.meanings]
        if self.runs and not plain.isascii():
            found += [one for one in self._in_runs(plain) if one.meanings]
        return tuple(found)

    def _in_words(self, plain: str) -> Iterator[Found]:
        tokens, spelt = _tokens(plain)
        at = 0
        while at < len(tokens):
            first = at
            at += 1
            for rest, means in self.words.get(spelt[first], ()):
                end = _end_of(rest, spelt, first + 1)
                if end is not None:
                    start, stop = tokens[first][0], tokens[end - 1][1]
                    yield Found(start, stop, plain[start:stop], means)
                    at = first + 1 if _GAP in rest else end
                    break

    def _in_runs(self, plain: str) -> Iterator[Found]:
        end = 0
        for run in _CJK_RUN.finditer(plain):
            for at in range(run.start(), run.end()):
                found = self._longest(plain, at) if at >= end else None
                if found is not None:
                    end = found.end
                    yield found

    def _longest(self, plain: str, at: int) -> Found | None:
        """The longest Japanese or Chinese term that begins at a place."""
        for term, means in self.runs.get(plain[at], ()):
            if plain.startswith(term, at):
                return Found(at, at + len(term), term, means)
        return None


@lru_cache(64)  # all guards read the same texts one after the other
def _tokens(plain: str) -> tuple[list[tuple[int, int]], list[str]]:
    """Where the Latin words of a text stand, and the words."""
    found = list(_TOKEN.finditer(plain))
    return [token.span() for token in found], [token.group() for token in found]


def _end_of(rest: tuple[str, ...], spelt: list[str], at: int) -> int | None:
    """Where a term ends whose first word stands before `at`; None if it does not stand there."""
    if _GAP in rest:
        before = rest.index(_GAP)
        last = rest[before + 1 :]
        if tuple(spelt[at : at + before]) != rest[:before]:
            return None
        at += before
        for gap in range(_LONGEST_GAP + 1):
            if tuple(spelt[at + gap : at + gap + len(last)]) == last:
                return at + gap + len(last)
        return None
    return at + len(rest) if tuple(spelt[at : at + len(rest)]) == rest else None


def _long_first(one: tuple[Any, Any]) -> int:
    return -len(one[0])


def _forms(word: str) -> set[str]:
    """An English word with its endings: a final e may go, a final consonant may double."""
    if not word.isascii() or not word.isalpha() or len(word) < 3:
        return {word}
    if word.endswith("e"):
        return {word, *(word[:-1] + ending for ending in ("es", "ed", "ing", "ement"))}
    if word.endswith("y"):
        return {word, *(word[:-1] + ending for ending in ("ys", "ies", "ied", "ying", "yed"))}
    doubled = word + word[-1]
    return {
        word,
        *(word + ending for ending in ("s", "es", "ed", "ing", "ment", "ly")),
        *(doubled + ending for ending in ("ed", "ing")),
    }
