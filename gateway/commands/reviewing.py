"""`reviews`: decisions that people wrote into an exported sheet of tickets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from prometheus_client import CollectorRegistry

from cache.indexing import index_apart
from gateway.assembly import approvals_of
from gateway.commands import ConfigOption, console, on_all_cores, run, tell_rows, tenant_option
from gateway.configuration.loading import find_settings
from gateway.desk import open_desk
from gateway.gatekeeping.policy import read_policy
from gateway.metrics import Metrics
from gateway.review.closing.sheets import HOW_TO_DECIDE, DecidedReport, DecidedReviews
from gateway.review.gate_examples import GateExamples
from gateway.stores import open_stores

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("import-reviews")(import_reviews)


def import_reviews(
    file: Path,
    config: ConfigOption = None,
    tenant: Annotated[str, tenant_option("Whose tickets.")] = "default",
    by: Annotated[str, typer.Option(help="Who decided; shown in histories.")] = "sekisho import-reviews",
    apply: Annotated[
        bool, typer.Option(help="Close the tickets; without it, only say what would be.")
    ] = False,
) -> None:
    """Close tickets as an exported sheet says (CSV, JSONL or XLSX); refused rows are listed by line.

    A gateway may run beside: what is published here, it serves by meaning within seconds.
    """
    settings = find_settings(config)

    async def work() -> DecidedReport:
        async with open_stores(on_all_cores(settings), apart=True) as stores:
            if settings.cache.on_collision == "refuse":  # else nobody is told what an entry competes with
                with console.status("looking at the entries that are served"):
                    await index_apart(stores.entries, stores.entry_index, stores.encoder, tenant)
            examples = GateExamples(stores.database, read_policy(settings))
            async with open_desk(settings, stores, examples, Metrics(CollectorRegistry())) as desk:
                reviews = DecidedReviews(desk.tickets, desk.closing, approvals_of(settings.cache, stores))
                return await reviews.take(file, tenant=tenant, by=by, keep=apply)

    report = run(work())
    did = "closed" if apply else "could be closed (nothing was changed: say --apply)"
    console.print(
        f"{report.closed} tickets {did}, {report.published} of them published; "
        f"{report.undecided} undecided, {len(report.refused)} refused"
    )
    if report.undecided and not (report.closed or report.refused):
        console.print(HOW_TO_DECIDE)
    remarks = ((one.line, one.field, one.says) for one in report.remarks)
    tell_rows("undecided, but filled in", "what to know", remarks)
    tell_rows("refused rows", "why", ((one.line, one.field, one.expected) for one in report.refused))
    if report.refused:
        raise typer.Exit(1)
