"""Every figure of a view, from SQL alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway.database import reading
from gateway.figures.definitions import FIGURES
from gateway.figures.hours import Count, View, counts_before, counts_of, rate_of
from gateway.figures.people import (
    TicketFigures,
    WrongAnswers,
    WrongRagAnswers,
    judged_of,
    thumbs_of,
    tickets_of,
    wrong_answers,
    wrong_rag_answers,
)
from gateway.figures.questions import Behind, QuestionPage, count_behind, questions_behind
from gateway.figures.rates import Rate
from gateway.figures.savings import Savings, savings_of
from gateway.figures.times import Times, times_of
from gateway.recording.counts import FAITHFULNESS_BINS
from gateway.review.audits import Audits
from gateway.settings import PriceSettings
from storage.sql import Database

__all__ = ["Faithfulness", "Figures", "Rates", "ReasonRate", "Report", "Step"]

Rates = Mapping[str, Rate]


@dataclass(frozen=True, slots=True)
class ReasonRate:
    """Why questions ended as they did: one reason of one outcome, of all questions."""

    outcome: str
    reason: str
    rate: Rate


@dataclass(frozen=True, slots=True)
class Step:
    """A day (or an hour, where the period is short) of the period."""

    begins: datetime
    rates: Rates


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """F of the drafts that were checked: `bins` are twentieths, the last one is F = 1 alone."""

    checked: int
    supported: Rate  # drafts whose statements were all supported, of those checked
    mean: float | None
    bins: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that the dashboard shows of a view. `before` is the same of the period before."""

    view: View
    rates: Rates
    before: Rates
    reasons: tuple[ReasonRate, ...]
    languages: Mapping[str, Rates]
    steps: tuple[Step, ...]
    faithfulness: Faithfulness
    times: Times
    savings: Savings
    tickets: TicketFigures
    thumbs_down: Rate
    judged_wrong: Rate
    wrong_answers: WrongAnswers
    wrong_rag_answers: WrongRagAnswers


class Figures:
    """Reads figures. Those of one report are a few milliseconds apart, not of one instant."""

    def __init__(
        self,
        db: Database,
        audits: Audits,
        *,
        price: PriceSettings | None = None,
        promise: timedelta = timedelta(hours=24),
    ) -> None:
        self._db = db
        self._audits = audits
        self._price = price
        self._promise = promise  # to those who wait for a person

    async def report(self, view: View) -> Report:
        """Every figure of a view. Raises `StoreUnavailable`."""
        async with reading(self._db, "figures") as connection:
            begins = view.period.steps()
            counts, before = (
                await counts_of(connection, view, begins),
                await counts_before(connection, view),
            )
            times = await times_of(connection, view)
            tickets = await tickets_of(connection, view, promise=self._promise)
            thumbs, judged = await thumbs_of(connection, view), await judged_of(connection, view)
        shelves = await self._audits.reports(tenant=view.tenant, topics=False)
        return Report(
            view=view,
            rates=_rates(counts),
            before=_rates(before),
            reasons=_reasons(counts),
            languages={name: _rates(some) for name, some in _by_language(counts).items()},
            steps=_steps(begins, counts),
            faithfulness=_faithfulness(counts),
            times=times,
            savings=savings_of(counts, self._price),
            tickets=tickets,
            thumbs_down=thumbs,
            judged_wrong=judged,
            wrong_answers=wrong_answers(shelves, view.language),
            wrong_rag_answers=wrong_rag_answers(shelves, view.language),
        )

    async def questions(
        self, view: View, behind: Behind, *, limit: int = 50, after: int | None = None, offset: int = 0
    ) -> QuestionPage:
        """A page of the questions behind a figure, the newest first.

        Raises:
            InvalidRequest: naming what there is no figure for.
            StoreUnavailable.
        """
        async with reading(self._db, "questions") as connection:
            return await questions_behind(connection, view, behind, limit=limit, after=after, offset=offset)

    async def count(self, view: View, behind: Behind) -> int:
        """How many questions stand behind a figure. Raises as `questions` does."""
        async with reading(self._db, "questions") as connection:
            return await count_behind(connection, view, behind)


def _rates(counts: Sequence[Count]) -> Rates:
    return {name: rate_of(name, counts) for name in FIGURES}


def _by_language(counts: Iterable[Count]) -> dict[str, list[Count]]:
    found: dict[str, list[Count]] = {}
    for one in counts:
        found.setdefault(one.language, []).append(one)
    return dict(sorted(found.items()))


def _reasons(counts: Sequence[Count]) -> tuple[ReasonRate, ...]:
    """The most frequent first."""
    found: dict[tuple[str, str], int] = {}
    for one in counts:
        found[one.outcome, one.reason] = found.get((one.outcome, one.reason), 0) + one.n
    total = sum(found.values())
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ReasonRate(outcome, reason, Rate(n, total)) for (outcome, reason), n in ranked)


def _steps(begins: Sequence[datetime], counts: Iterable[Count]) -> tuple[Step, ...]:
    found: list[list[Count]] = [[] for _ in begins]
    for one in counts:
        found[one.step].append(one)
    return tuple(Step(at, _rates(some)) for at, some in zip(begins, found, strict=True))


def _faithfulness(counts: Sequence[Count]) -> Faithfulness:
    bins = [0] * FAITHFULNESS_BINS
    for one in counts:
        if one.checked:
            bins[one.faithfulness_bin] += one.n
    checked, total = sum(bins), sum(one.faithfulness for one in counts)
    return Faithfulness(checked, Rate(bins[-1], checked), total / checked if checked else None, tuple(bins))
