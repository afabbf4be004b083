"""`reviews`: decisions that people wrote into an exported sheet of tickets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gateway.assembly import assemble
from gateway.commands import ConfigOption, console, run, tenant_option
from gateway.review.closing.sheets import DecidedReport, DecidedReviews
from gateway.settings.loading import find_settings

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
    """Close tickets as an exported sheet says (CSV, JSONL or XLSX); refused rows are listed by line."""
    settings = find_settings(config)

    async def work() -> DecidedReport:
        async with assemble(settings) as services:
            reviews = DecidedReviews(services.tickets, services.desk.closing, services.approvals)
            report = await reviews.take(file, tenant=tenant, by=by, keep=apply)
            await services.stores.index_pending()
            return report

    report = run(work())
    did = "closed" if apply else "could be closed (nothing was changed: say --apply)"
    console.print(
        f"{report.closed} tickets {did}, {report.published} of them published; "
        f"{report.undecided} undecided, {len(report.refused)} refused"
    )
    if report.remarks:
        table = Table("line", "field", "what to know", title="undecided, but filled in")
        for remark in report.remarks:
            table.add_row(str(remark.line), remark.field, remark.says)
        console.print(table)
    if report.refused:
        table = Table("line", "field", "why", title="refused rows")
        for refusal in report.refused:
            table.add_row(str(refusal.line), refusal.field, refusal.expected)
        console.print(table)
        raise typer.Exit(1)
