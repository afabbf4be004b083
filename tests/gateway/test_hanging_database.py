"""What askers get while the database hangs without a word, and what is left of it when it is back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import quick
from tests.chatbot import Chatbot
from tests.dead_link import DeadLink
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import Gateway, settings
from tests.postgres import PostgresServer

KNOWN = "When does the library open?"
ANSWER = "The library opens at 9:00 and closes at 19:00."
FACT = "You can renew a loan online twice."


@pytest.fixture
def link(postgres: PostgresServer) -> Iterator[DeadLink]:
    with DeadLink(f"{postgres.folder}/.s.PGSQL.5432") as opened:
        yield opened


@pytest.fixture
def gateway(
    link: DeadLink,
    postgres: PostgresServer,
    chatbot: Chatbot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Gateway]:
    monkeypatch.setattr(quick, "READING_S", 2.0)
    monkeypatch.setattr(quick, "WRITING_S", 2.0)
    monkeypatch.setattr(quick, "REST_S", 1.0)
    name = asyncio.run(postgres.create_database())
    url = f"postgresql://postgres@127.0.0.1:{link.port}/{name}"
    text = POLICY + UPSTREAM.format(url=chatbot.base_url) + "\nstorage: {url: '${DATABASE}'}\n"
    entry = {"kind": "ground_truth", "language": "en", "phrasings": [KNOWN], "answer": ANSWER}
    with Gateway(settings(tmp_path, text, DATABASE=url)) as running:
        with running.http("reviewer") as reviewer:
            created = reviewer.post("/v1/entries", json=entry | {"state": "active"})
            assert created.status_code < 300, created.text
        yield running
        link.revive()
    asyncio.run(postgres.drop_database(name))


def test_askers_are_answered_without_it_or_told_to_come_again(
    gateway: Gateway, link: DeadLink, chatbot: Chatbot
) -> None:
    chatbot.says(FACT, [FACT])
    assert gateway.answer(KNOWN)["outcome"] == "ground_truth"
    link.die()
    without = gateway.answer(KNOWN)
    assert (without["outcome"], without["text"]) == ("rag", FACT)  # a lookup that can't run is a miss
    assert any(step["found"].get("lookup_failed") for step in without["questions"][0]["steps"])
    chatbot.says("You may keep ten books for ever.", [FACT])
    with gateway.http() as client:
        refused = client.post("/v1/answers", json={"question": "How many books can I borrow?"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "ticket_not_stored")
    assert refused.headers["retry-after"] == "5"
    link.revive()
    asyncio.run(asyncio.sleep(1.5 * quick.REST_S))
    assert gateway.answer(KNOWN)["outcome"] == "ground_truth"
    gateway.write()
    with gateway.http("reviewer") as reviewer:
        counted = reviewer.get("/v1/figures").json()["rates"]["questions"]["count"]
    assert counted == 3  # of the one that was refused nobody was told anything
