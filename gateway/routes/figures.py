"""The figures of a tenant, and the questions behind them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from gateway.figures.hours import View
from gateway.figures.periods import LONGEST_DAYS, last_days
from gateway.figures.questions import Behind
from gateway.figures.rates import Rate
from gateway.figures.report import Rates, Report
from gateway.people.access import Caller, ReviewerDep
from gateway.rendering import rendered, rendered_object
from gateway.routes.services import ServicesDep
from languages.identification import Language

__all__ = ["router"]

router = APIRouter(prefix="/v1/figures", tags=["figures"])

Days = Annotated[int, Query(ge=1, le=LONGEST_DAYS)]
Timezone = Annotated[str, Query(max_length=60)]


@router.get("")
async def figures(
    caller: ReviewerDep,
    services: ServicesDep,
    days: Days = 7,
    language: Language | None = None,
    timezone: Timezone = "UTC",
) -> dict[str, Any]:
    """Every figure of the last days, with the days one by one and the same of the period before."""
    return _report(await services.figures.report(_view(caller, days, timezone, language)))


@router.get("/{figure}")
async def questions(
    figure: str,
    caller: ReviewerDep,
    services: ServicesDep,
    days: Days = 7,
    language: Language | None = None,
    timezone: Timezone = "UTC",
    outcome: Annotated[str | None, Query(max_length=20)] = None,
    reason: Annotated[str | None, Query(max_length=60)] = None,
    faithfulness_bin: int | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[int | None, Query(ge=0, lt=2**63)] = None,
) -> dict[str, Any]:
    """The questions that a figure counts, the newest first; `next` is the `after` of the next page."""
    behind = Behind(figure=figure, outcome=outcome, reason=reason, faithfulness_bin=faithfulness_bin)
    view = _view(caller, days, timezone, language)
    page = await services.figures.questions(view, behind, limit=limit, after=after)
    return {"questions": rendered(page.questions), "next": page.next}


def _view(caller: Caller, days: int, timezone: str, language: str | None) -> View:
    return View(caller.tenant, last_days(days, timezone=timezone), language)


def _report(report: Report) -> dict[str, Any]:
    period, faithfulness = report.view.period, report.faithfulness
    return {
        "since": period.since.isoformat(),
        "until": period.until.isoformat(),
        "rates": _rates(report.rates),
        "before": _rates(report.before),
        "reasons": [
            {"outcome": one.outcome, "reason": one.reason, **_rate(one.rate)} for one in report.reasons
        ],
        "languages": {name: _rates(rates) for name, rates in report.languages.items()},
        "steps": [{"begins": step.begins.isoformat(), "rates": _rates(step.rates)} for step in report.steps],
        "faithfulness": {
            "checked": faithfulness.checked,
            "supported": _rate(faithfulness.supported),
            "mean": faithfulness.mean,
            "bins": faithfulness.bins,
        },
        "latency_ms": rendered(report.times.outcomes),
        "stages_ms": rendered(report.times.stages),
        "savings": rendered(report.savings),
        "tickets": {**rendered_object(report.tickets), "in_time": _rate(report.tickets.in_time)},
        "thumbs_down": _rate(report.thumbs_down),
        "judged_wrong": _rate(report.judged_wrong),
        "wrong_answers": rendered(report.wrong_answers),
        "wrong_rag_answers": rendered(report.wrong_rag_answers),
    }


def _rates(rates: Rates) -> dict[str, Any]:
    return {name: _rate(rate) for name, rate in rates.items()}


def _rate(rate: Rate) -> dict[str, Any]:
    return {"count": rate.count, "n": rate.n, "value": rate.value, "ci95": rate.ci95}
