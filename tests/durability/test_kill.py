"""Kill −9 at random moments while entries are approved and tickets created and answered: nothing acknowledged is lost.

Five kills by default; `make test ARGS="tests/durability --kills 50"` for more.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from cache.indexing import disagreement
from gateway.configuration import load_settings
from gateway.stores import open_stores
from storage.vectors import IndexUnavailable

KEY = "sk-test-admin-for-the-kills"
WORKERS = 4
CONFIG = """
gate: {enabled: false}
logging: {level: error}
auth: {keys: [{key: "${KILL_KEY}", role: admin}]}
"""


@dataclass
class Acknowledged:
    """What the gateway said it had done."""

    entries: dict[str, str] = field(default_factory=dict)  # id to question
    tickets: set[str] = field(default_factory=set)
    answered: dict[str, str] = field(default_factory=dict)  # ticket to answer


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    number: int = request.config.getoption("--kills")
    return number


def test_nothing_acknowledged_is_lost(kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILL_KEY", KEY)
    config = tmp_path / "sekisho.yaml"
    config.write_text(CONFIG)
    done, chance = Acknowledged(), random.Random(20261121)
    for _ in range(kills):
        with Killed(config) as url:
            asyncio.run(work(url, done, seconds=chance.uniform(0.05, 1.5)))
    with Killed(config) as url:  # start-up has found what was not indexed
        asyncio.run(check(url, done))
    asyncio.run(index_agrees(config))
    assert len(done.entries) >= kills
    assert len(done.tickets) >= kills


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
        url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 60
        while not answers(url):
            assert self._process.poll() is None, "the gateway did not come up again"
            assert time.monotonic() < deadline, "the gateway took over a minute to come up"
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
        await asyncio.sleep(seconds)
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


async def check(url: str, done: Acknowledged) -> None:
    """Everything that was acknowledged is there, and is served."""
    async with client(url) as http:
        for entry, question in done.entries.items():
            assert (await http.get(f"/v1/entries/{entry}")).status_code == 200, f"entry {entry} is lost"
            found = (await http.post("/v1/cache/lookup", json={"question": question})).json()
            assert found["type"] == "hit", f"{question} is not served"
        for ticket in done.tickets:
            kept = await http.get(f"/v1/tickets/{ticket}")
            assert kept.status_code == 200, f"ticket {ticket} is lost"
            if ticket in done.answered:
                assert done.answered[ticket] in kept.text, f"the answer to {ticket} is lost"


async def index_agrees(config: Path) -> None:
    """What is in the index is what SQL serves."""
    for _ in range(50):  # the killed process's lock goes with it, but not at once on every system
        try:
            async with open_stores(load_settings(config)) as stores:
                assert not await disagreement(stores.entries, stores.entry_index)
                return
        except IndexUnavailable:
            await asyncio.sleep(0.1)
    raise AssertionError("the index stayed locked")


def client(url: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=url, headers={"authorization": f"Bearer {KEY}"}, timeout=30, trust_env=False
    )
