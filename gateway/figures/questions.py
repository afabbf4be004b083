"""The questions behind a figure, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Exists, Select, and_, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.errors import InvalidRequest
from gateway.figures.definitions import FIGURES
from gateway.figures.hours import View, whole_hours
from gateway.recording.counts import FAITHFULNESS_BINS
from storage.schema import audits, entry_phrasings, feedback, outcomes, tickets

__all__ = ["OTHERS", "AskedQuestion", "Behind", "QuestionPage", "count_behind", "questions_behind"]

LARGEST_PAGE = 200

# Figures that are no rate of outcomes, but whose questions can be named all the same.
OTHERS = ("thumbs_down", "judged_wrong", "rag_judged_wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Which questions: those that a figure counts, narrowed by a reason or a bin of faithfulness."""

    figure: str = "questions"
    outcome: str | None = None
    reason: str | None = None
    faithfulness_bin: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question and what became of it.

    `text` is known where the operator keeps texts, and of tickets and audited hits; None elsewhere, where
    `matched` may say which verified question answered it.
    """

    id: int
    at: datetime
    request_id: str
    language: str
    text: str | None
    matched: str | None
    outcome: str
    reason: str
    tier: str | None
    entry_id: str | None
    ticket_id: str | None
    faithfulness: float | None
    unchecked: bool
    ms: float


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """Some questions, the newest first; `next` continues after them, None at the end."""

    questions: tuple[AskedQuestion, ...]
    next: int | None


async def questions_behind(
    connection: AsyncConnection,
    view: View,
    behind: Behind,
    *,
    limit: int = 50,
    after: int | None = None,
    offset: int = 0,
) -> QuestionPage:
    """A page of the questions that a figure counts.

    Raises:
        InvalidRequest: naming what there is no figure for.
    """
    query = _texts().where(*_meant(behind, view))
    if after is not None:
        at = select(outcomes.c.at).where(outcomes.c.id == after).scalar_subquery()
        query = query.where(or_(outcomes.c.at < at, and_(outcomes.c.at == at, outcomes.c.id < after)))
    limit = max(1, min(limit, LARGEST_PAGE))
    query = query.order_by(outcomes.c.at.desc(), outcomes.c.id.desc()).limit(limit + 1).offset(offset)
    rows = (await connection.execute(query)).mappings().all()
    found = tuple(AskedQuestion(**row) for row in rows[:limit])
    return QuestionPage(found, found[-1].id if len(rows) > limit else None)


async def count_behind(connection: AsyncConnection, view: View, behind: Behind) -> int:
    """How many there are in all."""
    query = select(func.count()).select_from(outcomes).where(*_meant(behind, view))
    return await connection.scalar(query) or 0


def _texts() -> Select[Any]:
    """Rows with the best text that is known, each from one look-up by key."""
    same = (
        outcomes.c.request_id == audits.c.request_id,
        func.coalesce(outcomes.c.entry_id, "") == audits.c.entry_id,
    )
    audited = select(func.min(audits.c.question)).where(outcomes.c.tenant == audits.c.tenant, *same)
    matched = select(entry_phrasings.c.text).where(
        entry_phrasings.c.entry_id == outcomes.c.entry_id, entry_phrasings.c.position == 0
    )
    names = ("id", "at", "request_id", "language", "outcome", "reason", "tier", "entry_id", "ticket_id")
    columns = [outcomes.c[name] for name in (*names, "faithfulness", "unchecked", "ms")]
    text = func.coalesce(outcomes.c.question, tickets.c.question, audited.scalar_subquery())
    return (
        select(*columns, text.label("text"), matched.scalar_subquery().label("matched"))
        .select_from(outcomes)
        .outerjoin(tickets, tickets.c.id == outcomes.c.ticket_id)
    )


def _meant(behind: Behind, view: View) -> list[ColumnElement[bool]]:
    meant = _counted(behind.figure, view)
    if view.tenant is not None:
        meant.append(outcomes.c.tenant == view.tenant)
    if view.language is not None:
        meant.append(outcomes.c.language == view.language)
    if behind.outcome is not None:
        meant.append(outcomes.c.outcome == behind.outcome)
    if behind.reason is not None:
        meant.append(outcomes.c.reason == behind.reason)
    if (place := behind.faithfulness_bin) is not None:
        if not 0 <= place < FAITHFULNESS_BINS:
            raise InvalidRequest(
                f"faithfulness_bin must be from 0 to {FAITHFULNESS_BINS - 1}, not {place}",
                param="faithfulness_bin",
            )
        share, edge = outcomes.c.faithfulness, 1e-9 / 20
        meant += [share >= place / 20 - edge, share < (place + 1) / 20 - edge]
    return meant


def _counted(figure: str, view: View) -> list[ColumnElement[bool]]:
    """The condition of a figure, on the time that the figure is counted by."""
    match figure:
        case "thumbs_down":
            down = exists().where(feedback.c.request_id == outcomes.c.request_id)
            down = down.where(feedback.c.tenant == outcomes.c.tenant, feedback.c.verdict == "down")
            return [down.where(*whole_hours(feedback.c.at, view.period))]
        case "judged_wrong":
            return [_judged_wrong(view).where(audits.c.entry_id == outcomes.c.entry_id)]
        case "rag_judged_wrong":
            return [_judged_wrong(view).where(audits.c.tier == "rag", outcomes.c.outcome == "rag")]
        case _ if figure in FIGURES:
            return [FIGURES[figure].counted.among(outcomes.c), *whole_hours(outcomes.c.at, view.period)]
    known = ", ".join((*FIGURES, *OTHERS))
    raise InvalidRequest(f"there is no figure {figure[:60]!r}; there are {known}", param="figure")


def _judged_wrong(view: View) -> Exists:
    """That a verdict of the period on this outcome is “wrong”; clients choose their requests' ids."""
    of_outcome = exists().where(
        audits.c.tenant == outcomes.c.tenant, audits.c.request_id == outcomes.c.request_id
    )
    return of_outcome.where(audits.c.verdict == "wrong", *whole_hours(audits.c.judged_at, view.period))
