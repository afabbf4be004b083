"""What people did: tickets answered and waiting, thumbs, verdicts on audited hits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Column, ColumnElement, Select, Table, exists, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.calibration import CONFIDENCE
from cache.calibration.audit import anytime_upper
from gateway.figures.hours import View, whole_hours
from gateway.figures.rates import Rate
from gateway.review.audits.windows import ShelfReport
from gateway.review.tickets import WAITING
from storage.schema import audits, feedback, outcomes, tickets

__all__ = [
    "TicketFigures",
    "WrongAnswers",
    "WrongRagAnswers",
    "judged_of",
    "thumbs_of",
    "tickets_of",
    "wrong_answers",
    "wrong_rag_answers",
]

TIMED = 10_000  # answered tickets whose waits are read: the newest of the period


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketFigures:
    """`open`, `claimed` and `overdue` are as of now, the others of the period.

    Waits are from question to answer; overdue is what waits for longer than was promised.
    """

    open: int
    claimed: int
    overdue: int
    opened: int
    answered: int
    dismissed: int
    wait_p50_s: float | None
    wait_p90_s: float | None
    in_time: Rate  # of those answered


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongAnswers:
    """How many of the questions that were looked up got a wrong answer by meaning, since the cuts serve.

    Not of the period: reviewers have judged a sample of what the present cuts served. Limits of several
    shelves are added up in proportion to their requests, and hold together with `confidence` (Bonferroni).
    Exact hits are outdated rather than mistaken, and few of them are drawn: `upper_exact` says them apart.
    """

    requests: int
    judged: int
    wrong: int
    unsure: int
    estimate: float | None  # None where nothing was judged
    upper: float | None  # None where nothing was looked up
    upper_exact: float | None
    confidence: float
    shelves: tuple[ShelfReport, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongRagAnswers:
    """How many of the delivered answers by RAG are wrong, since the present cuts of the cache serve.

    Of all shelves together, as all are drawn at one rate. The limit holds at all looks together.
    """

    answers: int
    judged: int
    wrong: int
    unsure: int
    estimate: float | None  # None where nothing was judged
    upper: float  # who is unsure has not said that it was right
    confidence: float


async def tickets_of(connection: AsyncConnection, view: View, *, promise: timedelta) -> TicketFigures:
    """The tickets of a view."""
    waiting = select(tickets.c.state, func.count()).where(tickets.c.state.in_(WAITING))
    now = await _by_name(connection, _owned(waiting, tickets, view).group_by(tickets.c.state))
    late = _owned(_counting(tickets), tickets, view).where(tickets.c.state.in_(WAITING))
    opened = _during(_counting(tickets), tickets, tickets.c.created_at, view)
    answered = _during(_counting(tickets), tickets, tickets.c.answered_at, view)
    dismissed = _during(_counting(tickets), tickets, tickets.c.updated_at, view)
    times = _during(select(tickets.c.created_at, tickets.c.answered_at), tickets, tickets.c.answered_at, view)
    newest = await connection.execute(times.order_by(tickets.c.answered_at.desc()).limit(TIMED))
    waits = [(end - begin).total_seconds() for begin, end in newest]
    return TicketFigures(
        open=now.get("open", 0),
        claimed=now.get("claimed", 0),
        overdue=await connection.scalar(late.where(tickets.c.created_at < view.period.until - promise)) or 0,
        opened=await connection.scalar(opened) or 0,
        answered=await connection.scalar(answered) or 0,
        dismissed=await connection.scalar(dismissed.where(tickets.c.state == "dismissed")) or 0,
        wait_p50_s=float(np.percentile(waits, 50)) if waits else None,
        wait_p90_s=float(np.percentile(waits, 90)) if waits else None,
        in_time=Rate(sum(wait <= promise.total_seconds() for wait in waits), len(waits)),
    )


async def thumbs_of(connection: AsyncConnection, view: View) -> Rate:
    """Thumbs down, of all thumbs. The language is that of the answered question."""
    query = select(feedback.c.verdict, func.count()).group_by(feedback.c.verdict)
    query = _during(query, feedback, feedback.c.at, View(view.tenant, view.period))
    if view.language is not None:
        asked = exists().where(outcomes.c.request_id == feedback.c.request_id)
        query = query.where(
            asked.where(outcomes.c.tenant == feedback.c.tenant, outcomes.c.language == view.language)
        )
    given = await _by_name(connection, query)
    return Rate(given.get("down", 0), sum(given.values()))


async def judged_of(connection: AsyncConnection, view: View) -> Rate:
    """Wrong ones, of the audited hits on which a reviewer decided during the period."""
    query = select(audits.c.verdict, func.count()).where(audits.c.verdict.in_(("right", "wrong")))
    query = query.where(audits.c.tier != "rag")
    query = _during(query.group_by(audits.c.verdict), audits, audits.c.judged_at, view)
    given = await _by_name(connection, query)
    return Rate(given.get("wrong", 0), sum(given.values()))


def wrong_answers(reports: Iterable[ShelfReport], language: str | None) -> WrongAnswers:
    """The reports on the shelves of a tenant, or of one of its languages, in one figure."""
    shelves = tuple(one for one in reports if language in (None, one.language))
    samples = [one.vector for one in shelves]
    judged = sum(sample.right + sample.wrong + sample.unsure for sample in samples)
    return WrongAnswers(
        requests=sum(one.requests for one in shelves),
        judged=judged,
        wrong=sum(sample.wrong for sample in samples),
        unsure=sum(sample.unsure for sample in samples),
        estimate=_weighed(shelves, [one.wrong_per_request.estimate for one in shelves]) if judged else None,
        upper=_weighed(shelves, [one.wrong_per_request.upper for one in shelves]),
        upper_exact=_weighed(shelves, [one.wrong_per_request_exact.upper for one in shelves]),
        confidence=max(0.0, 1 - (1 - CONFIDENCE) * len(shelves)),
        shelves=shelves,
    )


def wrong_rag_answers(reports: Iterable[ShelfReport], language: str | None) -> WrongRagAnswers:
    """The sampled answers by RAG of a tenant, or of one of its languages, in one figure."""
    samples = [one.rag for one in reports if language in (None, one.language)]
    wrong, unsure = sum(one.wrong for one in samples), sum(one.unsure for one in samples)
    judged = sum(one.right for one in samples) + wrong + unsure
    return WrongRagAnswers(
        answers=sum(one.hits for one in samples),
        judged=judged,
        wrong=wrong,
        unsure=unsure,
        estimate=wrong / judged if judged else None,
        upper=anytime_upper(wrong + unsure, judged, 1 - CONFIDENCE),
        confidence=CONFIDENCE,
    )


def _weighed(shelves: Sequence[ShelfReport], limits: Sequence[float | None]) -> float | None:
    """Limits of shelves, per request of all of them."""
    total = sum(one.requests for one in shelves)
    if not total:
        return None
    return sum((limit or 0.0) * one.requests for one, limit in zip(shelves, limits, strict=True)) / total


async def _by_name(connection: AsyncConnection, query: Select[Any]) -> dict[str, int]:
    return {row[0]: row[1] for row in await connection.execute(query)}


def _counting(table: Table) -> Select[Any]:
    return select(func.count()).select_from(table)


def _owned(query: Select[Any], table: Table, view: View) -> Select[Any]:
    meant: list[ColumnElement[bool]] = []
    if view.tenant is not None:
        meant.append(table.c.tenant == view.tenant)
    if view.language is not None:
        meant.append(table.c.language == view.language)
    return query.where(*meant)


def _during(query: Select[Any], table: Table, at: Column[datetime], view: View) -> Select[Any]:
    return _owned(query, table, view).where(*whole_hours(at, view.period))
