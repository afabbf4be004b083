"""What the serving gate learnt and promises, for a measurement on stores of its own."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import insert, select
from sqlalchemy.engine import make_url

from gateway.gatekeeping.promises import GatePromises
from gateway.settings import Settings
from gateway.stores import open_database
from storage.schema import gate_examples

__all__ = ["carry_over"]


async def carry_over(served: Settings, scratch: Settings) -> None:
    """Copy accepted examples and calibrated cuts, if the served database is there."""
    if not _is_there(served):
        return
    async with open_database(served) as database:
        kept = await GatePromises(database).kept()
        async with database.connect() as connection:
            rows = (await connection.execute(select(gate_examples))).mappings().all()
    async with open_database(scratch) as database:
        await GatePromises(database).keep_as_it_is(kept)
        if rows:
            async with database.begin() as connection:
                await connection.execute(insert(gate_examples), [dict(row) for row in rows])


def _is_there(settings: Settings) -> bool:
    """A server is asked; a file must not be made by looking for it."""
    return settings.storage.url is not None or Path(make_url(settings.database_url).database or "").exists()
