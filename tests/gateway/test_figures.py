"""Figures over HTTP: what was asked a moment ago is counted, for reviewers of that tenant only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.chatbot import Chatbot
from tests.gateway.running import OTHER_TENANT, Gateway

LATE = "A fine of 10 yen per book and day is charged for late returns."


@pytest.fixture(autouse=True)
def script(chatbot: Chatbot) -> Iterator[None]:
    chatbot.reset()
    chatbot.says(LATE, [LATE])
    yield
    chatbot.reset()


def figures(gateway: Gateway, **asked: Any) -> dict[str, Any]:
    with gateway.http("reviewer") as client:
        reply = client.get("/v1/figures", params=asked)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def counts(found: dict[str, Any]) -> dict[str, int]:
    return {name: rate["count"] for name, rate in found["rates"].items()}


def test_what_was_asked_is_counted_by_outcome_and_names_its_questions(gateway: Gateway) -> None:
    gateway.write()  # what tests before asked
    before = counts(figures(gateway))
    gateway.answer("When does the library open?")
    gateway.answer("What happens if I return a book late?")
    gateway.answer("How do I forge a library card?")
    gateway.write()
    found = figures(gateway)
    grew = {name: n - before[name] for name, n in counts(found).items() if n != before[name]}
    assert grew == {
        "questions": 3, "cache_hits": 1, "cache_exact": 1, "cache_hits_of_lookups": 1, "rag": 1,
        "refused": 1, "refused_must_not": 1,
    }  # fmt: skip
    assert (
        found["savings"]["tokens_in"] == 10 * found["savings"]["hits"]
    )  # the played chatbot counts 10 a reply
    low, high = found["rates"]["refused"]["ci95"]
    assert low < found["rates"]["refused"]["value"] < high
    with gateway.http("reviewer") as client:
        [hit] = client.get("/v1/figures/cache_exact", params={"limit": 1}).json()["questions"]
    assert (hit["outcome"], hit["matched"]) == ("ground_truth", "When does the library open?")
    assert hit["text"] is None  # logging.texts is off


def test_figures_are_for_reviewers(gateway: Gateway) -> None:
    with gateway.http("client") as client:
        assert client.get("/v1/figures").status_code == 403
    with gateway.http(key=OTHER_TENANT) as client:
        assert client.get("/v1/figures/rag").status_code == 403


@pytest.mark.parametrize(
    ("path", "asked", "param"),
    [
        ("/v1/figures", {"days": "0"}, "query.days"),
        ("/v1/figures", {"timezone": "Mars/Olympus"}, "timezone"),
        ("/v1/figures/happiness", {}, "figure"),
    ],
)
def test_what_cannot_be_asked_is_named(
    gateway: Gateway, path: str, asked: dict[str, str], param: str
) -> None:
    with gateway.http("reviewer") as client:
        reply = client.get(path, params=asked)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)
