"""The words of a text: English by their stems, Japanese by Sudachi's dictionary, Chinese by jieba's."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import cache
from typing import Any, Literal, NamedTuple

from languages.remembering import remembered

__all__ = [
    "Kind",
    "Sort",
    "Word",
    "WordReader",
    "in_simplified_characters",
    "simplified",
    "word_reader",
]

Kind = Literal["noun", "name", "number", "verb", "adjective", "other", "mark"]
# What a dictionary says of a name; "unlisted" is what none has, of whatever kind it was guessed to be.
Sort = Literal["", "person", "place", "organisation", "unlisted"]

_ENGLISH = re.compile(r"[^\W_]+(?:['.+#_-]+[^\W_]+)*[+#]*|[^\w\s]")
_JAPANESE_KINDS: dict[str, Kind] = {
    "名詞": "noun",
    "代名詞": "other",
    "動詞": "verb",
    "形容詞": "adjective",
    "形状詞": "adjective",
    "接頭辞": "noun",
    "接尾辞": "noun",
    "補助記号": "mark",
    "記号": "mark",
    "空白": "mark",
}
_CHINESE_KINDS: dict[str, Kind] = {"n": "noun", "v": "verb", "a": "adjective", "m": "number", "x": "mark"}
_CHINESE_NAMES = frozenset({"nr", "ns", "nt", "nz", "nrt", "nrfg"})
_SORTS: dict[str, Sort] = {
    **dict.fromkeys(("人名", "nr", "nrt", "nrfg"), "person"),
    **dict.fromkeys(("地名", "ns"), "place"),
    "nt": "organisation",
}
_REMEMBERED = 16_384  # texts; the phrasings of the entries that come up again and again


class Word(NamedTuple):
    """A word as it stands in its text, and the form that its spellings and inflections share."""

    surface: str
    base: str  # 申込 is 申し込み, できる is 出来る, "cancelled" is "cancel", 帳號 is 帐号
    kind: Kind  # English has no dictionary here: its words are "noun" or "number"
    sort: Sort = ""  # of Japanese words and Chinese names


class WordReader:
    """Cuts texts into words and remembers them. Any thread may ask.

    Loading reads Sudachi's dictionary (about 20 ms) and jieba's (about 100 ms).
    """

    def __init__(self) -> None:
        import rjieba
        import Stemmer
        from sudachipy import Dictionary, SplitMode

        self._stemmer = Stemmer.Stemmer("english")
        self._sudachi = Dictionary(dict="small").tokenizer(mode=SplitMode.C)
        self._tag: Any = rjieba.tag
        self._one_at_a_time = threading.Lock()
        self._remembered = remembered(_REMEMBERED)(self._read)

    def __call__(self, text: str, language: str) -> tuple[Word, ...]:
        """The words of a text, as written or normalised, in their order; spaces are left out.

        Raises:
            LookupError: if the language is not English, Japanese or Chinese.
        """
        return self._remembered(text, language)

    def _read(self, text: str, language: str) -> tuple[Word, ...]:
        with self._one_at_a_time:  # neither the tokenizer nor the stemmer may be shared without it
            match language:
                case "en":
                    return tuple(map(self._english, _ENGLISH.findall(text)))
                case "ja":
                    return self._japanese(text)
                case "zh":
                    return self._chinese(text)
        raise LookupError(f"no words are known for the language {language!r}; known are en, ja and zh")

    def _english(self, surface: str) -> Word:
        word = surface.casefold()
        if not any(map(str.isalnum, word)):
            return Word(surface, word, "mark")
        kind: Kind = "number" if word[0].isdigit() else "noun"
        return Word(surface, self._stemmer.stemWord(word), kind)

    def _japanese(self, text: str) -> tuple[Word, ...]:
        read = []
        for found in self._sudachi.tokenize(text):
            surface, parts = found.surface(), found.part_of_speech()
            if surface.isspace():
                continue
            kind = _JAPANESE_KINDS.get(parts[0], "other")
            if parts[1] == "固有名詞":
                kind = "name"
            elif parts[1] == "数詞":
                kind = "number"
            base = unicodedata.normalize("NFKC", found.normalized_form()).casefold()
            sort: Sort = "unlisted" if found.is_oov() else _SORTS.get(parts[2], "")
            read.append(Word(surface, base, kind, sort))
        return tuple(read)

    def _chinese(self, text: str) -> tuple[Word, ...]:
        read = []
        for surface, tag in self._tag(simplified(text)):
            if surface.isspace():
                continue
            kind = "name" if tag in _CHINESE_NAMES else _CHINESE_KINDS.get(tag[:1], "other")
            if surface.isascii() and surface.isalnum():
                kind = "number" if surface[0].isdigit() else "noun"
            sort: Sort = ""
            if kind == "name":
                sort = _SORTS.get(tag, "") if len(self._tag(surface, False)) == 1 else "unlisted"
            read.append(Word(surface, surface.casefold(), kind, sort))
        return tuple(read)


@cache
def word_reader() -> WordReader:
    """The reader that everything in this process shares; made when it is first asked for."""
    return WordReader()


def simplified(text: str) -> str:
    """Chinese in simplified characters and the mainland's words: 軟體 is 软件; simplified text stays.

    Not part of an exact key: the stored ones were made without it.
    """
    plain = in_simplified_characters(text)
    return plain if plain == text else str(_converters()[1].convert(text))


def in_simplified_characters(text: str) -> str:
    """Chinese in simplified characters, one for each, so that every word stays in its place: 軟體 is 软体."""
    plain: str = _converters()[0].convert(text)
    return plain


@cache
def _converters() -> tuple[Any, Any]:
    from opencc import OpenCC

    return OpenCC("t2s"), OpenCC("tw2sp")
