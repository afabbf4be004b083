"""`forget`: an asker, or what is older than it may be."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.commands import ConfigOption, console, run, tenant_option
from gateway.configuration.loading import find_settings
from gateway.retention.ageing import Ageing
from gateway.retention.erasing import Erasure, Erasures
from gateway.settings import Settings
from gateway.settings.people import CENTURY_DAYS, RetentionSettings
from gateway.stores import open_database

__all__ = ["add_to"]

BY = "sekisho forget"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("forget")(forget_command)


def forget_command(
    asker: Annotated[str | None, typer.Option(help="The asker's id, as your front end sends it.")] = None,
    older_than: Annotated[
        float | None,
        typer.Option(help="Days; by default those of the section `retention`.", min=0.001, max=CENTURY_DAYS),
    ] = None,
    tenant: Annotated[str, tenant_option("Whose asker.")] = "default",
    config: ConfigOption = None,
) -> None:
    """Delete what an asker left here, or whatever is older than it is to be kept."""
    if asker is not None and older_than is not None:
        raise typer.BadParameter("expected --asker or --older-than, not both")
    settings = find_settings(config)
    erasure = run(_forgotten(settings, asker, older_than, tenant))
    if erasure is None:
        console.print("There was nothing to delete.")
        return
    rows = ", ".join(f"{n} in {name}" for name, n in erasure.counts.items())
    console.print(f"Rows deleted, or left without texts: {rows or 'none'} (erasure {erasure.id}).")
    if erasure.entries:
        console.print(
            f"A ticket asks whether phrasings in the asker's words may stay in: {', '.join(erasure.entries)}"
        )


async def _forgotten(
    settings: Settings, asker: str | None, older_than: float | None, tenant: str
) -> Erasure | None:
    async with open_database(settings) as database:
        if asker is not None:
            return await Erasures(database).forget(asker, tenant=tenant, by=BY)
        days = settings.retention if older_than is None else _all_after(older_than)
        return await Ageing(database, days).forget(by=BY)


def _all_after(days: float) -> RetentionSettings:
    return RetentionSettings(outcomes_days=days, tickets_days=days, feedback_days=days, audits_days=days)
