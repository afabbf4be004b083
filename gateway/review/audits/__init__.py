"""Audited hits: reviewers judge a random sample, and serving tightens when too many are shown to be wrong.

Every change is one transaction. What a verdict leads to comes after it, and is done again with the next one
if the process dies in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import structlog
from sqlalchemy import RowMapping, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.calibration import Cut
from cache.calibration.audit import bound_of, exceeds, supported_cut
from cache.calibration.cuts import PAUSED
from cache.errors import EntryNotFound
from cache.shelf import Shelf
from cache.store import EntryStore
from gateway.database import Page, page, reading, row_of, writing
from gateway.errors import Conflict, InvalidRequest, StoreUnavailable
from gateway.review.audits.windows import (
    AuditTier,
    Sample,
    ShelfReport,
    Window,
    WindowKey,
    last_breach,
    rag_window,
    report_of,
    samples_of,
    topics_of,
    window_of,
    windows_of,
)
from storage.schema import audit_windows
from storage.schema import audits as table
from storage.sql import Database, DatabaseUnavailable
from storage.texts import storable

__all__ = ["Audit", "AuditVerdict", "Audits", "Judgement", "OnBreach", "pause_if_wrong"]

AuditVerdict = Literal["open", "right", "wrong", "unsure"]
Judgement = Literal["right", "wrong", "unsure"]
OnBreach = Literal["tighten", "pause", "alarm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A hit that was drawn for a reviewer: what was asked, and what was answered."""

    id: str
    window_id: str
    tenant: str
    language: str
    request_id: str
    tier: AuditTier
    score: float
    question: str
    phrasing: str  # of the entry, that matched best
    answer: str  # as it was served
    contexts: tuple[Mapping[str, str], ...]  # what RAG wrote it from
    entry_id: str  # empty for an answer by RAG
    entry_revision: int
    topic: str
    verdict: AuditVerdict
    faithful: bool | None  # whether an answer by RAG says what its contexts say
    comment: str
    by: str | None
    at: datetime
    judged_at: datetime | None


class Audits:
    """All audits. An audit of another tenant is not there."""

    def __init__(
        self,
        db: Database,
        shelf: Shelf,
        *,
        model: str,
        delivering: Callable[[str], str],
        on_breach: OnBreach = "tighten",
    ) -> None:
        """The audits of another encoder (`model`), or of another judge of RAG (`delivering`), don't count."""
        self._db = db
        self._shelf = shelf
        self._model = model
        self._delivering = delivering
        self._on_breach = on_breach

    async def list(
        self,
        *,
        tenant: str,
        verdict: AuditVerdict | None = None,
        language: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Audit]:
        """A page of a tenant's audits, the oldest first, after the audit `after`."""
        async with reading(self._db, "audits") as connection:
            last = await _fetch(connection, after, tenant=tenant) if after is not None else None
            begin = (last.at, last.id) if last else None
            wanted = {"tenant": tenant, "verdict": verdict, "language": language}
            return await page(connection, table.c.at, _audit, wanted, after=begin, limit=limit)

    async def judge(
        self,
        audit_id: str,
        *,
        tenant: str,
        verdict: Judgement,
        faithful: bool | None = None,
        comment: str = "",
        by: str,
    ) -> Audit:
        """Say whether the answer was right for the question, and act if that was one wrong too many.

        The same person may correct themselves, and anybody may settle what another was unsure of.

        Args:
            faithful: whether a wrong answer by RAG says what its contexts say: not the judge erred, then.

        Raises:
            Conflict: if another has judged it; InvalidRequest: if this answer can't be faithful.
        """
        given: dict[str, Any] = {"verdict": verdict, "comment": storable(comment), "by": by}
        async with writing(self._db, "audits") as connection:
            audit = await _fetch(connection, audit_id, tenant=tenant, to_change=True)
            given["faithful"] = _faithful(audit, verdict, faithful)
            if audit.verdict in ("right", "wrong") and audit.by != by:
                raise Conflict(f"audit {audit.id} was already judged {audit.verdict} by {audit.by}")
            if given != {name: getattr(audit, name) for name in given}:
                change = update(table).where(table.c.id == audit.id)
                await connection.execute(change.values(**given, judged_at=datetime.now(UTC)))
            judged = await _fetch(connection, audit_id, tenant=tenant)
        await self._act(judged.window_id)
        return judged

    async def reopen(self, audit_id: str, *, tenant: str, by: str) -> Audit:
        """Take one's own verdict back, as if it had never been given; what it led to stays done.

        Raises:
            Conflict: if it is another's.
        """
        async with writing(self._db, "audits") as connection:
            audit = await _fetch(connection, audit_id, tenant=tenant, to_change=True)
            if audit.verdict != "open" and audit.by != by:
                raise Conflict(f"audit {audit.id} was judged {audit.verdict} by {audit.by}")
            blank = {"verdict": "open", "faithful": None, "comment": "", "by": None, "judged_at": None}
            await connection.execute(update(table).where(table.c.id == audit.id).values(**blank))
            return await _fetch(connection, audit_id, tenant=tenant)

    async def reports(self, *, tenant: str | None = None, topics: bool = True) -> tuple[ShelfReport, ...]:
        """What the audits say of every shelf of a tenant (None: of all) and the cut that serves it now."""
        async with reading(self._db, "audits") as connection:
            past = {window.key: window for window in await windows_of(connection, tenant=tenant)}
        ours = (key for key in past if key.model in (self._model, self._delivering(key.language)))
        shelves = dict.fromkeys((key.tenant, key.language) for key in ours)
        cuts = [await self._cut(*shelf) for shelf in shelves]
        keys = [WindowKey(*shelf, self._model, cut.since) for shelf, cut in zip(shelves, cuts, strict=True)]
        windows = [_present(past, key, cut) for key, cut in zip(keys, cuts, strict=True)]
        of_rag = [rag_window(*shelf, self._delivering) for shelf in shelves]
        answers = [_present(past, key, cut) for key, cut in zip(of_rag, cuts, strict=True)]
        async with reading(self._db, "audits") as connection:
            samples = await samples_of(connection, windows)
            answered = await samples_of(connection, answers)
            return tuple(
                [
                    report_of(
                        window,
                        cut,
                        sample | {"rag": rag["rag"]},
                        topics=await topics_of(connection, window) if topics else (),
                        breach=await last_breach(connection, window) if topics else None,
                    )
                    for window, cut, sample, rag in zip(windows, cuts, samples, answered, strict=True)
                ]
            )

    async def count_open(self, *, tenant: str | None = None, language: str | None = None) -> int:
        """How many audits wait for a reviewer; None is all tenants, all languages."""
        waiting = select(func.count()).select_from(table).where(table.c.verdict == "open")
        if tenant is not None:
            waiting = waiting.where(table.c.tenant == tenant)
        if language is not None:
            waiting = waiting.where(table.c.language == language)
        async with reading(self._db, "audits") as connection:
            return await connection.scalar(waiting) or 0

    async def _act(self, window_id: str) -> None:
        """Tighten, pause or alarm if the window's cut still serves and is shown to pass the target."""
        async with reading(self._db, "audits") as connection:
            window = await window_of(connection, window_id)
            [samples] = await samples_of(connection, [window])
            judged = await _judged(connection, window)
        cut = await self._cut(window.tenant, window.language)
        if (window.since, window.model) != (cut.since, self._model) or window.breached_at is not None:
            return
        sample = samples["vector"]
        if not exceeds(sample.audited(window.lookups), cut.target_error):
            return
        action, score = self._action(window, cut, judged)
        if not await self._acted(window, cut, action, score=score, why=_why(action, window, cut, sample)):
            return
        structlog.get_logger("sekisho.audits").error(
            "more wrong answers than the target",
            tenant=window.tenant,
            language=window.language,
            action=action,
        )

    async def _acted(self, window: Window, cut: Cut, action: str, *, score: float | None, why: str) -> bool:
        """Do it and keep that it was done, in one transaction; False if another has changed the cut."""

        async def keep(connection: AsyncConnection) -> None:
            breached = {"breached_at": datetime.now(UTC), "action": action}
            change = update(audit_windows).where(audit_windows.c.id == window.id)
            await connection.execute(change.values(breached))

        if score is None:
            async with writing(self._db, "audits") as connection:
                await keep(connection)
            return True
        try:
            return await self._shelf.tighten(
                window.tenant, window.language, present=cut, score=score, why=why, also=keep
            )
        except DatabaseUnavailable as exc:
            raise StoreUnavailable("the cuts can't be changed now") from exc

    def _action(
        self, window: Window, cut: Cut, judged: Sequence[tuple[float, bool]]
    ) -> tuple[str, float | None]:
        """What is to be done, and from which score to serve; None where that stays."""
        if self._on_breach == "alarm":
            return "alarm", None
        score = None
        if self._on_breach == "tighten":
            score = supported_cut(
                judged, requests=window.lookups, hits=window.vector_hits, target_error=cut.target_error
            )
        # Where the audits show the target at no cut, there is nothing to tighten to.
        if score is None or score > 1:
            return "paused", PAUSED
        return "tightened", score

    async def _cut(self, tenant: str, language: str) -> Cut:
        try:
            return await self._shelf.cut(tenant, language)
        except DatabaseUnavailable as exc:
            raise StoreUnavailable("the cuts can't be read now") from exc


async def pause_if_wrong(entries: EntryStore, audit: Audit, *, asked: bool | None, by: str) -> bool:
    """Take the entry of a wrong answer off the shelf, and say whether it was.

    Unless asked to or not to: after an exact hit, for there its answer is wrong to its own words. A wrong
    hit by meaning says that the match was wrong, and the entry may be right for everybody else. An entry
    that was edited since is another answer.

    Raises:
        EntryConflict: if somebody changes the entry at this moment.
    """
    if audit.verdict != "wrong" or asked is False or (asked is None and audit.tier != "exact"):
        return False
    if audit.tier == "rag":  # it has no entry
        return False
    try:
        entry = await entries.get(audit.tenant, audit.entry_id)
    except EntryNotFound:
        return False
    if entry.state != "active" or (asked is None and entry.revision != audit.entry_revision):
        return False
    await entries.change_state(audit.tenant, entry.id, "paused", revision=entry.revision, by=by)
    return True


async def _fetch(
    connection: AsyncConnection, audit_id: str, *, tenant: str, to_change: bool = False
) -> Audit:
    return _audit(await row_of(connection, table, audit_id, tenant=tenant, what="audit", to_change=to_change))


async def _judged(connection: AsyncConnection, window: Window) -> list[tuple[float, bool]]:
    """Score of every judged hit by meaning, and whether it is known to be right."""
    query = select(table.c.score, table.c.verdict).where(
        table.c.window_id == window.id, table.c.tier == "vector", table.c.verdict != "open"
    )
    return [(row.score, row.verdict == "right") for row in await connection.execute(query)]


def _present(past: Mapping[WindowKey, Window], key: WindowKey, cut: Cut) -> Window:
    """The window that counts now; an empty one where nothing was counted in it yet."""
    return past.get(key) or Window(id="", cut=cut.score, **key._asdict())


def _why(done: str, window: Window, cut: Cut, sample: Sample) -> str:
    least = bound_of(sample.audited(window.lookups)).lower
    judged = sample.right + sample.wrong + sample.unsure
    return (
        f"{done} by the audit: {sample.wrong} of {judged} hits judged since {window.started_at:%Y-%m-%d} "
        f"were wrong, at least {least:.2%} of requests where {cut.target_error:.2%} is the target; "
        f"the cut was {cut.score:.3f}. `sekisho calibrate` finds a new one"
    )


def _faithful(audit: Audit, verdict: Judgement, said: bool | None) -> bool | None:
    """What a verdict says of an answer by RAG and its contexts; a right one is taken for faithful."""
    if said is not None and (audit.tier != "rag" or verdict != "wrong"):
        raise InvalidRequest("faithful: only a wrong answer by RAG can be asked about", param="faithful")
    if audit.tier != "rag" or verdict == "unsure":
        return None
    return bool(said) if verdict == "wrong" else True


def _audit(row: RowMapping) -> Audit:
    return Audit(**dict(row) | {"contexts": tuple(row["contexts"] or ())})
