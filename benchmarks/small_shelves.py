"""Whether shelves of few entries keep their target, and what it costs that no default cut is undercut.

    python -m benchmarks.small_shelves DATA

DATA is the folder of development data. The shelves are parts of the example helpdesks (34, 50 and 68 entries,
a wording of each left out) and of each FAQ set (a quarter and a half of the entries, with 3, 5 and 10
phrasings). They are asked what was left out and what no entry of theirs answers; of the FAQ sets traffic that
the pair model never saw. As many requests count as having an entry as having none.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.pair_trust import HELPDESK, TARGETS, Remembering, Traffic, entry, outcomes, scorers
from cache.calibration import Cut, shelf_cut
from cache.entries import Entry
from cache.guards import default_guards
from cache.matching.evidence import Weights
from cache.matching.scoring import Scorer
from encoders import Encoder
from encoders.pairs import OnnxPairModel
from encoders.shipped import load_shipped
from training.command import rows
from training.faq_pairs import SETS, is_unseen

PARTS, SIZES = 30, (34, 50, 68)  # shelves of each helpdesk, and their entries
HALVES, PHRASINGS, ASKED = 9, (3, 5, 10), 1200  # shelves of each set
WAYS = ("as calibrated", "however low")


class Small(NamedTuple):
    """A shelf of few entries, and what it is asked."""

    of: str
    entries: Sequence[Entry]
    traffic: Traffic


class Outcome(NamedTuple):
    """What a cut came to."""

    right: float  # share of the questions with an entry
    wrong: float  # per request, half of which have an entry
    kept: bool


def helpdesks(language: str) -> Iterator[Small]:
    """Parts of an example helpdesk."""
    file = HELPDESK.parents[1] / language / HELPDESK.name
    whole = [
        replace(entry(row["id"], (row["question"], *row["phrasings"])), language=language)
        for row in rows(file)
    ]
    for number in range(PARTS):
        random = Random(100 + number)
        there = {one.id for one in random.sample(whole, SIZES[number % len(SIZES)])}
        out = {one.id: random.choice(one.phrasings) for one in whole}
        entries = [
            replace(one, phrasings=tuple(text for text in one.phrasings if text != out[one.id]))
            for one in whole
            if one.id in there
        ]
        asked = [(out[one.id], one.id) for one in whole if one.id in there]
        strange = [(text, None) for one in whole if one.id not in there for text in one.phrasings]
        yield Small(f"helpdesk, {language}", entries, [*asked, *strange])


def faqs(data: Path, name: str) -> Iterator[Small]:
    """Parts of an FAQ set."""
    random = Random(1)
    whole = [entry(row["entry_id"], row["questions"]) for row in rows(data / f"{name}.entries.jsonl")]
    traffic = [
        (row["text"], row["entry_id"]) for row in rows(data / f"{name}.traffic.jsonl") if is_unseen(row)
    ]
    for number in range(HALVES):
        some = random.sample(whole, len(whole) // (2 if number % 2 else 4))
        most = PHRASINGS[number % len(PHRASINGS)]
        entries = [replace(one, phrasings=tuple(random.sample(one.phrasings, most))) for one in some]
        yield Small(name, entries, random.sample(traffic, min(ASKED, len(traffic))))


async def measured(small: Small, encoder: Encoder, by: dict[str, Scorer]) -> dict[tuple[float, str], Outcome]:
    """The outcomes of a shelf by target and way; none where its probes are too few for a cut."""
    scored = await outcomes(small.entries, small.traffic, encoder, by)
    known = {one.id for one in small.entries}
    answerable = np.array([owner in known for _, owner in small.traffic])
    found = {}
    for target in TARGETS:
        for way in WAYS:
            cut = await _cut(small.entries, encoder, by, target, floor=way == WAYS[0])
            if cut.bound is None:
                continue
            scores, right = scored[cut.trust]
            hit = scores >= cut.score
            wrong = np.mean([(hit & ~right)[part].mean() for part in (answerable, ~answerable)])
            served = float((hit & right)[answerable].mean())
            found[target, way] = Outcome(served, float(wrong), bool(wrong <= target))
    return found


async def _cut(
    entries: Sequence[Entry], encoder: Encoder, by: dict[str, Scorer], target: float, *, floor: bool
) -> Cut:
    first, *others = (one if floor else replace(one, default_cut=0.0) for one in by.values())
    return await shelf_cut(
        entries, encoder, scorer=first, others=others, target_error=target, guards=default_guards()
    )


async def main(data: Path) -> None:
    """Print how often each target was kept."""
    encoder, weights, pairs = load_shipped(), Weights.load(), Remembering(OnnxPairModel.load())
    shelves = [small for language in ("en", "ja") for small in helpdesks(language)]
    shelves += [small for name in SETS for small in faqs(data / "cache" / "faq", name)]
    every: dict[tuple[str, float, str], list[Outcome]] = {}
    with Progress() as progress:
        for small in progress.track(shelves, description="shelves"):
            by = scorers(weights, pairs, small.entries[0].language, encoder.identity.languages)
            for (target, way), outcome in (await measured(small, encoder, by)).items():
                every.setdefault((small.of, target, way), []).append(outcome)
    table = Table("shelves", "target", "cut", "served right", "wrong per request", "most", "target kept")
    for (name, target, way), found in every.items():
        wrong = [one.wrong for one in found]
        right, kept = np.mean([one.right for one in found]), sum(one.kept for one in found)
        told = f"{right:.1%}", f"{np.mean(wrong):.2%}", f"{max(wrong):.2%}", f"{kept} of {len(found)}"
        table.add_row(name, f"{target:.0%}", way, *told)
    Console().print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    asyncio.run(main(parser.parse_args().data))
