"""Texts on which a regular expression that can read one part in two ways never ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random
from re import _constants as codes  # type: ignore[attr-defined]  # what `re` parses with
from re import _parser as parser
from typing import Any

__all__ = ["pumped"]

TIMES = 40  # two ways to read each are 2^40 ways to read all
TRIES = 6  # words drawn of each repeated part
ALPHABET = "a 0,.-_\tA1あ漢か。、？?!#/|*'\"(:;\n不的了はがを吗"
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)

Node = tuple[Any, Any]


def pumped(pattern: re.Pattern[str]) -> Iterator[str]:
    """Texts in which a part that may be repeated is, and that end in what no expression expects."""
    random = Random(pattern.pattern)
    tree = list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))
    for before, part in _repeated(tree, ()):
        for _ in range(TRIES):
            word = "".join(_word(part, random) for _ in range(random.choice((1, 1, 2))))
            for start in ("", _word(before, random)):
                yield start + word * TIMES + "\x00"


def _repeated(
    tree: Sequence[Node], before: Sequence[Node]
) -> Iterator[tuple[Sequence[Node], Sequence[Node]]]:
    """The parts that may be repeated, each with what stands before it."""
    before = list(before)
    for code, value in tree:
        for inner in _inside(code, value):
            yield from _repeated(list(inner), before)
        if code in REPEATS and value[1] > 1:
            yield list(before), list(value[2])
        before.append((code, value))


def _inside(code: Any, value: Any) -> Sequence[Any]:
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code in REPEATS:
        return [value[2]]
    return [value[1]] if code is codes.ASSERT else []


def _word(tree: Sequence[Node], random: Random) -> str:
    """A text that a part of an expression reads, but for what it asserts about its neighbours."""
    return "".join(_character_or_more(code, value, random) for code, value in tree)


def _character_or_more(code: Any, value: Any, random: Random) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.IN:
        return _one_of(value, random)
    if code is codes.BRANCH:
        return _word(random.choice(value[1]), random)
    if code is codes.SUBPATTERN:
        return _word(value[3], random)
    if code is codes.ATOMIC_GROUP:
        return _word(value, random)
    if code in (*REPEATS, codes.POSSESSIVE_REPEAT):
        least, most, part = value
        return "".join(_word(part, random) for _ in range(min(most, max(least, random.choice((0, 1, 1))))))
    return random.choice(ALPHABET) if code in (codes.ANY, codes.NOT_LITERAL) else ""


def _one_of(characters: Sequence[Node], random: Random) -> str:
    """A character of a class; the class itself says which of the alphabet it holds."""
    ends = [value if code is codes.LITERAL else value[0] for code, value in characters if _spelt(code)]
    holds = re.compile(_written(characters))
    drawn = [character for character in (*ALPHABET, *map(chr, ends)) if holds.fullmatch(character)]
    return random.choice(drawn or ["\x01"])


def _spelt(code: Any) -> bool:
    return code in (codes.LITERAL, codes.RANGE)


def _written(characters: Sequence[Node]) -> str:
    """A class as an expression again."""
    short = {"SPACE": r"\s", "DIGIT": r"\d", "WORD": r"\w"}
    parts = []
    for code, value in characters:
        if code is codes.NEGATE:
            parts.append("^")
        elif code is codes.LITERAL:
            parts.append(f"\\U{value:08x}")
        elif code is codes.RANGE:
            parts.append(f"\\U{value[0]:08x}-\\U{value[1]:08x}")
        else:
            name = str(value).removeprefix("CATEGORY_")
            mark = short[name.removeprefix("NOT_")]
            parts.append(mark.upper() if name.startswith("NOT_") else mark)
    return f"[{''.join(parts)}]"
