"""What the serving gate learnt and promises, for a measurement on stores of its own."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.engine import make_url

from cache.store import EntryStore
from cache.transfer import copy_entries, import_entries
from classifiers.faithfulness.promise import CalibratedJudge
from encoders import Encoder
from gateway.checking.opening import judge_apart
from gateway.checking.promises import PROMISE, FaithfulnessPromises, MadeFor, can_be_cut
from gateway.errors import InvalidRequest
from gateway.gatekeeping.promises import GatePromises
from gateway.settings import Settings
from gateway.stages import Judge
from gateway.stores import open_database, open_stores
from storage.remembered import recall_all, remember
from storage.schema import gate_examples
from storage.sql import Database

__all__ = ["carry_back", "carry_over", "carry_over_shelf", "served_judge", "shelf_digest"]


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


async def carry_back(scratch: Settings, served: Settings) -> None:
    """Keep the gate's cuts that were calibrated there for the gate that serves."""
    async with open_database(scratch) as database:
        found = await GatePromises(database).kept()
    async with open_database(served) as database:
        promises = GatePromises(database)
        before = await promises.kept()
        await promises.keep_as_it_is({name: kept for name, kept in found.items() if kept != before.get(name)})


async def carry_over_shelf(
    served: Settings, scratch: Settings, files: Sequence[Path], *, tenant: str
) -> None:
    """Copy a tenant's entries with the cuts of their shelves; entries of files get new cuts.

    Raises:
        InvalidRequest: naming the first row of a file that is refused.
    """
    if _is_there(served):
        await _copy_entries(served, scratch, tenant)
    for file in files:
        async with open_database(scratch) as database:
            store = EntryStore(database)
            report = await import_entries(store, tenant, file, by="sekisho evaluate")
        if report.refused:
            row = report.refused[0]
            raise InvalidRequest(f"{file}, line {row.line}: {row.field}: {row.expected}")
    if files:
        async with open_stores(scratch) as stores:
            await stores.index_pending()
            for owner, language in await stores.entries.shelves():
                await stores.shelf.calibrate(owner, language)


async def shelf_digest(entries: EntryStore, tenant: str) -> str:
    """The same for two shelves only if they answer the same."""
    told = hashlib.sha256()
    async for page in entries.walk(tenant):
        for one in page.entries:
            told.update(
                repr((one.id, one.group, one.language, one.phrasings, one.answer, one.state)).encode()
            )
            told.update(repr((one.valid_from, one.valid_until)).encode())
    return told.hexdigest()[:16]


async def _copy_entries(served: Settings, scratch: Settings, tenant: str) -> None:
    async with open_database(served) as source, open_database(scratch) as target:
        await copy_entries(EntryStore(source), EntryStore(target), tenant, by="sekisho evaluate")
        cuts = await _cuts(source)
        async with target.begin() as connection:
            await remember(connection, cuts)


async def _cuts(database: Database) -> dict[str, Any]:
    async with database.connect() as connection:
        return await recall_all(connection, "cache.cut.") | await recall_all(connection, PROMISE)


@asynccontextmanager
async def served_judge(settings: Settings, encoder: Encoder) -> AsyncIterator[tuple[Judge, frozenset[str]]]:
    """The judge as it serves, and the digests of the answers that its cuts were calibrated on.

    Only SQL is opened, so a gateway may run beside it.
    """
    async with AsyncExitStack() as stack:
        judge = await stack.enter_async_context(judge_apart(settings))
        if not (can_be_cut(settings.faithfulness) and _is_there(settings)):
            yield judge, frozenset()
            return
        database = await stack.enter_async_context(open_database(settings))
        promises = FaithfulnessPromises(database, MadeFor.of(settings.faithfulness, encoder.identity))
        await promises.refresh()
        yield CalibratedJudge(judge, promises.cuts), await promises.calibrated_on()


def _is_there(settings: Settings) -> bool:
    """A server is asked; a file must not be made by looking for it."""
    return settings.storage.url is not None or Path(make_url(settings.database_url).database or "").exists()
