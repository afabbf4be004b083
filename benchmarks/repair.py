"""How often an answer can be repaired, and whether what is then delivered is clean by human spans.

    python -m benchmarks.repair FILE.jsonl [--config C]    # rows with a question and `unsupported` spans

*people*: a statement counts as unsupported where it overlaps a span that a person marked, so that the row
shows the cutting alone. *judge*: the configured judge says what to cut. A delivered answer is clean if
no marked span is left in it; the baseline delivers nothing that is blocked.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import uvloop
from rich.console import Console
from rich.table import Table

from classifiers.faithfulness import Checked, FaithfulnessVerdict, StatementVerdict, verdict_of
from classifiers.faithfulness.ruling import Delivered, VerdictPolicy
from classifiers.faithfulness.statements import statements
from evaluation.cases import Answer, read_cases
from evaluation.statistics import Rate
from gateway.checking.opening import judge_apart
from gateway.configuration.loading import find_settings

DROP = VerdictPolicy(repair="drop")


def main() -> None:
    """Judge, repair, and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--config", type=Path)
    chosen = arguments.parse_args()
    rows = [row for row in read_cases(chosen.file, Answer) if row.question and row.unsupported is not None]
    table = Table(
        "verdicts", "blocked", "repaired, of blocked", "clean, of repaired", title=f"{len(rows)} answers"
    )
    table.add_row("people", *_cells(rows, [_by_people(row) for row in rows]))
    table.add_row("judge", *_cells(rows, uvloop.run(_by_judge(rows, chosen.config))))
    Console().print(table)


async def _by_judge(rows: Sequence[Answer], config: Path | None) -> list[FaithfulnessVerdict]:
    async with judge_apart(find_settings(config)) as judge:
        return [await judge.judge(row.answer, row.contexts, question=row.question or "") for row in rows]


def _by_people(row: Answer) -> FaithfulnessVerdict:
    return verdict_of(
        [
            StatementVerdict(
                text=one.text, start=one.start, end=one.end, score=None, reason="marked", judge="people",
                state="unsupported" if _marked(row, one.start, one.end) else "supported",
            )
            for one in statements(row.answer)
        ],
        judge="people",
    )  # fmt: skip


def _marked(row: Answer, start: int, end: int) -> bool:
    return any(span.start < end and start < span.end for span in row.unsupported or ())


def _cells(rows: Sequence[Answer], verdicts: Sequence[FaithfulnessVerdict]) -> list[str]:
    judged = zip(rows, verdicts, strict=True)
    blocked = [(row, one) for row, one in judged if isinstance(one, Checked) and not one.passed]
    rulings = [(row, DROP.ruling(row.answer, one, question=row.question or "")) for row, one in blocked]
    told = [(row, ruling) for row, ruling in rulings if isinstance(ruling, Delivered)]
    clean = sum(_is_clean(row, ruling) for row, ruling in told)
    return [str(len(blocked)), _said(Rate(len(told), len(blocked))), _said(Rate(clean, len(told)))]


def _is_clean(row: Answer, ruling: Delivered) -> bool:
    """A marked span is gone if a sentence that was cut out has a part of it."""
    gone = [(at, at + len(text)) for text in ruling.cut if (at := row.answer.find(text)) >= 0]
    return all(
        any(span.start < end and start < span.end for start, end in gone) for span in row.unsupported or ()
    )


def _said(rate: Rate) -> str:
    if rate.value is None or rate.ci95 is None:
        return "–"
    low, high = rate.ci95
    return f"{rate.count}/{rate.n} = {rate.value:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    main()
