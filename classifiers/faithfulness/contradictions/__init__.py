"""Where a statement and its evidence speak of one thing and say the opposite."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.wording import is_cjk, lexicon, rarity

__all__ = ["denied", "groundless", "opposites", "overstated", "swapped"]

REACH = {"en": 3, "ja": 7, "zh": 6}  # units on each side of a pivot
COORDINATORS = frozenset(
    ["and", "or", "nor", "with", "&", "和", "与", "與", "及", "跟", "或", "と", "や", "か", "・"]
)
PASSIVE = re.compile(r"\b(?:by)\b|[らさわまかた]れ(?:る|た|て|ま)|被|由|作为")
# Words with which a statement may deny without a "not": "avoid", "only after".
DENYING = re.compile(
    r"\b(?:avoid|refrain|lack|fail|prohibit|forbid|forbidden|ban|banned|deny|denied|refuse|only|until|closed|free)\w*\b"
    r"|避け|控え|禁|限|以外|まで|不可|避免|拒|严禁|除|才"
)
FORBIDDING = re.compile(r"\b(?:prohibit|forb[ai]d|bann?(?:ed|s)\b|refus|den(?:y|ie))")
PREPOSITIONS = frozenset(["from", "to", "for", "than", "before", "after", "into", "onto", "until"])
PARTICLES = {p: p for p in [*"がをにへとで", "から", "まで", "より", *"从由向到给对比被把在"]} | {"は": "が"}
MOST_ROLES = 8  # words; in a longer sentence the word before says little about a word's part in it
# What stands between two things of one enumeration: no particle but those that join.
ENUMERATION = re.compile(r"[^ぁ-ん、・]*(?:(?:、|・|または|もしくは|および|ならびに|[とやか])[^ぁ-ん、・]*)+")
MONEY = frozenset(["jpy", "usd", "eur", "gbp", "cny"])
CLAUSE = re.compile(r"[;；，、。]|,(?=\s|[^\d\s])|\s(?:and|but|while|whereas)\s")
MAY_ZH = re.compile("可(?![以能是用见惜靠爱])")  # as a context writes 可以
TELLING_PAIR = 0.65  # rarity; below it stand pairs with kana


def denied(said: Line, here: Sequence[Line], window: Iterable[Line]) -> tuple[bool, bool]:
    """Whether the statement denies what its evidence says, and whether it says what that denies."""
    window = list(window)
    known = {term for line in window for term in line.vocabulary}
    denied_there = {term for line in window for near in line.denials for term in near}
    forbidding = any(FORBIDDING.search(line.plain) for line in window)
    more = not forbidding and len(said.denials) > sum(len(line.denials) for line in here)
    added = more and any(
        len(near & known) * 2 >= len(near) > 0 and not near & denied_there and not _free_of(near, window)
        for near in said.denials
    )
    return added, _drops(said, here)


def _drops(said: Line, here: Sequence[Line]) -> bool:
    """Whether its evidence denies what it says, and it denies nothing else: 无理由退货 is a word of both."""
    theirs = [near for line in here for near in line.denials if near]
    known = {word[0] for line in here for word in DENYING.finditer(line.plain)}
    if any(word[0] not in known for word in DENYING.finditer(said.plain)):
        return False
    if any(all(own.isdisjoint(near) for near in theirs) for own in said.denials):
        return False
    return any(
        near <= said.vocabulary
        and all(near.isdisjoint(own) for own in said.denials)
        and (said.language != "zh" or _grants(said, here, near))
        for near in theirs
    )


def _grants(said: Line, here: Sequence[Line], near: set[str]) -> bool:
    """Whether a statement allows what its evidence allows nowhere, if one character says it: 可以退."""
    verb = "".join(near)
    if len(verb) > 1:
        return True
    granted = re.compile(rf"(?<!不)(?:可以?|能|予以?|包){verb}")
    return bool(granted.search(said.plain)) and not any(granted.search(line.plain) for line in here)


def _free_of(near: set[str], window: Sequence[Line]) -> bool:
    """Whether its evidence has the opposite of what is denied: 不收费, 免费; no fee, £0."""
    if any(one.value == "0" and one.unit in MONEY for line in window for one in line.quantities):
        return True
    pairs = ((one, other) for pair in lexicon().opposites for one, other in (pair, pair[::-1]))
    return any(one & near and _present(other, window) for one, other in pairs)


def opposites(said: Line, here: Sequence[Line], window: Iterable[Line]) -> tuple[tuple[str, str], ...]:
    """Pairs of opposite words of which the statement has one and its evidence only the other."""
    window = list(window)
    own = {term for near in said.denials for term in near}
    found = []
    for pair in lexicon().opposites:
        one, other = (_present(side, [said]) for side in pair)
        if bool(one) == bool(other) or (one or other) in own:
            continue  # "not allowed" is no opposite of "forbidden"
        mine, theirs = pair if one else pair[::-1]
        word = _present(theirs, here)
        if word and not _present(mine, window) and _speak_of_one(said, one or other, here, word):
            found.append((one or other, word))
    return tuple(found)


def _speak_of_one(said: Line, mine: str, here: Sequence[Line], theirs: str) -> bool:
    """A preposition, "before", only says the opposite of "after" where the same thing follows."""
    if mine not in lexicon().function:
        return True
    return any(_following(said, mine) & _following(line, theirs) for line in here)


def _following(line: Line, word: str) -> set[str]:
    units = line.terms.units
    return _telling(units[units.index(word) + 1 :][:4]) if word in units else set()


def _present(side: frozenset[str], lines: Sequence[Line]) -> str:
    return next((word for word in sorted(side) if any(_stands_in(word, line) for line in lines)), "")


def _stands_in(word: str, line: Line) -> bool:
    return word in line.plain if is_cjk(word) else word in line.content


def overstated(said: Line, here: Sequence[Line], window: Iterable[Line]) -> tuple[tuple[str, str], ...]:
    """Where the statement has a word and its evidence a weaker or stronger one: must, may."""
    window = list(window)
    around = [MAY_ZH.sub("可以", line.plain) for line in window]
    found = []
    for pair in lexicon().degrees[said.language]:
        for mine, theirs in (pair, pair[::-1]):
            word = mine.search(said.stated)
            if not word or theirs.search(said.stated) or any(mine.search(text) for text in around):
                continue
            other = next((match for line in here if (match := theirs.search(_of_the_same(said, line)))), None)
            if other:
                found.append((word[0].strip(), other[0].strip()))
    return tuple(found) or _universal(said, window)


def _of_the_same(said: Line, line: Line) -> str:
    """The clauses of a sentence that speak of what is said: not "may refuse" of "and gives its reasons"."""
    if said.language == "zh":  # which often has a condition in one clause and its "must" in the next
        return line.plain
    clauses = [part for part in CLAUSE.split(line.plain) if part.strip()]
    shared = [len(said.content & Line(part).content) for part in clauses]
    most = max(shared, default=0)
    return " ".join(part for part, share in zip(clauses, shared, strict=True) if 2 * share >= most)


def _universal(said: Line, window: Iterable[Line]) -> tuple[tuple[str, str], ...]:
    """ "All", "always", "any number", where its evidence says nothing of the kind."""
    for claim, as_much in lexicon().universals[said.language]:
        word = claim.search(said.plain)
        if word and not any(as_much.search(line.plain) for line in window):
            return ((word[0].strip(), ""),)
    return ()


def groundless(said: Line, contexts: str) -> tuple[tuple[str, str], ...]:
    """ "Free of charge", "automatically", where no context says anything of the kind."""
    for claim, as_much in lexicon().groundless[said.language]:
        word = claim.search(said.plain)
        if word and not as_much.search(contexts):
            return ((word[0].strip(), ""),)
    return ()


def swapped(said: Line, here: Sequence[Line]) -> tuple[tuple[str, str], ...]:
    """Pairs that stand the other way round in the evidence: "A bought B", "from B to A", 「BよりAが」."""
    found = []
    for line in here:
        if bool(PASSIVE.search(said.plain)) == bool(PASSIVE.search(line.plain)):
            found += _turned_round(said, line) + _in_each_others_role(said, line)
    return tuple(dict.fromkeys(pair for pair in found if not _enumerated(said.plain, *pair)))


def _turned_round(said: Line, line: Line) -> list[tuple[str, str]]:
    mine, theirs = said.terms.units, line.terms.units
    reach = REACH[said.language]
    own, others = Counter(mine), Counter(theirs)
    where = {unit: at for at, unit in enumerate(theirs) if others[unit] == 1}
    found = []
    for at, pivot in enumerate(mine):
        if pivot in COORDINATORS or pivot not in where or own[pivot] > 1:
            continue
        before, after = _sides(mine, at, reach)
        before_there, after_there = _sides(theirs, where[pivot], reach)
        if before & before_there or after & after_there:
            continue
        if (one := before & after_there) and (other := after & before_there):
            pair = min(one), min(other)
            if pair[0].isdecimal() == pair[1].isdecimal():  # a number and a thing have no part in common
                found.append(pair)
    return found


def _enumerated(text: str, *pair: str) -> bool:
    """Whether two Japanese things stand in one enumeration, in any order: 電話、窓口またはメール."""
    first, last = sorted(pair, key=text.find)
    between = text.partition(first)[2].partition(last)[0]
    return bool(ENUMERATION.fullmatch(between))


def _in_each_others_role(said: Line, line: Line) -> list[tuple[str, str]]:
    """Two things with each other's preposition or particle, where no other word is new: A to B, B to A."""
    mine, theirs = _roles(said), _roles(line)
    listed = not COORDINATORS.isdisjoint(said.terms.units)  # what is listed may stand in any order
    if listed or len(mine) > MOST_ROLES or not mine.keys() <= theirs.keys():
        return []
    return [
        (one, other)
        for one, other in itertools.combinations(sorted(mine), 2)
        if mine[one] != mine[other] and (mine[one], mine[other]) == (theirs[other], theirs[one])
    ]


def _roles(line: Line) -> dict[str, str]:
    """Each telling word that stands there once, with what says its part in the sentence, "" if nothing."""
    found = _roles_en(line) if line.language == "en" else _roles_cjk(line)
    counted = Counter(word for word, _ in found)
    return {word: role for word, role in found if counted[word] == 1}


def _roles_en(line: Line) -> list[tuple[str, str]]:
    found, role = [], ""
    for unit in line.terms.units:
        if unit in PREPOSITIONS:
            role = unit
        elif unit not in lexicon().function and not unit[0].isdigit():
            found.append((unit, role))
            role = ""
    return found


def _roles_cjk(line: Line) -> list[tuple[str, str]]:
    """Japanese has its particles behind a noun, Chinese its prepositions before it."""
    words = line.words if line.language == "zh" else line.words[::-1]
    found, role = [], ""
    for word in words:
        if word.surface in PARTICLES:
            role = PARTICLES[word.surface]
        elif word.kind in ("noun", "name"):
            found.append((word.base, role))
            role = ""
        else:
            role = ""
    return found


def _sides(sequence: Sequence[str], at: int, reach: int) -> tuple[set[str], set[str]]:
    """What says something within reach before and after a place: words, or pairs of characters."""
    return _telling(sequence[max(0, at - reach) : at]), _telling(sequence[at + 1 : at + 1 + reach])


def _telling(units: Sequence[str]) -> set[str]:
    words = {u for u in units if not is_cjk(u) and u not in lexicon().function}
    pairs = {a + b for a, b in itertools.pairwise(units) if is_cjk(a) and is_cjk(b)}
    return words | {pair for pair in pairs if rarity(pair) >= TELLING_PAIR}
