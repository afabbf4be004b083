"""Two-person approval over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.chatbot import Chatbot
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import Gateway, settings


@pytest.fixture(scope="module")
def house(chatbot: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    text = POLICY + UPSTREAM.format(url=chatbot.base_url) + "review: {two_persons: true}\n"
    with Gateway(settings(tmp_path_factory.mktemp("house"), text)) as running:
        yield running


def test_over_http_who_wrote_it_may_not_activate_it(house: Gateway) -> None:
    body = {"phrasings": ["May I eat in the library?"], "answer": "In the café.", "state": "active"}
    with house.http("reviewer") as writer, house.http("admin") as other:
        entry: dict[str, Any] = writer.post("/v1/entries", json=body).json()["entry"]
        assert entry["state"] == "draft"
        own = writer.post(f"/v1/entries/{entry['id']}/state", json={"state": "active"})
        assert own.status_code == 409
        assert "another person" in own.json()["error"]["message"]
        assert house.answer("May I eat in the library?")["outcome"] != "ground_truth"
        assert other.post(f"/v1/entries/{entry['id']}/state", json={"state": "active"}).status_code == 200
        assert house.answer("May I eat in the library?")["outcome"] == "ground_truth"


def test_what_a_ticket_publishes_is_a_draft_and_the_asker_has_his_answer(house: Gateway) -> None:
    ticket = house.answer("Which deposit do I pay for the library's music room?")["ticket"]
    answer = {"answer": "The deposit for the music room is 2,000 yen.", "publish": True}
    with house.http("reviewer") as writer:
        reply = writer.post(f"/v1/tickets/{ticket}/answer", json=answer).json()
        assert reply["state"] == "answered"
        assert reply["entry"]["state"] == "draft"
