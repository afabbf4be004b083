"""Entries that compete on real FAQs, and what it costs to look for them.

    python -m benchmarks.collisions DATA

DATA is the folder of development data. Each FAQ is a shelf of its own, with the cut that its entries alone
give it. For the pass over a larger shelf, the questions of both traffics stand in for phrasings,
ten an entry.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import time
from collections import Counter
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TypeVar

from benchmarks.cache import Bench, bench
from cache.indexing import index_pending
from cache.shelf import Shelf
from cache.transfer import read_faq
from cache.trial import Trials
from cache.trial.collisions import collisions, competing, findable, shelf_collisions
from training.command import rows

FAQS = ("banking77", "clinc150")
APPROVED = 50  # entries that are approved one by one
PHRASINGS = 10
T = TypeVar("T")


async def timed(work: Awaitable[T]) -> tuple[T, float, float]:
    """A result, its seconds on the clock and its seconds of CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = await work
    return result, time.perf_counter() - wall, time.process_time() - cpu


async def faq(on: Bench, name: str, folder: Path) -> None:
    """One FAQ: its pairs, and what a single approval costs."""
    await on.fill(name, read_faq(folder / f"{name}.entries.jsonl"))
    await index_pending(on.store, on.index, on.encoder)
    shelf = Shelf(on.store, on.index, on.encoder)
    cut = await shelf.calibrate(name, "en")
    entries = await on.store.whole_shelf(name, "en")
    found, wall, cpu = await timed(shelf_collisions(shelf, entries, on.encoder))
    counts = dict(Counter(one.would for one in found))
    phrasings = sum(len(entry.phrasings) for entry in entries)
    print(f"{name}: {len(entries)} entries, {phrasings} phrasings, cut {cut.score:.3f}: {counts}")
    print(f"  whole shelf, encoding included: {wall:.1f} s, {cpu:.1f} s of CPU")
    spent, seen, total = [], 0, 0
    for entry in entries[:APPROVED]:
        trial = await Trials(shelf, on.store, on.index, on.encoder).of(entry)
        _, wall, _ = await timed(collisions(trial))
        judged, more, _ = await timed(findable(trial))
        spent.append(wall + more)
        seen, total = seen + sum(one.found for one in judged), total + len(judged)
    print(f"  one approval of {PHRASINGS} phrasings: {median(spent) * 1000:.0f} ms (p50)")
    print(f"  {seen} of {total} phrasings would be found by the others")
    for one in found[:5]:
        print(f"  {one.score:.3f} {one.would}: “{one.phrasing}” ({one.entry.id}) → {one.other.id}")


async def large(on: Bench, folder: Path) -> None:
    """The whole-shelf pass over many phrasings, without their encoding."""
    traffic = [row["text"] for name in FAQS for row in rows(folder / f"{name}.traffic.jsonl")]
    texts = list(dict.fromkeys(traffic))
    [first, *_] = await on.store.whole_shelf(FAQS[0], "en")
    entries = [
        replace(first, id=str(start), phrasings=tuple(texts[start : start + PHRASINGS]))
        for start in range(0, len(texts), PHRASINGS)
    ]
    shelf = Shelf(on.store, on.index, on.encoder)
    cut = await shelf.cut(FAQS[0], "en")
    _, _, encoding = await timed(on.encoder.encode(texts))
    work = competing(entries, on.encoder, scorer=shelf.scorer("en"), cut=cut.score, guards=shelf.guards)
    found, _, cpu = await timed(work)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(entries)} entries, {len(texts)} phrasings: {len(found)} pairs")
    print(
        f"  {encoding:.1f} s of CPU to encode them, {cpu - encoding:.1f} s to compare; at most {peak:.0f} MB"
    )


async def main(data: Path) -> None:
    """Every FAQ, then many phrasings at once."""
    async with bench() as on:
        for name in FAQS:
            await faq(on, name, data / "cache" / "faq")
        await large(on, data / "cache" / "faq")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    asyncio.run(main(parser.parse_args().data))
