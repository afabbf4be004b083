"""What is kept for some days only. What still waits for a person is never deleted for its age."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Table, delete, select, update

from gateway.background import every
from gateway.retention.erasing import Erasure, keep, purge
from gateway.retention.wiping import delete_tickets
from gateway.retention.words import wipe_example
from gateway.settings.people import RetentionSettings
from storage.schema import (
    asked_by_somebody,
    audits,
    deliveries,
    draft_labels,
    feedback,
    gate_examples,
    outcomes,
    suggestions,
    tickets,
)
from storage.sql import Database, DatabaseUnavailable

__all__ = ["Ageing"]

DAY_S = 86_400.0
AGAIN_S = 600.0  # after the database could not be asked
AT_ONCE = 2_000  # rows in one transaction: nobody who writes waits long
BY = "retention"


class Ageing:
    """Deletes what is older than the operator wants to keep."""

    def __init__(self, db: Database, settings: RetentionSettings) -> None:
        self._db = db
        self._settings = settings

    async def forget(self, *, by: str = BY) -> Erasure | None:
        """Delete it, some rows at a time, and keep a line of how many; None if there was nothing.

        Raises:
            DatabaseUnavailable: what was deleted stays deleted.
        """
        counts: Counter[str] = Counter()
        now, days = datetime.now(UTC), self._settings
        try:
            if days.outcomes_days:
                cut = now - timedelta(days=days.outcomes_days)
                counts["outcomes"] += await self._delete(outcomes, outcomes.c.at < cut)
            if days.feedback_days:
                cut = now - timedelta(days=days.feedback_days)
                counts["feedback"] += await self._delete(feedback, feedback.c.at < cut)
            if days.tickets_days:
                counts += await self._tickets(now - timedelta(days=days.tickets_days))
            if days.audits_days:
                counts += await self._audits(now - timedelta(days=days.audits_days))
        finally:
            kept = await self._keep(counts, by=by)
            await purge(self._db)
        return kept

    async def run(self) -> None:
        """Do so every day, for as long as the gateway runs; soon again where the database was away."""
        await every(
            DAY_S, self.forget, again_s=AGAIN_S,
            expected=(DatabaseUnavailable,), event="not deleted yet", log="sekisho.retention",
        )  # fmt: skip

    async def _keep(self, counts: Mapping[str, int], *, by: str) -> Erasure | None:
        erasure = Erasure(tenant="", by=by, kind="age", counts=+Counter(counts))
        if not erasure.counts:
            return None
        async with self._db.begin() as connection:
            await keep(connection, erasure)
        return erasure

    async def _tickets(self, cut: datetime) -> Counter[str]:
        """Closed tickets and all that hangs on them; suggestions, most of which came from tickets.

        Those that ask for an entry to be read again stay: they hold no asker's words, and say that it was.
        """
        counts: Counter[str] = Counter()
        closed = (
            asked_by_somebody,
            tickets.c.state.in_(("answered", "dismissed")),
            tickets.c.updated_at < cut,
        )
        query = select(tickets.c.id).where(*closed).limit(AT_ONCE).with_for_update(skip_locked=True)
        while True:
            async with self._db.begin() as connection:
                ids = (await connection.scalars(query)).all()  # nobody reopens one before it is gone
                counts += await delete_tickets(connection, ids)
            if len(ids) < AT_ONCE:
                break
        sent = (deliveries.c.state.in_(("sent", "dead")), deliveries.c.created_at < cut)
        counts["deliveries"] += await self._delete(deliveries, *sent)
        counts["suggestions"] += await self._delete(suggestions, suggestions.c.at < cut)
        return counts

    async def _audits(self, cut: datetime) -> Counter[str]:
        """Verdicts stay without the words; labels and rejected examples are nothing without them."""
        counts: Counter[str] = Counter()
        open_ = (audits.c.verdict == "open", audits.c.at < cut)
        counts["audits"] += await self._delete(audits, *open_)
        async with self._db.begin() as connection:
            judged = (audits.c.at < cut, audits.c.question != "")
            written = update(audits).where(*judged, audits.c.tier == "rag")
            await connection.execute(written.values(answer="", contexts=None))
            silent = update(audits).where(*judged).values(question="", comment="")
            counts["audits"] += (await connection.execute(silent)).rowcount
        counts["draft_labels"] += await self._delete(draft_labels, draft_labels.c.at < cut)
        async with self._db.begin() as connection:
            rejected = (gate_examples.c.state == "rejected", gate_examples.c.at < cut)
            query = select(gate_examples.c.id).where(*rejected, gate_examples.c.text != "")
            ids = (await connection.scalars(query.with_for_update(skip_locked=True))).all()
            for id_ in ids:
                await wipe_example(connection, id_)
        counts["gate_examples"] += len(ids)
        return counts

    async def _delete(self, table: Table, *conditions: ColumnElement[bool]) -> int:
        [key] = table.primary_key.columns
        some = select(key).where(*conditions).limit(AT_ONCE).scalar_subquery()
        gone = 0
        while True:
            async with self._db.begin() as connection:
                too_old = delete(table).where(key.in_(some), *conditions)  # some may have changed since
                deleted = (await connection.execute(too_old)).rowcount
            gone += deleted
            if deleted < AT_ONCE:
                return gone
