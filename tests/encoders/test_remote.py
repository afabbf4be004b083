from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from starlette.responses import JSONResponse, Response

from encoders import EncoderError
from encoders.remote import RemoteEncoder
from tests.encoders.embeddings_endpoint import EmbeddingsEndpoint, rows

ONE = [1.0] + [0.0] * 63


async def test_texts_go_in_batches_and_come_back_in_order(
    endpoint: EmbeddingsEndpoint, remote_encoder: RemoteEncoder
) -> None:
    texts = [f"question number {n}" for n in range(20)]
    vectors = await remote_encoder.encode(texts)
    assert [len(request["input"]) for request in endpoint.requests] == [1, 8, 8, 4]
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_allclose((await remote_encoder.encode([text]))[0], vector, atol=1e-6)


async def test_the_key_is_sent_and_stays_out_of_the_identity(endpoint: EmbeddingsEndpoint) -> None:
    encoder = await RemoteEncoder.open(base_url=endpoint.base_url, model="hashing", api_key="sk-secret")
    assert endpoint.requests[0]["authorization"] == "Bearer sk-secret"
    assert "secret" not in str(encoder.identity)
    await encoder.close()


async def test_the_identity_tells_models_and_endpoints_apart(endpoint: EmbeddingsEndpoint) -> None:
    with EmbeddingsEndpoint(dimensions=32) as other:
        opened = [
            await RemoteEncoder.open(base_url=server.base_url, model=model)
            for server, model in ((endpoint, "a"), (endpoint, "b"), (other, "a"), (endpoint, "a"))
        ]
    assert [encoder.identity.dimensions for encoder in opened] == [64, 64, 32, 64]
    assert len({encoder.identity for encoder in opened}) == 3
    for encoder in opened:
        await encoder.close()


async def test_what_may_pass_is_tried_again(
    endpoint: EmbeddingsEndpoint, remote_encoder: RemoteEncoder
) -> None:
    endpoint.next(JSONResponse({"error": {"message": "busy"}}, 503, headers={"retry-after-ms": "1"}))
    assert (await remote_encoder.encode(["again"])).shape == (1, 64)
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(rows([1.0, 0.0]), "2 dimensions, expected 64", id="another width"),
        pytest.param(rows([]), "0 dimensions, expected 64", id="an empty vector"),
        pytest.param(rows([float("nan")] * 64), "without direction", id="not a number"),
        pytest.param(rows([float("inf")] * 64), "without direction", id="infinite"),
        pytest.param(rows([1e300] * 64), "without direction", id="too large to square"),
        pytest.param(rows([0.0] * 64), "without direction", id="zeros"),
        pytest.param(rows(["1.0"] * 64), "data.0.embedding.0", id="texts for numbers"),
        pytest.param(rows(ONE, ONE), "2 vectors, not one for each of 1 texts", id="too many"),
        pytest.param(rows(), "0 vectors", id="none"),
        pytest.param({"data": "AAAA"}, "sent no embeddings: data", id="another shape"),
        pytest.param({"choices": []}, "sent no embeddings: data", id="an answer to another question"),
        pytest.param(
            Response("<html>It works!</html>", media_type="text/html"), "no embeddings", id="a web page"
        ),
        pytest.param(Response(b"\xff\xfe\x00", media_type="application/json"), "no embeddings", id="bytes"),
        pytest.param(Response("", media_type="application/json"), "no embeddings", id="nothing"),
        pytest.param(
            JSONResponse({"error": {"message": "no such model"}}, 404), "no such model", id="unknown"
        ),
        pytest.param(JSONResponse({"error": {"message": "wrong key"}}, 401), "wrong key", id="unauthorised"),
    ],
)
async def test_a_reply_that_is_no_vector_is_an_error_that_says_why(
    endpoint: EmbeddingsEndpoint, remote_encoder: RemoteEncoder, reply: Any, said: str
) -> None:
    if isinstance(reply, dict):
        import json

        reply = Response(
            json.dumps(reply), media_type="application/json"
        )  # with NaN and Infinity as they are
    endpoint.next(reply)
    with pytest.raises(EncoderError, match=said) as raised:
        await remote_encoder.encode(["hello"])
    assert endpoint.base_url in str(raised.value)


async def test_vectors_of_different_widths_in_one_reply_are_an_error(
    endpoint: EmbeddingsEndpoint, remote_encoder: RemoteEncoder
) -> None:
    endpoint.next(rows(ONE, ONE[:-1]))
    with pytest.raises(EncoderError, match=r"different sizes: \[63, 64\]"):
        await remote_encoder.encode(["a", "b"])


async def test_an_endpoint_that_is_not_there_is_an_error() -> None:
    with EmbeddingsEndpoint() as gone:
        address = gone.base_url
    with pytest.raises(EncoderError, match="could not be asked"):
        await RemoteEncoder.open(base_url=address, model="hashing", retries=0)


@pytest.mark.parametrize(("missing", "settings"), [
    ("encoder.base_url", {"base_url": "", "model": "m"}),
    ("encoder.model", {"base_url": "http://127.0.0.1:9/v1", "model": ""}),
])  # fmt: skip
async def test_a_missing_setting_is_named(missing: str, settings: dict[str, str]) -> None:
    with pytest.raises(EncoderError, match=missing):
        await RemoteEncoder.open(**settings)
