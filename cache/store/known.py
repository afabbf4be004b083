"""Entries that were read before: of these a lookup asks SQL which are served, at which revision.

Whatever an entry says or may be changes with its revision, so one that is remembered at the revision that SQL
names is what SQL holds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry
from cache.store import queries
from cache.store.rows import entries_from_rows

__all__ = ["KnownEntries"]

REMEMBERED: Final = 4_096  # entries, the last ones met


class KnownEntries:
    """The served entries among those with given ids."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Entry] = OrderedDict()

    async def served(self, connection: AsyncConnection, values: Mapping[str, Any]) -> tuple[Entry, ...]:
        """Those that meet the conditions of `queries.SERVED_BY_ID`, in the order of their ids.

        One statement where all are remembered, or none: on a large shelf most are new.
        """
        wanted: Sequence[str] = values["ids"]
        known = [one for one in wanted if one in self._kept]
        new = [one for one in wanted if one not in self._kept]
        found: dict[str, Entry] = {}
        if known:
            now = await connection.execute(queries.SERVED_REVISIONS, {**values, "ids": known})
            for id_, revision in now.all():
                kept = self._at(id_, revision)
                if kept is None:
                    new.append(id_)
                else:
                    found[id_] = kept
        if new:
            rows = await connection.execute(queries.SERVED_BY_ID, {**values, "ids": new})
            found |= {entry.id: entry for entry in entries_from_rows(rows.mappings())}
        self._remember(found)
        return tuple(found[id_] for id_ in sorted(found))

    def _remember(self, found: Mapping[str, Entry]) -> None:
        for id_, entry in found.items():
            self._kept[id_] = entry
            self._kept.move_to_end(id_)
        while len(self._kept) > REMEMBERED:
            self._kept.popitem(last=False)

    def _at(self, entry_id: str, revision: int) -> Entry | None:
        kept = self._kept.get(entry_id)
        return kept if kept is not None and kept.revision == revision else None
