"""What the two stores cost.

    python -m benchmarks.storage [--sizes 1000 10000 100000]

Reads of SQLite by primary key, and for each size of the embedded index: writing it, building its search
graph, asking by meaning and by words before and after, and memory. The vectors are drawn around 2,000
centres; a question is a stored vector with noise, and `first` says how often the stored one came back
first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sqlalchemy import insert, select

from encoders import EncoderIdentity
from storage.edge import EdgeIndex
from storage.schema import settings
from storage.sql import Database
from storage.vectors import Point

DIMENSIONS = 384
CENTRES = 2_000
QUESTIONS = 300
WORDS_PER_TEXT = 12
IDENTITY = EncoderIdentity("benchmark", DIMENSIONS, "0" * 64, ("en",))


@dataclass(frozen=True, slots=True)
class Asked:
    """Milliseconds for a question, and how often the right point came first."""

    p50: float
    p95: float
    first: float

    def __str__(self) -> str:
        return f"{self.p50:.2f} / {self.p95:.2f} ms, first {self.first:.0%}"


@dataclass(frozen=True, slots=True)
class Row:
    """What one size costs."""

    size: int
    write_s: float
    optimise_s: float
    nearest: str
    nearest_optimised: str
    matching: str
    open_s: float
    memory_mb: float


class Corpus:
    """Points and questions, the same ones for the same seed."""

    def __init__(self, size: int) -> None:
        self._random = np.random.default_rng(7)
        centres = self._random.normal(size=(CENTRES, DIMENSIONS)).astype(np.float32)
        spread = self._random.normal(size=(size, DIMENSIONS)).astype(np.float32)
        self.vectors: NDArray[np.float32] = centres[np.arange(size) % CENTRES] + 0.6 * spread
        words = np.minimum(self._random.zipf(1.2, size=(size, WORDS_PER_TEXT)), 30_000)
        self.texts = [" ".join(f"w{word}" for word in row) + f" n{i}" for i, row in enumerate(words)]

    def points(self, start: int, stop: int) -> list[Point]:
        """Some of the points."""
        return [
            Point(str(UUID(int=i)), self.vectors[i], self.texts[i], {"tenant": "a", "language": "en"})
            for i in range(start, min(stop, len(self.texts)))
        ]

    def asked(self) -> list[int]:
        """Which points are asked for."""
        return [int(i) for i in self._random.integers(0, len(self.texts), QUESTIONS)]

    def near(self, number: int) -> NDArray[np.float32]:
        """A vector close to that of the point."""
        noise = self._random.normal(size=DIMENSIONS).astype(np.float32)
        return np.asarray(self.vectors[number] + 0.3 * noise, dtype=np.float32)


async def timed(numbers: list[int], ask: Callable[[int], Awaitable[str]]) -> Asked:
    """Ask for each number, one after the other."""
    taken, right = [], 0
    for number in numbers:
        start = time.perf_counter()
        right += await ask(number) == str(UUID(int=number))
        taken.append((time.perf_counter() - start) * 1e3)
    p50, p95 = np.percentile(taken, [50, 95])
    return Asked(float(p50), float(p95), right / len(numbers))


async def measured(size: int, folder: Path) -> Row:
    """Write, ask, optimise and ask again."""
    corpus = Corpus(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index = await EdgeIndex.open(folder, identity=IDENTITY, optimise_after=sys.maxsize)
    where = {"tenant": "a", "language": "en"}

    async def by_meaning(number: int) -> str:
        return (await index.nearest(corpus.near(number), where=where, limit=10))[0].id

    async def by_words(number: int) -> str:
        return (await index.matching(corpus.texts[number], where=where, limit=10))[0].id

    start = time.perf_counter()
    for first in range(0, size, 1_000):
        await index.upsert(corpus.points(first, first + 1_000))
    written = time.perf_counter() - start
    numbers = corpus.asked()
    flat = await timed(numbers, by_meaning)
    start = time.perf_counter()
    await index.optimise()
    optimised = time.perf_counter() - start
    graph = await timed(numbers, by_meaning)
    words = await timed(numbers, by_words)
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    await index.close()
    start = time.perf_counter()
    await (await EdgeIndex.open(folder, identity=IDENTITY)).close()
    opened = time.perf_counter() - start
    return Row(size, written, optimised, str(flat), str(graph), str(words), opened, memory)


async def read_by_key(folder: Path, reads: int = 5_000) -> Asked:
    """A row of a thousand by its primary key, through `Database.connect`."""
    database = await Database.open(f"sqlite:///{folder / 'benchmark.db'}")
    now = datetime.now(UTC)
    async with database.begin() as connection:
        rows = [{"name": str(UUID(int=i)), "value": {"n": i}, "updated_at": now} for i in range(1_000)]
        await connection.execute(insert(settings), rows)

    async def read(number: int) -> str:
        async with database.connect() as connection:
            query = select(settings).where(settings.c.name == str(UUID(int=number)))
            return str((await connection.execute(query)).one().name)

    result = await timed([i % 1_000 for i in range(reads)], read)
    await database.close()
    return result


def in_a_process_of_its_own(size: int) -> Row:
    """Memory is only that of this size if nothing ran before."""
    command = [sys.executable, "-m", "benchmarks.storage", "--measure", str(size)]
    return Row(**json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.measure is not None:
            print(json.dumps(asdict(asyncio.run(measured(options.measure, Path(folder) / "index")))))
            return
        console = Console()
        console.print(f"SQLite, read by primary key: {asyncio.run(read_by_key(Path(folder)))}")
    console.print(as_table([in_a_process_of_its_own(size) for size in options.sizes]))


def as_table(rows: list[Row]) -> Table:
    """A column for each size."""
    table = Table("Qdrant Edge (p50 / p95)", *(f"{row.size:,} points" for row in rows))
    table.add_row("written in", *(f"{row.write_s:.1f} s" for row in rows))
    table.add_row("graph built in", *(f"{row.optimise_s:.1f} s" for row in rows))
    table.add_row("nearest, without graph", *(row.nearest for row in rows))
    table.add_row("nearest, with graph", *(row.nearest_optimised for row in rows))
    table.add_row("matching", *(row.matching for row in rows))
    table.add_row("opened in", *(f"{row.open_s:.2f} s" for row in rows))
    table.add_row("memory", *(f"{row.memory_mb:.0f} MB" for row in rows))
    return table


if __name__ == "__main__":
    main()
