"""How long the local faithfulness and retrieval judges take, on one thread.

    python -m benchmarks.faithfulness [--rounds 60]

Answers and passages are put together from the documents of the example helpdesk; a token counts as four Latin
characters or one Japanese one. Half of an answer's sentences are quoted, and half are put together from two.
Processor time, on a quiet machine the same as the clock's. No two rounds see the same passages; "seen" is a
second answer from the passages of a first one. `local` is what ships, `lexical` the same without its model.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median, quantiles

from rich.console import Console
from rich.table import Table

from classifiers.faithfulness import FaithfulnessJudge
from classifiers.faithfulness.lexical import LexicalJudge
from classifiers.faithfulness.local import LocalJudge
from classifiers.faithfulness.statements.segmentation import sentences
from encoders.shipped import load_shipped_support

DOCUMENTS = Path(__file__).parent.parent / "examples/helpdesk"
CHARACTERS_A_TOKEN = {"en": 4, "ja": 1}
Judges = Callable[[str, list[str]], object]
SIZES = ((4, 4, 500), (4, 8, 500), (10, 4, 500), (4, 8, 1000))  # statements, passages, tokens a passage


def main() -> None:
    """Time both judges and print a table."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=60)
    rounds: int = arguments.parse_args().rounds
    table = Table(
        "judge",
        "language",
        "statements",
        "passages",
        "tokens each",
        "p50 ms",
        "p95 ms",
        "seen: p50 ms",
        "p95 ms",
    )
    runner = asyncio.Runner()
    judges = {"local": LocalJudge(load_shipped_support()), "lexical": LexicalJudge()}
    for lang, (name, faithfulness) in product(("en", "ja"), judges.items()):
        pool = list(_sentences(DOCUMENTS / lang / "documents"))
        judge = partial(_judged, runner, faithfulness)
        for count, passages, tokens in SIZES:
            rng = random.Random(f"{name} {count}")
            cases = [_case(pool, lang, count, passages, tokens, rng) for _ in range(rounds)]
            fresh = _timed(cases, judge)
            seen = _timed(cases, judge, prepare=partial(_another_answer, judge))
            row = (str(count), str(passages), str(tokens), *_figures(fresh), *_figures(seen))
            table.add_row(name, lang, *row)
    runner.close()
    Console().print(table)


def _sentences(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.md")):
        yield from (s.text for s in sentences(path.read_text(encoding="utf-8")) if s.kind in ("text", "item"))


def _case(
    pool: list[str], lang: str, count: int, passages: int, tokens: int, rng: random.Random
) -> tuple[str, list[str]]:
    """An answer of sentences out of the passages, every second one with a part of another sentence."""
    join = " " if lang == "en" else ""
    contexts = []
    for _ in range(passages):
        text = ""
        while len(text) < tokens * CHARACTERS_A_TOKEN[lang]:
            text += join + rng.choice(pool)
        contexts.append(text.strip())
    chosen = rng.sample([s for s in pool if len(s) > 20], 2 * count)
    pairs = zip(chosen[:count], chosen[count:], strict=True)
    answer = [s if i % 2 else s[: len(s) // 2].rstrip() + join + other for i, (s, other) in enumerate(pairs)]
    return "\n".join(answer), contexts


def _judged(runner: asyncio.Runner, judge: FaithfulnessJudge, answer: str, contexts: list[str]) -> object:
    return runner.run(judge.judge(answer, contexts))


def _another_answer(judge: Judges, contexts: list[str]) -> None:
    judge("\n".join(context[: len(context) // 8] for context in contexts), contexts)


def _timed(
    cases: list[tuple[str, list[str]]],
    judge: Judges,
    prepare: Callable[[list[str]], object] = lambda contexts: None,
) -> list[float]:
    first, *others = cases
    judge(*first)
    times = []
    for answer, contexts in others:
        prepare(contexts)
        started = time.process_time()
        judge(answer, contexts)
        times.append((time.process_time() - started) * 1000)
    return times


def _figures(times: list[float]) -> tuple[str, str]:
    return f"{median(times):.1f}", f"{quantiles(times, n=20)[-1]:.1f}"


if __name__ == "__main__":
    main()
