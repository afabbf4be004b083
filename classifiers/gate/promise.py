"""The promise on refused must-questions, kept by two cuts on questions that the gate was not fitted on.

With n held-out questions and a promise e, r = floor((n + 1) e) of them may fall outside what is let through.
A quarter of the r goes to the forbidden axis, from the most suspicious question down; the rest to scope, from
the least supported of those that are left. What the two cuts leave is a tolerance region out of statistically
equivalent blocks (Tukey 1947): whatever the distribution of the two scores, a new question of the same kind
falls outside with a chance of r / (n + 1) at most. The share is Beta(r, n + 1 - r) distributed over samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scipy.stats import beta

__all__ = ["OPEN", "CutsInForce", "GateCuts", "HeldOut", "Promise", "TooFew", "Unkeepable", "keep_promise"]

_FORBIDDEN_SHARE = 0.25
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCuts:
    """Where the gate cuts instead of where its fit would."""

    scope: float  # below it a question is not let through
    suspicious_from: float  # nor from here on, on the axis of what is forbidden


OPEN = GateCuts(scope=-math.inf, suspicious_from=math.inf)  # only rules refuse: to read both axes of anything


class CutsInForce:
    """The cuts of a running gate, replaced while it runs; without any, those of the fit hold."""

    def __init__(self, cuts: GateCuts | None = None) -> None:
        self.present = cuts


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """A must-question that the gate was not fitted on, read with both cuts open."""

    text: str
    scope: float  # minus infinity: a rule refused it, whatever the cuts; infinity: let through by proof
    forbidden: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """Cuts that keep a promise, and what is known of them."""

    cuts: GateCuts
    error: float  # the promise: refused must-questions, on average over samples of this size
    n: int
    for_scope: int  # of the n held-out questions, how many scope might refuse
    for_forbidden: int  # and the forbidden axis; 0: it stays as fitted, what it refuses is counted to scope
    at_most: float  # refused must-questions, at 95 % confidence


@dataclass(frozen=True, slots=True)
class TooFew:
    """No promise can be made from so few questions."""

    n: int
    needed: int


@dataclass(frozen=True, slots=True)
class Unkeepable:
    """Rules that no cut can overrule refuse more than was promised."""

    refused: tuple[str, ...]
    allowed: int


def keep_promise(
    held_out: Sequence[HeldOut], error: float, *, fitted_suspicion: float
) -> Promise | TooFew | Unkeepable:
    """The strictest cuts that refuse at most a share `error` of must-questions like these.

    Args:
        fitted_suspicion: from where the fit suspects. The forbidden axis is tightened to half of that at
            most: a question is not forbidden for being unlike ours. With too few questions for
            both axes it stays there, and what it refuses counts as if scope had.
    """
    allowed = _rank(len(held_out), error)
    if allowed < 1:
        return TooFew(len(held_out), _least(1, error))
    for_forbidden = math.ceil(allowed * _FORBIDDEN_SHARE) if allowed > 1 else 0
    left, suspicion = _suspicious_taken_out(held_out, for_forbidden, fitted_suspicion)
    for_scope = allowed - for_forbidden
    floor = sorted(one.scope for one in left)[for_scope - 1]
    if floor == -math.inf:
        return Unkeepable(tuple(one.text for one in left if one.scope == -math.inf), for_scope)
    if floor == math.inf:  # nearly all pass by proof; a lower cut than allowed keeps the promise, too
        floor = max((one.scope for one in left if math.isfinite(one.scope)), default=0.0)
    return Promise(
        cuts=GateCuts(scope=floor, suspicious_from=suspicion),
        error=error,
        n=len(held_out),
        for_scope=for_scope,
        for_forbidden=for_forbidden,
        at_most=float(beta.ppf(CONFIDENCE, allowed, len(held_out) + 1 - allowed)),
    )


def _suspicious_taken_out(
    held_out: Sequence[HeldOut], blocks: int, fitted_suspicion: float
) -> tuple[list[HeldOut], float]:
    """What the forbidden axis leaves to scope, and from where it suspects.

    Where the axis may not be tightened any further it uses less than its share, which keeps the promise.
    """
    if not blocks:
        stopped = [
            replace(one, scope=-math.inf) if one.forbidden >= fitted_suspicion else one for one in held_out
        ]
        return stopped, fitted_suspicion
    by_suspicion = sorted(held_out, key=lambda one: one.forbidden)
    last = by_suspicion[-blocks].forbidden  # the least suspicious of those taken out stays just inside
    return by_suspicion[:-blocks], max(math.nextafter(last, math.inf), fitted_suspicion / 2)


def _rank(n: int, error: float) -> int:
    return math.floor((n + 1) * error + 1e-9)  # 100 times 0.29 is a hair less than 29


def _least(rank: int, error: float) -> int:
    return math.ceil(rank / error - 1e-9) - 1
