"""Approving an entry well: the reviewer sees what it competes with, and what else people called it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import structlog

from cache.entries import Entry, EntryState
from cache.store.content import Content, checked
from cache.store.suggestions import Suggestions
from cache.trial import Trials
from cache.trial.collisions import Collision, Findable, collisions, findable
from cache.trial.fitting import Fitting, fitting
from encoders import Encoder, EncoderError
from gateway.errors import Conflict
from gateway.rendering import Json, rendered
from gateway.review.entries.past import PastQuestions
from storage.sql import Database
from storage.vectors import IndexUnavailable

__all__ = ["Approval", "Approvals", "OnCollision", "Preview", "collision_body", "preview_body", "would_be"]

OnCollision = Literal["warn", "refuse"]
SUGGESTED = 5  # phrasings at a time: more than that nobody reads while approving
NAMED = 3  # rivals in a refusal


@dataclass(frozen=True, slots=True)
class Preview:
    """What a reviewer should know before an entry is served."""

    collisions: tuple[Collision, ...]
    findable: tuple[Findable, ...]
    fitting: tuple[Fitting, ...]

    @property
    def rivals(self) -> tuple[Collision, ...]:
        """What would answer in the entry's words."""
        return tuple(one for one in self.collisions if one.would == "answer")


class Approvals:
    """Looks at entries as if they were served."""

    def __init__(
        self, db: Database, trials: Trials, encoder: Encoder, *, on_collision: OnCollision = "warn"
    ) -> None:
        self._trials = trials
        self._encoder = encoder
        self._past = PastQuestions(db)
        self._on_collision = on_collision
        self.suggestions = Suggestions(db)

    async def preview(self, entry: Entry) -> Preview:
        """The entry, looked at as if it were served; nothing is kept.

        Raises:
            IndexUnavailable, EncoderError, DatabaseUnavailable.
        """
        trial = await self._trials.of(entry)
        asked = await self._past.of(entry.tenant, entry.language, near=entry.id)
        return Preview(
            await collisions(trial),
            await findable(trial),
            await fitting(trial, asked, self._encoder, limit=SUGGESTED),
        )

    def begin(self, *, accept_collisions: bool = False) -> Approval:
        """One entry's way to being served."""
        return Approval(self, refuses=self._on_collision == "refuse" and not accept_collisions)


class Approval:
    """First `check` what is to be served, then keep it, then `tell` the reviewer what was seen.

    Where the reviewer is to be asked, `rivals` comes before the check, which then looks at nothing again.
    """

    def __init__(self, approvals: Approvals, *, refuses: bool) -> None:
        self._approvals = approvals
        self._refuses = refuses
        self._meant = False
        self._seen: Preview | None = None

    async def rivals(self, entry: Entry) -> tuple[Collision, ...]:
        """What the reviewer is to be asked about: the entries that would answer in the words of this one.

        Nothing once it is accepted, and nothing where nobody can look: `check` decides whether that will do.
        """
        if self._meant or entry.state != "active":
            return ()
        with suppress(IndexUnavailable, EncoderError):
            return (await self._look(entry)).rivals
        return ()

    def accept(self) -> None:
        """The reviewer has seen what the entry competes with, and means it."""
        self._meant, self._refuses = True, False

    async def check(self, entry: Entry) -> None:
        """Look at the entry as it is to be; one that will not be served is left alone.

        Raises:
            Conflict: naming what it would compete with, where that is refused.
            IndexUnavailable, EncoderError: where it would be refused, and nobody can look.
        """
        if entry.state != "active":
            return
        try:
            seen = self._seen or await self._look(entry)
        except (IndexUnavailable, EncoderError) as exc:
            if self._refuses:  # not looked at is not found to be free of rivals
                raise
            structlog.get_logger("sekisho").warning("entry not looked at", error=type(exc).__name__)
            return
        if self._refuses:
            _refuse(seen.rivals)

    async def _look(self, entry: Entry) -> Preview:
        self._seen = await self._approvals.preview(entry)
        return self._seen

    async def tell(self, entry: Entry, *, by: str) -> dict[str, Json] | None:
        """What was seen of the entry that was kept, its suggestions ready to be accepted.

        None if it is not served, or could not be looked at.
        """
        if self._seen is None:
            return None
        noted = [
            await self._approvals.suggestions.note(
                entry, one.asked.text, source=one.asked.source, by=by, times=one.asked.times
            )
            for one in self._seen.fitting
        ]
        open_ones = [rendered(one) for one in noted if one is not None and one.state == "open"]
        return {**preview_body(self._seen), "suggestions": open_ones}


def would_be(content: Content, *, tenant: str, entry_id: str = "", state: EntryState = "active") -> Entry:
    """The entry that a content would be.

    Raises:
        InvalidEntry: naming the field that can't be used.
    """
    kept = checked(content)
    written: dict[str, Any] = {name: getattr(kept, name) for name in Content.__dataclass_fields__}
    now = datetime.now(UTC)
    return Entry(id=entry_id, tenant=tenant, state=state, created_at=now, updated_at=now, **written)


def preview_body(seen: Preview) -> dict[str, Json]:
    """A preview as JSON. Its suggestions have ids only once they are kept."""
    return {
        "collisions": [collision_body(one) for one in seen.collisions],
        "findable": [rendered(one) for one in seen.findable],
        "suggestions": [
            {
                "text": one.asked.text,
                "times": one.asked.times,
                "source": one.asked.source,
                "score": one.score,
            }
            for one in seen.fitting
        ],
    }


def collision_body(one: Collision) -> dict[str, Json]:
    """Two entries that compete, as JSON, without their answers."""
    return {
        "entry": one.entry.id,
        "question": one.entry.question,
        "phrasing": one.phrasing,
        "other": {"entry": one.other.id, "question": one.other.question, "phrasing": one.other_phrasing},
        "score": one.score,
        "would": one.would,
        "says": one.says,
    }


def _refuse(rivals: Sequence[Collision]) -> None:
    if not rivals:
        return
    named = "; ".join(
        f"entry {one.other.id} (“{one.other_phrasing}”) would answer “{one.phrasing}”, score {one.score:.3f}"
        for one in rivals[:NAMED]
    )
    raise Conflict(
        f"these entries would compete: {named}. Word them apart, or say accept_collisions: true",
        param="phrasings",
    )
