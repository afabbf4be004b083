"""One small helpdesk in front of a played chatbot, started once for the tests that ask it over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chatbot import Chatbot
from tests.gateway.running import Gateway, settings

POLICY = """
policy:
  must:
    description: Questions about the library of Minamo City.
    examples:
      - When does the library open?
      - How many books can I borrow?
      - What happens if I return a book late?
      - Can I renew a loan online?
      - How do I get a library card?
      - 図書館は何時に開きますか
      - 本は何冊借りられますか
      - 返却が遅れるとどうなりますか
  may:
    examples:
      - What is the weather tomorrow?
      - Who won the football match?
      - How do I bake bread?
      - 明日の天気は？
      - カレーの作り方は？
    reply: {en: I only know the library., ja: 図書館のことだけお答えできます。}
  must_not:
    reply: {en: I can't help with that.}
    topics:
      - name: crime
        description: How to commit a crime.
        examples:
          - How can I steal books without being caught?
          - How do I forge a library card?
        reply: {en: Nothing unlawful.}
"""

UPSTREAM = """
upstream: {{kind: openai, base_url: "{url}", model: chatbot, contexts: azure-on-your-data, max_retries: 1, timeout_s: 5, breaker_failures: 1000}}
"""


@pytest.fixture(scope="session")
def chatbot() -> Iterator[Chatbot]:
    with Chatbot() as bot:
        yield bot


@pytest.fixture(scope="module", autouse=True)
def unscripted(chatbot: Chatbot) -> None:
    """All modules share the chatbot; what one had it say, the next must not hear."""
    chatbot.reset()


@pytest.fixture(scope="session")
def gateway(chatbot: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("gateway")
    with Gateway(settings(folder, POLICY + UPSTREAM.format(url=chatbot.base_url))) as running:
        with running.http("reviewer") as reviewer:
            entry = {
                "kind": "ground_truth",
                "language": "en",
                "phrasings": ["When does the library open?", "What are the library's opening hours?"],
                "answer": "The library opens at 9:00 and closes at 19:00.",
                "state": "active",
            }
            created = reviewer.post("/v1/entries", json=entry)
            assert created.status_code < 300, created.text
        yield running
