"""What the routes that ask one stage alone say while the encoder is away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.responses import JSONResponse

from tests.encoders.embeddings_endpoint import EmbeddingsEndpoint, rows
from tests.gateway.conftest import POLICY
from tests.gateway.running import Gateway, settings

REVOKED = JSONResponse({"error": {"message": "the key sk-secret was revoked"}}, 401)
VECTOR = rows([1.0] + 63 * [0.0])


@pytest.fixture(scope="module")
def endpoint() -> Iterator[EmbeddingsEndpoint]:
    with EmbeddingsEndpoint() as served:
        yield served


@pytest.fixture(scope="module")
def gateway(endpoint: EmbeddingsEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    encoder = f'encoder: {{kind: openai, base_url: "{endpoint.base_url}", model: hashing}}'
    with Gateway(settings(tmp_path_factory.mktemp("checks"), f"{POLICY}\n{encoder}")) as running:
        yield running


@pytest.mark.parametrize(
    ("path", "body", "replies"),
    [
        pytest.param("/v1/gate", {"question": "Do you lend records?"}, [REVOKED], id="gate"),
        pytest.param("/v1/gate", {"question": "圖書館借錄音帶嗎"}, [VECTOR, REVOKED], id="in the gate"),
        pytest.param("/v1/cache/lookup", {"question": "Do you lend films?"}, [REVOKED], id="cache"),
        pytest.param(
            "/v1/entries/preview", {"phrasings": ["Do you lend games?"], "language": "en"}, [REVOKED], id="entry"
        ),
    ],
)  # fmt: skip
def test_an_encoder_that_is_away_is_told_and_asked_again(
    gateway: Gateway, endpoint: EmbeddingsEndpoint, path: str, body: dict[str, Any], replies: list[Any]
) -> None:
    endpoint.next(*replies)
    with gateway.http("reviewer") as client:
        away, back = client.post(path, json=body), client.post(path, json=body)
    assert (away.status_code, back.status_code) == (503, 200), (away.text, back.text)
    assert away.json()["error"]["code"] == away.headers["x-sekisho-reason"] == "model_unavailable"
    assert away.headers["retry-after"] == "5"
    assert "secret" not in away.text
