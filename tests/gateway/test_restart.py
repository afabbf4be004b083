"""What a start finds out: documents that changed, days of review that passed, and keys with their groups."""

from __future__ import annotations

import json
import re
from pathlib import Path

from typer.testing import CliRunner

from gateway.cli import app
from tests.gateway.running import Gateway, settings

CONFIG = """
policy: {must: {documents: documents}}
gate: {enabled: false}
"""
FEES = "# Fees\n\nA residence card is 300 yen.\n"
ASKED = "How much is a residence card?"


def outcome(gateway: Gateway, question: str, *, key: str | None = None) -> str:
    with gateway.http("client", key=key) as asker:
        return str(asker.post("/v1/answers", json={"question": question}).json()["outcome"])


def test_a_restart_takes_outdated_entries_out_of_service_and_asks_for_what_is_due(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "fees.md").write_text(FEES, "utf-8")
    chosen = settings(tmp_path, CONFIG)
    card = {
        "phrasings": [ASKED],
        "answer": "300 yen.",
        "state": "active",
        "sources": [{"document": "fees.md"}],
    }
    due = {
        "phrasings": ["Who is the mayor?"],
        "answer": "Sato.",
        "state": "active",
        "review_by": "2026-01-01",
    }
    with Gateway(chosen) as gateway, gateway.http("reviewer") as reviewer:
        for entry in (card, due):
            assert reviewer.post("/v1/entries", json=entry).status_code == 201
        assert outcome(gateway, ASKED) == "ground_truth"
    (folder / "fees.md").write_text(FEES.replace("300", "400"), "utf-8")
    with Gateway(chosen) as gateway, gateway.http("reviewer") as reviewer:
        assert outcome(gateway, ASKED) != "ground_truth"
        assert outcome(gateway, "Who is the mayor?") == "ground_truth"  # cache.overdue: keep
        waiting = reviewer.get("/v1/tickets", params={"state": "open"}).json()["tickets"]
        asked = {
            ticket["question"]: ticket["reason"] for ticket in waiting if ticket["outcome"] == "stale_entry"
        }
    assert asked == {ASKED: "source_changed", "Who is the mayor?": "review_due"}


def test_a_key_made_for_a_group_reads_its_entries(tmp_path: Path) -> None:
    chosen = settings(tmp_path, "gate: {enabled: false}")
    configured = tmp_path / "cli.yaml"
    configured.write_text(json.dumps({"storage": {"folder": ".sekisho"}}), "utf-8")
    bonus = {
        "phrasings": ["When is the bonus paid?"],
        "answer": "In March.",
        "state": "active",
        "group": "staff",
    }
    with Gateway(chosen) as gateway, gateway.http("reviewer") as reviewer:
        made = CliRunner().invoke(
            app, ["key", "--role", "client", "--group", "staff", "--config", str(configured)]
        )
        assert made.exit_code == 0, made.output
        [key] = re.findall(r"sk-sekisho-\S+", made.output)
        assert reviewer.post("/v1/entries", json=bonus).status_code == 201
        assert outcome(gateway, "When is the bonus paid?", key=key) == "ground_truth"
        assert outcome(gateway, "When is the bonus paid?") == "escalated"
        assert outcome(gateway, "when will the bonus be paid") != "ground_truth"
