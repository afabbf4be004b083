"""Words of English and characters of Japanese and Chinese, as one sequence of units that can be compared."""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import fsum
from sys import intern
from typing import Any

from languages.scripts import EAST_ASIAN, HAN, HIRAGANA, KATAKANA
from languages.spelling import one_spelling

__all__ = [
    "IN_HIRAGANA",
    "Lexicon",
    "Terms",
    "content_runs",
    "folded",
    "is_cjk",
    "lexicon",
    "names",
    "rarity",
    "stem",
    "terms",
    "units",
    "weight",
]

FIRST = "々"  # of East Asian characters; no letter of another script that is read here lies beyond
WORD = rf"\d+(?:[.,]\d+)*|[^\W\d_{EAST_ASIAN}]+(?:['’][a-z]+)?"
UNIT = re.compile(rf"[{EAST_ASIAN}]|{WORD}")
UNITS = re.compile(rf"([{EAST_ASIAN}]+)|{WORD}")
RUN = re.compile(f"[{HAN}]{{2,}}|[{KATAKANA}]{{2,}}")
KANA = frozenset(chr(code) for code in (*range(ord("ぁ"), ord("ゖ") + 1), ord("ー")))
LATIN_NAME = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z][A-Za-z0-9'’&-]*|[a-z]+[A-Z0-9][A-Za-z0-9-]*)")
DATE = re.compile(
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]*|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
)
EDGE = re.compile(r"(?:^|[:;\n•*\"“(]\s*|\s[-–]\s)$")
SHORTEST_STEM = 3
LONGEST_WORD = 40  # letters; more is data, and compared as it is
EDGE_REACH = 8
IN_HIRAGANA = re.compile(f"[{HIRAGANA}]")
RAREST = 1.0
MIXED_PAIR = 0.6  # a kanji with its kana ending says less than two kanji


@dataclass(frozen=True, slots=True)
class Terms:
    """What a text says, as far as it can be counted."""

    units: tuple[str, ...]  # stems and CJK characters, in order
    content: tuple[str, ...]  # stems and CJK pairs that carry meaning
    light: tuple[str, ...]  # function words and pairs of kana


Ground = tuple[re.Pattern[str], re.Pattern[str]]  # what a statement may add, and what says as much


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The word lists of the three languages."""

    function: frozenset[str]
    negations: dict[str, re.Pattern[str]]  # Japanese and Chinese; English ones are words
    not_negations: re.Pattern[str]
    opposites: tuple[tuple[frozenset[str], frozenset[str]], ...]
    universals: dict[str, tuple[Ground, ...]]  # what its evidence has to say as well
    groundless: dict[str, tuple[Ground, ...]]  # what some context has to say as well
    degrees: dict[str, tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]]  # strong, weak


def folded(text: str) -> str:
    """NFKC, one spelling, lower case, one kind of apostrophe: what is compared."""
    return one_spelling(text).lower().replace("’", "'")


def is_cjk(unit: str) -> bool:
    """Whether a unit is a Japanese or Chinese character."""
    return unit[0] >= FIRST and not unit[0].isascii()


def units(text: str) -> tuple[str, ...]:
    """Stems of words and single CJK characters of a folded text, in order."""
    return tuple(stem(unit) if unit[0] < FIRST else unit for unit in UNIT.findall(text))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A rough stem: "applies", "applied", "apply" and "application" need to meet, nothing more."""
    word = word.removesuffix("'s").replace("'", "")
    if regular := _forms()["irregular"].get(word):
        return regular
    if not SHORTEST_STEM < len(word) <= LONGEST_WORD or not word.isalpha() or word.endswith("ss"):
        return word
    for ending, instead in _forms()["endings"].items():
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            word = word.removesuffix(ending) + instead
            break
    if len(word) > SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > SHORTEST_STEM else word


def terms(text: str) -> Terms:
    """The units of a folded text and what among them carries meaning."""
    only_words = text.isascii() or max(text) < FIRST
    return _words(text) if only_words else _words_and_characters(text)


def _words(text: str) -> Terms:
    sequence = tuple(map(stem, UNIT.findall(text)))
    function = lexicon().function
    content: list[str] = []
    light: list[str] = []
    for unit in sequence:  # numbers are compared by value, with their units, elsewhere
        (light if unit in function or unit[0].isdigit() else content).append(unit)
    return Terms(sequence, tuple(content), tuple(light))


def _words_and_characters(text: str) -> Terms:
    sequence: list[str] = []
    content: list[str] = []
    light: list[str] = []
    function = lexicon().function
    last, end = "", 0  # the character before, and where it ends
    for match in UNITS.finditer(text):
        run = match[0]
        if run[0] < FIRST:
            unit = stem(run)
            sequence.append(unit)
            (light if unit in function or unit[0].isdigit() else content).append(unit)
            last = ""
            continue
        characters = [*map(intern, run)] if match.lastindex else [run]
        sequence += characters
        joined = [last, *characters] if last and match.start() == end else characters
        for one, other in itertools.pairwise(joined):
            (light if one in KANA and other in KANA else content).append(intern(one + other))
        last, end = characters[-1], match.end()
    return Terms(tuple(sequence), tuple(content), tuple(light))


def names(text: str) -> tuple[str, ...]:
    """Latin words of a statement written as names, but for its first word, which is capitalised anyway."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    found = []
    for match in LATIN_NAME.finditer(plain):
        name = match[0].rstrip("'-")
        before = plain[: match.start()]
        starts = bool(EDGE.search(before if len(before) <= EDGE_REACH else "x" + before[-EDGE_REACH:]))
        written_so = any(c.isupper() or c.isdigit() for c in name[1:])
        if DATE.fullmatch(name):  # compared as a number
            continue
        if len(name) > 1 and stem(name.lower()) not in lexicon().function and (written_so or not starts):
            found.append(name)
    return tuple(found)


def content_runs(text: str) -> tuple[str, ...]:
    """Runs of at least two kanji or katakana: the words of a folded Japanese or Chinese text."""
    return tuple(RUN.findall(text))


@cache
def lexicon() -> Lexicon:
    """The lists of wording.json, read once."""
    data = _data()
    return Lexicon(
        function=frozenset(stem(word) for word in data["function_words"].split()),
        negations={language: _any_of(data[f"negations_{language}"]) for language in ("ja", "zh")},
        not_negations=_any_of(data["not_negations"]),
        opposites=tuple((_side(one), _side(other)) for one, other in data["opposites"]),
        universals={language: tuple(map(_ground, pairs)) for language, pairs in data["universals"].items()},
        groundless={language: tuple(map(_ground, pairs)) for language, pairs in data["groundless"].items()},
        degrees={
            language: tuple((re.compile(strong), re.compile(weak)) for strong, weak in pairs)
            for language, pairs in data["degrees"].items()
        },
    )


@cache
def _data() -> Mapping[str, Any]:
    return dict(json.loads(files(__package__).joinpath("wording.json").read_text(encoding="utf-8")))


@cache
def _forms() -> dict[str, dict[str, str]]:
    """Irregular forms, and endings with what takes their place, the first that fits."""
    pairs = {name: (pair.split(":") for pair in _data()[name].split()) for name in ("irregular", "endings")}
    return {name: dict(found) for name, found in pairs.items()}


def _ground(pair: Sequence[str]) -> Ground:
    claim, as_much = pair
    return re.compile(claim), re.compile(f"{claim}|{as_much}")


def _side(alternatives: str) -> frozenset[str]:
    words: Sequence[str] = alternatives.split("|")
    return frozenset(word if is_cjk(word) else stem(word) for word in words)


def _any_of(words: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))


def rarity(term: str) -> float:
    """How much a term says, 0.1 to 1: by the share of documents without it (English), or by its script."""
    if is_cjk(term) and IN_HIRAGANA.search(term):
        return min(MIXED_PAIR, _common().get(term, RAREST))
    return _common().get(term, RAREST)


def weight(terms: Iterable[str]) -> float:
    """How much some terms say together, in whatever order they come."""
    return fsum(map(rarity, terms))


@cache
def _common() -> dict[str, float]:
    data = json.loads(files(__package__).joinpath("common_words.json").read_text(encoding="utf-8"))
    return {
        word if is_cjk(word) else stem(word): float(weight)
        for weight, words in data["words"].items()
        for word in words.split()
    }
