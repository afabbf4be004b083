"""The operator's own lists: what is never, or always, ours, whatever the models say.

A question is compared whole, by its words and by patterns, always in its normalised form (NFKC, lower case,
no invisible characters). Patterns are RE2's: their time is linear, so no question can make one run for long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import re2

from classifiers.text import has_words, mostly_cjk, normalise, only_words

__all__ = ["Cut", "Form", "Found", "List", "Listed", "Lists", "compiled", "listable"]

Form = Literal["text", "word", "pattern"]
# The words of a normalised text in their order, each as it stands and in the form its inflections share.
Cut = Callable[[str], Sequence[tuple[str, str]]]

_APART = "\x1f"
_LONGEST_PHRASE = 8  # words


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One item of a list: what it looks for and what is said where it is found."""

    rule: str  # "deny:weapons", or by its place: "deny:2"
    texts: tuple[str, ...] = ()  # a whole question
    words: tuple[str, ...] = ()  # a word, or several in a row
    patterns: tuple[str, ...] = ()
    topic: str | None = None
    over_forbidden: bool = False  # of an allow list: stronger than what looks forbidden
    shadow: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """An item of a list that a question has, and by what."""

    item: Listed
    form: Form
    value: str

    @property
    def says(self) -> str:
        """For the reviewer."""
        return f"{self.item.rule} lists the {self.form} “{self.value}”"


class List:
    """Items in their order; of several that a question has, all are found, the first of the list first."""

    def __init__(self, items: Sequence[Listed], cut: Cut) -> None:
        """Compile the items.

        Raises:
            ValueError: if a pattern can't be compiled, or an item holds no letter and no digit.
        """
        self.items = tuple(items)
        self._cut = cut
        self._texts: dict[str, list[tuple[int, str]]] = {}
        self._words: dict[str, list[tuple[int, str]]] = {}
        self._patterns = [
            (place, pattern, compiled(pattern))
            for place, item in enumerate(items)
            for pattern in item.patterns
        ]
        for place, item in enumerate(items):
            for text in item.texts:
                self._texts.setdefault(only_words(listable(text)), []).append((place, text))
            for word in item.words:
                for key in set(self._keys(cut(listable(word)))):
                    self._words.setdefault(key, []).append((place, word))

    def found(self, normalised: str) -> list[Found]:
        """Every item that a normalised question has, each once."""
        by_place: dict[int, Found] = {}
        for place, form, value in self._hits(normalised):
            by_place.setdefault(place, Found(self.items[place], form, value))
        return [by_place[place] for place in sorted(by_place)]

    def _hits(self, normalised: str) -> Iterator[tuple[int, Form, str]]:
        for place, value in self._texts.get(only_words(normalised), ()):
            yield place, "text", value
        if self._words:
            for key in _phrases(self._cut(normalised)):
                for place, value in self._words.get(key, ()):
                    yield place, "word", value
        if self._patterns:
            encoded = normalised.encode("utf-8", "replace")  # half of a surrogate pair has no UTF-8
            for place, value, expression in self._patterns:
                hit = (expression.fullmatch if self.items[place].over_forbidden else expression.search)(
                    encoded
                )
                if hit:
                    yield place, "pattern", value

    @staticmethod
    def _keys(words: Sequence[tuple[str, str]]) -> tuple[str, str]:
        return _joined(surface for surface, _ in words), _APART.join(base for _, base in words)


@dataclass(frozen=True, slots=True)
class Lists:
    """Both lists."""

    deny: List
    allow: List

    @classmethod
    def of(cls, deny: Sequence[Listed], allow: Sequence[Listed], cut: Cut) -> Lists:
        """Compile both.

        Raises:
            ValueError: as `List` does.
        """
        return cls(List(deny, cut), List(allow, cut))


def compiled(pattern: str) -> Any:
    """The pattern, ready to search in normalised texts in UTF-8.

    Raises:
        ValueError: saying what is wrong with it.
    """
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    try:
        expression = re2.compile(pattern, options)
    except re2.error as exc:
        told = exc.args[0].decode("utf-8", "replace") if exc.args else "unreadable"
        raise ValueError(
            f"expected a pattern in RE2's syntax (no look-around, no back-reference): {told}"
        ) from exc
    if expression.search(b"") is not None:
        raise ValueError("expected a pattern that needs something to match; this one matches the empty text")
    return expression


def listable(text: str) -> str:
    """A text or word of a list in the form in which it is compared.

    Raises:
        ValueError: if nothing is left to compare.
    """
    normalised = normalise(text)
    if not has_words(normalised):
        raise ValueError("expected a letter or a digit to look for")
    return normalised


def _phrases(words: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What a listed word may be equal to: every run of words, as written and in base forms."""
    for start in range(len(words)):
        for stop in range(start + 1, min(start + _LONGEST_PHRASE, len(words)) + 1):
            run = words[start:stop]
            yield _joined(surface for surface, _ in run)
            yield _APART.join(base for _, base in run)


def _joined(surfaces: Iterable[str]) -> str:
    """As the words stand in a text: spaces only where the script has them, however a run was cut."""
    text = ""
    for surface in surfaces:
        spaced = text and not mostly_cjk(text[-1]) and not mostly_cjk(surface[0])
        text += f" {surface}" if spaced else surface
    return text
