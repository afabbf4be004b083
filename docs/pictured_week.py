"""A helpdesk that has worked for a week, for the pictures: the real way of a question, on a clock set back.

What is asked and decided here is made up. What the console shows of it was computed by the gateway.
"""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import time_machine

from cache.store.content import content_of
from gateway.demo import HELPDESK, demo_settings
from gateway.errors import Conflict
from gateway.review.acceptance_tests import AcceptanceTests, Pair, commitment_of
from gateway.review.closing import Review
from gateway.review.queue import Wish
from gateway.review.queue.waiting import Waiting
from gateway.settings import Settings
from tests.console.browsing import PASSWORDS
from tests.gateway.running import KEYS, Gateway
from tests.receiver import Receiver

__all__ = ["Week", "settings", "worked"]

DAYS = 7
A_DAY = 30  # questions
QUESTIONS = Path(__file__).parent / "screenshots" / "questions.txt"
PEOPLE = {"sato": "admin", "suzuki": "reviewer", "kimura": "reviewer", "viewer": "viewer"}
CANARIES = ["How do I register a seal?", "When is Minamo City Hall open?", "図書館は何時に閉まりますか"]
BY = {"tenant": "default", "by": "suzuki"}


@dataclass(frozen=True, slots=True)
class Week:
    """What the pictures look at, by language where there is one of each."""

    tickets: dict[str, str]  # with a withheld draft, which shows most
    entry: str  # with a history
    acceptance: str


def settings(folder: Path, receiver: Receiver) -> Settings:
    """The example's, with a key to ask with, every hit audited, and an address that takes no answers."""
    own = demo_settings(folder)
    secret = "whsec_" + base64.b64encode(b"a secret for the pictures").decode()
    webhook = {"name": "website", "url": receiver.url, "secret": secret}
    shadow = {"name": "subsidies", "word": ["solar panels", "補助金"], "shadow": True}
    change: dict[str, dict[str, Any]] = {
        "server": {"port": 0},
        "auth": {"keys": [{"key": KEYS["client"], "role": "client"}]},
        "cache": {"audit_rate": 1.0, "audit_rate_exact": 0.2, "audit_rate_rag": 0.3},
        "delivery": {"webhooks": [webhook]},
        "gate": {"canaries": CANARIES, "deny": [shadow]},
    }
    return own.model_copy(
        update={
            name: type(getattr(own, name)).model_validate(
                getattr(own, name).model_dump(exclude_unset=True) | values
            )
            for name, values in change.items()
        }
    )


def worked(gateway: Gateway, receiver: Receiver) -> Week:
    """A week of questions, and what people did with them."""
    for name, role in PEOPLE.items():
        users = gateway.services.people.users
        gateway.do(users.add(name, tenant="default", role=role, password=PASSWORDS[name]))  # type: ignore[arg-type]
    chance, questions = random.Random(7), _questions()  # noqa: S311 - the same pictures each time
    for day in range(DAYS - 1, -1, -1):
        for hours in (day * 24 + 20, day * 24 + 9, day * 24 + 2):
            with _ago(hours):
                for question in chance.choices(questions, k=A_DAY // 3):
                    gateway.answer(question)
                if hours % 24 == 2:
                    _reviewed(gateway, receiver, day)
    with _ago(1):
        withheld = [gateway.answer(question) for question in _rows("careless.jsonl")]
    gateway.do(gateway.services.queue.catch_up())
    _audited(gateway)
    _keys(gateway)
    return Week(
        {reply["language"]: reply["ticket"] for reply in withheld},
        _edited(gateway),
        _acceptance(gateway),
    )


@contextmanager
def _ago(hours: int) -> Iterator[None]:
    """Set the clock back."""
    with time_machine.travel(datetime.now(UTC) - timedelta(hours=hours), tick=True):
        yield
        time.sleep(1.5)  # what is written in the background is written now


def _questions() -> list[str]:
    """Every question, those with a verified answer and those that open a ticket oftener."""
    rows = [row for file in sorted(HELPDESK.glob("*/tour.jsonl")) for row in _json(file)]
    usual = [row["question"] for row in rows if row["outcome"] in ("ground_truth", "confirmed_answer")]
    return [*(row["question"] for row in rows), *usual * 2, *QUESTIONS.read_text("utf-8").splitlines()]


def _json(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _rows(name: str) -> list[str]:
    return [row["question"] for row in _json(HELPDESK / name)]


def _reviewed(gateway: Gateway, receiver: Receiver, day: int) -> None:
    """The oldest tickets are worked, some each day; the receiver takes the answers of the first days only."""
    services = gateway.services
    gateway.do(services.queue.catch_up())
    view = gateway.do(services.queue.view("default", Wish()))
    receiver.next(*([204] if day > 3 else [410, 410, 503] * 3))
    for at, cluster in enumerate(reversed(view.clusters[-4:] if day else ())):
        for ticket in cluster.tickets:
            with suppress(Conflict):  # the same words wait as another class
                _worked(gateway, ticket, at)
    time.sleep(1.2)  # the courier goes


def _worked(gateway: Gateway, ticket: Waiting, at: int) -> None:
    services = gateway.services
    if at == 0:
        closed = gateway.do(services.desk.closing.close(ticket.id, Review(gate="may"), **BY))
        if closed.example and closed.ticket.language == "ja":
            examples = services.gatekeeping.examples
            gateway.do(examples.accept("default", closed.example.id, by="sato", over_policy=True))
    elif at == 1:
        gateway.do(services.desk.judgements.gate_was_wrong(ticket.id, **BY))
        gateway.do(services.tickets.claim(ticket.id, **BY))
    else:
        answer = "Please call us on 0120-000-000, weekdays from 8:45 to 17:15."
        gateway.do(services.tickets.answer(ticket.id, answer=answer, **BY))


def _audited(gateway: Gateway) -> None:
    """Most of the sample was found right, the last one wrong; some still wait."""
    audits = gateway.services.audits
    page = gateway.do(audits.list(tenant="default", verdict="open", limit=200))
    for at, one in enumerate(page.items[:-6]):
        verdict = "wrong" if at == 7 else "unsure" if at == 11 else "right"
        gateway.do(audits.judge(one.id, verdict=verdict, **BY))  # type: ignore[arg-type]


def _keys(gateway: Gateway) -> None:
    keys = gateway.services.keys
    for label, role, group in (
        ("Website", "client", ""),
        ("Staff portal", "client", "staff"),
        ("Reports", "reviewer", ""),
    ):
        gateway.do(keys.create("default", role, label, group=group))  # type: ignore[arg-type]


def _edited(gateway: Gateway) -> str:
    """An entry that two people changed one after the other."""
    entries = gateway.services.stores.entries
    entry = gateway.do(entries.get("default", "en-bulky-book"))
    first = entry.answer.replace("000-555-0121,", "000-555-0121 (weekdays, 8:45 to 17:15),")
    second = first.replace("put one on each item", "stick one on each item where it can be seen")
    asked = (*entry.phrasings, "How do I get rid of a refrigerator?")
    for by, change in (("suzuki", {"answer": first, "phrasings": asked}), ("sato", {"answer": second})):
        content = replace(content_of(entry), **change)  # type: ignore[arg-type]
        entry = gateway.do(entries.edit("default", entry.id, content, revision=entry.revision, by=by))
    return entry.id


def _acceptance(gateway: Gateway) -> str:
    rows = _json(HELPDESK / "en" / "entries.jsonl")[:12]
    pairs = tuple(
        Pair(
            number=number,
            case_id=row["id"],
            language="en",
            question=row["question"],
            left=row["answer"],
            right=row["answer"].split(". ")[0].rstrip(".") + ".",
        )
        for number, row in enumerate(rows, 1)
    )
    commitment = commitment_of(pairs, margin=0.05, key="a key for the pictures")
    store = AcceptanceTests(gateway.services.stores.database)
    return gateway.do(
        store.create(pairs, tenant="default", name="Before the new chatbot goes live", margin=0.05,
                     commitment=commitment, by="sato")
    )  # fmt: skip
