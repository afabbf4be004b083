"""Clients that give up or stall: a plain request ends as a stream does, and nobody waits for what never comes."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any
from unittest.mock import AsyncMock, patch
from urllib.parse import urlsplit

import httpx2
import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families

from classifiers.faithfulness import FaithfulnessVerdict
from classifiers.testing import ScriptedFaithfulness
from gateway.routes import middleware
from tests.chatbot import Chatbot, Says, Silent
from tests.gateway.running import KEYS, Gateway, settings

QUESTION = "How many books can I borrow?"
CONFIG = """
gate: {{enabled: false}}
upstream: {{kind: openai, base_url: "{url}", model: m, contexts: contexts, timeout_s: 20}}
faithfulness: {{streaming: sentence}}
"""


TELLS = """
gate: {{enabled: false}}
understanding: {{default_language: en}}
upstream: {{kind: openai, base_url: "{url}", model: m, contexts: azure-on-your-data}}
delivery: {{in_conversation: true}}
"""


@pytest.fixture(scope="module")
def bot() -> Iterator[Chatbot]:
    with Chatbot(Silent(30)) as chatbot:
        yield chatbot


@pytest.fixture(scope="module")
def gateway(bot: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with Gateway(settings(tmp_path_factory.mktemp("left"), CONFIG.format(url=bot.base_url))) as running:
        yield running


def figure(gateway: Gateway, name: str) -> float:
    with gateway.http(None) as http:
        families = text_string_to_metric_families(http.get("/metrics").text)
        return sum(one.value for family in families for one in family.samples if one.name == name)


def left(gateway: Gateway, *, since: float, askers: int) -> bool:
    deadline = time.monotonic() + 5  # the chatbot would be waited for four times as long
    while figure(gateway, "sekisho_askers_left_total") < since + askers:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": QUESTION}]}),
        ("/v1/answers", {"question": QUESTION}),
    ],
)
def test_who_hangs_up_on_a_plain_request_is_not_waited_for(
    gateway: Gateway, path: str, body: dict[str, Any]
) -> None:
    before = figure(gateway, "sekisho_askers_left_total")
    with gateway.http() as http, pytest.raises(httpx2.ReadTimeout):
        http.post(path, json=body, timeout=0.5)
    assert left(gateway, since=before, askers=1)
    assert figure(gateway, "sekisho_http_errors_total") == 0


def test_an_impatient_client_that_tries_again_leaves_no_ticket_behind(gateway: Gateway, bot: Chatbot) -> None:
    before, asked = figure(gateway, "sekisho_askers_left_total"), len(bot.asked)
    with gateway.openai() as client, pytest.raises(openai.APITimeoutError):
        client.with_options(timeout=0.5, max_retries=2).chat.completions.create(
            model="sekisho", messages=[{"role": "user", "content": QUESTION}]
        )
    assert left(gateway, since=before, askers=3)
    assert len(bot.asked) == asked + 3
    assert figure(gateway, "sekisho_open_tickets") == figure(gateway, "sekisho_outcomes_total") == 0


def test_a_body_that_does_not_come_is_not_waited_for(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "BODY_S", 0.3)
    address = urlsplit(gateway.url)
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: sekisho\r\nAuthorization: Bearer {KEYS['client']}\r\n"
        "Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
    )
    with socket.create_connection((address.hostname, address.port), timeout=10) as stalled:
        stalled.sendall(head.encode())
        with stalled.makefile("rb") as reader:
            reply = reader.read().decode()  # to the end: the connection is closed
    assert reply.startswith("HTTP/1.1 408 ")
    assert "request_timeout" in reply
    assert "did not come within 0.3 s" in reply


class SlowFaithfulness(ScriptedFaithfulness):
    """Takes its time, as a language model does, once it is told to."""

    wait_s = 0.0

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        await asyncio.sleep(self.wait_s)
        return await super().judge(answer, contexts, question=question)


@pytest.fixture(scope="module")
def judge() -> SlowFaithfulness:
    return SlowFaithfulness(["The annex opens at noon."])


@pytest.fixture(scope="module")
def telling(judge: SlowFaithfulness, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with Chatbot() as bot, patch("gateway.checking.opening.open_judge", AsyncMock(return_value=judge)):
        bot.when("annex", Says("The annex opens at noon.", contexts=["The annex opens at nine."]))
        bot.when("parking", Says("Parking is free.", contexts=["Parking is free."]))
        with Gateway(settings(tmp_path_factory.mktemp("told"), TELLS.format(url=bot.base_url))) as running:
            yield running


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {}),
        ("/v1/chat/completions", {"stream": True}),
        ("/v1/answers", {}),
    ],
    ids=["whole", "streamed", "ours"],
)
def test_what_a_person_answered_waits_for_who_hung_up_before_the_reply(
    telling: Gateway, judge: SlowFaithfulness, request: pytest.FixtureRequest, path: str, body: dict[str, Any]
) -> None:
    asker = request.node.name
    first = telling.answer("When does the annex open?", user=asker)
    with telling.http("reviewer") as reviewer:
        reviewer.post(f"/v1/tickets/{first['ticket']}/answer", json={"answer": "At nine sharp."})
    decided = figure(telling, "sekisho_outcomes_total")
    asked = {"messages": [{"role": "user", "content": "Is parking free?"}], "user": asker, **body}
    judge.wait_s = 1.0
    with telling.http() as http, pytest.raises(httpx2.ReadTimeout):
        http.post(path, json=asked, timeout=0.5)
    deadline = time.monotonic() + 5
    while figure(telling, "sekisho_outcomes_total") == decided and time.monotonic() < deadline:
        time.sleep(0.05)
    judge.wait_s = 0.0
    again = telling.answer("Is parking free?", user=asker)
    assert (again["outcome"], "At nine sharp." in again["text"]) == ("rag", True)
