"""What a second question in a conversation gets from the verified answers, and what a follow-up gets wrongly.

    python -m benchmarks.second_questions DATA

DATA is the folder of development data. Questions of two FAQs' traffic are asked after one to three others;
our follow-ups of BANKING77's shelf (`second_questions.yaml`), and those of training/helpdesk_turns.yaml of a
shelf of the complete questions beside them, many of which differ by what the follow-up leaves unsaid.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from cache.matching import Match, Miss
from encoders import Encoded, Encoder
from encoders.memo import MemoEncoder
from encoders.onnx import OnnxEncoder
from encoders.shipped import load_shipped_leaning
from evaluation.cache.judging import Served, evaluate_traffic
from evaluation.cases import ShelfEntry, Traffic, read_cases
from evaluation.command_line import scratch
from evaluation.statistics import Rate
from gateway.domain import Conversation, Turn
from gateway.understanding import Understanding
from gateway.understanding.follow_ups import FollowUps
from gateway.understanding.splitting import questions_in
from gateway.understanding.vouching import Vouching
from gateway.understanding.wording import wording

TARGETS = (0.01, 0.03)
ASKED = 800  # of each FAQ
WAYS = ("all looked up", "what names enough", "and what is vouched for")
Asked = tuple[Traffic, list[str]]  # and what was said before it


class Recorded:
    """What the shelf said of each text before."""

    def __init__(self, matches: dict[str, Match]) -> None:
        self._matches = matches

    async def find(self, question: Encoded, /, *, tenant: str, language: str, group: str = "") -> Match:
        """The same again."""
        return self._matches.get(question.text, Miss(reason="never asked"))


async def judged(
    entries: Sequence[ShelfEntry], asked: Sequence[Asked], target: float, encoder: Encoder
) -> dict[str, tuple[Rate, Rate]]:
    """Served right (of those that an entry answers) and served wrongly (of all), in each way."""
    with scratch(None) as settings:
        result = await evaluate_traffic(
            entries, [traffic for traffic, _ in asked], settings, target_error=target
        )
    shelf = Recorded({traffic.text: one.match for traffic, one in result.asked})
    vouching = Vouching(shelf, encoder)
    follow_ups = FollowUps(load_shipped_leaning())
    ways = (None, Understanding(follow_ups), Understanding(follow_ups, vouching=vouching))
    served = [one for _, one in result.asked]
    return {
        name: rates(asked, await looked_up(asked, way), served) for name, way in zip(WAYS, ways, strict=True)
    }


async def looked_up(asked: Sequence[Asked], understanding: Understanding | None) -> list[bool]:
    """Which of the questions reach the shelf."""
    if understanding is None:
        return [True] * len(asked)
    found = []
    for traffic, before in asked:
        turns = tuple(Turn("user", text) for text in (*before, traffic.text))
        understood = await understanding.understand(
            Conversation(turns=turns, tenant="default", request_id="benchmark")
        )
        found.append(any(question.self_contained for question in understood.questions))
    return found


def rates(asked: Sequence[Asked], reached: Sequence[bool], served: Sequence[Served]) -> tuple[Rate, Rate]:
    """Served right and served wrongly."""
    right = [one.right for found, one in zip(reached, served, strict=True) if found and one.hit]
    answerable = sum(traffic.entry_id is not None for traffic, _ in asked)
    return Rate(sum(right), answerable), Rate(len(right) - sum(right), len(asked))


def single(text: str) -> bool:
    """Whether a message is one question, and said as it is looked up."""
    return [one.text for one in questions_in(text, wording("en"))] == [text]


def new_subjects(data: Path, faq: str, random: Random) -> tuple[list[ShelfEntry], list[Asked]]:
    """Questions of an FAQ's traffic, each after one to three others."""
    entries = read_cases(data / f"cache/faq/{faq}.entries.jsonl", ShelfEntry)
    traffic = read_cases(data / f"cache/faq/{faq}.traffic.jsonl", Traffic)
    drawn = random.sample([one for one in traffic if one.slice != "far_oos" and single(one.text)], ASKED)
    before = [[one.text for one in random.sample(drawn, random.randint(1, 3))] for _ in drawn]
    return entries, list(zip(drawn, before, strict=True))


def bank_follow_ups(data: Path, random: Random) -> tuple[list[ShelfEntry], list[Asked]]:
    """Our follow-ups, each after a question that an entry answers."""
    entries = read_cases(data / "cache/faq/banking77.entries.jsonl", ShelfEntry)
    texts: list[str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    before = [[random.choice(random.choice(entries).questions)] for _ in texts]
    asked = [(Traffic(text=text, entry_id=None), said) for text, said in zip(texts, before, strict=True)]
    return entries, asked


def helpdesk_follow_ups() -> tuple[list[ShelfEntry], list[Asked]]:
    """The follow-ups of training/helpdesk_turns.yaml, on a shelf of the complete questions there."""
    file = Path(__file__).parents[1] / "training/helpdesk_turns.yaml"
    desks: list[dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    entries = [
        ShelfEntry(entry_id=text, questions=[text])
        for desk in desks
        for text in (desk["asked"], *desk["alone"])
    ]
    asked = [
        (Traffic(text=text, entry_id=None), [str(desk["asked"])]) for desk in desks for text in desk["leans"]
    ]
    return entries, asked


async def measure(data: Path) -> Table:
    """The table."""
    random = Random(9)
    encoder = MemoEncoder(OnnxEncoder.load(), 20_000)
    sets = {
        "new subjects, BANKING77": new_subjects(data, "banking77", random),
        "new subjects, CLINC150": new_subjects(data, "clinc150", random),
        "follow-ups, BANKING77's shelf": bank_follow_ups(data, random),
        "follow-ups, our helpdesks": helpdesk_follow_ups(),
    }
    table = Table("promised", "asked", *(f"{way}: right, wrong" for way in WAYS))
    for target in TARGETS:
        for name, (entries, asked) in sets.items():
            found = await judged(entries, asked, target, encoder)
            cells = [f"{right}\n{wrong}" if right.n else f"–\n{wrong}" for right, wrong in found.values()]
            table.add_row(f"{target:.0%}", f"{name}, {len(asked)}", *cells)
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    Console(width=140).print(asyncio.run(measure(parser.parse_args().data)))
