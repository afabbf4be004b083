"""What every guard reads of a text: its normalised form, its words, and those that carry what is asked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from dataclasses import dataclass
from functools import cache

from cache.reading.tables import read_table
from cache.reading.text import normalise
from languages.remembering import remembered
from languages.words import Word, simplified, word_reader

__all__ = [
    "REMEMBERED",
    "Text",
    "clauses",
    "content_word",
    "load_words",
    "overlap",
    "present",
    "read_text",
    "within",
]

_CLAUSE_END = re.compile(r"[,.;:!?](?=\s|$|[^\x00-\x7f])|(?<=[^\x00-\x7f])[,.;:!?/]|[、。・\n]")
REMEMBERED = 8_192  # texts; the phrasings of the entries that come up again and again


@dataclass(
    frozen=True, slots=True, eq=False
)  # one object per text: hashing its words would cost more than a guard
class Text:
    """A text as guards read it."""

    written: str  # NFKC, lower case; Chinese in simplified characters
    plain: str  # as `cache.reading.text.normalise` leaves it; Chinese in simplified characters
    words: tuple[Word, ...]  # with the case that the person wrote
    content: tuple[str, ...]  # the words that say what is asked, in their order; synonyms by their first
    language: str  # ISO 639-1

    def __len__(self) -> int:
        """Its characters."""
        return len(self.written)


@remembered(REMEMBERED)
def read_text(text: str, language: str) -> Text:
    """A text as guards read it.

    Raises:
        LookupError: if the language has no words here. Not checked is not passed.
    """
    written = unicodedata.normalize("NFKC", text)
    if language == "zh":
        written = simplified(written)
    words = word_reader()(written, language)
    content = tuple(thing for word in words if (thing := content_word(word, language)))
    plain = normalise(written if language == "zh" else text)
    return Text(written.casefold(), plain, words, content, language)


def clauses(text: Text) -> tuple[str, ...]:
    """The clauses of a text, each normalised as its `plain`; "1,000" and "2.5" are not cut."""
    parts = (normalise(part) for part in _CLAUSE_END.split(text.written))
    return tuple(part for part in parts if part)


def overlap(some: Text, others: Text, without: Set[str] = frozenset()) -> float:
    """How much two texts ask about the same: the share of content words in common (Dice), 0 to 1.

    Words in `without` do not count. Texts that have no others are about the same. A Japanese or Chinese word
    is also common if it stands within another one: 补卡要多少钱 is cut into 补卡要, 多少 and 钱.
    """
    one, other = set(some.content) - without, set(others.content) - without
    if not one and not other:
        return 1.0
    return (_shared(one, other) + _shared(other, one)) / (len(one) + len(other))


def _shared(some: Set[str], others: Set[str]) -> int:
    """How many words the others have, too."""
    return sum(word in others or any(within(word, other) for other in others) for word in some)


def within(some: str, other: str) -> bool:
    """Whether one of two Japanese or Chinese words stands within the other: 邮件, 发邮件."""
    short, long = sorted((some, other), key=len)
    return len(short) > 1 and not short.isascii() and short in long


def content_word(word: Word, language: str) -> str:
    """A word as it stands in `Text.content`; nothing if it says nothing about what is asked."""
    empty = _empty_words()[language]
    if word.kind == "mark" or word.base in empty or word.surface.casefold() in empty:
        return ""
    if language == "ja" and word.kind == "other":
        return ""
    return _synonyms()[language].get(word.base, word.base)


def present(base: str) -> str:
    """The base that an English verb has where its past has another one: came is come, paid is pay."""
    return _presents().get(base, base)


def load_words() -> None:
    """Load the dictionaries and tables that reading needs, so that no question has to wait for them."""
    for language in _synonyms():
        read_text("1", language)


@cache
def _presents() -> dict[str, str]:
    return {
        _base(past, "en"): _base(verb, "en")
        for verb, pasts in read_table("pasts.yaml", "cache.reading").items()
        for past in pasts
    }


@cache
def _empty_words() -> dict[str, frozenset[str]]:
    return {
        language: frozenset(words) for language, words in read_table("empty.yaml", "cache.reading").items()
    }


@cache
def _synonyms() -> dict[str, dict[str, str]]:
    """For every synonym the first of its row that is one word, by the bases that the reader gives."""
    first: dict[str, dict[str, str]] = {}
    for language, rows in read_table("synonyms.yaml", "cache.reading").items():
        for row in rows:
            bases = [base for word in row if (base := _base(word, language))]
            first.setdefault(language, {}).update(dict.fromkeys(bases, bases[0] if bases else ""))
    return first


def _base(term: str, language: str) -> str:
    """The base of a term that is one word; longer ones are left to the words they consist of."""
    found = word_reader()(term, language)
    return found[0].base if len(found) == 1 else ""
