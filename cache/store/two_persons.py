"""Two-person approval: who wrote what an entry says may not be the one who has it served."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, pairwise

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry, EntryState
from cache.errors import SecondPersonNeeded
from cache.store.content import Content, content_of
from cache.store.rows import entry_from_snapshot
from storage.schema import entry_history

__all__ = ["held_state", "refuse_own"]

WRITTEN = ("created", "edited")


def held_state(before: Entry | None, content: Content, wished: EntryState) -> EntryState:
    """The state of an entry that is written: what nobody else has approved yet is a draft."""
    if wished != "active":
        return wished
    if before is None or before.state != "active":
        return "draft"
    return "active" if _served(content_of(before)) == _served(content) else "draft"


async def refuse_own(connection: AsyncConnection, entry: Entry, *, by: str) -> None:
    """Refuse to activate what one wrote oneself, unless another has activated it since.

    Raises:
        SecondPersonNeeded: naming the writer.
    """
    query = select(entry_history.c.change, entry_history.c.by, entry_history.c.snapshot)
    query = query.where(entry_history.c.entry_id == entry.id).order_by(entry_history.c.id.desc())
    rows = (await connection.execute(query)).all()
    written = ((change, by_, _served(content_of(entry_from_snapshot(then)))) for change, by_, then in rows)
    for (change, person, content), (*_, former) in pairwise(chain(written, [("", "", None)])):
        if change in WRITTEN and content != former:
            if person == by:
                raise SecondPersonNeeded(entry.id, by=by)
            return
        if change == "activated" and person != by:
            return


def _served(content: Content) -> Content:
    """Without owner and day of review, which are for the house: nobody is answered by them."""
    return replace(content, owner="", review_by=None)
