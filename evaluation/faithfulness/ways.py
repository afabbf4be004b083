"""Ways to tell unsupported answers: ours, simpler rules on the same statements, and trivial ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classifiers.faithfulness import Checked, FaithfulnessJudge, FaithfulnessVerdict
from classifiers.faithfulness.statements.segmentation import sentences
from encoders import Encoder, Vector
from evaluation.cases import Answer
from evaluation.statistics import (
    Estimate,
    Rate,
    auroc,
    auroc_within_group,
    estimate,
    f1,
    recall_at_false_positive_rate,
)

__all__ = [
    "OURS",
    "Compared",
    "Figures",
    "Way",
    "by_cosine",
    "by_threshold",
    "by_verdict",
    "by_words",
    "flag_all",
]

OURS = "Sekisho"
_F_THRESHOLD = 0.8  # RAGAS' own example; a perfect verifier misses half of the unfaithful answers with it
FALSE_BLOCKS = 0.05
_AT_ONCE = 256  # texts encoded in one call


@dataclass(frozen=True, slots=True)
class Way:
    """A way to judge, and what it says of each answer of a file."""

    name: str
    suspicion: tuple[float | None, ...]  # more: rather unfaithful; None: not judged, and in no ranking
    flagged: tuple[bool, ...]  # not delivered
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How good a way is. "Positive" is the unfaithful answer."""

    auroc: Estimate
    within_group: Estimate
    precision: Rate
    recall: Rate
    f1: Estimate
    false_blocks: Rate
    recall_at_5pct: Estimate


@dataclass(frozen=True)  # no slots: what was drawn a thousand times is kept
class Compared:
    """Several ways on the same answers."""

    cases: tuple[Answer, ...]
    ways: tuple[Way, ...]

    @cached_property
    def figures(self) -> dict[str, Figures]:
        """Of every way, by name."""
        return {way.name: _figures(way, self.cases) for way in self.ways}

    def scores(self, way: Way) -> tuple[list[float], list[float]]:
        """Suspicion of the unfaithful answers, and of the faithful ones."""
        rows = [
            (s, case.faithful) for s, case in zip(way.suspicion, self.cases, strict=True) if s is not None
        ]
        return [s for s, faithful in rows if not faithful], [s for s, faithful in rows if faithful]


def flag_all(cases: Sequence[Answer]) -> Way:
    """Every answer to a person: the line that F1 has to be read beside."""
    return Way("flag all", (0.0,) * len(cases), (True,) * len(cases))


def by_verdict(name: str, verdicts: Sequence[FaithfulnessVerdict], *, note: str = "") -> Way:
    """Block on any unsupported statement; the worst one ranks."""
    return Way(
        name,
        tuple(1 - one.score if isinstance(one, Checked) else None for one in verdicts),
        tuple(not (isinstance(one, Checked) and one.passed) for one in verdicts),
        note,
    )


def by_threshold(verdicts: Sequence[FaithfulnessVerdict], threshold: float = _F_THRESHOLD) -> Way:
    """RAGAS' rule on our statements: block where fewer than that share of them are supported."""
    shares = [one.faithfulness if isinstance(one, Checked) else None for one in verdicts]
    return Way(
        f"F below {threshold:g}",
        tuple(None if share is None else 1 - share for share in shares),
        tuple(share is None or share < threshold for share in shares),
        "RAGAS' rule, on our statements",
    )


async def by_words(judge: FaithfulnessJudge, cases: Sequence[Answer]) -> Way:
    """Words, numbers and names alone, as the local judge reads them without a model."""
    verdicts = [await judge.judge(case.answer, case.contexts, question=case.question) for case in cases]
    return by_verdict("words alone", verdicts, note="the evidence of the local judge, without its model")


async def by_cosine(
    encoder: Encoder, cases: Sequence[Answer], verdicts: Sequence[FaithfulnessVerdict]
) -> Way:
    """The trivial baseline: how near the worst statement's nearest sentence is; cut on this very file."""
    stated = [[statement.text for statement in verdict.statements] for verdict in verdicts]
    found = [[s.text for context in case.contexts for s in sentences(context)] for case in cases]
    vectors = await _vectors(encoder, {text for texts in (*stated, *found) for text in texts})
    suspicion = tuple(
        _farthest(vectors, statements, places) for statements, places in zip(stated, found, strict=True)
    )
    good = sorted(s for s, case in zip(suspicion, cases, strict=True) if s is not None and case.faithful)
    cut = good[len(good) - 1 - int(FALSE_BLOCKS * len(good))] if good else 0.0
    flagged = tuple(s is None or s > cut for s in suspicion)
    note = (
        f"of the worst statement to its nearest sentence; cut at {FALSE_BLOCKS:.0%} false blocks on this file"
    )
    return Way("cosine", suspicion, flagged, note)


async def _vectors(encoder: Encoder, texts: set[str]) -> dict[str, Vector]:
    ordered = sorted(texts)
    found: dict[str, Vector] = {}
    for start in range(0, len(ordered), _AT_ONCE):
        some = ordered[start : start + _AT_ONCE]
        found.update(zip(some, await encoder.encode(some), strict=True))
    return found


def _farthest(vectors: dict[str, Vector], statements: list[str], places: list[str]) -> float | None:
    if not statements or not places:
        return None
    there = np.stack([vectors[text] for text in places])
    return float(1 - min((there @ vectors[text]).max() for text in statements))


def _figures(way: Way, cases: Sequence[Answer]) -> Figures:
    bad = np.array([not case.faithful for case in cases])
    flagged = np.array(way.flagged)
    ranked = np.array([s is not None for s in way.suspicion])
    scores = np.array([s for s in way.suspicion if s is not None])
    are, groups = bad[ranked], np.array([case.group for case in cases])[ranked]

    def of(statistic: Callable[[Any, NDArray[np.bool_]], float | None]) -> Estimate:
        return estimate(lambda drawn: statistic(scores[drawn], are[drawn]), len(scores))

    whole = of(lambda s, b: auroc(s[b], s[~b]))
    within = whole
    if len(set(groups)) > 1:
        within = estimate(lambda i: auroc_within_group(scores[i], are[i], groups[i]), len(scores))
    return Figures(
        auroc=whole,
        within_group=within,
        precision=Rate(int((flagged & bad).sum()), int(flagged.sum())),
        recall=Rate(int((flagged & bad).sum()), int(bad.sum())),
        f1=estimate(lambda i: f1(flagged[i], bad[i]), len(cases)),
        false_blocks=Rate(int((flagged & ~bad).sum()), int((~bad).sum())),
        recall_at_5pct=of(lambda s, b: recall_at_false_positive_rate(s[b], s[~b], FALSE_BLOCKS)),
    )
