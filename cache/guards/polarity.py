"""One text says it, the other says it not: "can I", "can I not"; できますか, できません; 能, 不能."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Any, Self

from cache.guards import Compared
from cache.reading.tables import Found, Terms, read_table
from cache.reading.words import REMEMBERED, Text, clauses, content_word, overlap, present, read_text
from languages.remembering import remembered
from languages.words import Word, word_reader

__all__ = ["PolarityGuard", "is_negated"]

_ABOUT_THE_SAME = 0.4  # share of content in common from which a denied word can be the difference
_SAME_BUT_FOR_IT = 0.85  # from which a negation is the difference, whatever word it denies
_DENIED_ELSEWHERE = 0.6  # from which another denied word is the difference
_ASKING = re.compile(r"[不没]\W*$")  # 能用不？ only asks
_AGAIN = "再"  # 不想再用: read as one word
_BEHIND = 12  # characters after a Chinese negation that may hold what it denies


@dataclass(frozen=True, slots=True)
class _Reading:
    negations: tuple[str, ...]
    denied: frozenset[str]  # what they deny, as `_root` gives it
    troubled: bool  # "failed" and "wrong" deny, too, but nobody can say what
    beside: frozenset[str] = frozenset()  # what the clauses with a negation say


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of one language that turn a question round."""

    terms: Terms
    skipped: frozenset[str]  # between a negation and what it denies

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        meanings = {kind: table[kind] for kind in ("before", "after", "troubled")}
        return cls(Terms.of(meanings, passed=table["neutral"], inflected=False), frozenset(table["skipped"]))

    def read(self, plain: str, language: str) -> _Reading:
        """What a clause denies; a negation never reaches into the next one: 东西不想要了，想退货."""
        found = self.terms.find(plain)
        negations = [one for one in found if "troubled" not in one.meanings]
        denied = (self._denied(one, plain, language) for one in negations)
        return _Reading(
            tuple(one.word for one in negations),
            frozenset(word for word in denied if word),
            len(negations) < len(found),
        )

    def _denied(self, negation: Found, plain: str, language: str) -> str:
        """What a negation denies: the word before it in Japanese, mostly the one after it elsewhere."""
        if "after" in negation.meanings:
            words = _before(negation, plain, language)
        else:
            words = word_reader()(plain[negation.end :], language)
        for word in words[:_BEHIND]:
            said = {word.base, word.surface, present(word.base), word.base.removeprefix(_AGAIN)}
            passed_over = word.kind in ("mark", "number") or said & self.skipped
            if not passed_over and (language != "ja" or word.kind != "other"):
                return _root(word)
        return ""


def _before(negation: Found, plain: str, language: str) -> tuple[Word, ...]:
    """The words before a negation, the last one first; read together, for つか alone is no verb."""
    words = word_reader()(plain[: negation.end], language)[::-1]
    ends = accumulate(len(word.surface) for word in words)
    return words[next((at for at, end in enumerate(ends, 1) if end >= len(negation.word)), 0) :]


def _root(word: Word) -> str:
    """What 使う, 使える and 使用 share, and "came" and "come"; in other words their base."""
    if word.base.isascii():
        return present(word.base)
    first = word.base[:1]
    done = word.base[1:] in ("过", "了")  # 做过 is one word
    return first if (done or word.kind == "verb") and "\u4e00" <= first <= "\u9fff" else word.base


@cache
def _tables() -> dict[str, _Words]:
    return {
        language: _Words.of(table) for language, table in read_table("polarity.yaml", "cache.guards").items()
    }


@remembered(REMEMBERED)
def _read(text: Text) -> _Reading:
    own = _in_clauses(text, text.language)
    return own if own.negations or own.troubled or text.language == "en" else _in_clauses(text, "en")


def _in_clauses(text: Text, language: str) -> _Reading:
    read = [
        _tables()[language].read(_ASKING.sub("", clause) if language == "zh" else clause, language)
        for clause in clauses(text)
    ]
    denying = (clause for clause, one in zip(clauses(text), read, strict=True) if one.negations)
    return _Reading(
        tuple(word for one in read for word in one.negations),
        frozenset[str]().union(*(one.denied for one in read)),
        any(one.troubled for one in read),
        frozenset[str]().union(*(read_text(part, text.language).content for part in denying)),
    )


def is_negated(text: Text) -> bool:
    """Whether a text denies something.

    Raises:
        LookupError: if the language has no words here.
    """
    return bool(_read(text).negations)


@dataclass(frozen=True, slots=True)
class PolarityGuard:
    """Vetoes an entry when question and entry differ in what they deny."""

    read: Callable[[Text], _Reading] = _read
    name: str = "polarity"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped words for English, Japanese and Chinese."""
        _tables()
        return cls()

    def veto(self, compared: Compared, /) -> str | None:
        """What is denied by one side only, where all phrasings agree among themselves."""
        asked, nearest = compared.asked, compared.nearest
        here, there = self.read(asked), self.read(nearest)
        if here.negations and there.negations:
            return self._other_word(compared, here)
        if not here.negations and not there.negations:
            return None
        differs = (
            _differs(here, asked, nearest, there) if here.negations else _differs(there, nearest, asked, here)
        )
        if not differs or any(_agrees(here, self.read(text), text) for text in compared.stored):
            return None
        if here.negations:
            return f"the question is negated (“{here.negations[0]}”), the entry is not"
        return f"the entry is negated (“{there.negations[0]}”), the question is not"

    def _other_word(self, compared: Compared, here: _Reading) -> str | None:
        """What one denies and the other says, where both deny something: 集めない日, 燃えないごみの日."""
        asked = compared.asked
        if all(_crossed(here, asked, self.read(text), text) for text in compared.stored):
            return "question and entry are both negated, but deny different words"
        return None


def _agrees(here: _Reading, there: _Reading, stored: Text) -> bool:
    """Whether a phrasing denies as a question does: nothing, or more than another word beside that.

    "I want to cancel an order that has not shipped" says that one cancels, as "I can't cancel" denies.
    """
    if not here.negations or not there.negations:
        return bool(here.negations) == bool(there.negations)
    return not here.denied or bool(here.denied & there.denied) or not here.denied <= _told(stored)


def _crossed(here: _Reading, asked: Text, there: _Reading, stored: Text) -> bool:
    """Whether of two denying texts each says what the other denies, or one denies a word more.

    One direction is not enough: "it doesn't print" and "printing does not work" are one trouble.
    """
    if not here.denied or not there.denied:
        return False
    denied = frozenset(filter(str.isascii, here.denied | there.denied))  # 送 is in too many other words
    if overlap(_by_roots(asked, denied), _by_roots(stored, denied)) < _DENIED_ELSEWHERE:
        return False
    mine, theirs = here.denied - there.denied, there.denied - here.denied
    if any(one in other or other in one for one in mine for other in theirs):  # 打印, 打不出来
        return False
    return bool(mine | theirs) and mine <= _roots(stored) and theirs <= _roots(asked)


def _differs(denying: _Reading, negated: Text, other: Text, saying: _Reading) -> bool:
    """Whether the other text says what the negated one denies, in whatever form: 燃えない, 燃やす."""
    if saying.troubled:
        return False
    said = denying.denied & _roots(other)
    alike = overlap(_by_roots(negated, said), _by_roots(other, said))
    enough = len(set(negated.content) & set(other.content)) > 1 and denying.beside & {*other.content}
    return (bool(said) and alike >= _ABOUT_THE_SAME) or (bool(enough) and alike >= _SAME_BUT_FOR_IT)


def _roots(text: Text) -> frozenset[str]:
    return frozenset(_root(word) for word in text.words)


def _told(text: Text) -> frozenset[str]:
    """The roots of the words that say what is asked; できない would deny 出来る in every text."""
    return frozenset(_root(word) for word in text.words if content_word(word, text.language))


def _by_roots(text: Text, roots: frozenset[str]) -> Text:
    """The text with its words of these roots in one form."""
    form = {content_word(word, text.language): root for word in text.words if (root := _root(word)) in roots}
    return replace(text, content=tuple(form.get(word, word) for word in text.content))
