"""What audited hits say about the rate of wrong answers. Pure functions; docs/statistics.md has the proofs.

Reviewers look whenever they like, and every verdict may be the one that acts. So the limits here are
*anytime-valid*: they hold at all looks together. They come from bets against a stated rate: whoever doubts
that the rate is r stakes on every verdict, at odds that are fair if r is true. If it is, their capital, a
martingale, reaches 1/alpha with probability alpha at most, ever (Ville 1939). The stakes are mixed by
Jeffreys' prior over all the rates that they may believe in (Robbins 1970; Waudby-Smith and Ramdas 2023),
which leaves a formula of two counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import betainc, betaincc, betaln

from cache.calibration import CONFIDENCE, upper_bound

__all__ = [
    "Audited",
    "Bound",
    "anytime_lower",
    "anytime_upper",
    "bound_of",
    "capital_above",
    "capital_below",
    "exceeds",
    "supported_cut",
]

ALPHA = 1 - CONFIDENCE
ALPHA_HIT_RATE = ALPHA / 10  # counted on every request, so a small part of the doubt is enough for it
ALPHA_WRONG = ALPHA - ALPHA_HIT_RATE
_PRIOR = 0.5  # Jeffreys: both parameters of the beta distribution that the stakes follow


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """Counts of one shelf while one cut served it."""

    requests: int  # questions that were looked up
    hits: int  # of them served by the tier in question
    right: int = 0  # verdicts on a random sample of the hits
    wrong: int = 0
    unsure: int = 0

    @property
    def judged(self) -> int:
        """How many hits have a verdict."""
        return self.right + self.wrong + self.unsure


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Wrong answers per request: what was seen, and what it may be at most. Shares, 0..1."""

    estimate: float | None  # None where nothing was judged: no rate was observed
    upper: float  # at all looks together
    upper_at_one_look: float  # Clopper-Pearson: for a look that was fixed beforehand
    lower: float  # at all looks together


def bound_of(audited: Audited) -> Bound:
    """Limits for P(served, and wrong): the share of wrong hits times the share of hits.

    Both factors are uncertain; the doubt is split between them (Bonferroni). Who is unsure has not said
    that it was right: for the upper limits that counts as wrong, for the lower one as right.
    """
    worst, n, hits, requests = audited.wrong + audited.unsure, audited.judged, audited.hits, audited.requests
    hit_rate = hits / requests if requests else 0.0
    once = upper_bound(worst, n, confidence=1 - ALPHA_WRONG) if n else 1.0
    once *= upper_bound(hits, requests, confidence=1 - ALPHA_HIT_RATE) if requests else 1.0
    return Bound(
        estimate=audited.wrong / n * hit_rate if n else None,
        upper=anytime_upper(worst, n, ALPHA_WRONG) * anytime_upper(hits, requests, ALPHA_HIT_RATE),
        upper_at_one_look=once,
        lower=anytime_lower(audited.wrong, n, ALPHA_WRONG) * anytime_lower(hits, requests, ALPHA_HIT_RATE),
    )


def exceeds(audited: Audited, target_error: float) -> bool:
    """Whether it is shown, at all looks together, that more than the target goes out wrong.

    That is, whether the lower limit of `bound_of` is above it.
    """
    hit_rate = anytime_lower(audited.hits, audited.requests, ALPHA_HIT_RATE)
    if hit_rate <= target_error or audited.wrong == 0:
        return False
    capital = capital_above(audited.wrong, audited.judged, target_error / hit_rate)
    return capital >= math.log(1 / ALPHA_WRONG)


def supported_cut(
    judged: Sequence[tuple[float, bool]], *, requests: int, hits: int, target_error: float
) -> float | None:
    """The smallest cut at which the audited hits themselves show the target; None if they show none.

    Cuts are tried from the strictest down and the search ends at the first that fails, so no price is
    paid for trying many (fixed sequence: Angelopoulos et al. 2021, Learn then Test).

    Args:
        judged: score and "known to be right" of every audited hit.
    """
    n = len(judged)
    hit_rate = anytime_upper(hits, requests, ALPHA_HIT_RATE)
    doubted = sorted((score for score, right in judged if not right), reverse=True)
    passing = None
    for allowed, cut in enumerate([*(math.nextafter(score, math.inf) for score in doubted), 0.0]):
        if anytime_upper(allowed, n, ALPHA_WRONG) * hit_rate > target_error:
            break
        passing = cut
    return passing


def anytime_upper(count: int, n: int, alpha: float) -> float:
    """The largest rate that `count` of `n` leave standing, at all looks together."""
    if count >= n:
        return 1.0
    return _crossing(lambda rate: capital_below(count, n, rate), count / n, 1 - 1e-12, alpha, missing=1.0)


def anytime_lower(count: int, n: int, alpha: float) -> float:
    """The smallest rate that `count` of `n` leave standing, at all looks together."""
    if count == 0:
        return 0.0
    return _crossing(lambda rate: capital_above(count, n, rate), count / n, 1e-12, alpha, missing=0.0)


def capital_above(count: int, n: int, rate: float) -> float:
    """Log of what a bet that more than `rate` is true has made of 1, after `count` of `n`."""
    believed = betaincc(_PRIOR + count, _PRIOR + n - count, rate)
    return _stakes(count, n, rate) + _log(believed) - _log(betaincc(_PRIOR, _PRIOR, rate))


def capital_below(count: int, n: int, rate: float) -> float:
    """Log of what a bet that less than `rate` is true has made of 1, after `count` of `n`."""
    believed = betainc(_PRIOR + count, _PRIOR + n - count, rate)
    return _stakes(count, n, rate) + _log(believed) - _log(betainc(_PRIOR, _PRIOR, rate))


def _stakes(count: int, n: int, rate: float) -> float:
    """Log of the likelihood that the prior's rates give the counts, over the one that `rate` gives them."""
    mixed = betaln(_PRIOR + count, _PRIOR + n - count) - betaln(_PRIOR, _PRIOR)
    return float(mixed) - count * math.log(rate) - (n - count) * math.log1p(-rate)


def _log(share: float) -> float:
    return math.log(share) if share > 0 else -math.inf


def _crossing(
    capital: Callable[[float], float], inside: float, outside: float, alpha: float, *, missing: float
) -> float:
    """Where the capital reaches 1/alpha between the observed rate and an end of (0, 1)."""
    enough = math.log(1 / alpha)
    start = min(max(inside, 1e-12), 1 - 1e-12)
    if capital(start) >= enough:
        return start
    if capital(outside) < enough:
        return missing
    return float(brentq(lambda rate: capital(rate) - enough, *sorted((start, outside)), xtol=1e-9))
