"""The gateway as a target: as configured, over stores of its own, or one that runs; its shelf goes along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import UpstreamUnavailable
from tests.chatbot import Chatbot
from tests.evaluation.answers.conftest import Evaluate, read_rows, write_rows
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import KEYS, Gateway, settings

HOURS = "The library opens at 9:00 and closes at 19:00."
FEES = "A book that is late costs 10 yen a day."
WITH_NULL = "semantic_similarity,faithfulness,null_context"
CASES: list[dict[str, Any]] = [
    {"id": "hours", "question": "When does the library open?", "ground_truth": HOURS, "lang": "en"},
    {"id": "late", "question": "What happens if I return a book late?", "ground_truth": FEES, "lang": "en"},
    {"id": "match", "question": "Who won the football match?", "answerable": False, "lang": "en"},
]


def _said(folder: Path) -> dict[str, tuple[str, bool, int]]:
    rows = {row["case"]["id"]: row["said"] for row in read_rows(folder / "results.jsonl")}
    return {name: (said["outcome"], said["answered"], len(said["contexts"])) for name, said in rows.items()}


def test_an_answer_counts_as_new_when_a_list_that_the_gate_reads_was_edited(
    tmp_path: Path, evaluate: Evaluate
) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", CASES[:1])
    for name in ("deny.txt", "allow.txt"):
        (tmp_path / name).write_text("What is a list?\n", "utf-8")
    config = tmp_path / "listed.yaml"
    config.write_text(POLICY + "gate: {deny_file: deny.txt, allow_file: allow.txt}\n", "utf-8")

    def outcome() -> str:
        out = tmp_path / "run"
        assert evaluate("answers", "--cases", cases, "--config", config, "--out", out).exit_code == 0
        return _said(out)["hours"][0]

    assert outcome() == "escalated"
    (tmp_path / "deny.txt").write_text("When does the library open?\n", "utf-8")
    assert outcome() == "refused"


def test_a_running_gateway_and_the_same_one_in_process_answer_alike(
    tmp_path: Path, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", CASES)
    desk = tmp_path / "desk"
    desk.mkdir()
    with Chatbot() as bot:
        bot.says(FEES, [f"{FEES} Nobody pays more than 500 yen."])
        text = POLICY + UPSTREAM.format(url=bot.base_url)
        with Gateway(settings(desk, text)) as gateway:
            with gateway.http("reviewer") as reviewer:
                entry = {
                    "kind": "ground_truth", "language": "en", "phrasings": [CASES[0]["question"]],
                    "answer": HOURS, "state": "active",
                }  # fmt: skip
                assert reviewer.post("/v1/entries", json=entry).status_code < 300
            words = ("answers", "--cases", cases, "--url", gateway.url, "--key")
            with pytest.raises(UpstreamUnavailable, match=f"^{gateway.url} answered 401: .*key"):
                evaluate(*words, "sk-wrong", "--out", tmp_path / "running")
            words = (*words, KEYS["client"])
            assert evaluate(*words, "--out", tmp_path / "running", "--metrics", WITH_NULL).exit_code == 0
            monkeypatch.chdir(tmp_path)
            assert evaluate(*words, "--metrics", WITH_NULL).exit_code == 0
            place = gateway.url.removeprefix("http://").replace(":", "-")
            assert [one.name for one in (tmp_path / "runs").iterdir()] == [
                f"{Path(cases).stem}-gateway-{place}"
            ]
        (desk / "here.yaml").write_text(text, "utf-8")
        asked = len(bot.asked)
        words = ("answers", "--cases", cases, "--config", desk / "here.yaml")
        assert evaluate(*words, "--out", tmp_path / "here", "--metrics", WITH_NULL).exit_code == 0
        assert len(bot.asked) == asked + 1  # neither the entry nor the refusal asks the chatbot
    expected = {"hours": ("ground_truth", True, 0), "late": ("rag", True, 1), "match": ("refused", False, 0)}
    assert _said(tmp_path / "running") == expected
    assert _said(tmp_path / "here") == expected

    compared = evaluate("compare", tmp_path / "running", tmp_path / "here", "--json", tmp_path / "c.json")
    assert compared.exit_code == 0
    found = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert found["cached"] == {"unchanged": 1, "changed": [], "new": 0}
    assert found["worse"] == found["better"] == []
    figures = json.loads((tmp_path / "here" / "summary.json").read_text("utf-8"))
    assert figures["null_context"]["declined_null"] == 1
    assert figures["good"]["share"] == 1.0
