"""Kill −9 at random moments while entries are approved, edited and paused, tickets created, claimed, answered and
refused, and audits judged: nothing acknowledged is lost, and every answer that was acknowledged reaches the asker's side.

Five kills by default; `make test ARGS="tests/durability --kills 50"` for more.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import select
from standardwebhooks import Webhook

from cache.indexing import disagreement
from gateway.configuration.loading import load_settings
from gateway.stores import open_stores
from storage.schema import gate_examples, tickets
from storage.vectors import IndexUnavailable
from tests.receiver import Got, Receiver

KEY = "sk-test-admin-for-the-kills"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
WORKERS = 4
PATIENCE_S = 150.0
START_S = 180.0  # on a machine that does other things, too
CONFIG = """
gate: {enabled: false}
logging: {level: error}
auth: {keys: [{key: "${KILL_KEY}", role: admin}]}
feedback: {pause_after: 1}
cache: {audit_rate_exact: 1}
delivery: {timeout_s: 2, webhooks: [{name: helpdesk, url: "${KILL_RECEIVER}", secret: "${KILL_SECRET}"}]}
"""


@dataclass
class Acknowledged:
    """What the gateway said it had done."""

    entries: dict[str, str] = field(default_factory=dict)  # id to question
    tickets: set[str] = field(default_factory=set)
    answered: dict[str, str] = field(default_factory=dict)  # ticket to answer
    disputed: dict[str, str] = field(
        default_factory=dict
    )  # entry that an asker was not content with to ticket
    refused: set[str] = field(default_factory=set)  # tickets that were not ours
    claimed: set[str] = field(default_factory=set)  # tickets
    edited: dict[str, str] = field(default_factory=dict)  # entry, paused after it, to its new answer
    judged: set[str] = field(default_factory=set)  # audits

    def progress(self) -> tuple[int, ...]:
        """How much of each kind of work."""
        return tuple(len(getattr(self, one.name)) for one in fields(self))


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    number: int = request.config.getoption("--kills")
    return number


def test_nothing_acknowledged_is_lost(kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILL_KEY", KEY)
    monkeypatch.setenv("KILL_SECRET", SECRET)
    config = tmp_path / "sekisho.yaml"
    config.write_text(CONFIG)
    done, chance = Acknowledged(), random.Random(20261121)
    with Receiver() as receiver:
        monkeypatch.setenv("KILL_RECEIVER", receiver.url)
        for _ in range(kills):
            with Killed(config) as url:
                asyncio.run(work(url, done, seconds=chance.uniform(0.05, 1.5)))
        with Killed(config) as url:  # start-up has found what was not indexed
            asyncio.run(check(url, done))
            receiver.wait(lambda got: done.answered.keys() <= told_of(got), seconds=60)
    told_once_or_again(receiver.got, done)
    asyncio.run(stores_agree(config, done))
    assert min(done.progress()) >= kills


def told_of(got: list[Got]) -> set[str]:
    """The tickets that the asker's side was told of."""
    return {one.json()["data"]["ticket"] for one in list(got)}


def told_once_or_again(got: list[Got], done: Acknowledged) -> None:
    """Signed, with the answer that was given; what came twice came under the same id."""
    ids: dict[str, set[str]] = {}
    for one in got:
        data = json.loads(one.body)["data"]
        timestamp = datetime.fromtimestamp(int(one.headers["webhook-timestamp"]), UTC)
        signature = Webhook(SECRET).sign(one.headers["webhook-id"], timestamp, one.body.decode())
        assert signature == one.headers["webhook-signature"]
        assert data["answer"] == done.answered.get(data["ticket"], data["answer"])
        ids.setdefault(data["ticket"], set()).add(one.headers["webhook-id"])
    assert all(len(known) == 1 for known in ids.values())


class Killed:
    """A gateway in a process of its own that never gets to tidy up."""

    def __init__(self, config: Path) -> None:
        self._config = config

    def __enter__(self) -> str:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "gateway",
            "serve",
            "--config",
            str(self._config),
            "--port",
            str(port),
        ]
        self._process = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL)
        url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_S
        while not answers(url):
            assert self._process.poll() is None, "the gateway did not come up again"
            assert time.monotonic() < deadline, "the gateway took too long to come up"
            time.sleep(0.02)
        return url

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/livez", trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False


async def work(url: str, done: Acknowledged, *, seconds: float) -> None:
    """Ask, approve and answer from several clients at once; the process is killed when this returns."""
    async with client(url) as http:
        workers = [asyncio.create_task(one_worker(http, done)) for _ in range(WORKERS)]
        workers.append(asyncio.create_task(one_disputer(http, done)))
        workers.append(asyncio.create_task(one_refuser(http, done)))
        workers.append(asyncio.create_task(one_editor(http, done)))
        before, deadline = done.progress(), time.monotonic() + PATIENCE_S
        await asyncio.sleep(seconds)
        while not all(now > then for now, then in zip(done.progress(), before, strict=True)):
            assert time.monotonic() < deadline, f"nothing gets done: {done.progress()}"
            await asyncio.sleep(0.01)  # a slow machine gets its time; then it is killed at once
        for worker in workers:
            worker.cancel()  # requests in flight are neither acknowledged nor refused
        await asyncio.gather(*workers, return_exceptions=True)


async def one_worker(http: httpx2.AsyncClient, done: Acknowledged) -> None:
    while True:
        name = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=12))
        question = f"What is the fee for {name}?"
        entry = {
            "phrasings": [question],
            "answer": f"The fee for {name} is known.",
            "language": "en",
            "state": "active",
        }
        created = await http.post("/v1/entries", json=entry)
        if created.status_code == 201:
            done.entries[created.json()["entry"]["id"]] = question
        asked = await http.post("/v1/answers", json={"question": f"Who looks after {name} on Sundays?"})
        if asked.status_code == 200 and "ticket" in asked.json():
            ticket = asked.json()["ticket"]
            done.tickets.add(ticket)
            answer = {"answer": f"{name} looks after itself.", "publish": True}
            answered = await http.post(f"/v1/tickets/{ticket}/answer", json=answer)
            if answered.status_code == 200:
                done.answered[ticket] = answer["answer"]


async def one_disputer(http: httpx2.AsyncClient, done: Acknowledged) -> None:
    while True:
        await dispute(http, "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=12)), done)


async def dispute(http: httpx2.AsyncClient, name: str, done: Acknowledged) -> None:
    """An asker is not content with a verified answer, which pauses it."""
    entry = {"phrasings": [f"Where is {name}?"], "answer": "Here.", "language": "en", "state": "active"}
    created = await http.post("/v1/entries", json=entry)
    asked = await http.post("/v1/answers", json={"question": f"Where is {name}?", "user": name})
    if created.status_code != 201 or asked.status_code != 200 or asked.json()["outcome"] != "ground_truth":
        return
    said = {"request_id": asked.json()["id"], "verdict": "down"}
    kept = await http.post("/v1/feedback", json=said)
    if kept.status_code == 201:
        assert kept.json()["entry"] == created.json()["entry"]["id"]
        done.disputed[kept.json()["entry"]] = kept.json()["tickets"][0]


async def one_refuser(http: httpx2.AsyncClient, done: Acknowledged) -> None:
    """Questions that are not ours: the ticket closes, and the gate gets its example."""
    while True:
        name = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=12))
        asked = await http.post("/v1/answers", json={"question": f"Who won the {name} cup?"})
        if asked.status_code != 200 or "ticket" not in asked.json():
            continue
        ticket = asked.json()["ticket"]
        closed = await http.post(f"/v1/tickets/{ticket}/dismiss", json={"gate": "may"})
        if closed.status_code == 200:
            done.refused.add(ticket)


async def one_editor(http: httpx2.AsyncClient, done: Acknowledged) -> None:
    """What reviewers do besides answering: a ticket is claimed, an entry edited and paused, an audit judged."""
    while True:
        name = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=12))
        asked = await http.post("/v1/answers", json={"question": f"Who feeds {name}?"})
        ticket = asked.json().get("ticket", "")
        if (await http.post(f"/v1/tickets/{ticket}/claim")).status_code == 200:
            done.claimed.add(ticket)
        entry = {"phrasings": [f"How old is {name}?"], "answer": "Nobody knows.", "language": "en"}
        entry_id = (await http.post("/v1/entries", json=entry | {"state": "active"})).json()["entry"]["id"]
        answer = f"{name} is seven."
        await http.patch(f"/v1/entries/{entry_id}", json={"revision": 1, "answer": answer})
        paused = await http.post(f"/v1/entries/{entry_id}/state", json={"state": "paused"})
        if paused.status_code == 200:
            done.edited[entry_id] = answer
        waiting = await http.get("/v1/audits", params={"verdict": "open", "limit": 1})
        for audit in waiting.json()["audits"]:
            said = await http.post(f"/v1/audits/{audit['id']}", json={"verdict": "right"})
            if said.status_code == 200:
                done.judged.add(audit["id"])


async def check(url: str, done: Acknowledged) -> None:
    """Everything that was acknowledged is there, and is served."""
    async with client(url) as http:
        for entry, question in done.entries.items():
            assert (await http.get(f"/v1/entries/{entry}")).status_code == 200, f"entry {entry} is lost"
            found = (await http.post("/v1/cache/lookup", json={"question": question})).json()
            assert found["type"] == "hit", f"{question} is not served"
        for entry, ticket in done.disputed.items():
            found = (await http.get(f"/v1/entries/{entry}")).json()
            assert found["entry"]["state"] == "paused", f"the pause of {entry} is lost"
            assert (await http.get(f"/v1/tickets/{ticket}")).status_code == 200, f"ticket {ticket} is lost"
        for entry, answer in done.edited.items():
            found = (await http.get(f"/v1/entries/{entry}")).json()["entry"]
            assert (found["answer"], found["state"]) == (answer, "paused"), f"the edit of {entry} is lost"
        for ticket in done.claimed:
            found = (await http.get(f"/v1/tickets/{ticket}")).json()
            assert found["state"] == "claimed", f"the claim of {ticket} is lost"
        assert done.judged <= await judged_right(http), "a verdict is lost"
        for ticket in done.tickets:
            kept = await http.get(f"/v1/tickets/{ticket}")
            assert kept.status_code == 200, f"ticket {ticket} is lost"
            if ticket in done.answered:
                assert done.answered[ticket] in kept.text, f"the answer to {ticket} is lost"


async def judged_right(http: httpx2.AsyncClient) -> set[str]:
    found: set[str] = set()
    asked: dict[str, str] = {"verdict": "right", "limit": "200"}
    while True:
        page = (await http.get("/v1/audits", params=asked)).json()
        found |= {audit["id"] for audit in page["audits"]}
        if page["next"] is None:
            return found
        asked["after"] = page["next"]


async def stores_agree(config: Path, done: Acknowledged) -> None:
    """What is in the index is what SQL serves, and no ticket was closed as not ours without its example."""
    for _ in range(50):  # the killed process's lock goes with it, but not at once on every system
        try:
            async with open_stores(load_settings(config)) as stores:
                assert not await disagreement(stores.entries, stores.entry_index)
                async with stores.database.connect() as connection:
                    dismissed = await connection.scalars(select(tickets.c.id).filter_by(state="dismissed"))
                    proposed = await connection.scalars(select(gate_examples.c.ticket_id))
                    closed = set(dismissed)
                    assert closed == set(proposed)
                    assert done.refused <= closed, "a dismissal is lost"
                return
        except IndexUnavailable:
            await asyncio.sleep(0.1)
    raise AssertionError("the index stayed locked")


def client(url: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=url, headers={"authorization": f"Bearer {KEY}"}, timeout=30, trust_env=False
    )
