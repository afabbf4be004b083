"""What belongs to a thing and is another one: the key of a safe-deposit box, 貸金庫の鍵, 保险箱的钥匙.

It counts where one asks what it costs, or whether one may store, send or bring it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from cache.guards import Compared
from cache.guards.numbers import number_words
from cache.reading.tables import read_table
from cache.reading.wording import WORDED, left_over
from cache.reading.words import REMEMBERED, Text, read_text
from languages.remembering import remembered
from languages.scripts import HAN
from languages.words import Word

__all__ = ["load_parts", "other_part"]

_LEFT_OVER: Final = 0.1  # weight of what no word of a phrasing means, up to which it says the part, too
_THINGS: Final = frozenset({"noun", "name"})
_HAN: Final = re.compile(f"[{HAN}]")
_ARTICLE: Final = "(?:(?:an?|the|my|your|our|one) )?"
_LINKS: Final = "at|in|on|per|to|by|with|from|into|inside|during|while|when|if|as|over|for|there|here"
_NO_NAME: Final = (
    r"an?|the|my|your|our|one|no|any|some|i|we|you|it|they|and|or|of|after|before|without|than"
    rf"|is|are|was|were|be|has|have|not|\w+n't|\w+'(?:m|re|ve|ll|d)|{_LINKS}|\w+ly|\w+[^\We]ed"
)
_NAME: Final = rf"(?!(?:{_NO_NAME})\b)[\w']+"
_TAIL: Final = rf"(?: (?:{_LINKS})(?: [\w ]+)?)?"
_WORD_JA: Final = r"[^\W\dのはがをにでもとへ]"
_OF: Final = f"(?:of|in|at|on|for) {_ARTICLE}"
_ASKS: Final = (
    r"\b(?:(?:HEADS) (?:of|for)|how much (?:is|are|does|do|for)|what (?:does|do)(?=.* cost\b)) "
    r"(?!(?:i|we|you|they|it|one)\b)"
)
_COSTS: Final = "(?: costs?(?: (?:per|an?|each) [\\w ]+)?)?"
_MAY: Final = (
    r"\b(?:(?:can|could|may|might) (?:i|we|you|one)|(?:allowed|ok|okay|fine|possible|permitted) to"
    r"|do you|will you) (?:also |still |even |please )?(?:ACTS)"
)
_DONE: Final = r"be \w+(?:ed|pt|nt|ft|ght|en)\b"
_ALLOWED: Final = r"(?:allowed|permitted|accepted|welcome|okay|ok)\b"
_ASKED_JA: Final = r"(?:の(?:HEADS)(?=[はがをもにっ]|$|いくら|教え)|はお?(?:いくら|何円))"
_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        rf"{_ASKS}{_ARTICLE}(?P<part>(?:\w+ )?\w+) {_OF}(?P<thing>[\w ]+?){_COSTS}$",
        rf"{_ASKS}{_ARTICLE}(?P<thing>(?:\w+ ){{0,2}}\w+) (?P<part>\w+?){_COSTS}$",
        rf"{_ASKS}{_ARTICLE}(?P<thing>(?:{_NAME} ){{0,2}}{_NAME}) (?P<part>{_NAME}){_TAIL}$",
        r"(?P<thing>(?:\w+ ){0,2}\b(?!(?:an?|the|my|your|our|no|any)\b)\w+) (?P<part>\w+) (?:HEADS)\b",
        rf"{_MAY} {_ARTICLE}(?P<thing>(?:{_NAME} ){{0,2}}{_NAME}) (?P<part>(?!cards?\b){_NAME}){_TAIL}$",
        rf"{_MAY} {_ARTICLE}(?P<part>(?:{_NAME} )?{_NAME}) (?:of|for) {_ARTICLE}(?P<thing>[\w ]+?){_TAIL}$",
        rf"\b(?:can|may) {_ARTICLE}(?P<thing>(?:{_NAME} ){{0,2}}{_NAME}) (?P<part>{_NAME}) {_DONE}",
        rf"\b(?:is|are) {_ARTICLE}(?P<thing>(?:{_NAME} ){{0,2}}{_NAME}) (?P<part>{_NAME}) {_ALLOWED}",
    ),
    "ja": (
        rf"(?P<thing>{_WORD_JA}{{1,20}}?)用?の(?P<part>{_WORD_JA}{{1,10}}?){_ASKED_JA}",
        rf"(?P<thing>{_WORD_JA}{{1,15}}?)(?P<part>カード|証|証明書|手帳){_ASKED_JA}",
        rf"(?P<thing>{_WORD_JA}{{1,20}}?)用?の(?P<part>{_WORD_JA}{{1,10}}?)[をはもが]?(?:一緒に)?(?:ACTS)",
    ),
}
# Chinese and some Japanese things stand side by side: words tell them apart, patterns would not.
_TWO_WORDS: Final = "\n"  # stands for them, or for the one word that both are
_ONE_WORD: Final = "\t"
_HERE: Final = f"[{_TWO_WORDS}{_ONE_WORD}]"
_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "ja": (rf"{_HERE}[をはもが]?(?:一緒に)?(?:ACTS)",),
    "zh": (
        rf"{_TWO_WORDS}(?:[一每]个?[月年天次周])?(?:HEADS)",
        rf"{_HERE}(?:可以|可不可以|能|能不能|能否|可否|是否可以|是否能)?(?:ACTS)",
        rf"(?:ACTS)(?:[一两几]?[个只台辆张件块条瓶包]|我的|自己的|些)?{_HERE}(?:[吗么嘛呢吧进到上在入去]|$)",
    ),
}
_LINK: Final = {"ja": "用", "zh": "的"}
_LEAST_THING: Final = 2  # characters, where one word is a thing and its part: 宠物用品
_BOOKLET_ZH: Final = "本"  # 疫苗本


class _Part(NamedTuple):
    part: str
    thing: frozenset[str]  # its content words
    is_apart: bool = False  # whether nobody says the thing and means the part


def other_part(compared: Compared) -> str:
    """Who speaks of what belongs to the thing of the other, and of what; "" if neither does.

    Where only the entry does, the question may be short for it ("swimming" for a swimming lesson) unless the
    part is one that nobody takes for its thing.
    """
    parts = load_parts()[compared.language]
    asked, nearest, stored = compared.asked, compared.nearest, compared.stored
    for one in parts(asked):
        if one.thing <= _content(nearest) and not any(_has(text, one) for text in stored):
            return f"the question asks about “{one.part}”, the entry does not"
    for one in parts(nearest):
        lacks = one.is_apart and one.thing <= _content(asked) and not _has(asked, one)
        if lacks and all(_has(text, one) for text in stored):
            return f"the entry is about “{one.part}”, the question is not"
    return ""


def _content(text: Text) -> frozenset[str]:
    """The content words of a text, of compounds with a hyphen also what they are made of."""
    return frozenset((*text.content, *read_text(text.plain, text.language).content))


def _has(text: Text, one: _Part) -> bool:
    """Whether a phrasing says the part, too, maybe in other words."""
    if not {*read_text(one.part, text.language).content}.isdisjoint(_content(text)):
        return True
    if text.language not in WORDED:
        return False  # a lock is no locker
    if one.part in text.written:
        return True
    rest = {*text.written} - {*"".join(one.thing)}
    shared = any(character in rest for character in _HAN.findall(one.part))  # 月租, 包月
    return shared or left_over(one.part, text.written, text.language) <= _LEFT_OVER


@cache
def load_parts() -> Mapping[str, Callable[[Text], tuple[_Part, ...]]]:
    """What reads the parts of things from a text, by language, with the shipped table."""
    table = read_table("parts.yaml", "cache.guards")
    return {language: remembered(REMEMBERED)(_reader(language, words)) for language, words in table.items()}


def _reader(language: str, words: Mapping[str, list[str]]) -> Callable[[Text], tuple[_Part, ...]]:
    """What reads of a text of which things it names which parts, one of which it asks about."""
    heads, acts = ("|".join(sorted(words[row], key=len, reverse=True)) for row in ("heads", "acts"))

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern.replace("HEADS", heads).replace("ACTS", acts))

    patterns = [*map(compiled, _PATTERNS.get(language, ()))]
    beside = [*map(compiled, _BESIDE.get(language, ()))]
    light, apart = (*words["light"], *words["heads"]), (*words["apart"],)

    def is_part(one: _Part) -> bool:
        if one.part[0].isnumeric() or not _forms(one.part).isdisjoint(number_words()):  # 1000 dollars, 一针
            return False
        says = bool(one.thing and read_text(one.part, language).content)
        return says and not _is_one_of(one.part, light, language)

    def read(text: Text) -> tuple[_Part, ...]:
        parts = filter(is_part, (*_matches(text, patterns), *_neighbours(text, beside)))
        return tuple(one._replace(is_apart=_is_one_of(one.part, apart, language)) for one in parts)

    return read


def _forms(word: str) -> frozenset[str]:
    return frozenset((word, word.removesuffix("s"), word.removesuffix("ies") + "y"))


def _is_one_of(part: str, words: tuple[str, ...], language: str) -> bool:
    """Whether a table has the part; Japanese and Chinese words also stand at the end of a longer one."""
    return not _forms(part).isdisjoint(words) if language == "en" else part.endswith(words)


def _matches(text: Text, patterns: list[re.Pattern[str]]) -> Iterator[_Part]:
    """Of several words the last one says what the part is."""
    for pattern in patterns:
        for found in pattern.finditer(text.plain):
            yield _part(found["part"].split()[-1], found["thing"], text.language)


def _neighbours(text: Text, beside: list[re.Pattern[str]]) -> Iterator[_Part]:
    """Two things in a row, or with 的 or 用 between them, where one asks about the second one."""
    words = [word for word in text.words if word.surface != _LINK[text.language]] if beside else []
    surfaces = [word.surface for word in words]
    for start, end, thing, part in _side_by_side(words):
        here = _ONE_WORD if end - start == 1 else _TWO_WORDS
        around = f"{''.join(surfaces[:start])}{here}{''.join(surfaces[end:])}"
        if any(pattern.search(around) for pattern in beside):
            yield _part(part, thing, text.language)


def _side_by_side(words: Sequence[Word]) -> Iterator[tuple[int, int, str, str]]:
    """Things and parts, and where both begin and end among the words."""
    for at, word in enumerate(words):
        if word.kind in _THINGS or word.surface == _BOOKLET_ZH:
            for cut in range(_LEAST_THING, len(word.surface) - 1):
                yield at, at + 1, word.surface[:cut], word.surface[cut:]
            if at and words[at - 1].kind in _THINGS:
                yield at - 1, at + 1, words[at - 1].surface, word.surface


def _part(part: str, thing: str, language: str) -> _Part:
    return _Part(part, frozenset(read_text(thing.replace("'s", ""), language).content))
