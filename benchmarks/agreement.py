"""How well metrics agree with people: pairs of RAG answers, each judged by two persons (RAGChecker).

    python -m benchmarks.agreement DATA [--json FILE]    # DATA holds evaluation/ragchecker.jsonl

A metric prefers the answer with the higher score. *Accuracy* is the share of judgements with a preference
that it shares (its own ties count half), *rho* and *tau* are Spearman's and Kendall's correlation of the
difference of scores with the judgement from -2 to 2. Intervals are the 95 % of 1,000 bootstrap samples of
pairs: both judgements of a pair are drawn together. Nothing was fitted to these pairs; all metrics but the
length and ROUGE-L were chosen with an eye on them, so the halves by pair are printed, too. No language
model is asked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.stats import kendalltau, spearmanr

from encoders.shipped import load_shipped
from evaluation.answers.cases import AnswerCase, AnsweredCase
from evaluation.metrics import Metric, Score
from evaluation.metrics.correctness import AnswerCorrectness, LocalFactuality
from evaluation.metrics.overlap import Length, RougeL
from evaluation.metrics.statements import LocalStatements

LABELS = ("correctness", "completeness", "overall")
SAMPLES = 1_000
PEOPLE = "the other person"
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to a question, and what people said of them: positive if the second is better."""

    answers: tuple[AnsweredCase, AnsweredCase]
    judgements: Mapping[str, NDArray[np.float64]]  # by label, one for each person


def main() -> None:
    """Measure, and print a table."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--json", type=Path)
    given = arguments.parse_args()
    pairs = read_pairs(given.data / "evaluation" / "ragchecker.jsonl")
    scores = asyncio.run(measured(pairs))
    found = {label: _of_label(label, pairs, scores) for label in LABELS}
    for label, rows in found.items():
        table = Table(
            "", "accuracy", "rho", "tau", "odd pairs", "even pairs", title=f"{label}, {len(pairs)} pairs"
        )
        for name, row in rows.items():
            table.add_row(name, *(row[part] for part in ("accuracy", "rho", "tau", "odd", "even")))
        Console(width=130).print(table)
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def read_pairs(file: Path) -> list[Pair]:
    """The pairs of a file, with the judgements of all their persons."""
    by_pair: dict[int, list[dict[str, Any]]] = {}
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        by_pair.setdefault(row["instance_id"], []).append(row)
    return [
        Pair(
            (_answered(rows[0], "model1"), _answered(rows[0], "model2")),
            {label: np.array([float(row[f"{label}_label"]) for row in rows]) for label in LABELS},
        )
        for rows in by_pair.values()
    ]


def _answered(row: Mapping[str, Any], model: str) -> AnsweredCase:
    case = AnswerCase(
        id=f"{row['instance_id']}-{model}", lang="en", real_question=row["query"], question=row["query"],
        ground_truth=row["gt_answer"],
    )  # fmt: skip
    return AnsweredCase(case=case, answer=row[model]["response"], contexts=(), outcome="recorded")


async def measured(pairs: Sequence[Pair]) -> dict[str, NDArray[np.float64]]:
    """For each metric the second answer's score minus the first one's; without a score it counts as 0."""
    encoder = load_shipped()
    correctness = AnswerCorrectness(LocalFactuality(LocalStatements()), encoder)
    metrics: tuple[Metric, ...] = (RougeL(), Length())
    rows = [
        [{**await _parts(correctness, answer), **{m.name: await _score(m, answer) for m in metrics}}
         for answer in pair.answers]
        for pair in pairs
    ]  # fmt: skip
    return {name: np.array([second[name] - first[name] for first, second in rows]) for name in rows[0][0]}


async def _parts(correctness: Metric, case: AnsweredCase) -> dict[str, float]:
    """Answer correctness, and each of the two figures that it is the mean of."""
    found = await correctness.measure(case)
    steps = found.steps if isinstance(found, Score) else {}
    return {
        "answer_correctness": found.value if isinstance(found, Score) else 0.0,
        "its factuality": steps.get("factuality", 0.0),
        "its similarity": steps.get("similarity", 0.0),
    }


async def _score(metric: Metric, case: AnsweredCase) -> float:
    found = await metric.measure(case)
    return found.value if isinstance(found, Score) else 0.0


def _of_label(
    label: str, pairs: Sequence[Pair], scores: Mapping[str, NDArray[np.float64]]
) -> dict[str, dict[str, str]]:
    judged = np.stack([pair.judgements[label] for pair in pairs])
    rows = {name: _row(found[:, None].repeat(judged.shape[1], 1), judged) for name, found in scores.items()}
    rows[PEOPLE] = _row(judged[:, ::-1], judged, both=True)
    return rows


def _row(found: NDArray[np.float64], judged: NDArray[np.float64], *, both: bool = False) -> dict[str, str]:
    """Figures with their intervals, and the accuracy in two halves."""
    rng = np.random.default_rng(0)
    whole = figures(found, judged, both=both)
    drawn = [rng.integers(0, len(judged), len(judged)) for _ in range(SAMPLES)]
    sampled = [figures(found[rows], judged[rows], both=both) for rows in drawn]
    shown = {}
    for name, value in whole.items():
        low, high = np.percentile([each[name] for each in sampled], (2.5, 97.5))
        shown[name] = f"{value:.3f} [{low:.3f}, {high:.3f}]"
    for name, start in (("odd", 1), ("even", 0)):
        shown[name] = f"{figures(found[start::2], judged[start::2], both=both)['accuracy']:.3f}"
    return shown


def figures(found: NDArray[np.float64], judged: NDArray[np.float64], *, both: bool = False) -> Figures:
    """Accuracy where there is a preference, and the correlations over all.

    Args:
        both: leave out what `found` has no preference on, too: a person's tie is no guess.
    """
    mine, theirs = found.ravel(), judged.ravel()
    kept = (theirs != 0) & ((mine != 0) | (not both))
    agree = np.where(mine == 0, 0.5, np.sign(mine) == np.sign(theirs))
    return {
        "accuracy": float(agree[kept].mean()),
        "rho": float(spearmanr(mine, theirs).statistic),
        "tau": float(kendalltau(mine, theirs).statistic),
    }


if __name__ == "__main__":
    main()
