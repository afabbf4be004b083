"""A gateway in front of a played chatbot whose answers go to a played receiver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chatbot import Chatbot
from tests.gateway.running import Gateway, settings
from tests.receiver import Receiver

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
CONFIG = """
gate: {{enabled: false}}
understanding: {{default_language: en}}
upstream: {{kind: openai, base_url: "{chatbot}", model: chatbot, contexts: azure-on-your-data, max_retries: 0, timeout_s: 5, breaker_failures: 1000}}
delivery:
  webhooks:
    - {{name: helpdesk, url: "{receiver}", secret: "${{SIGNING_SECRET}}"}}
"""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as played:
        yield played


@pytest.fixture(scope="module")
def chatbot() -> Iterator[Chatbot]:
    with Chatbot() as bot:
        yield bot


@pytest.fixture(scope="module")
def gateway(
    chatbot: Chatbot, receiver: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    text = CONFIG.format(chatbot=chatbot.base_url, receiver=receiver.url)
    folder = tmp_path_factory.mktemp("delivery")
    with Gateway(settings(folder, text, SIGNING_SECRET=SECRET)) as running:
        yield running
