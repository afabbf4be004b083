"""What a large shelf costs: writing it, opening it, asking it, memory. Vectors are random, not encoded.

    python -m benchmarks.shelf_size [--entries 1000 20000 100000] [--graph]

Each entry has three phrasings. CPU time, as the machine may be busy. Without `--graph` a question is compared
with every vector, which is what a shelf costs until its search graph is built (`benchmarks.storage`).
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from cache.content import Content
from cache.indexing import index_pending
from cache.shelf import Shelf
from cache.store import EntryStore, Incoming
from encoders import Encoded, EncoderIdentity, Vector
from storage.edge import EdgeIndex
from storage.sql import Database

DIMENSIONS, WORDS, QUESTIONS, BATCH = 384, 5_000, 200, 500


class RandomVectors:
    """A vector for each text, always the same one."""

    identity = EncoderIdentity("random", DIMENSIONS, "0" * 64, ("en",))

    async def encode(self, texts: Sequence[str], /) -> Vector:
        seeds = [int.from_bytes(sha256(text.encode()).digest()[:4], "big") for text in texts]
        drawn = np.stack([np.random.default_rng(seed).normal(size=DIMENSIONS) for seed in seeds])
        return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def entry(number: int, draw: np.random.Generator) -> Incoming:
    """Three phrasings of words that other entries have, too."""
    words = draw.integers(WORDS, size=(3, 3))
    phrasings = tuple(f"w{a} w{b} w{c} {number} {at}" for at, (a, b, c) in enumerate(words))
    content = Content(kind="ground_truth", language="en", phrasings=phrasings, answer="x" * 200)
    return Incoming(content=content, id=f"e{number}")


async def measured(size: int, folder: Path, *, graph: bool) -> str:
    """A line of figures."""
    encoder, draw = RandomVectors(), np.random.default_rng(7)
    database, index = await _opened(folder)
    store = EntryStore(database)
    began = time.process_time()
    for start in range(0, size, BATCH):
        some = [entry(number, draw) for number in range(start, min(size, start + BATCH))]
        await store.put("shop", some, by="benchmark")
    stored = time.process_time()
    await index_pending(store, index, encoder)
    indexed = time.process_time()
    if graph:
        await index.optimise()
    shelf, spent = Shelf(store, index, encoder), []
    for _ in range(QUESTIONS):
        text = " ".join(f"w{word}" for word in draw.integers(WORDS, size=3))
        question = Encoded(text, (await encoder.encode([text]))[0])
        asked = time.process_time()
        await shelf.find(question, tenant="shop", language="en")
        spent.append(1e3 * (time.process_time() - asked))
    await index.close()
    await database.close()
    opening = time.process_time()
    database, index = await _opened(folder)
    opened = time.process_time() - opening
    await index.close()
    await database.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    p50, p99 = np.percentile(spent, [50, 99])
    sql, vectors = 1e3 * (stored - began) / size, 1e3 * (indexed - stored) / size
    return (
        f"{size:,} entries: SQL {sql:.2f} ms and index {vectors:.2f} ms an entry; "
        f"a lookup p50 {p50:.1f} ms, p99 {p99:.1f} ms; opened in {opened:.2f} s; {memory:,.0f} MB"
    )


async def _opened(folder: Path) -> tuple[Database, EdgeIndex]:
    database = await Database.open(f"sqlite:///{folder / 'shelf.db'}")
    index = await EdgeIndex.open(
        folder / "index", identity=RandomVectors.identity, optimise_after=sys.maxsize
    )
    return database, index


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entries", type=int, nargs="+", default=[1_000, 20_000, 100_000])
    parser.add_argument("--graph", action="store_true", help="build the search graph first; takes minutes")
    told = parser.parse_args()
    for size in told.entries:
        with tempfile.TemporaryDirectory() as folder:
            print(asyncio.run(measured(size, Path(folder), graph=told.graph)), flush=True)


if __name__ == "__main__":
    main()
