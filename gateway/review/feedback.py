"""What askers thought of an answer: thumbs up or down, kept beside the request they had."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import insert, select

from gateway.errors import StoreUnavailable
from gateway.review.steps import storable
from storage.schema import feedback, outcomes
from storage.sql import Database, DatabaseUnavailable

__all__ = ["Verdict", "keep_feedback"]

Verdict = Literal["up", "down"]


async def keep_feedback(
    db: Database, *, tenant: str, request_id: str, verdict: Verdict, comment: str, by: str
) -> str | None:
    """Keep a verdict, and return the verified entry that it counts for, if one answered."""
    answered = (
        select(outcomes.c.entry_id)
        .where(outcomes.c.tenant == tenant, outcomes.c.request_id == request_id)
        .where(outcomes.c.entry_id.is_not(None))
        .order_by(outcomes.c.id)
        .limit(2)
    )
    row = {
        "at": datetime.now(UTC),
        "tenant": tenant,
        "request_id": storable(request_id),
        "verdict": verdict,
        "comment": storable(comment),
        "by": by,
    }
    try:
        async with db.begin() as connection:
            entries = (await connection.execute(answered)).scalars().all()
            # With two entries in one reply nobody can say which of them was meant.
            entry_id: str | None = entries[0] if len(entries) == 1 else None
            await connection.execute(insert(feedback).values(row | {"entry_id": entry_id}))
    except DatabaseUnavailable as exc:
        raise StoreUnavailable("the feedback could not be kept") from exc
    return entry_id
