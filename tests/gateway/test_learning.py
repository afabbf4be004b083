"""The gate learns from reviewers, over HTTP: nothing without an admin, nothing of another tenant, no restart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chatbot import Chatbot
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import KEYS, OTHER_TENANT, Gateway, settings
from tests.postgres import PostgresServer

CANARY = "When does the library open?"
GATE = f'gate: {{canaries: ["{CANARY}", "本は何冊借りられますか"]}}\n'
LOCK, BICYCLE, CINEMA = "How do I pick a lock?", "Can I borrow a bicycle?", "Which film is on at the cinema?"


@pytest.fixture(scope="module")
def gateway(chatbot: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    text = POLICY + UPSTREAM.format(url=chatbot.base_url) + GATE
    with Gateway(settings(tmp_path_factory.mktemp("learning"), text)) as running:
        yield running


def label(gateway: Gateway, question: str, *, key: str = KEYS["client"]) -> str:
    with gateway.http(key=key) as client:
        return str(client.post("/v1/gate", json={"question": question}).json()["label"])


def proposed(gateway: Gateway, role: str = "reviewer", **body: Any) -> dict[str, Any]:
    with gateway.http(role) as http:
        reply = http.post("/v1/gate/examples", json=body)
    assert reply.status_code == 201, reply.text
    found: dict[str, Any] = reply.json()
    return found


def decided(gateway: Gateway, example: dict[str, Any], state: str, **more: Any) -> int:
    with gateway.http("admin") as admin:
        reply = admin.post(f"/v1/gate/examples/{example['id']}", json={"state": state, **more})
    return int(reply.status_code)


def in_time(wanted: Callable[[], bool], within_s: float = 120.0) -> bool:
    deadline = time.monotonic() + within_s
    while not wanted():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def lesson(gateway: Gateway) -> dict[str, Any]:
    with gateway.http("reviewer") as http:
        found: dict[str, Any] = http.get("/v1/gate/examples").json()["lesson"] or {}
    return found


def metric(gateway: Gateway, name: str) -> float:
    with gateway.http(None) as http:
        lines = http.get("/metrics").text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def test_a_candidate_changes_nothing_and_an_accepted_one_counts_without_a_restart(gateway: Gateway) -> None:
    before = label(gateway, LOCK)
    assert before != "must"
    candidate = proposed(gateway, label="must", text=LOCK)
    assert (candidate["state"], candidate["by"]) == ("candidate", "reviewer of the settings")
    time.sleep(0.5)
    assert label(gateway, LOCK) == before
    assert decided(gateway, candidate, "accepted") == 200
    assert in_time(lambda: label(gateway, LOCK) == "must")
    assert label(gateway, "how do i pick a lock") == "must"
    assert decided(gateway, candidate, "rejected") == 200  # and it is unlearnt
    assert in_time(lambda: label(gateway, LOCK) == before)


def test_what_should_have_been_refused_is_refused_with_its_topic(gateway: Gateway) -> None:
    assert label(gateway, "Where can I sell books that are not mine?") != "must_not"
    example = proposed(
        gateway, label="must_not", topic="crime", text="Where can I sell books that are not mine?"
    )
    assert decided(gateway, example, "accepted") == 200
    assert in_time(lambda: label(gateway, "Where can I sell books that are not mine?") == "must_not")
    reply = gateway.answer("Where can I sell books that are not mine?")
    assert (reply["reason"], reply["text"]) == ("must_not:crime", "Nothing unlawful.")


def test_another_tenant_learns_nothing_of_it(gateway: Gateway) -> None:
    example = proposed(gateway, label="may", text=BICYCLE)
    assert decided(gateway, example, "accepted") == 200
    assert in_time(lambda: label(gateway, BICYCLE) == "may")
    assert label(gateway, BICYCLE, key=OTHER_TENANT) == "must"


def test_a_ticket_brings_its_question_and_remembers_what_was_said_of_it(
    gateway: Gateway, chatbot: Chatbot
) -> None:
    chatbot.says("Yes.", contexts=[])
    reply = gateway.answer("Can I reserve a study room?")
    ticket = reply["ticket"]
    example = proposed(gateway, label="may", ticket=ticket)
    assert (example["text"], example["ticket_id"]) == ("Can I reserve a study room?", ticket)
    with gateway.http("reviewer") as http:
        events = http.get(f"/v1/tickets/{ticket}").json()["events"]
        assert "example_proposed" in [event["event"] for event in events]
        page = http.get("/v1/gate/examples", params={"ticket": ticket}).json()
    assert [one["id"] for one in page["examples"]] == [example["id"]]


def test_a_question_that_leans_has_to_be_said_in_full(gateway: Gateway, chatbot: Chatbot) -> None:
    chatbot.says("Yes.", contexts=[])
    turns = [
        {"role": "user", "content": CANARY},
        {"role": "assistant", "content": "At nine."},
        {"role": "user", "content": "And on Sundays?"},
    ]
    ticket = gateway.answer(messages=turns)["ticket"]
    with gateway.http("reviewer") as http:
        refused = http.post("/v1/gate/examples", json={"label": "must", "ticket": ticket})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "text")
    said = proposed(gateway, label="must", ticket=ticket, text="When is the library open on Sundays?")
    assert said["ticket_id"] == ticket


def test_a_request_needs_the_text_where_the_record_keeps_none(gateway: Gateway) -> None:
    request = gateway.answer(CINEMA)["id"]
    with gateway.http("reviewer") as http:
        body = {"label": "may", "request_id": request}
        assert in_time(lambda: http.post("/v1/gate/examples", json=body).status_code == 400)
        assert "keeps no texts" in http.post("/v1/gate/examples", json=body).json()["error"]["message"]
        assert http.post("/v1/gate/examples", json=body | {"text": CINEMA}).json()["request_id"] == request


@pytest.mark.parametrize(
    ("role", "status"), [(None, 401), ("client", 403), ("reviewer", 201)], ids=["nobody", "asker", "reviewer"]
)
def test_an_asker_proposes_nothing(gateway: Gateway, role: str | None, status: int) -> None:
    with gateway.http(role) as http:
        reply = http.post("/v1/gate/examples", json={"label": "must", "text": "May I bring my cat?"})
        assert reply.status_code == status
        assert http.get("/v1/gate/examples").status_code == (200 if status == 201 else status)


def test_a_reviewer_accepts_nothing(gateway: Gateway) -> None:
    example = proposed(gateway, label="may", text="Where is the nearest cinema?")
    with gateway.http("reviewer") as http:
        reply = http.post(f"/v1/gate/examples/{example['id']}", json={"state": "accepted"})
    assert reply.status_code == 403


def test_the_same_words_in_another_class_are_a_conflict(gateway: Gateway) -> None:
    first = proposed(gateway, label="may", text="Is there a car park?")
    assert proposed(gateway, label="may", text="  is there a CAR PARK") == first
    with gateway.http("reviewer") as http:
        other = http.post("/v1/gate/examples", json={"label": "must", "text": "Is there a car park"})
    assert other.status_code == 409
    assert "already waits as may" in other.json()["error"]["message"]
    assert decided(gateway, first, "rejected") == 200
    assert proposed(gateway, label="must", text="Is there a car park")["id"] == first["id"]


def test_the_policy_is_overruled_only_where_an_admin_says_so(gateway: Gateway) -> None:
    bread = proposed(gateway, label="must", text="How do I bake bread?")
    assert bread["conflict"] == "may"
    assert decided(gateway, bread, "accepted") == 409
    assert decided(gateway, bread, "accepted", over_policy=True) == 200
    assert in_time(lambda: label(gateway, "How do I bake bread?") == "must")
    forge = proposed(gateway, label="must", text="How do I forge a library card?")
    assert decided(gateway, forge, "accepted", over_policy=True) == 409
    assert label(gateway, "How do I forge a library card?") == "must_not"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"label": "must"}, None),
        ({"label": "must", "text": "???"}, "text"),
        ({"label": "must", "text": "x " * 1_500}, "text"),
        ({"label": "unsure", "text": "A?"}, "label"),
        ({"label": "may", "text": "A?", "topic": "crime"}, "topic"),
        ({"label": "must_not", "text": "A?", "topic": "weather"}, "topic"),
        ({"label": "may", "text": "A?", "ticket": "T-1", "request_id": "r"}, None),
    ],
    ids=str,
)
def test_a_bad_proposal_names_its_field(gateway: Gateway, body: dict[str, Any], param: str | None) -> None:
    with gateway.http("reviewer") as http:
        reply = http.post("/v1/gate/examples", json=body)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)


def test_a_lesson_that_loses_a_canary_is_not_taken(gateway: Gateway) -> None:
    assert in_time(lambda: lesson(gateway).get("state") == "learnt")
    example = proposed(gateway, label="may", text=CANARY)
    assert decided(gateway, example, "accepted", over_policy=True) == 200
    assert in_time(lambda: lesson(gateway).get("state") == "stopped_by_canary")
    assert CANARY in lesson(gateway)["reason"]
    assert label(gateway, CANARY) == "must"  # the gate before it serves
    assert label(gateway, BICYCLE) == "may"  # with what it had learnt
    assert metric(gateway, "sekisho_gate_behind{") == 1
    assert metric(gateway, 'sekisho_gate_lessons_total{state="stopped_by_canary"}') == 1
    assert decided(gateway, example, "rejected") == 200
    assert in_time(lambda: lesson(gateway).get("state") == "learnt")
    assert metric(gateway, "sekisho_gate_behind{") == 0


def test_a_canary_that_never_passed_alarms_and_stops_nothing(tmp_path: Path) -> None:
    text = POLICY + 'gate: {canaries_file: canaries.txt, canaries: ["When does the library open?"]}\n'
    (tmp_path / "canaries.txt").write_text("How do I bake bread?\n", "utf-8")
    with Gateway(settings(tmp_path, text)) as running:
        with running.http("reviewer") as http:
            ready = http.get("/readyz")
            assert (ready.status_code, ready.json()["canaries"]) == (200, "failing")
            report = http.get("/v1/gate/canaries").json()
        assert report["asked"] == 2
        assert [(one["question"], one["label"]) for one in report["lost"]] == [
            ("How do I bake bread?", "may")
        ]
        assert metric(running, "sekisho_gate_canaries_lost{") == 1
        example = proposed(running, label="must", text=LOCK)
        assert decided(running, example, "accepted") == 200
        assert in_time(lambda: label(running, LOCK) == "must")
    with Gateway(settings(tmp_path, text)) as again:  # what was learnt outlives the process
        assert label(again, LOCK) == "must"


def test_a_list_that_is_edited_meanwhile_counts_for_no_tenant_until_the_next_start(tmp_path: Path) -> None:
    listed, owner = tmp_path / "deny.jsonl", "Who owns the library?"
    listed.write_text(f'{{"text": "{owner}"}}\n', "utf-8")
    with Gateway(settings(tmp_path, POLICY + "gate: {deny_file: deny.jsonl}\n")) as running:
        listed.write_text('{"pattern": "("}\n', "utf-8")
        assert decided(running, proposed(running, label="must", text=LOCK), "accepted") == 200
        assert in_time(lambda: label(running, LOCK) == "must")
        assert label(running, owner) == label(running, owner, key=OTHER_TENANT) == "must_not"


async def test_another_replica_learns_it_too(tmp_path: Path, postgres: PostgresServer) -> None:
    name = await postgres.create_database()
    chosen = []
    for replica in ("one", "two"):
        (tmp_path / replica).mkdir()
        storage = f'storage: {{url: "{postgres.url(name)}"}}\n'
        chosen.append(settings(tmp_path / replica, POLICY + storage))
    with Gateway(chosen[0]) as one, Gateway(chosen[1]) as two:
        assert label(two, LOCK) != "must"
        assert decided(one, proposed(one, label="must", text=LOCK), "accepted") == 200
        assert in_time(lambda: label(one, LOCK) == "must")
        assert in_time(lambda: label(two, LOCK) == "must")
    await postgres.drop_database(name)
