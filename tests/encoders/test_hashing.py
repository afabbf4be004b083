from __future__ import annotations

import numpy as np
import pytest

from encoders.testing import HashingEncoder

GOLDEN = [0.0690066, -0.0690066, 0.1380131, 0.2070197, -0.0690066, 0.8970852, -0.3450328, 0.0]


async def test_vectors_are_the_same_on_every_machine_and_in_every_run() -> None:
    (vector,) = await HashingEncoder(8).encode(["card"])
    np.testing.assert_allclose(vector, GOLDEN, atol=1e-6)


@pytest.mark.parametrize(
    ("asked", "near", "far"),
    [
        ("refund for order 12", "Refund of order 12", "opening hours today"),
        ("カードを再発行したい", "カードの再発行", "営業時間を教えてください"),
        ("如何补办银行卡", "银行卡怎么补办", "今天几点开门"),
    ],
)
async def test_shared_spelling_is_nearness(asked: str, near: str, far: str) -> None:
    vectors = await HashingEncoder().encode([asked, near, far])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.05
