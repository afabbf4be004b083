"""Past questions through another policy, from a gateway that still runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from gateway.cli import app
from gateway.errors import InvalidRequest
from gateway.gatekeeping.replay import Past, Replay, Verdict, questions_of_file
from tests.chatbot import Chatbot
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import KEYS, OTHER_TENANT, Gateway, settings

WITHOUT = {f"TEST_KEY_{role.upper()}": key for role, key in KEYS.items()} | {"TEST_KEY_OTHER": OTHER_TENANT}
ASKED = [
    "When does the library open?",
    "When does the library open?",
    "Can I renew a loan over the internet?",
    "Who won the football match yesterday?",
    "図書館は何時に開きますか",
    "Does the library have a sauna?",
]
STRICTER = "gate: {deny: [{name: loans, word: [loan, 本]}, {word: sauna}]}\n"
VERIFIED = "Is the reading room heated by the spring in winter?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replay")


@pytest.fixture(scope="module")
def gateway(chatbot: Chatbot, folder: Path) -> Iterator[Gateway]:
    text = POLICY + UPSTREAM.format(url=chatbot.base_url)
    (folder / "stricter.yaml").write_text(POLICY + STRICTER, "utf-8")
    configured = settings(folder, text)
    kept = configured.model_copy(update={"logging": configured.logging.model_copy(update={"texts": True})})
    with Gateway(kept) as running:
        with running.http("reviewer") as reviewer:
            entry = {
                "kind": "ground_truth",
                "language": "en",
                "phrasings": [VERIFIED],
                "answer": "Yes.",
                "state": "active",
                "sources": [{"document": "cms/spring", "version": "1"}],
            }
            assert reviewer.post("/v1/entries", json=entry).status_code < 300
        for question in (*ASKED, "I want to talk to a human"):
            running.answer(question)
        running.answer(
            messages=[
                {"role": "user", "content": ASKED[0]},
                {"role": "assistant", "content": "At nine."},
                {"role": "user", "content": "And what about it on Sundays?"},
            ]
        )
        running.write()
        yield running


def told_of_change(gateway: Gateway) -> None:
    """The entry's document changes, so that a ticket asks for it to be read again."""
    with gateway.http("admin") as admin:
        told = {"document": "cms/spring", "version": "2"}
        assert len(admin.post("/v1/documents/changed", json=told).json()["stale"]) == 1


def replayed(folder: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    """What `sekisho replay --json` writes, and what a person reads."""
    written = folder / "replayed.json"
    with patch.dict(os.environ, WITHOUT):
        result = CliRunner().invoke(
            app,
            ["replay", *arguments, "--config", str(folder / "sekisho.yaml"), "--json", str(written)],
            env={"COLUMNS": "200"},
            catch_exceptions=False,
        )
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(written.read_text("utf-8"))
    return found, result.output


def test_the_record_through_another_policy_says_what_changes(gateway: Gateway, folder: Path) -> None:
    found, text = replayed(folder, "--with", str(folder / "stricter.yaml"))
    assert (found["n"], found["distinct"]) == (6, 5)  # the follow-up can't be judged alone and is left out
    to_denied = [
        one for change in found["changes"] for one in change["examples"] if change["becomes"] == "must_not"
    ]
    assert {one["question"]: one["becomes"] for one in to_denied} == {
        "Can I renew a loan over the internet?": "deny:loans",
        "Does the library have a sauna?": "deny:2",
    }
    low, high = found["becomes"]["must_not"]["ci95"]
    assert found["becomes"]["must_not"]["n"] == 2
    assert low < 2 / 6 < high
    assert "deny:loans" in text
    assert "[" in text


def test_the_record_through_the_same_policy_changes_nothing(gateway: Gateway, folder: Path) -> None:
    found, _ = replayed(folder)
    assert found["changes"] == []
    assert found["was"] == found["becomes"]


def test_a_file_of_questions_and_the_entries_that_are_served(gateway: Gateway, folder: Path) -> None:
    (folder / "asked.csv").write_text(f"text\n{VERIFIED}\n{VERIFIED}\nMay I take a loan?\n", "utf-8")
    found, _ = replayed(folder, str(folder / "asked.csv"), "--with", str(folder / "stricter.yaml"))
    assert (found["n"], found["distinct"]) == (3, 2)
    assert found["becomes"]["must"]["n"] == 2
    [change] = found["changes"]
    assert (change["becomes"], [one["becomes"] for one in change["examples"]]) == ("must_not", ["deny:loans"])


def test_tickets_can_be_replayed_too(gateway: Gateway, folder: Path) -> None:
    found, _ = replayed(folder, "--record", "tickets")
    assert 0 < found["n"] <= len(ASKED)
    assert found["changes"] == []
    told_of_change(gateway)
    assert replayed(folder, "--record", "tickets")[0] == found


def test_a_file_without_another_policy_has_nothing_to_compare(gateway: Gateway, folder: Path) -> None:
    (folder / "asked.txt").write_text("When do you open?\n", "utf-8")
    with patch.dict(os.environ, WITHOUT), pytest.raises(InvalidRequest, match="--with"):
        replayed(folder, str(folder / "asked.txt"))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", '{"text": "a"}\n{"txt": "b"}\n', r'a.jsonl, line 2: expected "text" or "question"'),
        ("a.jsonl", '{"text": \n', "a.jsonl, line 1: expected a JSON object"),
        ("a.jsonl", "[" * 100_000, "a.jsonl, line 1: expected a JSON object"),
        ("a.jsonl", "[1]\n", "a.jsonl, line 1: expected a JSON object, found a list"),
        ("a.jsonl", "", "holds no questions"),
        ("a.csv", "text\n\n", "holds no questions"),
        ("a.csv", 'question\nfine\n"open\nlost\n', "a.csv, line 3: unexpected end of data"),
        ("a.txt", "\n", "holds no questions"),
        ("a.xml", "x", "expected .txt, .csv or .jsonl, not .xml"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InvalidRequest, match=told):
        questions_of_file(tmp_path / name)


def test_a_file_that_is_not_there_is_not_blamed_for_its_encoding(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"gone\.csv can't be read: No such file or directory$"):
        questions_of_file(tmp_path / "gone.csv")


def test_the_rates_count_a_question_as_often_as_it_was_asked() -> None:
    must, may = Verdict("must", "scope"), Verdict("may", "scope")
    found = Replay(
        ((Past("a", times=3), must, may), (Past("b"), must, must), (Past("c", times=2), may, must))
    )
    assert found.n == 6
    assert [(change.was, change.becomes, change.rate.count) for change in found.changes()] == [
        ("must", "may", 3),
        ("may", "must", 2),
    ]
    assert {label: rate.count for label, rate in found.rates("becomes").items()} == {"must": 3, "unsure": 0, "may": 3, "must_not": 0}  # fmt: skip
