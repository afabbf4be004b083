"""Whether a question names somebody else's product or company: what it asks of that is not ours.

A name that stands in nothing that the operator has shows it. It goes to a person, never further: our own
names may be missing from our documents. Not asked about are the asker, his place, his devices and his means.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from typing import Any, Protocol
from unicodedata import normalize

import yaml

from classifiers.gate import Gate, GateVerdict
from classifiers.gate.rules import EVERY_RULE, Rules
from encoders import Encoded
from languages.identification import Language
from languages.names import IN_KATAKANA, IN_LATIN, named
from languages.scripts import KATAKANA
from languages.words import Word, simplified, word_reader

__all__ = ["NamedGate", "Vocabulary", "asked_names", "stands_in"]

RULE = "name"
_NEVER = "(?!)"
_SHORT = 3  # letters; in capitals they are PDF, VAT or UK sooner than somebody's name
_SLIP = 0.85  # share of characters in common from which one spelling may be a slip of the other
_LATIN_WORD = re.compile(r"[a-z0-9][a-z0-9+&.-]*[a-z0-9+]")
_LONGEST = 200  # characters; a story names much by the way
_LOOKED_BACK = 24  # characters; longer than any word of the table
_LETS_IN = ("scope", "document", "entry")  # not what the operator said by word: examples, lists, the default


class Vocabulary(Protocol):
    """What the operator has written, and in which language a question is."""

    def language_of(self, text: str, /) -> Language: ...

    async def lacks(self, names: Sequence[str], question: Encoded, /, *, tenant: str) -> bool:
        """Whether none of these names stands in it; never where there are no documents.

        Raises:
            ClassifierError: if it cannot be searched.
        """
        ...


class NamedGate:
    """A gate that holds for a person what it would let through, but names what the operator never does."""

    def __init__(self, gate: Gate, vocabulary: Vocabulary, rules: Rules = EVERY_RULE) -> None:
        """`rules`: what the operator wants done with what is unsure."""
        self._gate = gate
        self._vocabulary = vocabulary
        self._rules = rules
        self._lets_in = _LETS_IN if rules.default in (None, "escalate") else ()

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """The gate's verdict, or unsure for the names in a question that it lets through."""
        verdict = await self._gate.judge(question, tenant=tenant, group=group)
        if verdict.label != "must" or verdict.rule not in self._lets_in:
            return verdict
        names = asked_names(question.text, self._vocabulary.language_of(question.text))
        if not names or not await self._vocabulary.lacks(names, question, tenant=tenant):
            return verdict
        reason = f"nothing of ours names {', '.join(names)}, though {verdict.reason}"
        held = replace(verdict, label="unsure", rule=RULE, reason=reason)
        if self._rules.in_shadow(held):
            return replace(verdict, shadow=(*verdict.shadow, held.as_shadow()))
        return held


def asked_names(text: str, language: Language) -> tuple[str, ...]:
    """The names of what a question may be about, in their order, as they stand in it."""
    written = normalize("NFKC", text).replace("’", "'")
    if language == "zh":
        written = simplified(written)
    aside = _aside()[language]
    if len(written) > _LONGEST or aside.anywhere.search(written):
        return ()
    found = [
        at for at in _found(written, language) if not _is_means(written[at]) and not aside.has(written, at)
    ]
    return tuple(dict.fromkeys(written[at].removesuffix("'s") for at in found))


def _found(text: str, language: Language) -> list[slice]:
    """Where names stand; what overlaps, or follows at once in English, is one name."""
    words = word_reader()(text, language)
    places = [*_of_words(text, words, language)]
    if language != "en":
        places += (slice(*one.span()) for one in _brands()[language].finditer(text))
    places.sort(key=lambda one: (one.start, -one.stop))
    joined = places[:1]
    for place in places[1:]:
        last = joined[-1]
        if last.stop > place.start or (language == "en" and text[last.stop : place.start] == " "):
            joined[-1] = slice(last.start, max(last.stop, place.stop))
        else:
            joined.append(place)
    return joined


def _of_words(text: str, words: Sequence[Word], language: Language) -> Iterator[slice]:
    names, end = set(named(words, language)), 0
    for number, word in enumerate(words):
        start = text.find(word.surface, end)  # a character may be simplified further in its word
        if start < 0:
            continue
        end = start + len(word.surface)
        known = language == "en" and word.surface.casefold().removesuffix("'s") in _table()["lower"]
        if known or (number in names and _may_be_foreign(word, language)):
            yield slice(start, end)


def _may_be_foreign(word: Word, language: Language) -> bool:
    """Not a person or a place; of Chinese names an organisation, for the dictionary calls 加油站 one, too."""
    if word.surface.isascii() and word.surface.isupper() and len(word.surface) <= _SHORT:
        return False
    if language == "en":
        return word.surface.split("'")[0] != "I"
    if IN_LATIN.fullmatch(word.surface):
        return True
    if language == "zh":
        return word.sort == "organisation"
    return word.sort == ("" if word.kind == "name" else "unlisted")


def _is_means(name: str) -> bool:
    return not _table()["means"].isdisjoint(part.removesuffix("'s") for part in name.casefold().split())


def stands_in(name: str, text: str, language: Language) -> bool:
    """Whether a text has a name, or one word of it, in whatever spelling.

    In Japanese a part will do: who writes of the バス has a バスパス, too.
    """
    written, wanted = _folded(text, language), _folded(name, language)
    if not wanted.isascii() and wanted in written:
        return True
    if language == "ja" and IN_KATAKANA.fullmatch(wanted):
        return any(run in wanted for run in IN_KATAKANA.findall(written))
    there = set(_LATIN_WORD.findall(written))
    return any(_has_spelling(there, part) for part in _LATIN_WORD.findall(wanted))


def _has_spelling(there: Collection[str], word: str) -> bool:
    if word in there:
        return True
    long = (one for one in there if min(len(one), len(word)) > _SHORT)
    return any(SequenceMatcher(None, word, one).ratio() >= _SLIP for one in long)


def _folded(text: str, language: Language) -> str:
    plain = normalize("NFKC", text).casefold()
    return simplified(plain) if language == "zh" else plain


@dataclass(frozen=True, slots=True)
class _Aside:
    """Where a name stands that is not asked about."""

    behind: re.Pattern[str]
    before: re.Pattern[str]
    anywhere: re.Pattern[str]

    @classmethod
    def of(cls, language: Language, row: Mapping[str, Sequence[str]]) -> _Aside:
        """By what stands in the table; in English these are whole words."""
        edge, gap = (r"\b", r"[^\w,]{0,3}") if language == "en" else ("", "")
        any_of = {where: f"{edge}(?:{'|'.join(row[where]) or _NEVER}){edge}" for where in row}
        start = r",\s|" if language == "en" else ""  # Thanks, Anna
        return cls(
            behind=re.compile(f"(?:{start}{any_of['behind']}{gap})$", re.IGNORECASE),
            before=re.compile(f"{gap}{any_of['before']}", re.IGNORECASE),
            anywhere=re.compile(any_of["anywhere"], re.IGNORECASE),
        )

    def has(self, text: str, place: slice) -> bool:
        """Whether what stands there is such a name."""
        before = text[max(0, place.start - _LOOKED_BACK) : place.start]
        return bool(self.behind.search(before) or self.before.match(text[place.stop :]))


@cache
def _aside() -> dict[Language, _Aside]:
    return {language: _Aside.of(language, row) for language, row in _table()["aside"].items()}


@cache
def _brands() -> dict[Language, re.Pattern[str]]:
    """In katakana and Latin letters a name is a word by itself, or begins one: イオン is not in ライオン."""
    return {
        language: re.compile(
            rf"(?<![{KATAKANA}A-Za-z0-9])(?:{'|'.join(map(re.escape, row.split()))})(?![A-Za-z])"
        )
        for language, row in _table()["brands"].items()
        if language != "en"
    }


@cache
def _table() -> Mapping[str, Any]:
    table = yaml.safe_load(files(__package__).joinpath("names.yaml").read_text(encoding="utf-8"))
    lower = frozenset(table["brands"]["en"].split())
    return {**table, "means": frozenset(table["means"].split()), "lower": lower}
