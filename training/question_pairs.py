"""Pairs of Japanese and Chinese questions, and whether one answer serves both, for fit_pairs_cjk.

What is asked comes from four places: families of questions that we wrote (questions/*.txt), things filled
into wordings (questions/frames.yaml), captions and assistant requests that people paired (JSICK, xSID), and
the questions of two corpora. A pair that stays the same is *dressed*: greeted, prefaced, spelt and ended
otherwise. A pair that does not is *spoilt*: a neighbour of its family, another thing, a condition, a number,
an opposite.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Self

import yaml
from opencc import OpenCC

from cache.matching.evidence import agreement
from cache.reading.text import character_grams, normalise
from training.command import rows

__all__ = ["Frames", "Pair", "families", "family_pairs", "made_pairs"]

Pair = tuple[str, str, int]

QUESTIONS: Final = Path(__file__).parent / "questions"
SHARES: Final = {"families": 0.45, "frames": 0.27, "corpora": 0.28}
NEIGHBOURS: Final = 12  # most alike questions of other lines, from which hard negatives are drawn
OWN: Final = ("自分の", "我自己的")  # says no more than silence
_NUMBER: Final = re.compile(r"\d+")
_TRADITIONAL: Final = OpenCC("s2t")
_WIDE: Final = str.maketrans({chr(0x21 + n): chr(0xFF01 + n) for n in range(94)})


@dataclass(frozen=True)
class Frames:
    """What is put around and into the questions of one language."""

    language: str
    around: Mapping[str, Sequence[str]]  # openings, prefaces, closings
    conditions: Sequence[Sequence[str]]
    opposed: Sequence[Sequence[str]]
    spellings: Sequence[Sequence[str]]
    endings: Sequence[Sequence[str]]
    things: Mapping[str, Sequence[Sequence[str]]]
    wanted: Mapping[str, Mapping[str, Sequence[str]]]

    @classmethod
    def load(cls, language: str) -> Self:
        """The frames of a language."""
        table = yaml.safe_load((QUESTIONS / "frames.yaml").read_text(encoding="utf-8"))[language]
        around = {name: table.pop(name) for name in ("openings", "prefaces", "closings")}
        return cls(language, around, **table)

    def dressed(self, text: str) -> str:
        """The question as somebody else would type it."""
        chance = random.random
        if chance() < 0.45:
            text = self._ended(text)
        if chance() < 0.5:
            text = self._spelt(text)
        if chance() < 0.3:
            preface = random.choice(self.around["prefaces"])
            if chance() < 0.3:
                preface += random.choice(self.around["prefaces"])
            if chance() < 0.15:  # the clauses moved
                text = text.rstrip("？?。") + "？" + preface.rstrip("、。，")
            else:
                text = preface + text
        if chance() < 0.2:
            text = random.choice(self.around["openings"]) + text
        if chance() < 0.2:
            text = text.rstrip("？?。") + random.choice(self.around["closings"])
        return self._scripted(text)

    def _ended(self, text: str) -> str:
        bare = text.rstrip("？?。")
        for row in random.sample(list(self.endings), len(self.endings)):
            ending = max((one for one in row if one and bare.endswith(one)), key=len, default="")
            if ending:
                return bare.removesuffix(ending) + random.choice(row)
        return bare if random.random() < 0.5 else text

    def _spelt(self, text: str) -> str:
        for row in random.sample(list(self.spellings), len(self.spellings)):
            found = next((one for one in sorted(row, key=len, reverse=True) if one in text), None)
            if found and random.random() < 0.6:
                text = text.replace(found, random.choice(row), 1)
        return text

    def _scripted(self, text: str) -> str:
        chance = random.random()
        if self.language == "zh" and chance < 0.08:
            return str(_TRADITIONAL.convert(text))
        if chance < 0.12:
            return text.translate(_WIDE)
        if chance < 0.17 and len(text) > 6:  # a character lost or typed twice
            at = random.randrange(1, len(text) - 1)
            return text[:at] + text[at + 1 :] if chance < 0.145 else text[:at] + text[at] + text[at:]
        return text

    def spoilt(self, text: str) -> Pair | None:
        """The question and one that asks something else, by a condition, a number or an opposite."""
        made: list[tuple[str, str]] = []
        row = random.choice(self.conditions)
        one, other = random.sample(list(row), 2)
        made.append((one + text, other + text))
        if one not in OWN:
            made.append((one + text, text))
        for pair in self.opposed:
            for mine, theirs in (pair, pair[::-1]):
                if mine in text and theirs not in text:
                    made += [(text, text.replace(mine, theirs, 1))] * 4
        if numbers := _NUMBER.findall(text):
            number = random.choice(numbers)
            changed = str(int(number) + random.choice((1, 2, 3, 5, 10)))
            made += [(text, text.replace(number, changed, 1))] * 4
        return (*random.choice(made), 0)

    def conditioned(self, one: str, other: str) -> tuple[str, str]:
        """Both questions under one condition: they stay what they are to each other."""
        condition = random.choice(random.choice(self.conditions))
        return condition + one, condition + other


@cache
def families(language: str) -> list[list[list[str]]]:
    """Blocks of lines of wordings."""
    text = (QUESTIONS / f"{language}.txt").read_text(encoding="utf-8")
    blocks = re.split(r"\n\s*\n", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return [
        [[one.strip() for one in line.split(" | ")] for line in block.strip().splitlines()]
        for block in blocks
    ]


def neighbours(lines: Sequence[Sequence[str]]) -> list[list[int]]:
    """For each line all others, those that share most characters with it first."""
    grams = [frozenset().union(*(character_grams(normalise(text)) for text in line)) for line in lines]
    found = []
    for at, mine in enumerate(grams):
        alike = sorted(range(len(lines)), key=lambda n: -agreement(mine, grams[n]))
        found.append([n for n in alike if n != at])
    return found


def family_pairs(frames: Frames) -> Iterator[Pair]:
    """Pairs of the families, without end."""
    blocks = families(frames.language)
    lines = [line for block in blocks for line in block]
    block_of = [number for number, block in enumerate(blocks) for _ in block]
    near = neighbours(lines)
    while True:
        at = random.randrange(len(lines))
        mine = lines[at]
        one, other = random.sample(mine, 2)
        yield (*_both(frames, one, other), 1)
        yield one, frames.dressed(frames.dressed(random.choice((one, other)))), 1
        siblings = [n for n in near[at] if block_of[n] == block_of[at]]
        for pool in (siblings[:NEIGHBOURS], near[at][:NEIGHBOURS]):
            wrong = random.choice(lines[random.choice(pool)])
            yield (*_both(frames, one, wrong), 0)
        if (pair := frames.spoilt(one)) and random.random() < 0.6:
            yield pair[0], frames.dressed(pair[1]), 0


def frame_pairs(frames: Frames) -> Iterator[Pair]:
    """Pairs of things filled into wordings, without end."""
    while True:
        kind = random.choice(list(frames.things))
        names, other_names = random.sample(list(frames.things[kind]), 2)
        wanted, other_wanted = random.sample(list(frames.wanted[kind]), 2)
        wordings, other_wordings = frames.wanted[kind][wanted], frames.wanted[kind][other_wanted]
        one = _filled(wordings, names)
        yield (*_both(frames, one, _filled(wordings, names)), 1)
        yield (*_both(frames, one, _filled(wordings, other_names)), 0)
        yield (*_both(frames, one, _filled(other_wordings, names)), 0)
        yield one, frames.dressed(_filled(wordings, names)), 1
        if (pair := frames.spoilt(one)) and random.random() < 0.4:
            yield pair[0], frames.dressed(pair[1]), 0


def corpus_pairs(data: Path, frames: Frames) -> Iterator[Pair]:
    """Questions of a corpus beside themselves dressed, spoilt, and others about the same; captions."""
    file = {"ja": "jaquad_train", "zh": "cmrc2018_dev"}[frames.language]
    asked: dict[str, list[str]] = {}
    for row in rows(data / f"qa/{file}.jsonl"):
        if len(row["question"]) <= 60:
            asked.setdefault(row["title"], []).append(row["question"])
    titles = list(asked)
    paired = _paired(data, frames.language)
    while True:
        title = random.choice(titles)
        one = random.choice(asked[title])
        yield one, frames.dressed(frames.dressed(one)), 1
        if len(asked[title]) > 1:
            other = random.choice([text for text in asked[title] if text != one])
            yield one, frames.dressed(other), 0
        if (pair := frames.spoilt(one)) is not None:
            yield pair
        yield random.choice(paired[0])
        yield random.choice(paired[random.random() < 0.6])


def _paired(data: Path, language: str) -> tuple[list[Pair], list[Pair]]:
    """Pairs that people judged: those that are not the same, and those that are."""
    found = [row for row in rows(data / "cache/pairs/xsid_valid.jsonl") if row["lang"] == language]
    if language == "ja":
        found += rows(data / "cache/pairs/jsick_train.jsonl")
    pairs = [(row["cached_question"], row["question"], int(row["should_reuse"])) for row in found]
    return [pair for pair in pairs if not pair[2]], [pair for pair in pairs if pair[2]]


def made_pairs(data: Path, wanted: int) -> list[Pair]:
    """Japanese and Chinese pairs, half of each, in random order and either direction."""
    found: list[Pair] = []
    for language in ("ja", "zh"):
        frames = Frames.load(language)
        sources: dict[str, Iterator[Pair]] = {
            "families": family_pairs(frames),
            "frames": frame_pairs(frames),
            "corpora": corpus_pairs(data, frames),
        }
        for name, share in SHARES.items():
            found += [next(sources[name]) for _ in range(int(wanted / 2 * share))]
    kept = [pair for pair in found if pair[2] or normalise(pair[0]) != normalise(pair[1])]
    random.shuffle(kept)
    return [(b, a, same) if random.random() < 0.5 else (a, b, same) for a, b, same in kept]


def _both(frames: Frames, one: str, other: str) -> tuple[str, str]:
    """Both questions, the second dressed, now and then under one condition."""
    if random.random() < 0.1:
        one, other = frames.conditioned(one, other)
    return (frames.dressed(one) if random.random() < 0.25 else one), frames.dressed(other)


def _filled(wordings: Sequence[str], names: Sequence[str]) -> str:
    return random.choice(wordings).replace("{x}", random.choice(names))
