"""What every encoder promises, ours and the adapters alike."""

from __future__ import annotations

import asyncio
import re

import numpy as np
import pytest

from encoders import Encoder, encode_one
from encoders.memo import MemoEncoder
from encoders.testing import HashingEncoder

CLOSE = 2e-3  # 1 - cosine of one text's vectors, alone and in company

TEXTS = [
    "How do I activate my card?",
    "where is my refund",
    "カードを有効にするにはどうすればよいですか。",
    "如何激活我的银行卡？",
    "",
    "   \n\t ",
    "👍🏽👍🏽",
    "nul \x00 and bell \x07",
    "half a surrogate \ud83d pair",
    "x" * 3_000,
]


@pytest.fixture(
    params=["onnx", "sentence-transformers", "remote", "hashing", "memo over hashing", "memo over onnx"]
)
def encoder(request: pytest.FixtureRequest) -> Encoder:
    match request.param:
        case "onnx":
            return request.getfixturevalue("onnx_encoder")
        case "sentence-transformers":
            return request.getfixturevalue("original")
        case "remote":
            return request.getfixturevalue("remote_encoder")
        case "memo over onnx":
            return MemoEncoder(request.getfixturevalue("onnx_encoder"))
        case "memo over hashing":
            return MemoEncoder(HashingEncoder())
        case _:
            return HashingEncoder()


async def test_there_is_a_vector_of_length_one_for_every_text(encoder: Encoder) -> None:
    vectors = await encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.identity.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_no_texts_give_no_vectors(encoder: Encoder) -> None:
    assert (await encoder.encode([])).shape == (0, encoder.identity.dimensions)


async def test_a_vector_does_not_depend_on_its_company_or_place(encoder: Encoder) -> None:
    together = await encoder.encode(TEXTS[::-1])
    alone = np.concatenate([await encoder.encode([text]) for text in TEXTS])
    np.testing.assert_array_less(1 - (together[::-1] * alone).sum(axis=1), CLOSE)


async def test_calls_at_the_same_time_each_get_their_own_vectors(encoder: Encoder) -> None:
    calls = [TEXTS[start : start + 3] for start in range(len(TEXTS))]
    expected = [await encoder.encode(call) for call in calls]
    for vectors, own in zip(await asyncio.gather(*map(encoder.encode, calls)), expected, strict=True):
        np.testing.assert_array_less(1 - (vectors * own).sum(axis=1), CLOSE)


async def test_the_same_question_in_other_words_is_nearer_than_another_question(encoder: Encoder) -> None:
    asked, again, other = await encoder.encode(
        ["how can i activate my new card", "activate my card please", "what is the weather in Oslo tomorrow"]
    )
    assert asked @ again > asked @ other


async def test_a_long_text_is_cut_not_refused(encoder: Encoder) -> None:
    long = await encode_one(encoder, "please help me with my account " * 20_000)
    assert np.linalg.norm(long.vector) == pytest.approx(1, abs=1e-5)


async def test_the_identity_names_the_model_and_stays(encoder: Encoder) -> None:
    identity = encoder.identity
    assert identity.name
    assert re.fullmatch("[0-9a-f]{64}", identity.digest)
    await encoder.encode(["anything"])
    assert encoder.identity == identity
