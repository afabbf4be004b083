"""What the limits of the audit cost and how soon they act: `python -m benchmarks.audit`. Seeds are fixed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

from cache.calibration import upper_bound
from cache.calibration.audit import ALPHA, Audited, anytime_upper, bound_of, exceeds
from cache.calibration.drift import FALSE_ALARM_EVERY, Drift

RUNS = 1_000
HIT_RATE = 0.5
console = Console(highlight=False)


def main() -> None:
    """Print every table."""
    console.print(coverage(), audits_needed(), audits_until_action(), questions_until_alarm(), costs())


def coverage() -> Table:
    """How often a 95 % limit holds for who looks after each of 400 verdicts."""
    table = Table("true rate", "Clopper-Pearson, last look", "all looks", "anytime, all looks", title="held")
    draw = np.random.default_rng(1)
    for rate in (0.005, 0.02, 0.1):
        once, anytime = _remembered(upper_bound), _remembered(lambda k, n: anytime_upper(k, n, ALPHA))
        last = always = ours = 0
        for _ in range(RUNS):
            wrong = np.cumsum(draw.random(400) < rate).tolist()
            looks = list(zip(wrong, range(1, 401), strict=True))
            last += once(*looks[-1]) >= rate
            always += all(once(*look) >= rate for look in looks)
            ours += all(anytime(*look) >= rate for look in looks)
        table.add_row(f"{rate:.1%}", *(f"{held / RUNS:.1%}" for held in (last, always, ours)))
    return table


def audits_needed() -> Table:
    """Right verdicts in a row that show a target."""
    table = Table(
        "target per request",
        *(f"hit rate {rate:.0%}" for rate in (0.2, 0.5, 0.8)),
        title="verdicts until kept",
    )
    for target in (0.005, 0.01, 0.03):
        table.add_row(f"{target:.1%}", *(str(_needed(target, rate)) for rate in (0.2, 0.5, 0.8)))
    return table


def audits_until_action() -> Table:
    """How many verdicts it takes to act when more goes out wrong than the target of 1 %."""
    table = Table(
        "wrong per request", "median", "90 % within", "never in 1,000", title="verdicts until a breach"
    )
    draw = np.random.default_rng(2)
    for error in (0.01, 0.02, 0.03, 0.05, 0.1):
        found = [_acted(draw, error / HIT_RATE) for _ in range(200)]
        never = sum(math.isinf(n) for n in found) / len(found)
        table.add_row(
            f"{error:.0%}",
            *(f"{np.quantile(found, q, method='higher'):g}" for q in (0.5, 0.9)),
            f"{never:.1%}",
        )
    return table


def questions_until_alarm() -> Table:
    """How soon a change in the share of hits is noticed after 2,000 usual questions."""
    table = Table(
        "share of hits, from 50 % to", "median", "90 % within", title="questions until the drift alarm"
    )
    draw = np.random.default_rng(3)
    for after in (0.5, 0.4, 0.3, 0.2, 0.8):
        found = []
        for _ in range(40):
            drift = Drift()
            for score in _scores(draw, 2_000, HIT_RATE):
                drift.see(score, lot=draw.random())
            found.append(_alarmed(drift, _scores(draw, 3_000, after), draw))
        table.add_row(f"{after:.0%}", *(f"{np.quantile(found, q, method='higher'):g}" for q in (0.5, 0.9)))
    return table


def costs() -> Table:
    """Time of one call, microseconds."""
    table = Table("step", "µs", title="cost beside the way")
    drift, chance = Drift(), random.Random(1)
    table.add_row(
        "drift, a question", f"{_us(lambda: drift.see(chance.random(), lot=chance.random()), 20_000):.0f}"
    )
    audited = Audited(requests=100_000, hits=50_000, right=395, wrong=5)
    table.add_row("bound of a shelf", f"{_us(lambda: bound_of(audited), 500):.0f}")
    return table


def _needed(target: float, hit_rate: float) -> int:
    n = 1
    while bound_of(Audited(requests=1_000_000, hits=int(1_000_000 * hit_rate), right=n)).upper > target:
        n += 1
    return n


def _acted(draw: np.random.Generator, wrong_share: float) -> float:
    wrong = np.cumsum(draw.random(1_000) < wrong_share).tolist()
    for n in range(5, 1_001, 5):
        requests = max(2_000, 40 * n)  # audits are drawn at a twentieth of the hits
        audited = Audited(
            requests=requests, hits=int(requests * HIT_RATE), wrong=wrong[n - 1], right=n - wrong[n - 1]
        )
        if exceeds(audited, 0.01):
            return n
    return math.inf


def _scores(draw: np.random.Generator, n: int, hit_rate: float) -> list[float]:
    low = np.where(draw.random(n) < 1 / 3, 0.0, draw.beta(1, 6, n))
    scores: list[float] = np.where(draw.random(n) < hit_rate, draw.beta(8, 1, n), low).tolist()
    return scores


def _alarmed(drift: Drift, scores: list[float], draw: np.random.Generator) -> float:
    for n, score in enumerate(scores, start=1):
        drift.see(score, lot=draw.random())
        if drift.statistic >= FALSE_ALARM_EVERY:
            return n
    return math.inf


def _remembered(limit: Callable[[int, int], float]) -> Callable[[int, int], float]:
    known: dict[tuple[int, int], float] = {}

    def look(wrong: int, n: int) -> float:
        if (wrong, n) not in known:
            known[wrong, n] = limit(wrong, n)
        return known[wrong, n]

    return look


def _us(work: Callable[[], object], times: int) -> float:
    began = perf_counter()
    for _ in range(times):
        work()
    return (perf_counter() - began) / times * 1e6


if __name__ == "__main__":
    main()
