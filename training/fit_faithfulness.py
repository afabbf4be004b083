"""Fit the weights of the lexical faithfulness judge, and measure them on sources that were left out.

    python -m training.fit_faithfulness --data DATA    # writes lexical_weights.json and prints the figures

DATA holds faithfulness/*.jsonl and qa/*.jsonl. HaluEval is left out: its labels show
in the length of its answers.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from classifiers.faithfulness.evidence import Contexts, Features
from classifiers.faithfulness.lexical import SHIPPED, writing
from classifiers.faithfulness.statements import statements
from training.perturbations import cases

FALSE_BLOCKS = 0.05  # of faithful answers, the promise that sets the cut
ANSWERS = ("ragtruth_nontest", "jhars_dev", "factcg", "begin_dev")
CORPORA = {"squad2": "en", "jaquad_train": "ja", "cmrc2018_dev": "zh"}
# The development answers that set each cut, scored by weights that never saw them.
CUT_SOURCE = {"words": "ragtruth_nontest", "characters": "jhars_dev"}


@dataclass(frozen=True, slots=True)
class Example:
    """One statement in figures."""

    source: str
    group: str
    answer: str
    kind: str
    writing: str
    values: tuple[float, ...]
    supported: bool | None  # None: the answer is unfaithful, but where is not annotated
    faithful: bool  # the whole answer


def main() -> None:
    """Read, fit, measure, write."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--limit", type=int, default=3000, help="perturbed statements a language")
    arguments.add_argument("--cache", type=Path, help="keep the figures of all statements here")
    chosen = arguments.parse_args()
    if chosen.cache and chosen.cache.exists():
        examples = pickle.loads(chosen.cache.read_bytes())
    else:
        examples = [*_answers(chosen.data / "faithfulness"), *_perturbed(chosen.data / "qa", chosen.limit)]
        if chosen.cache:
            chosen.cache.write_bytes(pickle.dumps(examples))
    models = {name: _model(name, examples) for name in ("words", "characters")}
    SHIPPED.write_text(
        json.dumps({"judge": "lexical@1", "models": models}, indent=1) + "\n", encoding="utf-8"
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _answers(folder: Path) -> Iterator[Example]:
    for source in ANSWERS:
        for row in _rows(folder / f"{source}.jsonl"):
            contexts = Contexts(row["contexts"])
            found = statements(row["answer"])
            for each in found:
                values = contexts.evidence(each.claim, row.get("question") or "").features.values()
                yield Example(
                    source,
                    f"{row.get('task', '')} {row['group']}".strip(),
                    row["id"],
                    "answer",
                    writing(each.text),
                    values,
                    _label(row, each.start, each.end, len(found)),
                    row["faithful"],
                )


def _label(row: dict[str, Any], start: int, end: int, count: int) -> bool | None:
    if row["faithful"]:
        return True
    if row["unsupported"]:
        return not any(span["start"] < end and start < span["end"] for span in row["unsupported"])
    return False if count == 1 else None


def _perturbed(folder: Path, limit: int) -> Iterator[Example]:
    for source in CORPORA:
        for number, case in enumerate(cases(_rows(folder / f"{source}.jsonl"), source, limit=limit)):
            values = Contexts(case.contexts).evidence(case.text).features.values()
            yield Example(
                source,
                "perturbed",
                f"{source}-{number}",
                case.kind,
                writing(case.text),
                values,
                case.faithful,
                case.faithful,
            )


def _fit(examples: Sequence[Example]) -> tuple[NDArray[np.float64], float]:
    """Weights on the raw figures. Each source and label weighs the same; evidence only speaks against."""
    used = [e for e in examples if e.supported is not None]
    x, unsupported = np.array([e.values for e in used]), np.array([float(not e.supported) for e in used])
    sizes = Counter((e.source, e.supported) for e in used)
    weights = np.array([SOURCE_WEIGHT.get(e.source, 1.0) / sizes[e.source, e.supported] for e in used])
    weights /= weights.sum()
    mean, scale = x.mean(0), x.std(0) + 1e-6
    z = (x - mean) / scale

    def loss(p: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logit = z @ p[1:] + p[0]
        residual = weights * (1 / (1 + np.exp(-logit)) - unsupported)
        value = weights @ (np.logaddexp(0, logit) - unsupported * logit) + RIDGE * p[1:] @ p[1:]
        return float(value), np.r_[residual.sum(), z.T @ residual + 2 * RIDGE * p[1:]]

    least = [LEAST.get(name, 0.0) * unit for name, unit in zip(Features.names(), scale, strict=True)]
    highest = [
        HIGHEST[name] * unit if name in HIGHEST else None
        for name, unit in zip(Features.names(), scale, strict=True)
    ]
    bounds = [(None, None), *zip(least, highest, strict=True)]
    found = minimize(loss, np.array([0.0, *least]), jac=True, bounds=bounds, method="L-BFGS-B").x
    against = found[1:] / scale
    return -against, float(against @ mean - found[0])


RIDGE = 1e-4
HARD = 0.01  # no cut is below the score of a well covered statement with one contradiction
# Perturbed statements never count what they list, as real answers do ("two ways"): they would overrate this.
HIGHEST = {"new_counts": 0.5, "new_compounds": 1.0}
# One figure that stands nowhere is enough to hold an answer back, however well the rest of it is covered.
LEAST = {
    "new_numbers": 8.0,
    "unfounded": 8.0,
    "exchanged": 8.0,
    "other_units": 8.0,
    "negation_added": 8.0,
    "opposite": 8.0,
}
SOURCE_WEIGHT = {"begin_dev": 0.5}  # chit-chat


def _scores(examples: Sequence[Example], weights: NDArray[np.float64], bias: float) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-(np.array([e.values for e in examples]) @ weights + bias)))


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with the score of its worst statement."""

    source: str
    group: str
    kind: str
    score: float
    faithful: bool


def _judged(examples: Sequence[Example], scores: Iterable[float]) -> list[Judged]:
    worst: dict[str, Judged] = {}
    for e, s in zip(examples, scores, strict=True):
        if e.answer not in worst or s < worst[e.answer].score:
            worst[e.answer] = Judged(e.source, e.group, e.kind, float(s), e.faithful)
    return list(worst.values())


def _model(name: str, examples: Sequence[Example]) -> dict[str, Any]:
    """Weights for one writing. For characters, English answers lend what natural wording looks like."""
    own = [e for e in examples if e.writing == name]
    pool = examples if name == "characters" else own
    held_out: list[Judged] = []
    per_statement: dict[str, float] = {}
    for source in sorted({e.source for e in own}):
        here = [e for e in own if e.source == source]
        scores = _scores(here, *_fit([e for e in pool if e.source != source]))
        held_out += _judged(here, scores)
        known = [(e.supported, s) for e, s in zip(here, scores, strict=True) if e.supported is not None]
        if len({label for label, _ in known}) == 2:
            per_statement[source] = roc_auc_score([label for label, _ in known], [s for _, s in known])
    sure = [j.score for j in held_out if j.faithful and j.source == CUT_SOURCE[name]]
    cut = max(float(np.quantile(sure, FALSE_BLOCKS)), HARD)
    _report(name, held_out, per_statement, cut)
    weights, bias = _fit(pool)
    return {
        "cut": round(cut, 4),
        "cut_from": f"{CUT_SOURCE[name]}, left out of the fit: {np.mean(np.array(sure) < cut):.1%} of its "
        f"{len(sure)} faithful answers are blocked",
        "bias": round(bias, 4),
        "weights": {n: round(float(w), 4) or 0.0 for n, w in zip(Features.names(), weights, strict=True)},
    }


def _report(name: str, judged: Sequence[Judged], statement: dict[str, float], cut: float) -> None:
    print(f"\n== {name}: each source scored by weights fitted on the others; cut {cut:.3f}")
    by_source: dict[str, list[Judged]] = defaultdict(list)
    for j in judged:
        by_source[j.source].append(j)
        if j.source == "ragtruth_nontest":
            by_source[f"{j.source} {j.group.split()[0]}"].append(j)
    for source, answers in by_source.items():
        bad = sum(not j.faithful for j in answers)
        auroc = _auroc(answers)
        within = _within(answers)
        flag_all = 2 * bad / (len(answers) + bad)
        caught = np.mean([j.score < cut for j in answers if not j.faithful]) if bad else float("nan")
        blocked = np.mean([j.score < cut for j in answers if j.faithful])
        best = max(
            _f1(answers, c) for c in np.quantile([j.score for j in answers], np.linspace(0.02, 0.98, 49))
        )
        print(
            f"{source:28} n {len(answers):5} unfaithful {bad:5} AUROC {auroc:.3f} within group {within:.3f} "
            f"per statement {statement.get(source, float('nan')):.3f} flag-all F1 {flag_all:.3f} "
            f"best F1 {best:.3f} F1 at cut {_f1(answers, cut):.3f} "
            f"caught {caught:.3f} false blocks {blocked:.3f}"
        )
    kinds = Counter(j.kind for j in judged if not j.faithful and j.group == "perturbed")
    for kind in kinds:
        found = [
            j.score < cut for j in judged if j.kind == kind and not j.faithful and j.group == "perturbed"
        ]
        print(f"   perturbed {kind:10} n {len(found):5} caught {np.mean(found):.3f}")


def _auroc(answers: Sequence[Judged]) -> float:
    labels = [j.faithful for j in answers]
    return roc_auc_score(labels, [j.score for j in answers]) if len(set(labels)) == 2 else float("nan")


def _within(answers: Sequence[Judged]) -> float:
    """AUROC over pairs of one group only."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for j in answers:
        groups[j.group].append(j)
    pairs = wins = 0.0
    for members in groups.values():
        good, bad = [j.score for j in members if j.faithful], [j.score for j in members if not j.faithful]
        if good and bad:
            pairs += len(good) * len(bad)
            wins += len(good) * len(bad) * _auroc(members)
    return wins / pairs if pairs else float("nan")


def _f1(answers: Sequence[Judged], cut: float) -> float:
    flagged = [j for j in answers if j.score < cut]
    right = sum(not j.faithful for j in flagged)
    bad = sum(not j.faithful for j in answers)
    return 2 * right / (len(flagged) + bad) if flagged else 0.0


if __name__ == "__main__":
    main()
