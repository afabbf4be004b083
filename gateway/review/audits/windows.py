"""What the audits of a shelf add up to, for as long as one cut serves it.

Answers by RAG have windows of their own: theirs last as long as the same judge lets them out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import RowMapping, Select, case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.calibration import CONFIDENCE, Cut
from cache.calibration.audit import Audited, Bound, bound_of
from cache.calibration.cuts import PAUSED
from cache.calibration.drift import Drift
from cache.matching import Tier
from storage.schema import audit_windows, audits

__all__ = [
    "AuditTier",
    "Breach",
    "Sample",
    "Samples",
    "ShelfReport",
    "ShelfState",
    "TopicReport",
    "Window",
    "WindowKey",
    "last_breach",
    "rag_window",
    "report_of",
    "samples_of",
    "topics_of",
    "window_of",
    "windows_of",
]

AuditTier = Tier | Literal["rag"]
ShelfState = Literal["kept", "unproven", "breached", "paused"]
LONGEST_LIST = 100  # topics of a report


class WindowKey(NamedTuple):
    """What there is one window of."""

    tenant: str
    language: str
    model: str  # digest of encoder, pair model and weights; of answers by RAG who lets them out
    since: str = ""  # of the cut; empty for the default


def rag_window(tenant: str, language: str, delivering: Callable[[str], str]) -> WindowKey:
    """That of the answers by RAG that go out now."""
    return WindowKey(tenant, language, delivering(language))


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A shelf while one cut serves it."""

    id: str
    tenant: str
    language: str
    model: str
    since: str
    cut: float
    lookups: int = 0
    exact_hits: int = 0
    vector_hits: int = 0
    rag_answers: int = 0
    drift: Drift = field(default_factory=Drift)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    breached_at: datetime | None = None
    action: str | None = None

    @property
    def key(self) -> WindowKey:
        """What it is the window of."""
        return WindowKey(self.tenant, self.language, self.model, self.since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The audits of one tier in a window."""

    hits: int
    open: int = 0
    right: int = 0
    wrong: int = 0
    unsure: int = 0

    def audited(self, requests: int) -> Audited:
        """The counts that a bound needs."""
        return Audited(
            requests=requests, hits=self.hits, right=self.right, wrong=self.wrong, unsure=self.unsure
        )


Samples = dict[AuditTier, Sample]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicReport:
    """Hits by meaning on the entries of one document."""

    topic: str
    judged: int
    wrong: int
    unsure: int
    wrong_per_request: Bound  # requests of the whole shelf, so that the topics add up to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """When more than the target was shown to be wrong, and what was done."""

    at: datetime
    action: str
    cut: float  # that served then


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfReport:
    """Everything that audits say of a shelf. Limits hold with `confidence`, at all looks together."""

    tenant: str
    language: str
    state: ShelfState
    target_error: float
    confidence: float
    cut: float
    since: str
    why: str
    tightened_from: float | None
    requests: int
    vector: Sample
    exact: Sample
    rag: Sample  # answers that the chatbot gave meanwhile
    wrong_per_request: Bound  # served by meaning
    wrong_per_request_exact: Bound
    topics: tuple[TopicReport, ...]
    drift_alarm: bool
    drift_statistic: float
    last_breach: Breach | None

    @property
    def error_alarm(self) -> bool:
        """Whether the target was passed and nobody has calibrated the shelf since."""
        return self.state == "breached" or self.tightened_from is not None


async def windows_of(connection: AsyncConnection, *, tenant: str | None) -> list[Window]:
    """Every window of a tenant, shelf by shelf; None is every tenant."""
    query = select(audit_windows)
    if tenant is not None:
        query = query.where(audit_windows.c.tenant == tenant)
    query = query.order_by(audit_windows.c.tenant, audit_windows.c.language, audit_windows.c.started_at)
    return [_window(row) for row in (await connection.execute(query)).mappings()]


async def window_of(connection: AsyncConnection, window_id: str) -> Window:
    """The window that an audit belongs to."""
    query = select(audit_windows).where(audit_windows.c.id == window_id)
    return _window((await connection.execute(query)).mappings().one())


async def samples_of(connection: AsyncConnection, windows: Sequence[Window]) -> list[Samples]:
    """The verdicts so far, of every window by tier."""
    query = (
        select(audits.c.window_id, audits.c.tier, audits.c.verdict, func.count().label("n"))
        .where(audits.c.window_id.in_([window.id for window in windows]))
        .group_by(audits.c.window_id, audits.c.tier, audits.c.verdict)
    )
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for row in await connection.execute(query):
        counts.setdefault((row.window_id, row.tier), {})[row.verdict] = row.n
    return [
        {
            "vector": Sample(hits=window.vector_hits, **counts.get((window.id, "vector"), {})),
            "exact": Sample(hits=window.exact_hits, **counts.get((window.id, "exact"), {})),
            "rag": Sample(hits=window.rag_answers, **counts.get((window.id, "rag"), {})),
        }
        for window in windows
    ]


async def topics_of(connection: AsyncConnection, window: Window) -> tuple[TopicReport, ...]:
    """The topics with verdicts, the worst first."""
    rows = (await connection.execute(_by_topic(window))).all()
    n = sum(row.judged for row in rows)
    return tuple(
        TopicReport(
            topic=row.topic,
            judged=row.judged,
            wrong=row.wrong,
            unsure=row.unsure,
            wrong_per_request=bound_of(
                Audited(
                    requests=window.lookups,
                    hits=window.vector_hits,
                    right=n - row.wrong - row.unsure,  # a hit of another topic is no wrong answer of this one
                    wrong=row.wrong,
                    unsure=row.unsure,
                )
            ),
        )
        for row in rows[:LONGEST_LIST]
    )


async def last_breach(connection: AsyncConnection, window: Window) -> Breach | None:
    """The last time that the shelf was shown to pass its target, whichever cut served it."""
    query = (
        select(audit_windows.c.breached_at, audit_windows.c.action, audit_windows.c.cut)
        .where(audit_windows.c.tenant == window.tenant, audit_windows.c.language == window.language)
        .where(audit_windows.c.breached_at.is_not(None))
        .order_by(audit_windows.c.breached_at.desc())
        .limit(1)
    )
    row = (await connection.execute(query)).first()
    return Breach(at=row.breached_at, action=row.action, cut=row.cut) if row else None


def report_of(
    window: Window,
    cut: Cut,
    samples: Samples,
    *,
    topics: Sequence[TopicReport] = (),
    breach: Breach | None = None,
) -> ShelfReport:
    """The report on the window of the cut that serves now."""
    tiers: tuple[Tier, ...] = ("vector", "exact")  # RAG's limit is per answer: not all were looked up
    bounds = {tier: bound_of(samples[tier].audited(window.lookups)) for tier in tiers}
    return ShelfReport(
        tenant=window.tenant,
        language=window.language,
        state=_state(window, cut, bounds["vector"]),
        target_error=cut.target_error,
        confidence=CONFIDENCE,
        cut=cut.score,
        since=cut.since,
        why=cut.why,
        tightened_from=cut.tightened_from,
        requests=window.lookups,
        vector=samples["vector"],
        exact=samples["exact"],
        rag=samples["rag"],
        wrong_per_request=bounds["vector"],
        wrong_per_request_exact=bounds["exact"],
        topics=tuple(topics),
        drift_alarm=window.drift.alarm,
        drift_statistic=window.drift.statistic,
        last_breach=breach,
    )


def _state(window: Window, cut: Cut, bound: Bound) -> ShelfState:
    if cut.score >= PAUSED:
        return "paused"
    if window.breached_at is not None:
        return "breached"
    return "kept" if bound.upper <= cut.target_error else "unproven"


def _by_topic(window: Window) -> Select[Any]:
    def of(verdict: str) -> Any:
        return func.sum(case((audits.c.verdict == verdict, 1), else_=0))

    return (
        select(
            audits.c.topic,
            func.count().label("judged"),
            of("wrong").label("wrong"),
            of("unsure").label("unsure"),
        )
        .where(audits.c.window_id == window.id, audits.c.tier == "vector", audits.c.verdict != "open")
        .group_by(audits.c.topic)
        .order_by(of("wrong").desc(), of("unsure").desc(), func.count().desc(), audits.c.topic)
    )


def _window(row: RowMapping) -> Window:
    return Window(**dict(row) | {"drift": Drift.from_json(row["drift"])})
