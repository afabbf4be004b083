"""What one wants to know of a thing: its fee is no answer to who asks for its deadline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple, Self

from cache.guards import Compared, about_any, quoted
from cache.reading.tables import Found, Terms, read_table
from cache.reading.words import REMEMBERED, overlap, read_text
from languages.remembering import remembered

__all__ = ["AspectsGuard"]

_LASTS = "lasts"
_UNTIL = frozenset({"deadline", "when", "duration"})  # one thing of what runs out
_HOW = "how"  # the way to something, of which its fee and its deadline are parts
_NO_ASPECTS = frozenset({"there", _LASTS, "passed"})  # rows of the table that help to read the others
_TOPIC = "は"
_ABOUT_THE_SAME = 0.3  # share of other content in common from which aspects are compared


class _Asked(NamedTuple):
    aspects: frozenset[str]
    words: tuple[str, ...]  # that say so


@dataclass(frozen=True, slots=True)
class AspectsGuard:
    """Vetoes an entry that tells another aspect of the same thing.

    A text may ask for several, and then agrees with each; one that names none agrees with all. An entry
    whose phrasings ask for three is about the whole matter: it answers who asks how, and nothing else
    that no phrasing asks for.
    """

    languages: Mapping[str, Callable[[str], _Asked]]
    name: str = "aspects"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped table."""
        table = read_table("aspects.yaml", "cache.guards")
        return cls(
            {
                language: remembered(REMEMBERED)(partial(_read, _terms(own), _lasting(own)))
                for language, own in table.items()
            }
        )

    def veto(self, compared: Compared, /) -> str | None:
        """The words that ask for different aspects."""
        read = self.languages[compared.language]
        asked, nearest = compared.asked, compared.nearest
        here, there = read(asked.plain), read(nearest.plain)
        if not here.aspects or not there.aspects or here.aspects & there.aspects:
            return None
        said = (base for word in here.words + there.words for base in read_text(word, asked.language).content)
        if overlap(asked, nearest, frozenset(said)) < _ABOUT_THE_SAME:
            return None
        stored = [read(text.plain).aspects for text in compared.stored]
        if any(here.aspects & one for one in stored) or (_HOW in here.aspects and about_any(stored)):
            return None
        return f"the question asks {quoted(here.words)}, the entry {quoted(there.words)}"


def _terms(table: Mapping[str, Any]) -> Terms:
    meanings: dict[tuple[str, str], list[str]] = {}
    for aspect, rows in table.items():
        for strength, words in rows.items() if aspect not in _NO_ASPECTS else ():
            meanings[strength, aspect] = words
    there = [place + act for place, act in product(*table["there"].values())] if "there" in table else []
    for aspect in ("where", _HOW) if there else ():
        meanings["asked", aspect] = [*meanings["asked", aspect], *there]
    return Terms.of(meanings, passed=table["passed"], inflected=False)


def _lasting(table: Mapping[str, Any]) -> Terms:
    return Terms.of({_LASTS: table[_LASTS]}, passed=table["passed"], inflected=False)


def _is_topic(one: Found, later: Sequence[Found]) -> bool:
    """Whether a Japanese term is only what is spoken of: 料金はどうやって払えますか asks for no price."""
    return one.word.endswith(_TOPIC) and any(_aspects(one).isdisjoint(_aspects(other)) for other in later)


def _aspects(one: Found) -> set[str]:
    return {aspect for _, aspect in one.meanings}


def _read(terms: Terms, lasting: Terms, plain: str) -> _Asked:
    """What a text asks for; a fee that is only named is no aspect where the question asks for another."""
    found = terms.find(plain)
    for strength in ("asked", "named"):
        telling = [one for one in found if any(how == strength for how, _ in one.meanings)]
        telling = [one for at, one in enumerate(telling) if not _is_topic(one, telling[at + 1 :])]
        if telling:
            aspects = frozenset[str]().union(*map(_aspects, telling))
            if strength == "asked" and aspects & _UNTIL and (lasts := lasting.find(plain)):
                aspects |= {_LASTS}
                telling += lasts
            return _Asked(aspects, tuple(one.word for one in telling))
    return _Asked(frozenset(), ())
