"""What was found of the gate, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from classifiers.gate.promise import Promise, TooFew, Unkeepable
from evaluation.fitted_on import LeftOut
from evaluation.gate_calibration import GateCalibration

__all__ = ["calibration_tables", "left_out_table"]

_SHOWN = 5


def calibration_tables(result: GateCalibration, error: float) -> list[Table]:
    """The cuts before and after, what they let leak, and how far the promise goes."""
    found = result.found
    table = Table(
        "", "at the cuts of the fit", "calibrated",
        title=f"at most {error:.1%} of the must-questions refused, by {result.refused_before.n} unseen ones",
    )  # fmt: skip
    promised = found if isinstance(found, Promise) else None
    now = promised.cuts if promised else None
    table.add_row("let through from scope", f"{result.before.scope:.3f}", f"{now.scope:.3f}" if now else "–")
    suspicion = f"{now.suspicious_from:.3f}" if now else "–"
    table.add_row("suspected from", f"{result.before.suspicious_from:.3f}", suspicion)
    refused = (
        f"{promised.for_scope + promised.for_forbidden} of {promised.n + 1} at most" if promised else "–"
    )
    table.add_row("must refused", str(result.refused_before), refused)
    for gold, (before, after) in result.leaks.items():
        table.add_row(f"{gold} let through", str(before), str(after) if now else "–")
    table.caption = _said(found, error) + (
        f"\n{result.repeated} repeated questions were counted once" if result.repeated else ""
    )
    return [*left_out_table(result.left_out), table]


def left_out_table(left_out: Sequence[LeftOut]) -> list[Table]:
    """Which cases the gate was fitted on; none, no table."""
    if not left_out:
        return []
    table = Table(
        "left out", "its class", "the gate knows it as",
        title=f"{len(left_out)} cases left out: the gate was fitted on them",
    )  # fmt: skip
    for one in left_out[:_SHOWN]:
        table.add_row(one.text if len(one.text) <= 60 else one.text[:59] + "…", one.gold, one.seen_as)
    if len(left_out) > _SHOWN:
        table.add_row(f"and {len(left_out) - _SHOWN} more", "", "")
    return [table]


def _said(found: Promise | TooFew | Unkeepable, error: float) -> str:
    match found:
        case Promise():
            axis = (
                f"scope may refuse {found.for_scope} and the forbidden axis {found.for_forbidden} of them"
                if found.for_forbidden
                else "all by scope: for both axes more questions are needed, so the other stays as fitted"
            )
            return (
                f"Kept on average over samples like this one; with 95 % confidence at most "
                f"{found.at_most:.1%} ({axis}). It holds for questions like these."
            )
        case TooFew():
            return (
                f"No promise: {found.n} unseen must-questions, {found.needed - found.n} more are needed for "
                f"{error:.1%}. The cuts of the fit stay."
            )
        case Unkeepable():
            listed = "; ".join(found.refused[:_SHOWN])
            return (
                f"No promise: scope might refuse {found.allowed}, but {len(found.refused)} are refused "
                f"whatever its cut, by other rules or by the forbidden axis as fitted: {listed}"
            )
