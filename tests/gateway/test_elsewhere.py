"""What is measured over a copy of the stores: as it is served, and without a word to anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from cache.store import EntryStore, Incoming
from cache.store.content import Content
from encoders import encode_one
from gateway.configuration.loading import load_settings
from gateway.gatekeeping.elsewhere import gate_elsewhere
from gateway.settings import Settings
from gateway.stores import open_database

QUESTION = "Which pastries does the canteen of the Hibiya branch sell on Fridays?"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    file = tmp_path / "sekisho.yaml"
    file.write_text(
        """
policy:
  must: {description: Questions about cards of our bank., examples: [How do I activate my card?]}
  may: {description: Anything else., examples: [How is the weather?, Tell me a joke]}
review: {two_persons: true}
delivery: {webhooks: [{name: desk, url: "http://127.0.0.1:9/", secret: "${SECRET}"}]}
""",
        "utf-8",
    )
    return load_settings(file)


async def test_entries_of_a_shelf_where_two_persons_approve_are_proof_of_scope_in_its_copy(
    settings: Settings,
) -> None:
    content = Content(kind="ground_truth", language="en", phrasings=(QUESTION,), answer="Melon bread.")
    async with open_database(settings) as database:
        await EntryStore(database).put("default", [Incoming(content=content)], by="sato")
        async with gate_elsewhere(settings, database, "default") as (gate, encoder):
            verdict = await gate.judge(await encode_one(encoder, QUESTION), tenant="default")
    assert (verdict.label, verdict.rule) == ("must", "entry")


def test_nobody_is_written_to_about_a_copy(settings: Settings, tmp_path: Path) -> None:
    assert settings.delivery.webhooks
    apart = settings.stored_in(tmp_path / "apart")
    assert not apart.delivery.webhooks
    assert settings.review.two_persons
