"""What the cache serves, right and wrong, and how fast.

    python -m benchmarks.cache faq DATA      entries and traffic on one shelf, cut from the entries alone
    python -m benchmarks.cache pairs DATA    every pair alone on a shelf of its own
    python -m benchmarks.cache import        what an entry costs on its way in, and on what

DATA is the folder of development data. The same `Shelf` that serves is asked, on SQLite and Qdrant Edge in
a folder that is thrown away; beside it what a plain cosine would have served.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cache.indexing import disagreement, index_pending, shelf_key
from cache.matching import Hit, Match, NearMiss
from cache.shelf import Shelf
from cache.store import EntryStore, Incoming, Put
from cache.store.content import Content
from cache.transfer import read_faq
from encoders import Encoded, Encoder
from encoders.onnx import OnnxEncoder
from storage.edge import EdgeIndex
from storage.sql import Database
from training.command import rows

COSINES = (0.80, 0.85, 0.90, 0.95)
TARGETS = (0.01, 0.03)
PAIRS = ("gated_healthcare_12", "nlupp_negatives", "jnli_valid", "jsts_valid", "jsick_train")
BATCH = 500


@dataclass(frozen=True)
class Bench:
    """A store and an index of their own, and the encoder."""

    store: EntryStore
    index: EdgeIndex
    encoder: Encoder

    async def fill(self, tenant: str, entries: Sequence[Incoming]) -> None:
        for start in range(0, len(entries), BATCH):
            for result in await self.store.put(tenant, entries[start : start + BATCH], by="benchmark"):
                if not isinstance(result, Put):
                    raise result

    async def encoded(self, texts: Sequence[str]) -> list[Encoded]:
        found: list[Encoded] = []
        for start in range(0, len(texts), BATCH):
            part = texts[start : start + BATCH]
            found += map(Encoded, part, await self.encoder.encode(part))
        return found


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    """A bench in a folder that is removed afterwards."""
    encoder = OnnxEncoder.load()
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(f"sqlite:///{folder}/bench.db")
        index = await EdgeIndex.open(Path(folder) / "index", identity=encoder.identity)
        try:
            yield Bench(EntryStore(database), index, encoder)
        finally:
            await index.close()
            await database.close()


async def asked(
    shelf: Shelf, questions: Sequence[Encoded], tenants: Sequence[str], language: str
) -> tuple[list[Match], list[float]]:
    """What the shelf finds for each question, and in how many milliseconds without the encoding."""
    found, spent = [], []
    for question, tenant in zip(questions, tenants, strict=True):
        started = time.perf_counter()
        found.append(await shelf.find(question, tenant=tenant, language=language))
        spent.append(1e3 * (time.perf_counter() - started))
    return found, spent


async def faq(data: Path, name: str) -> None:
    """One FAQ and its traffic, at each target."""
    entries = read_faq(data / f"cache/faq/{name}.entries.jsonl")
    traffic = rows(data / f"cache/faq/{name}.traffic.jsonl")
    gold = [row["entry_id"] for row in traffic]
    slices = np.array([row["slice"] for row in traffic])
    async with bench() as stage:
        await stage.fill(name, entries)
        await index_pending(stage.store, stage.index, stage.encoder)
        assert not await disagreement(stage.store, stage.index)
        questions = await stage.encoded([row["text"] for row in traffic])
        print(f"\n{name}: right of in_scope, wrong per request, near and far served")
        await _plain(stage, name, questions, gold, slices)
        for target in TARGETS:
            shelf = Shelf(stage.store, stage.index, stage.encoder, target_error=target)
            started = time.perf_counter()
            cut = await shelf.calibrate(name, "en")
            took = time.perf_counter() - started
            found, spent = await asked(shelf, questions, [name] * len(questions), "en")
            _faq_line(f"target {target:g}", _answers(found), gold, slices)
            p50, p95 = np.percentile(spent, [50, 95])
            print(
                f"    cut {cut.score:.4f} ({cut.why}; {took:.1f} s), find p50 {p50:.1f} ms, p95 {p95:.1f} ms"
            )
            print("    kept back by", dict(Counter(_keeper(match) for match in found)))


async def _plain(
    stage: Bench, name: str, questions: Sequence[Encoded], gold: Sequence[str | None], slices: np.ndarray
) -> None:
    """What plain cosine and the exact tier alone would serve."""
    by_id = {entry.id: entry.answer for entry in await stage.store.served(name, "en")}
    nearest = [
        (await stage.index.nearest(one.vector, where={"shelf": shelf_key(name, "en", "")}, limit=1))[0]
        for one in questions
    ]
    for cosine in COSINES:
        served = [by_id[str(one.payload["entry"])] if one.score >= cosine else None for one in nearest]
        _faq_line(f"cosine {cosine:.2f}", served, gold, slices)
    exact = [await stage.store.find_exact(name, one.text, "en") for one in questions]
    _faq_line("exact tier", [one.entry.answer if one else None for one in exact], gold, slices)


def _answers(found: Sequence[Match]) -> list[str | None]:
    return [match.entry.answer if isinstance(match, Hit) else None for match in found]


def _keeper(match: Match) -> str:
    match match:
        case Hit():
            return f"served ({match.tier})"
        case NearMiss():
            return match.reason.partition(":")[0] if ":" in match.reason else "score"
        case _:
            return "nothing near"


def _faq_line(
    label: str, served: Sequence[str | None], gold: Sequence[str | None], slices: np.ndarray
) -> None:
    answered = np.array([one is not None for one in served])
    right = np.array([one is not None and one == other for one, other in zip(served, gold, strict=True)])
    scope = slices == "in_scope"
    print(
        f"  {label:12} right {right[scope].mean():.3f}  wrong {(answered & ~right).mean():.4f}"
        f"  near {answered[slices == 'near_oos'].mean():.3f}  far {answered[slices == 'far_oos'].mean():.3f}"
    )


async def pairs(data: Path, name: str) -> None:
    """Every pair on a shelf that holds only its stored question."""
    both = rows(data / f"cache/pairs/{name}.jsonl")
    language = both[0]["lang"]
    tenants = [f"pair-{at}" for at in range(len(both))]
    async with bench() as stage:
        for tenant, row in zip(tenants, both, strict=True):
            content = Content(
                kind="ground_truth", language=language, phrasings=(row["cached_question"],), answer="x"
            )
            await stage.fill(tenant, [Incoming(content=content)])
        await index_pending(stage.store, stage.index, stage.encoder)
        shelf = Shelf(stage.store, stage.index, stage.encoder)
        questions = await stage.encoded([row["question"] for row in both])
        stored = await stage.encoded([row["cached_question"] for row in both])
        found, spent = await asked(shelf, questions, tenants, language)
    cosines = np.array(
        [float(one.vector @ other.vector) for one, other in zip(questions, stored, strict=True)]
    )
    print(f"\n{name}: recall of reusable pairs, false reuse of traps")
    for cosine in COSINES:
        _pair_line(f"cosine {cosine:.2f}", cosines >= cosine, both)
    _pair_line("cache", np.array([isinstance(match, Hit) for match in found]), both)
    print(f"    find p50 {np.percentile(spent, 50):.1f} ms", dict(Counter(map(_keeper, found))))


def _pair_line(label: str, served: np.ndarray, both: Sequence[dict[str, Any]]) -> None:
    reuse = np.array([row["should_reuse"] for row in both])
    wrong = Counter(
        row["category"] for row, hit in zip(both, served, strict=True) if hit and not row["should_reuse"]
    )
    print(
        f"  {label:12} recall {int(served[reuse].sum())} of {int(reuse.sum())}"
        f"  false reuse {int(served[~reuse].sum())} of {int((~reuse).sum())} {dict(wrong)}"
    )


async def importing(entries: int, phrasings: int = 3) -> None:
    """What an entry costs on its way into SQL and into the index, in CPU time: the machine may be busy."""
    incoming = [
        Incoming(
            content=Content(
                kind="ground_truth",
                language="en",
                phrasings=tuple(f"How do I order part {at} in colour {n}?" for n in range(phrasings)),
                answer="In the catalogue.",
            )
        )
        for at in range(entries)
    ]
    async with bench() as stage:
        await stage.encoder.encode(["warm up"])
        wall, started = time.perf_counter(), time.process_time()
        await stage.fill("import", incoming)
        stored = time.process_time()
        await stage.encoder.encode([text for one in incoming for text in one.content.phrasings])
        encoded = time.process_time()
        await index_pending(stage.store, stage.index, stage.encoder)
        indexed = time.process_time()
        wall = time.perf_counter() - wall
    sql, encoding = (stored - started) / entries, (encoded - stored) / entries
    index = (indexed - encoded) / entries - encoding
    print(f"\nimport of {entries} entries with {phrasings} phrasings, CPU time: SQL {1e3 * sql:.2f} ms")
    print(f"encoding {1e3 * encoding:.2f} ms, index {1e3 * index:.2f} ms", end="; ")
    print(f"{1 / (sql + encoding + index):.0f} a second and core (the clock said {wall:.0f} s for all)")


async def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["faq", "pairs", "import"])
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--entries", type=int, default=1_000, help="to import")
    arguments = parser.parse_args()
    match arguments.what:
        case "faq":
            for name in ("banking77", "clinc150"):
                await faq(arguments.data, name)
        case "pairs":
            for name in PAIRS:
                await pairs(arguments.data, name)
        case _:
            await importing(arguments.entries)


if __name__ == "__main__":
    asyncio.run(main())
