"""Pairs of questions that we wrote or made, and whether one answer serves both, for fit_pairs.

What is asked comes from families of questions that we wrote (questions/LANGUAGE/*.txt); in Japanese and
Chinese also from things filled into wordings (questions/frames.yaml), captions and assistant requests that
people paired (JSICK, xSID), and the questions of two corpora. A pair that stays the same is *dressed*:
greeted, prefaced, spelt and ended otherwise. A pair that does not is *spoilt*: a neighbour of its family,
another thing, a condition, a number, an opposite.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Self

import yaml
from opencc import OpenCC

from cache.matching.evidence import agreement
from cache.reading.text import character_grams, normalise
from training.command import rows
from training.faq_pairs import Pair

__all__ = ["SOURCES", "Frames", "family_pairs"]

QUESTIONS: Final = Path(__file__).parent / "questions"
NEIGHBOURS: Final = 12  # most alike questions of other lines, from which hard negatives are drawn
OWN: Final = ("自分の", "我自己的")  # says no more than silence
_NUMBER: Final = re.compile(r"\d+")
_ENDS: Final = "？?。."
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
                text = text.rstrip(_ENDS) + self._mark + preface.rstrip("、。，, ")
            else:
                text = preface + text
        if chance() < 0.2:
            text = random.choice(self.around["openings"]) + text
        if chance() < 0.2:
            text = text.rstrip(_ENDS) + random.choice(self.around["closings"])
        return self._scripted(text)

    @property
    def _mark(self) -> str:
        return "? " if self.language == "en" else "？"

    def _ended(self, text: str) -> str:
        bare = text.rstrip(_ENDS)
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
            return text.lower() if self.language == "en" else text.translate(_WIDE)
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


@dataclass(frozen=True)
class Line:
    """A question in several wordings, and those that it may be taken for."""

    wordings: Sequence[str]
    siblings: Sequence[Sequence[str]]  # wordings of the other questions of its family
    near: Sequence[Sequence[str]]  # those of its helpdesk that share most characters with it


def families(language: str) -> list[list[list[list[str]]]]:
    """For each helpdesk its families, each of lines of wordings."""
    return [_read(file.read_text(encoding="utf-8")) for file in sorted((QUESTIONS / language).glob("*.txt"))]


def _read(text: str) -> list[list[list[str]]]:
    told = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    blocks = (block.strip().splitlines() for block in re.split(r"\n\s*\n", told) if block.strip())
    return [[[one.strip() for one in line.split("|")] for line in block] for block in blocks]


@cache
def lines(language: str) -> list[Line]:
    """The questions of all helpdesks. Two may well be asked the same, so only those of one are compared."""
    found = []
    for helpdesk in families(language):
        every = [line for block in helpdesk for line in block]
        near = iter(neighbours(every))
        for block in helpdesk:
            for line in block:
                siblings = [other for other in block if other is not line]
                others = [every[n] for n in next(near)[:NEIGHBOURS]]
                found.append(Line(line, siblings or others, others))
    return found


def neighbours(every: Sequence[Sequence[str]]) -> list[list[int]]:
    """For each line all others, those that share most characters with it first."""
    grams = [frozenset().union(*(character_grams(normalise(text)) for text in line)) for line in every]
    found = []
    for at, mine in enumerate(grams):
        alike = sorted(range(len(every)), key=lambda n: -agreement(mine, grams[n]))
        found.append([n for n in alike if n != at])
    return found


def family_pairs(frames: Frames) -> Iterator[Pair]:
    """Pairs of the families, without end."""
    every = lines(frames.language)
    while True:
        mine = random.choice(every)
        one, *others = random.sample(mine.wordings, min(3, len(mine.wordings)))
        yield from ((*_both(frames, one, other), 1) for other in others)
        yield one, frames.dressed(frames.dressed(random.choice((one, others[0])))), 1
        for pool in (mine.siblings, mine.siblings, mine.near):
            yield (*_both(frames, one, _alike(one, random.choice(pool))), 0)
        if random.random() < 0.3:
            far = random.choice(every)
            if far is not mine and far.wordings not in mine.near:
                yield one, frames.dressed(random.choice(far.wordings)), 0
        if (pair := frames.spoilt(one)) and random.random() < 0.5:
            yield pair[0], frames.dressed(pair[1]), 0


def _alike(one: str, wordings: Sequence[str]) -> str:
    """A wording that shares many characters with a question: of some, the one that shares most."""
    grams = character_grams(normalise(one))
    some = random.sample(wordings, random.randint(1, len(wordings)))
    return max(some, key=lambda text: agreement(grams, character_grams(normalise(text))))


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


def _both(frames: Frames, one: str, other: str) -> tuple[str, str]:
    """Both questions, the second dressed, now and then under one condition."""
    if random.random() < 0.1:
        one, other = frames.conditioned(one, other)
    return (frames.dressed(one) if random.random() < 0.25 else one), frames.dressed(other)


def _filled(wordings: Sequence[str], names: Sequence[str]) -> str:
    return random.choice(wordings).replace("{x}", random.choice(names))


SOURCES: Final[Mapping[str, Callable[[Path, Frames], Iterator[Pair]]]] = {
    "families": lambda _, frames: family_pairs(frames),
    "frames": lambda _, frames: frame_pairs(frames),
    "corpora": corpus_pairs,
}
"""Pairs of a language without end, by where they come from, given the folder of development data."""
