"""What a large shelf costs: writing it, building its search graph, opening it, asking it, memory.

    python -m benchmarks.shelf_size DATA [--entries 1000 20000 100000] [--phrasings 3] [--random] [--flat]

Each size in a process of its own, beside a shelf of the first size. Questions are made of real ones
(`benchmarks.made_questions`), and so are their vectors, unless they are `--random`. “Asked” are new questions
with the last half of a stored one, “hits” stored phrasings with a word more. Lookups are without encoding;
hits also as served, with encoding and the pair model. CPU time, as the machine may be busy. The search graph
is built from the size on where a gateway builds it, unless the index is to stay `--flat`. Beside each size
stands the share of the truly nearest phrasings that were found.
"""

from __future__ import annotations

import argparse
import asyncio
import pickle
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Self

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from benchmarks.made_questions import DIMENSIONS, MadeQuestions, RandomVectors
from cache.indexing import index_pending, shelf_key
from cache.matching import Hit
from cache.matching.evidence import PHRASINGS
from cache.shelf import Shelf
from cache.store import EntryStore, Incoming, Put
from cache.store.content import Content
from encoders import Encoded, Vector
from encoders.onnx import OnnxEncoder
from encoders.pairs import PairModel
from encoders.shipped import load_shipped_pairs
from storage.edge import OPTIMISE_BYTES, EdgeIndex
from storage.sql import Database

QUESTIONS, WARMING, TURN, BATCH, CHUNK = 200, 40, 20, 500, 10_000
TENANT, WHERE = "shop", {"shelf": shelf_key("shop", "en", "")}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    questions: MadeQuestions
    entries: int
    phrasings: int
    random: bool
    flat: bool

    @property
    def encoder(self) -> MadeQuestions | RandomVectors:
        return RandomVectors() if self.random else self.questions

    @property
    def graph(self) -> bool:
        return not self.flat and self.entries * self.phrasings * DIMENSIONS * 4 >= OPTIMISE_BYTES

    def content(self, start: int, stop: int) -> list[tuple[str, ...]]:
        """The phrasings of some entries."""
        draws = (np.random.default_rng((7, number)) for number in range(start, min(stop, self.entries)))
        return [self.questions.phrasings(draw, self.phrasings) for draw in draws]


@dataclass(frozen=True, slots=True)
class Stage:
    """A shelf as it was planned."""

    plan: Plan
    database: Database
    store: EntryStore
    index: EdgeIndex

    @classmethod
    async def open(cls, plan: Plan, folder: Path) -> Self:
        await to_thread.run_sync(partial(folder.mkdir, exist_ok=True))
        database = await Database.open(f"sqlite:///{folder / 'shelf.db'}")
        index = await EdgeIndex.open(
            folder / "index", identity=plan.encoder.identity, optimise_after=sys.maxsize
        )
        return cls(plan, database, EntryStore(database), index)

    async def close(self) -> None:
        await self.index.close()
        await self.database.close()

    def shelf(self, pairs: PairModel | None = None) -> Shelf:
        return Shelf(self.store, self.index, self.plan.encoder, pairs=pairs)


async def measured(plan: Plan, first: Plan, folder: Path) -> str:
    """Write, build, ask beside a shelf of the first size, and open again."""
    stage, small = await Stage.open(plan, folder / "large"), await Stage.open(first, folder / "small")
    await _written(small)
    lines = [f"{plan.entries:,} entries", await _written(stage), await _built(stage)]
    draw, pairs = np.random.default_rng(11), load_shipped_pairs()
    for name, questions, model in (
        ("asked", _new_questions, None),
        ("hits", _stored_questions, None),
        ("hits as served", _stored_questions, pairs),
    ):
        both = [(one.shelf(model), await questions(one.plan, draw)) for one in (small, stage)]
        lines.append(await _asked(name, both, OnnxEncoder.load() if model else None))
    lines.append(await _found(stage, draw))
    await small.close()
    await stage.close()
    opening = time.process_time()
    again = await Stage.open(plan, folder / "large")
    lines.append(
        f"opened in {time.process_time() - opening:.2f} s; {_disk_mb(folder / 'large'):,.0f} MB on the disk"
    )
    await again.close()
    return "\n  ".join(lines)


async def _written(stage: Stage) -> str:
    plan = stage.plan
    sql, refused = 0.0, 0
    for start in range(0, plan.entries, BATCH):
        some = [
            Incoming(content=Content(kind="ground_truth", language="en", phrasings=texts, answer="x" * 200))
            for texts in plan.content(start, start + BATCH)
        ]
        began = time.process_time()
        put = await stage.store.put(TENANT, some, by="benchmark")
        sql += time.process_time() - began
        refused += sum(not isinstance(one, Put) for one in put)
    began = time.process_time()
    await index_pending(stage.store, stage.index, plan.encoder)
    vectors = time.process_time() - began
    each = 1e3 / plan.entries
    return (
        f"SQL {sql * each:.2f} ms and index {vectors * each:.2f} ms an entry; {refused} refused as doubles; "
        f"{_memory_mb():,.0f} MB while writing"
    )


async def _built(stage: Stage) -> str:
    if not stage.plan.graph:
        return "no search graph"
    began = time.perf_counter()
    await stage.index.optimise()
    building = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent, took = building.ru_utime + building.ru_stime, time.perf_counter() - began
    return (
        f"search graph in {spent:,.0f} s of CPU time ({took:,.0f} s by the clock), "
        f"{building.ru_maxrss / 1024:,.0f} MB; {_memory_mb():,.0f} MB after it"
    )


async def _new_questions(plan: Plan, draw: np.random.Generator) -> list[Encoded]:
    texts = [plan.questions.one(draw) for _ in range(WARMING + QUESTIONS)]
    return [*map(Encoded, texts, await plan.encoder.encode(texts))]


async def _stored_questions(plan: Plan, draw: np.random.Generator) -> list[Encoded]:
    """Stored phrasings with a word more, and a vector at a cosine of .95."""
    numbers = draw.integers(plan.entries, size=WARMING + QUESTIONS)
    texts = [plan.content(int(number), int(number) + 1)[0][0] for number in numbers]
    vectors = await plan.encoder.encode(texts)
    noise = draw.normal(size=vectors.shape) * 0.33 / np.sqrt(DIMENSIONS)
    moved = (vectors + noise) / np.linalg.norm(vectors + noise, axis=1, keepdims=True)
    return [
        Encoded(f"{text} please", vector)
        for text, vector in zip(texts, moved.astype(np.float32), strict=True)
    ]


async def _asked(
    name: str, both: Sequence[tuple[Shelf, Sequence[Encoded]]], encoder: OnnxEncoder | None
) -> str:
    """What a lookup takes on each of two shelves; asked in turns, since the machine is now busy, now idle."""
    spent: tuple[list[float], list[float]] = ([], [])
    served = 0
    for start in range(0, WARMING + QUESTIONS, TURN):
        for (shelf, questions), taken in zip(both, spent, strict=True):
            for question in questions[start : start + TURN]:
                began = time.process_time()
                if encoder is not None:
                    await encoder.encode([question.text])
                found = await shelf.find(question, tenant=TENANT, language="en")
                taken.append(1e3 * (time.process_time() - began))
                served += taken is spent[1] and isinstance(found, Hit)
    (small, _), (p50, p99) = (np.percentile(taken[WARMING:], [50, 99]) for taken in spent)
    beside = f"{p50 / small:.2f} times the first size ({small:.1f} ms)"
    return (
        f"{name}: p50 {p50:.1f} ms, p99 {p99:.1f} ms, {beside}; {served / (WARMING + QUESTIONS):.0%} served"
    )


async def _found(stage: Stage, draw: np.random.Generator) -> str:
    """How many of the truly nearest phrasings the index finds, and what a search takes."""
    shares = []
    for name, questions in (
        ("asked", await _new_questions(stage.plan, draw)),
        ("hits", await _stored_questions(stage.plan, draw)),
    ):
        vectors = np.stack([one.vector for one in questions[:QUESTIONS]])
        cosines = await _best_cosines(stage.plan, vectors)
        spent, first, all_of_them = [], [], []
        for vector, best in zip(vectors, cosines, strict=True):
            began = time.process_time()
            near = await stage.index.nearest(vector, where=WHERE, limit=PHRASINGS)
            spent.append(1e3 * (time.process_time() - began))
            scores = np.array([one.score for one in near])
            first.append(scores[0] >= best[0] - 1e-4)
            all_of_them.append(np.mean(scores >= best[len(scores) - 1] - 1e-4))
        shares.append(
            f"{name} {np.mean(first):.1%} and {np.mean(all_of_them):.1%} in {np.median(spent):.2f} ms"
        )
    return f"found the nearest, and of the {PHRASINGS} nearest: {'; '.join(shares)}"


async def _best_cosines(plan: Plan, vectors: Vector) -> NDArray[np.float32]:
    """The cosines of the phrasings nearest to each vector, best first, by comparing with all."""
    best = np.full((len(vectors), PHRASINGS), -1.0, dtype=np.float32)
    for start in range(0, plan.entries, CHUNK):
        texts = [text for some in plan.content(start, start + CHUNK) for text in dict.fromkeys(some)]
        both = np.hstack([best, vectors @ (await plan.encoder.encode(texts)).T])
        best = -np.sort(-np.partition(both, -PHRASINGS, axis=1)[:, -PHRASINGS:], axis=1)
    return best


def _memory_mb() -> float:
    """The most that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _disk_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20


def in_a_process_of_its_own(file: Path, entries: int, told: argparse.Namespace) -> str:
    """Memory is only that of this size if nothing ran before."""
    questions: MadeQuestions = pickle.loads(file.read_bytes())
    plan, first = (
        Plan(questions, size, told.phrasings, told.random, told.flat) for size in (entries, told.entries[0])
    )
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measured(plan, first, Path(folder)))


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--entries", type=int, nargs="+", default=[1_000, 20_000, 100_000])
    parser.add_argument("--phrasings", type=int, default=3, help="of an entry")
    parser.add_argument("--random", action="store_true", help="random vectors")
    parser.add_argument("--flat", action="store_true", help="without the search graph")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions"
        file.write_bytes(pickle.dumps(asyncio.run(MadeQuestions.read(told.data))))
        for entries in told.entries:
            with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as one:
                print(one.submit(in_a_process_of_its_own, file, entries, told).result(), flush=True)


if __name__ == "__main__":
    main()
