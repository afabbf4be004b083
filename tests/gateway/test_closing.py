"""A gateway that ends leaves no connection open."""

from __future__ import annotations

from pathlib import Path

import openai
import pytest

from gateway.assembly import Services, assemble
from gateway.commands.serving import serve
from gateway.errors import ConfigurationError
from tests.encoders.embeddings_endpoint import EmbeddingsEndpoint
from tests.gateway.running import settings

ASKED = '{base_url: "http://127.0.0.1:1/v1", model: m}'
CONFIG = f"""
gate: {{enabled: false}}
encoder: {{kind: openai, base_url: "%s", model: hashing}}
understanding: {{llm: {ASKED}}}
upstream:
  kind: knowledge
  writer: {ASKED}
  corrective: {{evaluator: llm, llm: {ASKED}, web: {{url: "http://127.0.0.1:1/", rewrite: llm}}}}
faithfulness: {{judge: llm, llm: {ASKED}}}
"""


async def test_every_client_of_a_model_is_closed_and_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[openai.AsyncOpenAI] = []
    init = openai.AsyncOpenAI.__init__

    def remembered(self: openai.AsyncOpenAI, *args: object, **options: object) -> None:
        made.append(self)
        init(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(openai.AsyncOpenAI, "__init__", remembered)
    with EmbeddingsEndpoint() as endpoint:
        async with assemble(settings(tmp_path, CONFIG % endpoint.base_url)):
            # encoder, understanding, writer, evaluator, query, judge
            assert [one.is_closed() for one in made] == [False] * 6
    assert all(one.is_closed() for one in made)


async def test_a_gateway_that_cannot_say_that_it_is_ready_ends_with_the_error(tmp_path: Path) -> None:
    async def ready(_: Services, __: str) -> None:
        raise ConfigurationError("the key could not be made")

    with pytest.raises(ConfigurationError, match="could not be made"):
        await serve(settings(tmp_path, "gate: {enabled: false}"), ready)
