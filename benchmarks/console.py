"""How long a reviewer waits at the console when a thousand tickets are open. Needs chromium.

    python -m benchmarks.console --tickets 1000

The gateway runs the example helpdesk in this process; the tickets ask the questions of its entries in English
and Japanese. Times are what the browser sees: from the click or key to the change.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Literal

from playwright.sync_api import Page
from rich.console import Console
from rich.table import Table
from sqlalchemy import update

from cache.matching import Miss
from classifiers.faithfulness import PassageSpan, StatementVerdict, verdict_of
from classifiers.gate import GateVerdict
from gateway.assembly import Services
from gateway.demo import LANGUAGES, demo_settings, load
from gateway.domain import Conversation, Draft, Passage, Question, Step, Turn
from storage.schema import tickets
from tests.console.browsing import PASSWORDS, Chromium
from tests.gateway.running import Gateway

REPEATS = 5
STOPPED: tuple[tuple[Literal["withheld", "escalated"], str], ...] = (
    ("withheld", "unsupported_statement"),
    ("escalated", "nothing_relevant"),
    ("escalated", "gate_unsure"),
)
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
MOVED = "id => document.querySelector('.q-row.at').dataset.id !== id"
SAID = "said => document.querySelector('.filters .quiet').innerText !== said"


async def ask(services: Services, count: int) -> float:
    """Open tickets as a week of questions would; the seconds until the queue knows them."""
    chosen = random.Random(7)
    shelves = [await services.stores.entries.whole_shelf("default", language) for language in LANGUAGES]
    entries = [entry for shelf in shelves for entry in shelf]
    for number in range(count):
        entry = chosen.choice(entries)
        asked = Turn("user", chosen.choice(entry.phrasings))
        conversation = Conversation(
            turns=(asked,), tenant="default", request_id=f"b-{number}", asker=f"u-{number}"
        )
        question = Question(text=asked.text, language=entry.language, conversation=conversation)
        outcome, reason = chosen.choice(STOPPED)
        steps = _steps(entry.answer)
        id_ = await services.tickets.open(question, outcome=outcome, reason=reason, steps=steps)
        asked_at = datetime.now(UTC) - timedelta(hours=chosen.expovariate(1 / 12))
        async with services.stores.database.begin() as connection:
            of_ticket = update(tickets).where(tickets.c.id == id_)
            await connection.execute(of_ticket.values(created_at=asked_at))
    started = perf_counter()
    await services.queue.catch_up()
    return perf_counter() - started


def _steps(answer: str) -> tuple[Step, ...]:
    """As large as real ones: four passages, a draft and its verdict."""
    passages = tuple(Passage(text=answer * 4, source=f"{number}.md", score=0.8) for number in range(4))
    statement = StatementVerdict(
        text=answer,
        start=0,
        end=len(answer),
        state="unsupported",
        score=0.2,
        reason="",
        judge="b",
        span=PassageSpan(0, 0, len(answer), answer),
    )
    checked = verdict_of([statement], judge="b")
    gate = GateVerdict(label="must", score=0.9, reason="near an example", nearest=None, judge="b")
    return (
        Step("gate", 1.0, gate),
        Step("cache", 2.0, Miss(reason="no entry is near")),
        Step("rag", 800.0, Draft(text=answer, contexts=passages, model="b")),
        Step("faithfulness", 9.0, checked),
    )


def measured(page: Page) -> dict[str, list[float]]:
    """Every action several times, in milliseconds."""
    row = ".q-row"
    times: dict[str, list[float]] = {}

    def time(name: str, act: Callable[[], object], seen: Callable[[], object]) -> None:
        started = perf_counter()
        act()
        seen()
        times.setdefault(name, []).append((perf_counter() - started) * 1000)

    def told(text: str) -> Callable[[], object]:
        return lambda: page.locator(".told", has_text=text).wait_for()

    for _ in range(REPEATS):
        time("queue: first row seen", lambda: page.goto("/console/"), page.locator(row).first.wait_for)
        times.setdefault("queue: first contentful paint", []).append(page.evaluate(PAINT))
        at = page.locator(f"{row}.at").get_attribute("data-id")
        time("j: the cursor moves", lambda: page.keyboard.press("j"), _changes(page, MOVED, at))
        said = page.locator(".filters .quiet").first.inner_text()
        time("filter by overdue", page.locator(".filters .overdue").click, _changes(page, SAID, said))
        page.goto("/console/")
        page.locator(row).first.wait_for()
        for number in range(min(10, page.locator(row).count())):
            page.locator(f"{row} .tick").nth(number).click()
        chosen = int("".join(filter(str.isdigit, page.locator(".bulk .strong").inner_text())))
        time(f"claim {chosen} tickets of ten rows", lambda: page.keyboard.press("c"), told("Claimed"))
        time("undo that", page.locator(".undo").click, told("Taken back"))
        time("open a ticket", page.locator(row).first.click, page.locator(".history").wait_for)
    return times


def _changes(page: Page, script: str, before: str | None) -> Callable[[], object]:
    return lambda: page.wait_for_function(script, arg=before)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tickets", type=int, default=1000)
    count = parser.parse_args().tickets
    with tempfile.TemporaryDirectory() as folder:
        settings = demo_settings(Path(folder))
        settings = settings.model_copy(update={"server": settings.server.model_copy(update={"port": 0})})
        asyncio.run(load(settings))
        with Gateway(settings, start_within_s=300) as gateway:
            users = gateway.services.people.users
            gateway.do(users.add("sato", tenant="default", role="reviewer", password=PASSWORDS["sato"]))
            seconds = gateway.do(ask(gateway.services, count))
            with Chromium() as chromium, chromium.person(gateway.url) as sato:
                times = measured(sato.sign_in())
    table = Table(
        "action",
        "median ms",
        "worst ms",
        title=f"{count} open tickets; the queue knew them after {seconds:.1f} s",
    )
    for name, found in times.items():
        table.add_row(name, f"{statistics.median(found):.0f}", f"{max(found):.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
