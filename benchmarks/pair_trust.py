"""What a shelf gains by choosing how far the pair model is trusted.

    python -m benchmarks.pair_trust DATA

DATA is the folder of development data. Of each FAQ set, whose subjects the pair model knows, nine shelves of
half the entries and 3, 5 or 10 phrasings are calibrated and asked 800 questions that it never saw; the
English helpdesk of examples/, which it does not know, has only its probes.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import numpy as np
from rich.console import Console
from rich.table import Table

from cache.calibration import Asked, Cut, ask, guarded, shelf_cut
from cache.entries import Entry
from cache.guards import default_guards
from cache.matching.arrays import ShelfArrays
from cache.matching.evidence import Numbers, Weights
from cache.matching.scoring import Scorer
from cache.reading.spelling import encode_spelt
from encoders import Encoder
from encoders.pairs import OnnxPairModel, PairModel
from encoders.shipped import load_shipped
from training.command import rows
from training.faq_pairs import SETS, is_unseen

TARGETS = (0.01, 0.03)
SHELVES, ASKED, PHRASINGS = 9, 800, (3, 5, 10)
HELPDESK = Path(__file__).parents[1] / "examples/helpdesk/en/entries.jsonl"
CHOSEN = "as the probes show"
Traffic = Sequence[tuple[str, str | None]]  # questions, and the entry of each


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


def scorers(weights: Weights, pairs: PairModel, language: str, known: tuple[str, ...]) -> dict[str, Scorer]:
    """By how far the pair model is trusted, the default first; `known` are the encoder's languages."""
    reading = weights.reading(language, known)
    weighing, alone = weights.readings[reading], weights.default_cuts[reading]
    by: dict[str, Scorer] = {}
    if language in pairs.languages and weights.rereading and weights.familiar:
        little, much = weights.rereading, weights.familiar
        by["little"] = Scorer(weighing, little, pairs, "little", little.default_cut)
        by["much"] = Scorer(weighing, much, pairs, "much", much.default_cut)
    return by | {"none": Scorer(weighing, default_cut=alone)}


def entry(name: str, phrasings: Sequence[str]) -> Entry:
    """An entry of which only the phrasings matter."""
    now = datetime.now(UTC)
    return Entry(
        id=name, tenant="shop", kind="ground_truth", language="en", phrasings=tuple(phrasings),
        answer="", state="active", created_at=now, updated_at=now,
    )  # fmt: skip


async def cuts(
    entries: Sequence[Entry], encoder: Encoder, by: Mapping[str, Scorer], target: float
) -> dict[str, Cut]:
    """The cut with each trust, and with the one that is chosen."""

    async def of(scorer: Scorer, others: Sequence[Scorer] = ()) -> Cut:
        return await shelf_cut(
            entries, encoder, scorer=scorer, others=others, target_error=target, guards=default_guards(),
        )  # fmt: skip

    fixed = {trust: await of(scorer) for trust, scorer in by.items()}
    return fixed | {CHOSEN: await of(by["little"], [by["much"], by["none"]])}


async def outcomes(
    entries: Sequence[Entry], traffic: Traffic, encoder: Encoder, by: Mapping[str, Scorer]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The score that each question's best entry has with each trust, and whether it is the right one."""
    texts = [text for one in entries for text in one.phrasings]
    owners = np.repeat(np.arange(len(entries)), [len(one.phrasings) for one in entries])
    number = {one.id: at for at, one in enumerate(entries)}
    gold = np.array([number.get(name or "", -1) for _, name in traffic])
    asked = [text for text, _ in traffic]
    language, weighing = entries[0].language, next(iter(by.values())).weighing
    shelf = ShelfArrays.of(await encode_spelt(encoder, texts, language), texts, owners, language)
    whole = Asked(tuple(asked), await encode_spelt(encoder, asked, language))
    found = ask(shelf, weighing, gold, whole, np.arange(len(asked)))
    pairs = [*zip(asked, found.nearest, strict=True)]
    read = {trust: replace(found, scores=await one.reread(found.scores, pairs)) for trust, one in by.items()}
    kept = {trust: guarded(one, asked, entries, default_guards()) for trust, one in read.items()}
    return {trust: (one.scores, one.right) for trust, one in kept.items()}


async def known_subjects(data: Path, name: str, encoder: Encoder, by: Mapping[str, Scorer]) -> Table:
    """Half of an FAQ's entries with some of their phrasings, nine times."""
    random = Random(1)
    whole = [entry(row["entry_id"], row["questions"]) for row in rows(data / f"{name}.entries.jsonl")]
    traffic = [
        (row["text"], row["entry_id"]) for row in rows(data / f"{name}.traffic.jsonl") if is_unseen(row)
    ]
    found: dict[tuple[float, str], list[tuple[float, float, str]]] = {}
    for shelf in range(SHELVES):
        most = PHRASINGS[shelf % len(PHRASINGS)]
        half = sorted(random.sample(whole, len(whole) // 2), key=lambda one: one.id)
        entries = [replace(one, phrasings=tuple(random.sample(one.phrasings, most))) for one in half]
        questions = random.sample(traffic, ASKED)
        scored = await outcomes(entries, questions, encoder, by)
        known = {one.id for one in entries}
        answerable = sum(owner in known for _, owner in questions)
        for target in TARGETS:
            for way, cut in (await cuts(entries, encoder, by, target)).items():
                scores, right = scored[cut.trust]
                hit = scores >= cut.score
                rates = (hit & right).sum() / answerable, (hit & ~right).mean()
                found.setdefault((target, way), []).append((*map(float, rates), cut.trust))
    table = Table(
        "target", "trust", "served right", "target kept", "chosen", title=f"{name}, {SHELVES} shelves"
    )
    for (target, way), each in found.items():
        served = np.mean([one[0] for one in each])
        kept = sum(one[1] <= target for one in each)
        chosen = ", ".join(sorted({one[2] for one in each}))
        table.add_row(f"{target:.0%}", way, f"{served:.1%}", f"{kept} of {len(each)}", chosen)
    return table


async def helpdesk(encoder: Encoder, by: Mapping[str, Scorer]) -> Table:
    """The probes of a shelf that the pair model does not know."""
    entries = [entry(row["id"], (row["question"], *row["phrasings"])) for row in rows(HELPDESK)]
    table = Table(
        "target", "trust", "probes served right", "chosen", title=f"our helpdesk, {len(entries)} entries"
    )
    for target in TARGETS:
        for way, cut in (await cuts(entries, encoder, by, target)).items():
            table.add_row(f"{target:.0%}", way, f"{cut.served:.1%}", cut.trust)
    return table


async def main(data: Path) -> None:
    """Print a table for each."""
    encoder, console = load_shipped(), Console()
    by = scorers(Weights.load(), Remembering(OnnxPairModel.load()), "en", encoder.identity.languages)
    console.print(await helpdesk(encoder, by))
    for name in SETS:
        console.print(await known_subjects(data / "cache" / "faq", name, encoder, by))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    asyncio.run(main(parser.parse_args().data))
