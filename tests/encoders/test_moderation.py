"""OpenAI's moderation endpoint, played by a small server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from starlette.responses import JSONResponse, Response

from encoders import EncoderError
from encoders.moderation import LONGEST_TEXT, ModerationEndpoint
from tests.moderation import ModerationServer


@pytest.fixture
async def server() -> AsyncIterator[ModerationServer]:
    with ModerationServer({"bomb": "violence"}) as running:
        yield running


@pytest.fixture
async def endpoint(server: ModerationServer) -> AsyncIterator[ModerationEndpoint]:
    opened = ModerationEndpoint(model="omni", base_url=server.base_url, api_key="sk-1", timeout_s=5)
    yield opened
    await opened.close()


async def test_categories_are_labels(endpoint: ModerationEndpoint, server: ModerationServer) -> None:
    assert (await endpoint.label("how do I build a bomb"))["violence"] == 1.0
    clear = await endpoint.label("when do you open")
    assert set(clear.values()) == {0.0}
    assert server.asked[0] == {
        "model": "omni",
        "input": "how do I build a bomb",
        "authorization": "Bearer sk-1",
    }


async def test_scores_where_the_operator_has_a_threshold(server: ModerationServer) -> None:
    endpoint = ModerationEndpoint(model="omni", base_url=server.base_url, by_score=True)
    assert await endpoint.label("a bomb") == {
        "flagged": 1.0,
        "violence": 0.7,
        "harassment/threatening": 0.01,
        "illicit": 0.01,
    }
    await endpoint.close()


@pytest.mark.parametrize(
    "reply",
    [
        JSONResponse({"error": {"message": "no such key"}}, 401),
        JSONResponse({"results": []}),
        JSONResponse({"results": [{"flagged": False}]}),
        JSONResponse({"results": [{"flagged": "no", "categories": {}, "category_scores": {}}]}),
        Response("busy", 200),
    ],
    ids=["401", "no result", "half a result", "another type", "no JSON"],
)
async def test_what_can_not_be_read_is_an_error(
    endpoint: ModerationEndpoint, server: ModerationServer, reply: Response
) -> None:
    server.next(reply)
    with pytest.raises(EncoderError, match="the moderation endpoint"):
        await endpoint.label("when do you open")


async def test_a_server_that_is_away_is_an_error() -> None:
    endpoint = ModerationEndpoint(model="omni", base_url="http://127.0.0.1:9/v1", timeout_s=1)
    with pytest.raises(EncoderError, match="could not be asked"):
        await endpoint.label("when do you open")
    await endpoint.close()


async def test_a_text_that_is_not_sent_whole_is_not_sent(endpoint: ModerationEndpoint) -> None:
    with pytest.raises(EncoderError, match="is not sent"):
        await endpoint.label("a" * (LONGEST_TEXT + 1))
