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
from training.command import rows

LABELS = ("correctness", "completeness", "overall")
SAMPLES = 1_000
PEOPLE = "the other person"
OURS = "answer_correctness"
BASELINES = ("length", "rouge_l")
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
    for label, compared in found.items():
        table = Table(
            "", "accuracy", "rho", "tau", "odd pairs", "even pairs", title=f"{label}, {len(pairs)} pairs"
        )
        for name, row in compared.items():
            table.add_row(name, *(row[part] for part in ("accuracy", "rho", "tau", "odd", "even")))
        Console(width=130).print(table)
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def read_pairs(file: Path) -> list[Pair]:
    """The pairs of a file, with the judgements of all their persons."""
    by_pair: dict[int, list[dict[str, Any]]] = {}
    for row in rows(file):
        by_pair.setdefault(row["instance_id"], []).append(row)
    return [
        Pair(
            (_answered(judged[0], "model1"), _answered(judged[0], "model2")),
            {label: np.array([float(row[f"{label}_label"]) for row in judged]) for label in LABELS},
        )
        for judged in by_pair.values()
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


@dataclass(frozen=True, slots=True)
class _Agreement:
    """Figures, and what they were in each bootstrap sample: the same samples for all metrics."""

    whole: Figures
    sampled: Sequence[Figures]
    halves: tuple[float, float]  # accuracy on odd and on even pairs

    @classmethod
    def of(cls, found: NDArray[np.float64], judged: NDArray[np.float64], *, both: bool = False) -> _Agreement:
        rng = np.random.default_rng(0)
        drawn = [rng.integers(0, len(judged), len(judged)) for _ in range(SAMPLES)]
        halves = (figures(found[at::2], judged[at::2], both=both)["accuracy"] for at in (1, 0))
        return cls(
            figures(found, judged, both=both),
            [figures(found[rows], judged[rows], both=both) for rows in drawn],
            (next(halves), next(halves)),
        )

    def row(self) -> dict[str, str]:
        shown = {
            name: _interval(value, [each[name] for each in self.sampled])
            for name, value in self.whole.items()
        }
        return shown | {"odd": f"{self.halves[0]:.3f}", "even": f"{self.halves[1]:.3f}"}

    def ahead_of(self, other: _Agreement) -> dict[str, str]:
        """The differences, paired."""
        pairs = list(zip(self.sampled, other.sampled, strict=True))
        shown = {
            name: _interval(value - other.whole[name], [one[name] - two[name] for one, two in pairs])
            for name, value in self.whole.items()
        }
        return shown | {"odd": "", "even": ""}


def _of_label(
    label: str, pairs: Sequence[Pair], scores: Mapping[str, NDArray[np.float64]]
) -> dict[str, dict[str, str]]:
    judged = np.stack([pair.judgements[label] for pair in pairs])
    found = {
        name: _Agreement.of(one[:, None].repeat(judged.shape[1], 1), judged) for name, one in scores.items()
    }
    rows = {name: one.row() for name, one in found.items()}
    rows |= {f"{OURS} ahead of {name}": found[OURS].ahead_of(found[name]) for name in BASELINES}
    return rows | {PEOPLE: _Agreement.of(judged[:, ::-1], judged, both=True).row()}


def _interval(value: float, sampled: Sequence[float]) -> str:
    low, high = np.percentile(sampled, (2.5, 97.5))
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


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
