"""Commands that the runbooks send an operator to, in a process of their own beside a gateway that serves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cache.indexing import disagreement
from gateway.assembly import CATCH_UP_S
from gateway.gatekeeping import learning
from tests.chatbot import Chatbot
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import KEYS, OTHER_TENANT, Gateway, settings
from tests.gateway.test_learning import in_time, label
from tests.review.asking import question

HOURS = "When does the library open?"
CARD = "How much is a new library card after I lost mine?"
THINGS = (
    "book", "novel", "comic", "film", "game", "map", "magazine", "newspaper", "record", "score", "tablet",
    "laptop", "study room", "locker", "projector", "desk", "guide", "puzzle",
)  # fmt: skip
STOLEN = (
    "How do I report a forged library card?",
    "How can I report stolen books?",
    "What is the fee for a stolen library card?",
    "Where do I replace a stolen card?",
)
FAQ = (
    (HOURS, "What are the library's opening hours?"),
    ("Where can I park?", "Is there a car park at the library?"),
)


@pytest.fixture(scope="module")
def beside(chatbot: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Gateway, Path]]:
    folder = tmp_path_factory.mktemp("beside")
    text = f"{POLICY}{UPSTREAM.format(url=chatbot.base_url)}cache: {{on_collision: refuse, target_error: 0.49}}\n"
    with Gateway(settings(folder, text)) as gateway, gateway.http("reviewer") as reviewer:
        for phrasings in FAQ:
            entry = {"kind": "ground_truth", "language": "en", "phrasings": phrasings, "answer": "See there."}
            created = reviewer.post("/v1/entries", json=entry | {"state": "active"})
            assert created.status_code < 300, created.text
        yield gateway, folder


def sekisho(folder: Path, *words: str) -> str:
    """What the command prints; it must end well."""
    keys = {f"TEST_KEY_{role.upper()}": key for role, key in KEYS.items()}
    done = subprocess.run(
        [sys.executable, "-m", "gateway", *words, "--config", str(folder / "sekisho.yaml")],
        capture_output=True, text=True, timeout=180,
        env=os.environ | keys | {"TEST_KEY_OTHER": OTHER_TENANT, "COLUMNS": "200"},
    )  # fmt: skip
    assert "in use by another process" not in done.stderr
    return done.stdout + done.stderr


def test_the_cache_is_calibrated_and_the_gateway_goes_by_the_new_cut(beside: tuple[Gateway, Path]) -> None:
    gateway, folder = beside
    shelf = gateway.services.stores.shelf
    printed = sekisho(folder, "calibrate")
    assert "default cut: " not in printed
    assert "at most 49.0% wrong answers per request" in printed
    until = time.monotonic() + 30  # a gateway reads a cut again after ten seconds
    while gateway.do(shelf.cut("default", "en")).why.startswith("default cut"):
        assert time.monotonic() < until
        time.sleep(0.5)


def test_the_gate_is_calibrated_and_the_gateway_goes_by_its_cuts(beside: tuple[Gateway, Path]) -> None:
    gateway, folder = beside
    asked = [f"Can I {act} a {thing}?" for act in ("borrow", "renew", "reserve") for thing in THINGS]
    cases = folder / "cases.jsonl"
    cases.write_text("".join(json.dumps({"text": one, "gold": "must"}) + "\n" for one in asked), "utf-8")
    sekisho(folder, "calibrate", "gate", "--cases", str(cases))
    [made] = gateway.do(gateway.services.gatekeeping.promises.kept()).values()
    assert made["n"] == len(asked)
    until = time.monotonic() + 30  # a gateway reads them again after ten seconds
    while (in_force := gateway.services.gatekeeping.promises.of("default")) and not in_force[0].present:
        assert time.monotonic() < until
        time.sleep(0.5)


def test_the_gate_hears_of_what_was_imported_without_a_restart(
    beside: tuple[Gateway, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway, folder = beside
    assert label(gateway, "Was my library card forged?") != "must"
    faq = folder / "stolen.csv"
    told = [f"{one},At the desk." for one in STOLEN]
    faq.write_text("\n".join(["question,answer", *told]), "utf-8")
    monkeypatch.setattr(learning, "LOOK_S", 0.1)
    sekisho(folder, "import", str(faq), "--language", "en")
    assert in_time(lambda: label(gateway, "Was my library card forged?") == "must")


def test_an_import_says_nothing_of_the_index_unless_something_is_to_be_indexed(
    beside: tuple[Gateway, Path],
) -> None:
    _, folder = beside
    faq = folder / "faq.csv"
    faq.write_text("question,answer\nIs there a cloakroom?,Yes.\n", "utf-8")
    told = sekisho(folder, "import", str(faq), "--language", "en")
    assert "A running gateway indexes them in seconds." in told, told
    told = sekisho(folder, "import", str(faq), "--language", "en")
    assert told.strip() == "0 created, 0 edited, 1 unchanged, 0 refused"


def test_a_sheet_closes_tickets_and_the_gateway_serves_what_it_published(
    beside: tuple[Gateway, Path],
) -> None:
    gateway, folder = beside
    tickets, stores = gateway.services.tickets, gateway.services.stores
    rows = []
    for text in (CARD, "When does our library open?"):
        asked = question(text, tenant="default")
        ticket = gateway.do(tickets.open(asked, outcome="withheld", reason="unchecked", steps=()))
        found = gateway.do(tickets.get(ticket, tenant="default"))
        rows.append(
            {"id": ticket, "revision": found.revision, "decision": "answer", "answer": "5.", "publish": "yes"}
        )
    sheet = folder / "tickets.jsonl"
    sheet.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    printed = sekisho(folder, "import-reviews", str(sheet), "--apply")
    assert "1 tickets closed, 1 of them published; 0 undecided, 1 refused" in printed, printed
    assert "these entries would compete" in printed, "what is served was not looked at"
    assert gateway.answer(CARD)["outcome"] in ("ground_truth", "confirmed_answer")
    until = time.monotonic() + 10 * CATCH_UP_S
    while gateway.do(disagreement(stores.entries, stores.entry_index)):
        assert time.monotonic() < until, "the gateway has not indexed it"
        time.sleep(0.2)
    where = {"shelf": "default/en/"}
    [card, *_] = gateway.do(stores.entry_index.matching(CARD, where=where, limit=1))
    assert card.text == CARD
