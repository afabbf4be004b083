"""`sekisho calibrate gate`: cuts that keep `gate.max_false_refusal`, from questions the fit never saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from classifiers.conformal import TooFew
from classifiers.gate import GateVerdict
from classifiers.gate.promise import OPEN, GateCuts, HeldOut, Promise, keep_promise
from classifiers.gate.scope import LEAST_CUT
from encoders import encode_one
from evaluation.cases import GateCase
from evaluation.fitted_on import FittedTexts, LeftOut, same_words
from evaluation.statistics import Rate
from gateway.assembly import Services
from gateway.errors import InvalidRequest

__all__ = ["GateCalibration", "calibrate_gate", "scope_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCalibration:
    """What was found, and what it changes."""

    found: Promise | TooFew
    before: GateCuts  # of the fit
    refused_before: Rate  # held-out must-questions at the cuts of the fit
    left_out: tuple[LeftOut, ...]
    repeated: int  # questions that stand in the file more than once; once is counted
    leaks: dict[str, tuple[Rate, Rate]]  # by class that should not pass: at the cuts of the fit, and now


@dataclass(frozen=True, slots=True)
class _Read:
    case: GateCase
    held_out: HeldOut

    def passes(self, cuts: GateCuts) -> bool:
        return self.held_out.passes(cuts)


async def calibrate_gate(
    cases: Sequence[GateCase],
    services: Services,
    *,
    tenant: str = "default",
    progress: Callable[[], None] = lambda: None,
) -> GateCalibration:
    """Read every unseen case with both cuts open, and put into force the cuts that keep the promise.

    Raises:
        InvalidRequest: if there is no gate to calibrate.
    """
    promises = services.gatekeeping.promises
    gate = promises.of(tenant)
    if gate is None:
        raise InvalidRequest("gate.enabled: expected true, there is no gate to calibrate")
    _, standing = gate
    fitted = standing.fitted
    unseen = (await FittedTexts.of(services, tenant)).unseen(cases)
    once = list({same_words(case.text): case for case in unseen.cases}.values())
    with promises.held_at(OPEN):
        read = [await _read(case, services, tenant, progress) for case in once]
    must = [one for one in read if one.case.gold == "must"]
    found = keep_promise(
        [one.held_out for one in must],
        services.settings.gate.max_false_refusal,
        fitted_suspicion=fitted.suspicious_from,
        least_scope=LEAST_CUT,
    )
    if isinstance(found, Promise):
        await promises.keep(standing, found)
    now = found.cuts if isinstance(found, Promise) else fitted
    return GateCalibration(
        found=found,
        before=fitted,
        refused_before=Rate(sum(not one.passes(fitted) for one in must), len(must)),
        left_out=unseen.left_out,
        repeated=len(unseen.cases) - len(once),
        leaks={
            gold: (_passing(read, gold, fitted), _passing(read, gold, now))
            for gold in sorted({one.case.gold for one in read} - {"must"})
        },
    )


async def _read(case: GateCase, services: Services, tenant: str, progress: Callable[[], None]) -> _Read:
    encoded = await encode_one(services.stores.encoder, case.text)
    verdict = await services.gatekeeping.gate.judge(encoded, tenant=tenant)
    progress()
    return _Read(case, HeldOut(text=case.text, scope=scope_of(verdict), forbidden=verdict.forbidden or 0.0))


def scope_of(verdict: GateVerdict) -> float:
    """With both cuts open only rules refuse, and what has no score by scope was let through by proof."""
    if verdict.label != "must":
        return -math.inf
    return math.inf if verdict.scope is None else verdict.scope


def _passing(read: Sequence[_Read], gold: str, cuts: GateCuts) -> Rate:
    of_class = [one for one in read if one.case.gold == gold]
    return Rate(sum(one.passes(cuts) for one in of_class), len(of_class))
