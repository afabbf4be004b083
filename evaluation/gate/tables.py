"""What was found of the gate, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Column, Table

from classifiers.conformal import TooFew
from classifiers.gate.promise import Promise
from evaluation.command_line import BASELINE
from evaluation.fitted_on import LeftOut
from evaluation.gate.calibration import GateCalibration
from evaluation.gate.few_shot import FewShotCurve
from evaluation.gate.judging import GateResult, SliceResult
from evaluation.statistics import Rate

__all__ = ["calibration_tables", "few_shot_table", "gate_table", "worst_first"]

_SHOWN = 5


def gate_table(result: GateResult) -> list[Table]:
    """Each slice, the one with most wrong decisions first, beside the baseline and refusing everybody."""
    with_words = result.with_words
    beside = ["TF-IDF", "AUROC"] if with_words else []
    table = Table(
        Column("slice", no_wrap=True), "n", "gold", Column("reach RAG", no_wrap=True), "must not", "unsure",
        "AUROC",
        *beside,
        title=f"{len(result.judged)} questions, worst slice first",
    )  # fmt: skip
    for name, part in worst_first(result):
        row = [
            name,
            str(part.n),
            part.gold,
            str(part.reach_rag),
            _share(part.as_must_not),
            _share(part.unsure),
        ]
        words = [_share(part.words_reach_rag), _number(part.words_auroc)] if with_words else []
        table.add_row(*row, _number(part.auroc), *words, style="red" if part.seen else "")
    return [*_left_out_table(result.left_out), table, _whole(result)]


def worst_first(result: GateResult) -> list[tuple[str, SliceResult]]:
    """Slices by their share of wrong decisions; those that measure nothing last."""
    return sorted(result.slices().items(), key=lambda part: (part[1].seen, -(part[1].wrong.value or 0.0)))


def _whole(result: GateResult) -> Table:
    whole = Table("", "must refused (unsure counts)", "may let through", "must not let through")
    classes = {gold: result.of_class(gold) for gold in ("must", "may", "must_not")}
    leaks = [str(classes[gold]["must"]) for gold in ("may", "must_not")]
    whole.add_row("Sekisho", str(result.false_refusals), *leaks)
    unsure = [str(classes[gold]["unsure"]) for gold in ("must", "may", "must_not")]
    whole.add_row("  sent to a person as unsure", *unsure)
    words = result.words_false_refusals
    if words is not None:
        whole.add_row("TF-IDF + logistic regression", str(words), "see above", "see above", style=BASELINE)
    whole.add_row("refuse all", "100.0%", "0.0%", "0.0%", style=BASELINE)
    seen = sum(one.seen for one in result.judged)
    warning = f"{seen} cases in red stand in the policy, and their slices hold nothing else: no evidence.\n"
    latency = result.as_json()["latency_ms"]
    whole.caption = (warning if seen else "") + (
        f"p50 {latency['p50']} ms, p95 {latency['p95']} ms a question beyond its embedding"
    )
    return whole


def few_shot_table(curve: FewShotCurve) -> Table:
    """AUROC by number of examples a class; must is what is let through of it."""
    table = Table(
        Column("slice", no_wrap=True), *(f"{size} a class" for size in curve.results),
        title="AUROC by examples a class: median and range over seeds (must_…: share let through)",
    )  # fmt: skip
    reach, auroc, words = curve.reach_rag(), curve.auroc(), curve.auroc(words=True)
    for name in reach:
        figures = auroc.get(name) or reach[name]
        table.add_row(name, *(str(figures.get(size, "–")) for size in curve.results))
        if name in words:
            row = (str(words[name].get(size, "–")) for size in curve.results)
            table.add_row("  TF-IDF + LR", *row, style=BASELINE)
    return table


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
    refused = str(Rate(len(promised.refused), promised.n)) if promised else "–"
    table.add_row("must refused", str(result.refused_before), refused)
    for gold, (before, after) in result.leaks.items():
        table.add_row(f"{gold} let through", str(before), str(after) if now else "–")
    table.caption = _said(found, error) + (
        f"\n{result.repeated} repeated questions were counted once" if result.repeated else ""
    )
    return [*_left_out_table(result.left_out), table]


def _left_out_table(left_out: Sequence[LeftOut]) -> list[Table]:
    """Which cases the gate was fitted on; none, no table."""
    if not left_out:
        return []
    table = Table(
        "left out", "its class", "the gate knows it as",
        title=(
            "1 case left out: the gate was fitted on it"
            if len(left_out) == 1
            else f"{len(left_out)} cases left out: the gate was fitted on them"
        ),
    )  # fmt: skip
    for one in left_out[:_SHOWN]:
        table.add_row(one.text if len(one.text) <= 60 else one.text[:59] + "…", one.gold, one.seen_as)
    if len(left_out) > _SHOWN:
        table.add_row(f"and {len(left_out) - _SHOWN} more", "", "")
    return [table]


def _said(found: Promise | TooFew, error: float) -> str:
    if isinstance(found, TooFew):
        return (
            f"No promise, and nothing changed: {found.n} unseen must-questions, {found.needed - found.n} "
            f"more are needed for {error:.1%}."
        )
    bound = (
        f"of new questions like these {found.on_average:.1%} or fewer are refused, on average over files of "
        f"{found.n}. For this one file 95 % sure is only: {found.at_most:.1%} or fewer; more questions "
        "narrow it."
    )
    refused = f"\nRefused: {'; '.join(found.refused[:_SHOWN])}" if found.refused else ""
    if found.kept:
        return f"Kept: {bound}{refused}"
    return (
        f"Not kept: scope would have to let through from {found.needed:.3f}, where nearly everything passes. "
        f"At these cuts, {bound}{refused}\nAdd examples like those that are refused."
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _share(rate: Rate | None) -> str:
    return "–" if rate is None or rate.value is None else f"{rate.value:.1%}"
