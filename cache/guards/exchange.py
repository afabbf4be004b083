"""The same words in other places: who does it to whom, and what one wants instead of what.

"Can I see my manager's calendar?" and "Can my manager see my calendar?" have every word in common.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from cache.guards import Compared, quoted
from cache.guards.asker import done_by_the_other
from cache.reading.words import Text, content_word, read_text, within
from languages.scripts import HAN, KATAKANA
from languages.words import Kind

__all__ = ["ExchangeGuard"]

# What one wants stands before it and what one doesn't behind it; in Japanese the other way round.
_INSTEAD: Final = {
    "en": re.compile(r"\b(?:instead of|in place of|rather than|as opposed to|(?:and|but) not)\b"),
    "ja": re.compile("(?:では|じゃ|で)なく|の(?:代|か)わりに"),
    "zh": re.compile("而不?[是非选用]|代替|取代"),
}
_BESIDE: Final = 3  # content words on either side of it
# Who asks; behind what in English whoever does it stands first.
_SPEAKER: Final = frozenset({"i", "me", "we", "us", "我", "我们"})
_MINE: Final = frozenset({"my", "mine", "our", "ours", "我的", "我们的"})
_DOES_EN: Final = re.compile(
    r"^\W*(?:how |when |where |why )?(?:can|could|may|do|does|will|would|should|must)\b(?! you\b)"
)
# How many of one thing another one has or may bring; in English that other one stands behind it.
_HOW_MANY_EN: Final = re.compile(
    r"^\W*how (?:many|much) (?:of )?((?:\w+ )?\w+) (?:can|could|may|do|does|will|should|must) "
    r"((?:\w+ ){1,3}\w+)"
)
_ONE_ZH: Final = re.compile(r"[一每1][个名位张台间家套份条]")
_HOW_MANY_ZH: Final = re.compile(r"(?:几|多少)[个名位张台间家套份条]?")
_HOW_ZH: Final = re.compile("怎么|如何|怎样|咋")  # whoever asks is to do it
# Where words change places and the sense does not: what is done to one, a condition, a second clause, a list.
_TURNED: Final = {
    "en": re.compile(r"\b(?:be|been|being|is|are|was|were|gets?|got|if|after|before|from|and|or)\b|[,;:]"),
    "ja": re.compile("[らさか]れ[るたてま]"),
    "zh": re.compile("[被把让从到和与或,;:。]|之[前后]|如果"),
}
_PLACES: Final = ("上", "里", "内", "中", "下")  # 网上 does nothing
_ROLES: Final = re.compile(rf"([{HAN}{KATAKANA}]{{1,8}})([がはをにの])")
_PERSON_JA: Final = re.compile(
    "[妻夫母父娘]|息子|子ども|子供|家族|両親|友人|友達|知人|同僚|上司|部下|先輩|後輩|先生|生徒|学生|患者|医師|ゲスト|代理人|管理者|店長"
)
_DOES, _IS_DONE_TO = frozenset("がは"), frozenset("をにの")


@dataclass(frozen=True, slots=True)
class ExchangeGuard:
    """Vetoes an entry in which two things stand in each other's places, in every phrasing that has both."""

    name: str = "exchange"

    def veto(self, compared: Compared, /) -> str | None:
        """What changed places."""
        asked, nearest = compared.asked, compared.nearest
        for changed in (_wanted_otherwise, _counted_otherwise, _done_otherwise, done_by_the_other):
            found = changed(asked, nearest)
            if found and all(
                changed(asked, text) or not found <= {"I", *text.content} for text in compared.stored
            ):
                return f"in each other's places: {quoted(sorted(found))}"
        return None


def _wanted_otherwise(asked: Text, stored: Text) -> frozenset[str]:
    """What is wanted in one text and unwanted in the other, and what the other way round."""
    mine, theirs = _preferred(asked), _preferred(stored)
    if mine is None or theirs is None:
        return frozenset()
    wanted, unwanted = _common(mine[0], theirs[1]), _common(mine[1], theirs[0])
    return wanted | unwanted if wanted and unwanted else frozenset()


def _common(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """What both have, in Chinese and Japanese also as a part of a word."""
    return frozenset(
        min(one, other, key=len) for one in some for other in others if one == other or within(one, other)
    )


def _preferred(text: Text) -> tuple[frozenset[str], frozenset[str]] | None:
    """What one wants, and instead of what; words on both sides tell nothing."""
    marker = _INSTEAD[text.language].search(text.written)
    if marker is None:
        return None
    before = read_text(text.written[: marker.start()], text.language).content[-_BESIDE:]
    behind = read_text(text.written[marker.end() :], text.language).content[:_BESIDE]
    wanted, unwanted = frozenset(before), frozenset(behind)
    if text.language == "ja":
        wanted, unwanted = unwanted, wanted
    return wanted - unwanted, unwanted - wanted


def _counted_otherwise(asked: Text, stored: Text) -> frozenset[str]:
    """What is counted in one text and has it in the other: members of a guest, guests of a member."""
    mine, theirs = _how_many(asked), _how_many(stored)
    if mine is None or theirs is None:
        return frozenset()
    counted, of = mine[0] & theirs[1], mine[1] & theirs[0]
    if not counted or not of or counted & of:
        return frozenset()
    return frozenset(max(one, key=len) for one in (counted, of))


def _how_many(text: Text) -> tuple[frozenset[str], frozenset[str]] | None:
    """How many of what, and of whom; in Chinese by how both begin."""
    if text.language == "en":
        found = _HOW_MANY_EN.match(text.written)
        said = [read_text(part, "en").content for part in found.groups()] if found else None
        return (frozenset(said[0][-1:]), frozenset(said[1])) if said else None
    one, many = (pattern.search(text.written) for pattern in (_ONE_ZH, _HOW_MANY_ZH))
    if text.language != "zh" or not many:
        return None
    counted, of = text.written[many.end() :], text.written[one.end() if one else 0 :]
    return frozenset({counted[:1], counted[:2]}), frozenset({of[:1], of[:2]})


def _done_otherwise(asked: Text, stored: Text) -> frozenset[str]:
    """Who does it in one text and has it done to in the other, where all words are the same."""
    if not _same_words(asked, stored):
        return frozenset()
    turned = [bool(_TURNED[text.language].search(text.written)) for text in (asked, stored)]
    if asked.language == "ja":  # られる says of two alike what one can do
        return frozenset() if turned[0] != turned[1] else _other_roles(asked, stored)
    if any(turned):
        return frozenset()
    mine, theirs = (_doers(text) for text in (asked, stored))
    turned_round = (frozenset(two) for two in mine if two[::-1] in theirs - mine)
    return next(turned_round, frozenset())


def _same_words(asked: Text, stored: Text) -> bool:
    """Whether both say the same; Chinese ones may be cut in other places: 拉黑|买家, 买家|拉|黑."""
    if asked.language == "zh":
        return sorted("".join(asked.content)) == sorted("".join(stored.content))
    return {*asked.content} == {*stored.content}


def _other_roles(asked: Text, stored: Text) -> frozenset[str]:
    mine, theirs = ([*_ROLES.findall(text.written)] for text in (asked, stored))
    does, done_to = ({thing for thing, mark in mine if mark in marks} for marks in (_DOES, _IS_DONE_TO))
    did, was_done_to = ({thing for thing, mark in theirs if mark in marks} for marks in (_DOES, _IS_DONE_TO))
    doers = (does & was_done_to - did) | (did & done_to - does)  # 妻が, 妻の
    if people := frozenset(one for one in doers if _PERSON_JA.fullmatch(one)):
        return people
    doer, other = (does - done_to) & (was_done_to - did), (done_to - does) & (did - was_done_to)
    return frozenset(doer | other) if doer and other else frozenset()


def _doers(text: Text) -> frozenset[tuple[str, str]]:
    """Who does something, and to whom or what; whoever asks is "I", and so is what is his."""
    begin = _DOES_EN.match(text.written)
    if text.language == "en":
        told = [thing for thing, _ in _told(read_text(text.written[begin.end() :], "en"))] if begin else []
        return frozenset((told[0], thing) for thing in told[1:])
    told_zh = [("I", "noun"), *_told(text)] if _HOW_ZH.match(text.written) else _told(text)
    return frozenset(
        (one, other)
        for (one, first), _, (other, last) in combinations(told_zh, 3)
        if {"verb", "number", "adjective"}.isdisjoint((first, last))
    )


def _told(text: Text) -> list[tuple[str, Kind]]:
    """What is told, in order, with the kinds of the words."""
    told = list[tuple[str, Kind]]()
    for word in text.words:
        said = word.surface.casefold()
        if said in _SPEAKER or (said in _MINE and told):
            told.append(("I", "noun"))
        elif (thing := content_word(word, text.language)) and not thing.endswith(_PLACES):
            told.append((thing, word.kind))
    return told
