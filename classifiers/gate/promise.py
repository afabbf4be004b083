"""The promise on refused must-questions, kept by two cuts on questions that the gate was not fitted on.

With n held-out questions and a promise e, r = floor((n + 1) e) of them may fall outside what is let through.
The forbidden axis stays as fitted where it refuses less than a quarter of the r; what it refuses counts
first. Else it is loosened to that quarter. The rest is scope's, from the least supported up. What the
cuts leave is made of statistically equivalent blocks (Tukey 1947; without loosening it is split conformal
prediction): whatever the distribution of the two scores, a new question of the same kind falls outside with a
chance of r / (n + 1) at most. Over samples the share is Beta(r, n + 1 - r) distributed.

Scope is not opened without end. Must-questions that look like nothing else in the policy would pull its cut
to where everything passes; below a least cut the promise is not kept, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from classifiers.conformal import TooFew, allowed_outside, at_most, least_cases

__all__ = ["OPEN", "CutsInForce", "GateCuts", "HeldOut", "Promise", "keep_promise"]

_FORBIDDEN_SHARE = 0.25


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

    def passes(self, cuts: GateCuts) -> bool:
        """Whether it would be let through at these cuts."""
        return self.scope >= cuts.scope and self.forbidden < cuts.suspicious_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """Cuts, and what they promise."""

    cuts: GateCuts
    error: float  # what was asked for: refused must-questions, on average over samples of this size
    n: int
    refused: tuple[str, ...]  # the held-out questions that fall outside
    on_average: float  # of new questions at most so many are refused
    at_most: float  # the same at 95 % confidence
    needed: float | None = None  # the cut of scope that would have kept the promise, if it is too low

    @property
    def kept(self) -> bool:
        """Whether the cuts keep what was asked for."""
        return self.needed is None


def keep_promise(
    held_out: Sequence[HeldOut], error: float, *, fitted_suspicion: float, least_scope: float
) -> Promise | TooFew:
    """The strictest cuts that refuse at most a share `error` of must-questions like these.

    Args:
        fitted_suspicion: from where the fit suspects.
        least_scope: scope is never cut below.
    """
    allowed = allowed_outside(len(held_out), error)
    if allowed < 1:
        return TooFew(len(held_out), least_cases(error))
    left, suspicion, for_scope = _without_suspects(held_out, allowed, fitted_suspicion)
    floor = sorted(one.scope for one in left)[for_scope - 1]
    if floor == math.inf:  # nearly all pass by proof; a lower cut than allowed keeps the promise, too
        floor = max((one.scope for one in left if math.isfinite(one.scope)), default=least_scope)
    cuts = GateCuts(scope=max(floor, least_scope), suspicious_from=suspicion)
    refused = tuple(one.text for one in held_out if not one.passes(cuts))
    if floor < least_scope:
        # A cut that was fixed before: one more than it refuses (Clopper and Pearson 1934).
        allowed = len(held_out) - len(left) + sum(one.scope < least_scope for one in left) + 1
    return Promise(
        cuts=cuts,
        error=error,
        n=len(held_out),
        refused=refused,
        on_average=allowed / (len(held_out) + 1),
        at_most=at_most(allowed, len(held_out)),
        needed=max(floor, 0.0) if floor < least_scope else None,
    )


def _without_suspects(
    held_out: Sequence[HeldOut], allowed: int, fitted_suspicion: float
) -> tuple[list[HeldOut], float, int]:
    """What the forbidden axis leaves to scope, from where it suspects, and how many scope may refuse."""
    blocks = math.ceil(allowed * _FORBIDDEN_SHARE) if allowed > 1 else 0
    suspected = sum(one.forbidden >= fitted_suspicion for one in held_out)
    if suspected < blocks or not blocks:
        stopped = [
            replace(one, scope=-math.inf) if one.forbidden >= fitted_suspicion else one for one in held_out
        ]
        return stopped, fitted_suspicion, allowed
    by_suspicion = sorted(held_out, key=lambda one: one.forbidden)
    last = by_suspicion[-blocks].forbidden  # the least suspicious of those taken out stays just inside
    return by_suspicion[:-blocks], math.nextafter(last, math.inf), allowed - blocks
