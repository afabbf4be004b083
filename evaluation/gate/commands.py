"""`sekisho evaluate gate` and `sekisho calibrate gate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop

from classifiers.gate import Policy
from classifiers.gate.examples import ExampleGate
from classifiers.gate.promise import Promise
from evaluation.cases import GateCase, read_cases
from evaluation.command_line import Config, Json, Report, bar, console, scratch, tell
from evaluation.fitted_on import FittedTexts
from evaluation.gate.calibration import GateCalibration, calibrate_gate
from evaluation.gate.few_shot import SEEDS, SIZES, FewShotCurve, few_shot
from evaluation.gate.judging import GateResult, evaluate_gate
from evaluation.gate.report import write_report
from evaluation.gate.tables import calibration_tables, few_shot_table, gate_table
from evaluation.gate.words_baseline import WordsBaseline
from evaluation.served import carry_back, carry_over, carry_over_shelf
from gateway.assembly import Services, assemble
from gateway.configuration.loading import find_settings
from gateway.gatekeeping.opening import gate_sources, kept_fits, shipped_for
from gateway.gatekeeping.policy import read_policy
from gateway.people.tenants import refuse_unknown
from gateway.settings import Settings
from gateway.stores import open_database

__all__ = ["calibrate_gate_command", "gate_command"]

Tick = Callable[[], None]
Cases = Annotated[
    Path, typer.Option(help="Questions with their class, JSONL, CSV or XLSX: text, gold, slice, lang.")
]


def gate_command(
    cases: Cases,
    config: Config = None,
    json_file: Json = None,
    baseline: Annotated[bool, typer.Option(help="TF-IDF and logistic regression beside it.")] = False,
    report: Report = None,
    grow: Annotated[
        bool, typer.Option("--few-shot", help=f"Fit again with {SIZES} examples a class, {SEEDS} seeds.")
    ] = False,
) -> None:
    """Must, may, must not: whom the configured gate lets through, slice by slice, the worst first."""
    served = find_settings(config)
    rows = read_cases(cases, GateCase, served.understanding.default_language)
    rounds = 1 + (SEEDS * len(SIZES) - SEEDS + 1 if grow else 0)
    with scratch(config) as settings, bar(len(rows) * rounds) as progress:
        work = _measured(rows, served, settings, baseline=baseline or grow, grow=grow, progress=progress)
        found, curve = uvloop.run(work)
    figures: dict[str, Any] = found.as_json()
    if curve:
        figures["few_shot"] = curve.as_json()
    tell([*gate_table(found), *([few_shot_table(curve)] if curve else [])], figures, json_file)
    if report:
        about = f"{config.name if config else 'the configuration'} on {cases.name}"
        write_report(report, found, about=about, promise=served.gate.max_false_refusal, few_shot=curve)


def calibrate_gate_command(
    cases: Cases,
    config: Config = None,
    tenant: Annotated[str, typer.Option(help="As whose asker they are judged.")] = "default",
) -> None:
    """Cut the gate so that it keeps gate.max_false_refusal, by must-questions it was not fitted on."""
    served = find_settings(config)
    rows = read_cases(cases, GateCase, served.understanding.default_language)
    with scratch(config) as settings, bar(len(rows)) as progress:
        found = uvloop.run(_calibrated(rows, served, settings, tenant, progress))
    for table in calibration_tables(found, served.gate.max_false_refusal):
        console.print(table)
    if not isinstance(found.found, Promise) or not found.found.kept:
        raise typer.Exit(1)


async def _calibrated(
    rows: Sequence[GateCase], served: Settings, settings: Settings, tenant: str, progress: Tick
) -> GateCalibration:
    """On stores of its own, so that a gateway may run beside it, which gets what is found."""
    async with open_database(served) as database:
        await refuse_unknown(database, served, tenant)
    await carry_over(served, settings)
    await carry_over_shelf(served, settings, [], tenant=tenant)
    async with assemble(settings) as services:
        found = await calibrate_gate(rows, services, tenant=tenant, progress=progress)
    await carry_back(settings, served)
    return found


async def _measured(
    rows: Sequence[GateCase],
    served: Settings,
    settings: Settings,
    *,
    baseline: bool,
    grow: bool,
    progress: Tick,
) -> tuple[GateResult, FewShotCurve | None]:
    await carry_over(served, settings)
    await carry_over_shelf(served, settings, [], tenant="default")
    policy, error = read_policy(settings), settings.gate.max_false_refusal
    async with assemble(settings) as services:
        fitted, encoder = await FittedTexts.of(services, "default"), services.stores.encoder
        words = WordsBaseline.fit(policy, error) if baseline else None
        result = await evaluate_gate(
            rows, services.gatekeeping.gate, encoder, fitted=fitted, baseline=words, progress=progress
        )
        if not grow:
            return result, None
        unseen = fitted.unseen(rows).cases  # none of the draws may be judged by the rest of the policy
        fit = partial(_fitted, services, error)
        return result, await few_shot(policy, unseen, fit, encoder, error=error, progress=progress)


async def _fitted(services: Services, error: float, policy: Policy) -> ExampleGate:
    stores = services.stores
    kept = await kept_fits(services.settings, stores, "default")
    sources = await gate_sources(stores, kept)
    shipped = shipped_for(services.settings)
    return await ExampleGate.fit(
        policy, stores.encoder, sources, max_false_refusal=error, shipped=shipped, kept=kept
    )
