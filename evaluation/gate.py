"""Whom the gate lets through, slice by slice. A must-question counts as refused unless it is let through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from classifiers.gate import GateVerdict
from encoders import Encoder, encode_one
from evaluation.cases import GateCase
from evaluation.statistics import Rate, auroc, percentiles
from gateway.stages import Gate

__all__ = ["GateResult", "JudgedQuestion", "SliceResult", "evaluate_gate"]

TENANT = "default"


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A case with its verdict."""

    case: GateCase
    verdict: GateVerdict
    ms: float

    @property
    def let_through(self) -> bool:
        """The question reaches cache and RAG."""
        return self.verdict.label == "must"


@dataclass(frozen=True, slots=True)
class SliceResult:
    """One slice of the file, against the must-questions of the same file."""

    n: int
    gold: str
    reach_rag: Rate
    as_must_not: Rate
    unsure: Rate
    auroc: float | None  # None for must-slices: they are what the others are ranked against


@dataclass(frozen=True, slots=True)
class GateResult:
    """All verdicts over a file."""

    judged: tuple[JudgedQuestion, ...]

    @property
    def false_refusals(self) -> Rate:
        """Must-questions that were not let through."""
        must = [one for one in self.judged if one.case.gold == "must"]
        return Rate(sum(not one.let_through for one in must), len(must))

    def slices(self) -> dict[str, SliceResult]:
        """Every slice with its rates; a slice that holds several classes is split by class."""
        must = [one.verdict.score for one in self.judged if one.case.gold == "must"]
        names = dict.fromkeys((one.case.slice, one.case.gold) for one in self.judged)
        mixed = {name for name, _ in names if sum(other == name for other, _ in names) > 1}
        found = {}
        for name, gold in names:
            of_slice = [one for one in self.judged if (one.case.slice, one.case.gold) == (name, gold)]
            found[f"{name}/{gold}" if name in mixed else name] = SliceResult(
                n=len(of_slice),
                gold=gold,
                reach_rag=Rate(sum(one.let_through for one in of_slice), len(of_slice)),
                as_must_not=Rate(sum(one.verdict.label == "must_not" for one in of_slice), len(of_slice)),
                unsure=Rate(sum(one.verdict.label == "unsure" for one in of_slice), len(of_slice)),
                auroc=None if gold == "must" else auroc(must, [one.verdict.score for one in of_slice]),
            )
        return found

    def as_json(self) -> dict[str, Any]:
        """The keys of the contract."""
        return {
            "must_false_refusal_rate": self.false_refusals.value,
            "slices": {
                name: {
                    "n": part.n,
                    "gold": part.gold,
                    "reach_rag_rate": part.reach_rag.value,
                    "ci95": part.reach_rag.ci95,
                    "as_must_not_rate": part.as_must_not.value,
                    "auroc": part.auroc,
                }
                for name, part in self.slices().items()
            },
            "latency_ms": percentiles(one.ms for one in self.judged),
        }


async def evaluate_gate(
    cases: Sequence[GateCase], gate: Gate, encoder: Encoder, *, progress: Callable[[], None] = lambda: None
) -> GateResult:
    """Judge every question; the time is the gate's own, beyond the shared embedding."""
    judged = []
    for case in cases:
        encoded = await encode_one(encoder, case.text)
        started = perf_counter()
        verdict = await gate.judge(encoded, tenant=TENANT)
        judged.append(JudgedQuestion(case, verdict, (perf_counter() - started) * 1000))
        progress()
    return GateResult(tuple(judged))
