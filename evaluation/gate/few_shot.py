"""How the gate grows with the policy's examples: none, five, ten … a class, drawn again for every seed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from classifiers.gate import ClassPolicy, Policy
from encoders import Encoder
from evaluation.cases import GateCase
from evaluation.gate.judging import GateResult, evaluate_gate
from evaluation.gate.words_baseline import WordsBaseline
from gateway.stages import Gate

__all__ = ["SEEDS", "SIZES", "FewShotCurve", "Spread", "few_shot"]

SIZES = (0, 5, 10, 20, 50)
SEEDS = 5

Fit = Callable[[Policy], Awaitable[Gate]]


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over seeds: the range of five covers their median in 94 of 100 such draws."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least one value."""
        return cls(median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{self.median:.3f}  [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class FewShotCurve:
    """Results by number of examples a class, one for each seed."""

    results: Mapping[int, tuple[GateResult, ...]]

    def auroc(self, *, words: bool = False) -> dict[str, dict[int, Spread]]:
        """By slice and size; where no baseline could be fitted there is no point."""
        return self._by_slice(lambda part: part["words_auroc" if words else "auroc"])

    def reach_rag(self) -> dict[str, dict[int, Spread]]:
        """Share of each slice that is let through, must among them."""
        return self._by_slice(lambda part: part["reach_rag_rate"])

    def as_json(self) -> dict[str, Any]:
        """Medians and ranges, by slice and size."""

        def rendered(found: dict[str, dict[int, Spread]]) -> dict[str, Any]:
            return {
                name: {
                    str(size): [spread.median, spread.low, spread.high] for size, spread in by_size.items()
                }
                for name, by_size in found.items()
            }

        return {
            "seeds": max(map(len, self.results.values()), default=0),
            "auroc": rendered(self.auroc()),
            "words_auroc": rendered(self.auroc(words=True)),
            "reach_rag_rate": rendered(self.reach_rag()),
        }

    def _by_slice(self, figure: Callable[[dict[str, Any]], float | None]) -> dict[str, dict[int, Spread]]:
        found: dict[str, dict[int, list[float]]] = {}
        for size, result in ((size, one) for size, results in self.results.items() for one in results):
            for name, part in result.as_json()["slices"].items():
                if (value := figure(part)) is not None:
                    found.setdefault(name, {}).setdefault(size, []).append(value)
        return {
            name: {size: Spread.of(values) for size, values in by_size.items()}
            for name, by_size in found.items()
        }


async def few_shot(
    policy: Policy,
    cases: Sequence[GateCase],
    fit: Fit,
    encoder: Encoder,
    *,
    error: float,
    sizes: Sequence[int] = SIZES,
    seeds: int = SEEDS,
    progress: Callable[[], None] = lambda: None,
) -> FewShotCurve:
    """Fit with so many examples a class, drawn from the policy, and judge the same cases each time."""
    results = {}
    for size in sizes:
        found = []
        for seed in range(seeds if size else 1):  # no examples can be drawn in one way only
            small = _drawn(policy, size, seed)
            baseline = WordsBaseline.fit(small, error)
            gate = await fit(small)
            found.append(await evaluate_gate(cases, gate, encoder, baseline=baseline, progress=progress))
        results[size] = tuple(found)
    return FewShotCurve(results)


def _drawn(policy: Policy, size: int, seed: int) -> Policy:
    rng = np.random.default_rng(seed)

    def some(examples: Sequence[str]) -> tuple[str, ...]:
        return tuple(examples[place] for place in rng.permutation(len(examples))[:size])

    def fewer(written: ClassPolicy) -> ClassPolicy:
        return replace(written, examples=some(written.examples))

    return Policy(
        must=fewer(policy.must),
        may=fewer(policy.may),
        must_not=fewer(policy.must_not),
        topics=tuple(replace(topic, examples=some(topic.examples)) for topic in policy.topics),
    )
