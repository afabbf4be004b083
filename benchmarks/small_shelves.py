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
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from cache.calibration import Asked, ask, guarded, shelf_cut
from cache.entries import Entry
from cache.guards import default_guards
from cache.matching.arrays import ShelfArrays
from cache.matching.evidence import Numbers, Weights
from cache.matching.scoring import Paired, Scorer
from cache.reading.spelling import encode_spelt
from encoders import Encoder
from encoders.pairs import PairModel
from encoders.shipped import load_shipped, load_shipped_pairs
from training.command import rows
from training.faq_pairs import SETS, is_unseen

TARGETS = (0.01, 0.03)
HELPDESKS = Path(__file__).parents[1] / "examples" / "helpdesk"
PARTS, SIZES = 30, (34, 50, 68)  # shelves of each helpdesk, and their entries
HALVES, PHRASINGS, ASKED = 9, (3, 5, 10), 1200  # shelves of each set
WAYS = ("as calibrated", "however low")
Traffic = Sequence[tuple[str, str | None]]  # questions, and the entry of each


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


class Remembering:
    """The pair model, which reads each pair once: the shelves share most of them."""

    def __init__(self, inner: PairModel) -> None:
        self._inner = inner
        self._known: dict[tuple[str, str], float] = {}
        self.languages, self.digest = inner.languages, inner.digest

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> Numbers:
        """The logit of each pair."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        self._known |= zip(new, map(float, await self._inner.scores(new)), strict=True)
        return np.array([self._known[pair] for pair in pairs])


def entry(name: str, phrasings: Sequence[str]) -> Entry:
    """An entry of which only the phrasings matter."""
    now = datetime.now(UTC)
    return Entry(
        id=name, tenant="shop", kind="ground_truth", language="en", phrasings=tuple(phrasings),
        answer="", state="active", created_at=now, updated_at=now,
    )  # fmt: skip


def helpdesks(language: str) -> Iterator[Small]:
    """Parts of an example helpdesk."""
    file = HELPDESKS / language / "entries.jsonl"
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


async def measured(small: Small, encoder: Encoder, scorer: Scorer) -> dict[tuple[float, str], Outcome]:
    """The outcomes of a shelf by target and way; none where its probes are too few for a cut."""
    scores, right = await answers(small, encoder, scorer)
    known = {one.id for one in small.entries}
    answerable = np.array([owner in known for _, owner in small.traffic])
    found = {}
    for target in TARGETS:
        for way in WAYS:
            by = scorer if way == WAYS[0] else replace(scorer, default_cut=0.0)
            cut = await shelf_cut(
                small.entries, encoder, scorer=by, target_error=target, guards=default_guards()
            )
            if cut.bound is None:
                continue
            hit = scores >= cut.score
            wrong = np.mean([(hit & ~right)[part].mean() for part in (answerable, ~answerable)])
            served = float((hit & right)[answerable].mean())
            found[target, way] = Outcome(served, float(wrong), bool(wrong <= target))
    return found


async def answers(small: Small, encoder: Encoder, scorer: Scorer) -> tuple[np.ndarray, np.ndarray]:
    """The score that each question's best entry has, and whether it is the right one."""
    texts = [text for one in small.entries for text in one.phrasings]
    owners = np.repeat(np.arange(len(small.entries)), [len(one.phrasings) for one in small.entries])
    number = {one.id: at for at, one in enumerate(small.entries)}
    gold = np.array([number.get(name or "", -1) for _, name in small.traffic])
    asked, language = [text for text, _ in small.traffic], small.entries[0].language
    shelf = ShelfArrays.of(await encode_spelt(encoder, texts, language), texts, owners, language)
    whole = Asked(tuple(asked), await encode_spelt(encoder, asked, language))
    found = ask(shelf, scorer.weighing, gold, whole, np.arange(len(asked)))
    paired = zip(asked, found.nearest, (small.entries[at].answer for at in found.entries), strict=True)
    scores = await scorer.reread(found.scores, [Paired(*one) for one in paired])
    kept = guarded(replace(found, scores=scores), asked, small.entries, default_guards())
    return kept.scores, kept.right


async def main(data: Path) -> None:
    """Print how often each target was kept."""
    encoder, weights, pairs = load_shipped(), Weights.load(), Remembering(load_shipped_pairs())
    shelves = [small for language in ("en", "ja") for small in helpdesks(language)]
    shelves += [small for name in SETS for small in faqs(data / "cache" / "faq", name)]
    every: dict[tuple[str, float, str], list[Outcome]] = {}
    with Progress() as progress:
        for small in progress.track(shelves, description="shelves"):
            scorer = Scorer.of(weights, small.entries[0].language, encoder.identity.languages, pairs)
            for (target, way), outcome in (await measured(small, encoder, scorer)).items():
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
