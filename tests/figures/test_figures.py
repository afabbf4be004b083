"""What the figures say is what the raw outcomes say, on both databases, however they are asked."""

from __future__ import annotations

import random
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from sqlalchemy import delete, insert

from gateway.errors import InvalidRequest
from gateway.figures.definitions import FIGURES
from gateway.figures.hours import View
from gateway.figures.periods import last_days
from gateway.figures.questions import Behind
from gateway.figures.rates import Rate
from gateway.figures.report import Figures, Report
from gateway.recording.outcomes import OutcomeRow
from gateway.settings import PriceSettings
from storage.schema import audit_windows, audits, entries, entry_phrasings, feedback, tickets
from storage.sql import Database
from tests.figures.made_up import long_way, outcomes, write

NOW = datetime(2026, 3, 11, 15, 42, 7, tzinfo=UTC)


class NoAudits:
    async def reports(self, *, tenant: str | None, topics: bool) -> tuple[()]:
        return ()


def figures_of(database: Database, *, price: PriceSettings | None = None) -> Figures:
    return Figures(database, NoAudits(), price=price)  # type: ignore[arg-type]


def view(
    days: int = 7, *, tenant: str | None = "default", language: str | None = None, zone: str = "UTC"
) -> View:
    return View(tenant, last_days(days, timezone=zone, now=NOW), language)


def within(rows: list[OutcomeRow], seen: View) -> list[OutcomeRow]:
    return [
        row
        for row in rows
        if seen.tenant in (None, row.tenant)
        and seen.language in (None, row.language)
        and seen.period.since <= row.at < seen.period.until
    ]


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "Asia/Kathmandu", "Australia/Eucla"])
@pytest.mark.parametrize("days", [1, 2, 3, 9])
async def test_where_days_begin_within_an_hour_each_hour_is_counted_once(
    database: Database, zone: str, days: int
) -> None:
    rows = outcomes(4, 600, until=NOW, days=12)
    await write(database, rows)
    seen = view(days, tenant=None, zone=zone)
    first = seen.period.since.astimezone(UTC).replace(minute=0)
    report = await figures_of(database).report(seen)
    expected = long_way(row for row in rows if first <= row.at < NOW)
    assert report.rates == expected
    earlier = timedelta(days=days)
    assert report.before == long_way(row for row in rows if first - earlier <= row.at < NOW - earlier)
    assert sum(step.rates["questions"].count for step in report.steps) == expected["questions"].count


@pytest.mark.parametrize("seed", range(3))
async def test_every_rate_is_that_of_the_raw_outcomes(database: Database, seed: int) -> None:
    rows = outcomes(seed, 600, until=NOW, days=20)
    await write(database, rows, batch=random.Random(seed).randint(1, 300))
    for seen in (
        view(1), view(7), view(20), view(7, tenant="other"), view(7, tenant=None), view(7, language="ja"),
        view(3, zone="Asia/Tokyo"), view(9, zone="America/New_York"), view(7, tenant="nobody"),
    ):  # fmt: skip
        report = await figures_of(database).report(seen)
        expected = within(rows, seen)
        assert report.rates == long_way(expected)
        assert report.before == long_way(within(rows, seen.before))
        assert report.languages == {
            name: long_way(row for row in expected if row.language == name)
            for name in sorted({row.language for row in expected})
        }
        for step in report.steps:
            of_step = [
                row
                for row in expected
                if seen.period.step_of(row.at.replace(minute=0, second=0, microsecond=0)) == step.begins
            ]
            assert step.rates == long_way(of_step)
        assert sum(step.rates["questions"].count for step in report.steps) == len(expected)
        assert sum(one.rate.count for one in report.reasons) == len(expected)


async def test_the_questions_behind_a_figure_are_as_many_as_it_counts(database: Database) -> None:
    rows = outcomes(5, 400, until=NOW, days=7)
    await write(database, rows)
    figures, seen = figures_of(database), view(7)
    report = await figures.report(seen)
    for name in FIGURES:
        found: list[str] = []
        after = None
        while True:
            page = await figures.questions(seen, Behind(figure=name), limit=37, after=after)
            assert list(page.questions) == sorted(
                page.questions, key=lambda one: (one.at, one.id), reverse=True
            )
            found += [one.request_id for one in page.questions]
            after = page.next
            if after is None:
                break
        assert len(found) == len(set(found)) == report.rates[name].count, name
    for one in report.reasons:
        page = await figures.questions(seen, Behind(outcome=one.outcome, reason=one.reason), limit=200)
        assert len(page.questions) == one.rate.count
    for place, n in enumerate(report.faithfulness.bins):
        page = await figures.questions(seen, Behind(faithfulness_bin=place), limit=200)
        assert len(page.questions) == n


async def test_faithfulness_latency_and_savings_are_those_of_the_raw_outcomes(database: Database) -> None:
    rows = outcomes(9, 900, until=NOW, days=5)
    await write(database, rows)
    price = PriceSettings(input=2.0, output=8.0, currency="JPY")
    report = await figures_of(database, price=price).report(view(5))
    seen = within(rows, view(5))
    checked = [row.faithfulness for row in seen if row.faithfulness is not None]
    assert report.faithfulness.mean == pytest.approx(np.mean(checked))
    assert report.faithfulness.supported == Rate(checked.count(1.0), len(checked))
    assert report.faithfulness.bins[20] == checked.count(1.0)
    assert report.faithfulness.bins[6] == checked.count(1 / 3)
    for name, latency in report.times.outcomes.items():
        times = [row.ms for row in seen if row.outcome == name]
        assert (latency.n, latency.p50) == (len(times), pytest.approx(np.percentile(times, 50)))
    for name, latency in report.times.stages.items():
        times = [row.stage_ms[name] for row in seen if name in row.stage_ms]
        assert (latency.n, latency.p95) == (len(times), pytest.approx(np.percentile(times, 95)))
    hits = sum(row.tier is not None for row in seen)
    drafted = [row for row in seen if "rag" in row.stage_ms]
    spent = [row.stage_ms["rag"] + row.stage_ms.get("faithfulness", 0.0) for row in drafted]
    cost = [(2.0 * (row.tokens_in or 0) + 8.0 * (row.tokens_out or 0)) / 1e6 for row in drafted]
    assert report.savings.hits == hits
    assert report.savings.ms == pytest.approx(hits * np.mean(spent))
    assert report.savings.cost == pytest.approx(hits * np.mean(cost))
    assert report.savings.currency == "JPY"


async def test_on_the_first_day_there_are_no_rates_rather_than_rates_of_nought(database: Database) -> None:
    report = await figures_of(database).report(view(7))
    assert {rate.value for rate in report.rates.values()} == {None}
    assert (report.faithfulness.mean, report.savings.ms, report.wrong_answers.upper) == (None, None, None)
    assert len(report.steps) == 7


def ticket(
    name: str, *, created: datetime, answered: datetime | None, state: str, language: str = "en"
) -> dict[str, object]:
    return {
        "id": name, "tenant": "default", "request_id": name, "language": language, "real_question": "q",
        "question": f"question of {name}", "outcome": "escalated", "reason": "gate_unsure", "state": state,
        "created_at": created, "updated_at": answered or created, "answered_at": answered,
    }  # fmt: skip


async def test_tickets_thumbs_and_verdicts_are_counted_by_when_they_happened(database: Database) -> None:
    rows = [
        ticket(
            f"T-{n}", created=NOW - timedelta(days=9), answered=NOW - timedelta(days=9 - n), state="answered"
        )
        for n in range(1, 6)
    ]
    rows.append(ticket("T-6", created=NOW - timedelta(days=30), answered=None, state="open"))
    rows.append(
        ticket("T-7", created=NOW - timedelta(hours=1), answered=None, state="claimed", language="ja")
    )
    async with database.begin() as connection:
        await connection.execute(insert(tickets), rows)
        for n, verdict in enumerate(["up", "down", "down"]):
            thumb = {
                "at": NOW - timedelta(days=4 * n, minutes=1),
                "tenant": "default",
                "request_id": f"r-{n}",
                "verdict": verdict,
            }
            await connection.execute(insert(feedback), thumb)
    report = await figures_of(database).report(view(6))
    found = asdict(report.tickets)
    assert found == {
        "open": 1, "claimed": 1, "overdue": 1, "opened": 1, "answered": 2, "dismissed": 0,
        "wait_p50_s": 4.5 * 86400, "wait_p90_s": pytest.approx(4.9 * 86400), "in_time": {"count": 0, "n": 2},
    }  # fmt: skip
    assert report.thumbs_down == Rate(1, 2)
    assert (await figures_of(database).report(view(6, language="ja"))).tickets.opened == 1


async def test_behind_a_thumb_or_a_wrong_verdict_stands_its_question_with_the_text_that_is_known(
    database: Database,
) -> None:
    rows = [row for row in outcomes(3, 60, until=NOW, days=2) if row.tier and row.tenant == "default"][:3]
    await write(database, rows)
    thumbed, judged, neither = rows
    async with database.begin() as connection:
        await connection.execute(
            insert(feedback),
            {
                "at": NOW - timedelta(minutes=1),
                "tenant": "default",
                "request_id": thumbed.request_id,
                "verdict": "down",
            },
        )
        await connection.execute(insert(entries), entry())
        await connection.execute(
            insert(entry_phrasings),
            {
                "id": "p-1",
                "entry_id": "e-1",
                "tenant": "default",
                "position": 0,
                "text": "When does it open?",
                "normalised": "",
                "exact_key": b"",
            },
        )
        await connection.execute(
            insert(audit_windows),
            {
                "id": "w",
                "tenant": "default",
                "language": "en",
                "model": "m",
                "since": "",
                "cut": 0.5,
                "started_at": NOW,
            },
        )
        await connection.execute(
            insert(audits),
            {
                "id": "a", "window_id": "w", "tenant": "default", "language": "en", "request_id": judged.request_id,
                "tier": "exact", "score": 1.0, "question": "When does it close?", "phrasing": "", "answer": "",
                "entry_id": "e-1", "entry_revision": 1, "topic": "", "verdict": "wrong", "at": judged.at,
                "judged_at": NOW - timedelta(minutes=2),
            },
        )  # fmt: skip
    figures = figures_of(database)
    [down] = (await figures.questions(view(7), Behind(figure="thumbs_down"))).questions
    [wrong] = (await figures.questions(view(7), Behind(figure="judged_wrong"))).questions
    assert (down.request_id, down.text, down.matched) == (thumbed.request_id, None, "When does it open?")
    assert (wrong.request_id, wrong.text) == (judged.request_id, "When does it close?")
    assert (await figures.report(view(7))).judged_wrong == Rate(1, 1)
    assert neither.request_id not in (down.request_id, wrong.request_id)
    await write(database, [replace(judged, tenant="other")])  # clients choose their requests' ids
    for figure in ("thumbs_down", "judged_wrong"):
        assert (await figures.questions(view(7, tenant="other"), Behind(figure=figure))).questions == ()


def entry() -> dict[str, object]:
    return {
        "id": "e-1", "tenant": "default", "kind": "ground_truth", "language": "en", "answer": "At nine.",
        "state": "active", "created_at": NOW, "updated_at": NOW,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("behind", "says"),
    [
        (Behind(figure="happiness"), "there is no figure 'happiness'; there are questions, refused"),
        (Behind(faithfulness_bin=21), "faithfulness_bin must be from 0 to 20, not 21"),
    ],
)
async def test_a_figure_that_does_not_exist_is_refused_by_name(
    database: Database, behind: Behind, says: str
) -> None:
    with pytest.raises(InvalidRequest, match=says):
        await figures_of(database).questions(view(), behind)


@pytest.mark.parametrize(
    ("days", "zone"), [(0, "UTC"), (367, "UTC"), (7, "Mars/Olympus"), (7, "../etc/passwd")]
)
def test_periods_that_cannot_be_are_refused_by_name(days: int, zone: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        last_days(days, timezone=zone)
    assert refused.value.param == ("timezone" if days == 7 else "days")


def test_days_begin_at_the_owners_midnight_also_when_clocks_change() -> None:
    period = last_days(3, timezone="Europe/Berlin", now=datetime(2026, 3, 30, 12, tzinfo=UTC))
    assert [step.isoformat() for step in period.steps()] == [
        "2026-03-28T00:00:00+01:00", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00",
    ]  # fmt: skip
    assert period.step_of(datetime(2026, 3, 29, 22, tzinfo=UTC)) == datetime(
        2026, 3, 30, tzinfo=ZoneInfo("Europe/Berlin")
    )


async def test_counts_outlive_the_outcomes_that_retention_deletes(database: Database) -> None:
    from storage.schema import outcomes as table

    rows = outcomes(1, 50, until=NOW, days=3)
    await write(database, rows)
    before: Report = await figures_of(database).report(view(3))
    async with database.begin() as connection:
        await connection.execute(delete(table))
    assert (await figures_of(database).report(view(3))).rates == before.rates
