"""`reseal`: what askers wrote, under the present key."""

from __future__ import annotations

import typer

from gateway.commands import ConfigOption, console, run
from gateway.configuration.loading import find_settings
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.stores import open_database
from storage.resealing import reseal

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("reseal")(reseal_command)


def reseal_command(config: ConfigOption = None) -> None:
    """Seal all texts of askers with the present key; without one, open what former keys sealed.

    Run it once every gateway has the present configuration; they may go on serving. After it, the former
    keys can go from the configuration.
    """
    run(_resealed(find_settings(config)))


async def _resealed(settings: Settings) -> None:
    seal = settings.storage.seal()
    if seal is None:
        raise ConfigurationError(
            "storage.encryption_key: expected a key to seal with, or former ones to open with"
        )
    async with open_database(settings) as database:
        async for table, rows in reseal(database, seal):
            console.print(f"{table}: {rows} rows")
    console.print(f"Sealed with the key {seal.key}." if seal.key else "Nothing is sealed any more.")
