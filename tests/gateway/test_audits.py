"""The audit in a whole gateway: a hit is served, drawn, judged, and shown to Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.chatbot import Chatbot
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import Gateway, settings

NEARLY = "what are the opening hours of the library"
ENTRY = {
    "phrasings": ["When does the library open?", "What are the library's opening hours?"],
    "answer": "The library opens at 9:00 and closes at 19:00.",
    "state": "active",
}


@pytest.fixture(scope="module")
def gateway(chatbot: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    text = POLICY + UPSTREAM.format(url=chatbot.base_url) + "cache: {audit_rate: 1.0, audit_rate_exact: 0}\n"
    with Gateway(settings(tmp_path_factory.mktemp("audited"), text)) as running:
        with running.http("reviewer") as reviewer:
            assert reviewer.post("/v1/entries", json=ENTRY).status_code == 201
        yield running


def drawn(gateway: Gateway, request_id: str) -> dict[str, Any]:
    """The audit of a request."""
    gateway.write()
    with gateway.http("reviewer") as reviewer:
        found = reviewer.get("/v1/audits", params={"verdict": "open", "limit": 200}).json()["audits"]
    [audit] = [audit for audit in found if audit["request_id"] == request_id]
    return dict(audit)


def metrics(gateway: Gateway) -> dict[str, float]:
    with gateway.http(None) as anybody:
        lines = anybody.get("/metrics").text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def test_a_hit_by_meaning_is_audited_and_its_verdict_counted(gateway: Gateway) -> None:
    answered = gateway.answer(NEARLY)
    assert answered["reason"] == "verified_vector"
    audit = drawn(gateway, answered["id"])
    assert (audit["question"], audit["answer"]) == (NEARLY, answered["text"])
    before = metrics(gateway)
    with gateway.http("reviewer") as reviewer:
        judged = reviewer.post(f"/v1/audits/{audit['id']}", json={"verdict": "right"})
        [shelf] = reviewer.get("/v1/audits/bound").json()["shelves"]
    assert judged.status_code == 200
    assert (shelf["tenant"], shelf["language"], shelf["state"]) == ("default", "en", "unproven")
    assert shelf["vector"]["right"] >= 1
    after = metrics(gateway)
    shelf_labels = 'language="en",tenant="default"'
    assert after["sekisho_cache_audits_open"] == before["sekisho_cache_audits_open"] - 1
    assert 0 < after[f"sekisho_cache_error_bound{{{shelf_labels}}}"] <= 1
    for kind in ("error", "drift"):
        assert after[f'sekisho_cache_alarm{{kind="{kind}",{shelf_labels}}}'] == 0


def test_an_exact_hit_counts_as_a_request_and_is_drawn_at_its_own_rate(gateway: Gateway) -> None:
    drawn(gateway, gateway.answer(NEARLY)["id"])
    with gateway.http("reviewer") as reviewer:
        [before] = reviewer.get("/v1/audits/bound").json()["shelves"]
        assert gateway.answer("When does the library open?")["reason"] == "verified_exact"
        drawn(gateway, gateway.answer(NEARLY)["id"])
        [after] = reviewer.get("/v1/audits/bound").json()["shelves"]
    assert (after["requests"], after["exact"]["hits"]) == (
        before["requests"] + 2,
        before["exact"]["hits"] + 1,
    )
    assert after["exact"]["open"] == 0
