"""Where a sentence was copied but for one name or thing, for which it has another one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher

from classifiers.faithfulness.contradictions.related_words import are_different_things
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.wording import IN_HIRAGANA, folded, is_cjk, lexicon, names, units
from languages.words import Word

__all__ = ["LONGEST_ALIGNED", "exchanged_names", "exchanged_things", "replaced"]

KANA = re.compile("[ぁ-ゖー]")
SHORTEST_ALIGNED = 4  # units
LONGEST_ALIGNED = 150  # units; aligning grows with the square of the length
COPIED = 0.6
LONGEST_NAME = 6  # units
LONGEST_THING = 3  # words
FEWEST_COPIED = 3  # words with content beside the thing, all of them in its evidence
TELLING = frozenset({"noun", "name", "verb", "adjective", "number"})
PARTICLES = frozenset("がをにでとのやへもごと")
# Nouns that are no things by themselves.
EMPTY = frozenset("時方際後前他等的上中内外所次事日年月回分人者点件额后里时第") | {"場合"}

Pairs = Collection[tuple[str, str]]  # of neighbouring words


def exchanged_names(line: Line, best: Line) -> tuple[tuple[str, str], ...]:
    """The name, and the one in its place, where a sentence was copied but for that."""
    mine, theirs = line.terms.units, best.terms.units[:LONGEST_ALIGNED]
    if not SHORTEST_ALIGNED <= len(mine) <= LONGEST_ALIGNED:
        return ()
    aligned = SequenceMatcher(None, mine, theirs, autojunk=False)
    changes = [
        (mine[a:b], theirs[c:d], tag)
        for tag, a, b, c, d in aligned.get_opcodes()
        if tag in ("replace", "insert") and not all(map(_is_light, mine[a:b]))
    ]
    copied = sum(block.size for block in aligned.get_matching_blocks())
    if len(changes) != 1 or changes[0][2] != "replace" or copied < COPIED * len(mine):
        return ()
    one, other = (_joined(part) for part in changes[0][:2])
    if max(len(units(one)), len(units(other))) > LONGEST_NAME:
        return ()
    if not _is_part_of_name(one, line) or not _is_part_of_name(other, best):
        return ()
    if set(units(one)) <= set(best.terms.units):  # it stands there too, in another place
        return ()
    return ((one, other),)


def exchanged_things(
    line: Line, here: Sequence[Line], pairs: Pairs, asked: str
) -> tuple[tuple[str, str], ...]:
    """The thing, and the one in its place, where all else stands in its evidence.

    In English where the contexts tell the two apart themselves, "saver tickets" and "flexible tickets", or no
    line here has the thing and WordNet knows that it is another one, "hybrid vehicles".
    """
    if len(line.terms.units) > LONGEST_ALIGNED:
        return ()
    if line.language == "en":
        return tuple(pair for one in here for pair in _others_en(line, one, here, pairs, asked))
    return tuple(pair for one in here for pair in _things(line, one, asked))


def _others_en(
    line: Line, one: Line, here: Sequence[Line], pairs: Pairs, asked: str
) -> Iterator[tuple[str, str]]:
    mine, theirs = line.terms.units, one.terms.units
    for a, b, c, d in replaced(mine, theirs):
        rest = {unit for unit in (*mine[:a], *mine[b:]) if not _is_light(unit)}
        copied = len(rest) >= FEWEST_COPIED and rest <= {*theirs}
        if not copied or (b - a, d - c) != (1, 1) or mine[a] in asked.split():
            continue
        if found := _siblings(mine, a, theirs, c, pairs):
            yield found
        elif are_different_things(mine[a], theirs[c]) and not any(mine[a] in each.content for each in here):
            yield mine[a], theirs[c]


def _siblings(
    mine: Sequence[str], a: int, theirs: Sequence[str], c: int, pairs: Pairs
) -> tuple[str, str] | None:
    """Two things that the contexts tell apart: "saver tickets" where "flexible tickets" stand."""
    behind = len(mine[a]) == len(theirs[c]) == 1  # "desk B"
    thing, other = _with_head(mine, a, behind=behind), _with_head(theirs, c, behind=behind)
    in_both = mine[a] in theirs or theirs[c] in mine
    known = thing in pairs and other and (behind or not in_both)
    return (" ".join(thing), " ".join(other)) if known and thing[not behind] == other[not behind] else None


def _with_head(sequence: Sequence[str], at: int, *, behind: bool) -> tuple[str, ...]:
    """A word with the one that says what it is, before or behind it; nothing if that says nothing."""
    begin = at - 1 if behind else at
    two = tuple(sequence[max(0, begin) : begin + 2])
    head = two[: len(two) - behind] if behind else two
    return () if len(two) < 2 or begin < 0 or any(map(_is_light, head)) else two


def _things(line: Line, one: Line, asked: str) -> Iterator[tuple[str, str]]:
    mine, theirs = line.words, one.words
    there = {word.base for word in theirs}
    for a, b, c, d in replaced([word.base for word in mine], [word.base for word in theirs]):
        thing, other = _thing(mine[a:b]), _thing(theirs[c:d])
        rest = [word for word in (*mine[:a], *mine[b:]) if _tells(word)]
        copied = len(rest) >= FEWEST_COPIED and all(word.base in there for word in rest)
        if not copied or (line.language == "ja" and not _in_one_place(mine[b:], theirs[d:])):
            continue
        if min(len(thing), len(other)) < 2 or thing in one.plain or thing in asked or other in line.plain:
            continue
        if 2 * len({*thing} & {*other}) < min(len(thing), len(other)):  # 特質 and 特徴 may be one
            yield thing, other


def replaced(mine: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Where words of one stand for words of the other."""
    codes = SequenceMatcher(None, mine, theirs[:LONGEST_ALIGNED], autojunk=False).get_opcodes()
    return ((a, b, c, d) for tag, a, b, c, d in codes if tag == "replace")


def _in_one_place(mine: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether one particle and more follow both: what is done with them is the same."""
    same = itertools.takewhile(lambda two: two[0].base == two[1].base, zip(mine, theirs, strict=False))
    after = [word for word, _ in same]
    return len(after) > 1 and after[0].surface in PARTICLES


def _thing(words: Sequence[Word]) -> str:
    things = [word.surface for word in words if _is_thing(word)]
    return "".join(things) if len(things) <= LONGEST_THING else ""


def _tells(word: Word) -> bool:
    return word.kind in TELLING and word.surface not in EMPTY


def _is_thing(word: Word) -> bool:
    named = word.kind in ("noun", "name") and word.surface not in EMPTY
    return named and not all(map(IN_HIRAGANA.match, word.surface)) and not word.surface[0].isdigit()


def _joined(part: Sequence[str]) -> str:
    telling = [unit for unit in part if not _is_light(unit)]
    return ("" if any(map(is_cjk, telling)) else " ").join(telling)


def _is_part_of_name(part: str, line: Line) -> bool:
    """Whether a changed part belongs to a name; two names may share a character: 田中, 田村."""
    return bool(part) and any(part in name or name in part for name in _all_names(line))


def _all_names(line: Line) -> tuple[str, ...]:
    """Names as the units of their line have them."""
    written = [" ".join(units(folded(name))) for name in names(line.text)]
    return tuple(dict.fromkeys([*written, *line.proper_names]))


def _is_light(unit: str) -> bool:
    """Function words, kana and numbers, which are compared elsewhere."""
    return unit in lexicon().function or unit[0].isdigit() or bool(KANA.match(unit))
