"""Two-person approval: who wrote what an entry says may not be the one who has it served."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry, EntryState
from cache.errors import SecondPersonNeeded
from cache.store.content import Content, content_of
from storage.schema import entry_history

__all__ = ["held_state", "refuse_own"]

WRITTEN = ("created", "edited")


def held_state(before: Entry | None, content: Content, wished: EntryState) -> EntryState:
    """The state of an entry that is written: what nobody else has approved yet is a draft.

    Owner and day of review are for the house; nobody is answered by them.
    """
    if wished != "active":
        return wished
    if before is None or before.state != "active":
        return "draft"
    same = replace(content_of(before), owner=content.owner, review_by=content.review_by) == content
    return "active" if same else "draft"


async def refuse_own(connection: AsyncConnection, entry: Entry, *, by: str) -> None:
    """Refuse to activate what one wrote oneself, unless another has activated it since.

    Raises:
        SecondPersonNeeded: naming the writer.
    """
    query = select(entry_history.c.change, entry_history.c.by).where(entry_history.c.entry_id == entry.id)
    rows = (await connection.execute(query.order_by(entry_history.c.id.desc()))).all()
    for change, person in rows:
        if change in WRITTEN:
            if person == by:
                raise SecondPersonNeeded(entry.id, by=by)
            return
        if change == "activated" and person != by:
            return
