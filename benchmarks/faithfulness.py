"""How long the local faithfulness and retrieval judges take, on one thread.

    python -m benchmarks.faithfulness [--rounds 60]

Answers and passages are put together from the documents of the example helpdesk; a token counts as four Latin
characters or one Japanese one. Processor time, on a quiet machine the same as the clock's. No two rounds see
the same passages; "seen" is a second answer from the passages of a first one.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from rich.console import Console
from rich.table import Table

from classifiers.faithfulness.lexical import LexicalJudge
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.retrieval import PassageEvidence
from classifiers.retrieval.evidence import EvidenceJudge

DOCUMENTS = Path(__file__).parent.parent / "examples/helpdesk"
CHARACTERS_A_TOKEN = {"en": 4, "ja": 1}
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
    faithfulness, retrieval = LexicalJudge(), EvidenceJudge()
    for lang in ("en", "ja"):
        pool = list(_sentences(DOCUMENTS / lang / "documents"))
        for count, passages, tokens in SIZES:
            rng = random.Random(count)
            cases = [_case(pool, lang, count, passages, tokens, rng) for _ in range(rounds)]
            fresh = _timed(cases, faithfulness.judge_now)
            seen = _timed(cases, faithfulness.judge_now, prepare=partial(_another_answer, faithfulness))
            row = (str(count), str(passages), str(tokens), *_figures(fresh), *_figures(seen))
            table.add_row("lexical", lang, *row)
        cases = [_case(pool, lang, 1, 8, 250, rng) for _ in range(rounds)]
        times = _timed(cases, partial(_ask, retrieval))
        table.add_row("evidence", lang, "1 question", "8", "250", *_figures(times), "–", "–")
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


def _ask(judge: EvidenceJudge, question: str, contexts: list[str]) -> object:
    return judge.judge_now(question, [PassageEvidence(context, 0.5, 9.0) for context in contexts])


def _another_answer(judge: LexicalJudge, contexts: list[str]) -> None:
    judge.judge_now("\n".join(context[: len(context) // 8] for context in contexts), contexts)


def _timed(
    cases: list[tuple[str, list[str]]],
    judge: Callable[[str, list[str]], object],
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
