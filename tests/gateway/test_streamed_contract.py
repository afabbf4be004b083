"""What OpenAI's contract says of a stream: its chunks are of one completion, and an error is told in it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from storage import quick
from tests.chatbot import Chatbot, Says
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import Gateway, settings

LATE_QUESTION = "What happens if I return a book late?"
LATE = "A fine of 10 yen per book and day is charged for late returns."
INVENTED = "The mayor cancels your card."
NOT_OURS = "Who won the football match?"
AT_ONCE, LATER = "30", "1e-9"  # seconds until the headers of a stream go


@pytest.fixture(scope="module", params=[AT_ONCE, LATER], ids=["before the headers", "after the headers"])
def strict(
    request: pytest.FixtureRequest, chatbot: Chatbot, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    """A gateway that makes refusals errors."""
    text = POLICY + UPSTREAM.format(url=chatbot.base_url) + "faithfulness: {streaming: sentence}\n"
    changed = {"SEKISHO_SERVER__REFUSAL_STATUS": "400", "SEKISHO_SERVER__KEEP_ALIVE_S": request.param}
    with Gateway(settings(tmp_path_factory.mktemp("strict"), text, **changed)) as running:
        yield running


def streamed(gateway: Gateway, question: str) -> tuple[int, list[Any]]:
    """The status, and the JSON of the body or of each event."""
    body = {"messages": [{"role": "user", "content": question}], "stream": True}
    with gateway.http() as client:
        reply = client.post("/v1/chat/completions", json=body)
    if "event-stream" not in reply.headers["content-type"]:
        return reply.status_code, [reply.json()]
    told = [line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: ")]
    return reply.status_code, [json.loads(event) for event in told if event != "[DONE]"]


def errors(gateway: Gateway, code: str) -> float:
    with gateway.http() as client:
        lines = client.get("/metrics").text.splitlines()
    return sum(
        float(line.split()[-1])
        for line in lines
        if line.startswith(f'sekisho_http_errors_total{{code="{code}"}}')
    )


def test_a_refusal_is_an_error_in_a_stream_too_and_a_lost_ticket_is_told_and_counted(
    strict: Gateway, chatbot: Chatbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = strict.services.settings.server.keep_alive_s < 1
    status, [refused] = streamed(strict, NOT_OURS)
    assert (status, refused["error"]["code"]) == (200 if late else 400, "content_filter")
    assert refused["error"]["message"] == "I only know the library."

    monkeypatch.setattr(quick, "WRITING_S", 0.3)
    chatbot.says(INVENTED, [LATE])
    store = strict.services.settings.path(strict.services.settings.storage.folder) / "sekisho.db"
    holding = sqlite3.connect(store, isolation_level=None)
    holding.execute("BEGIN EXCLUSIVE")
    try:
        status, [lost] = streamed(strict, LATE_QUESTION)
    finally:
        holding.close()
    assert (status, lost["error"]["code"]) == (200 if late else 503, "ticket_not_stored")
    assert errors(strict, "ticket_not_stored") == 1


def test_all_chunks_of_a_stream_are_of_one_completion(strict: Gateway, chatbot: Chatbot) -> None:
    sentences = (f"{LATE} ", f"{LATE} ", LATE)
    chatbot.always(Says("".join(sentences), [LATE], pieces=sentences, piece_delay_s=0.6))
    status, chunks = streamed(strict, LATE_QUESTION)
    assert status == 200
    for name in ("id", "object", "created", "model"):
        assert len({chunk[name] for chunk in chunks}) == 1, name
