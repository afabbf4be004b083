from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from encoders import EncoderError, EncoderIdentity, Vector
from encoders.memo import LARGEST_CALL, MemoEncoder
from encoders.testing import HashingEncoder


class Counting:
    """The hashing encoder, noting what it is asked; it may be slow, and fails on "poison"."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.calls: list[list[str]] = []
        self._inner = HashingEncoder()
        self._delay_s = delay_s

    @property
    def identity(self) -> EncoderIdentity:
        return self._inner.identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        self.calls.append(list(texts))
        await asyncio.sleep(self._delay_s)
        if "poison" in texts:
            raise EncoderError("bad word")
        return await self._inner.encode(texts)


async def test_a_repeated_question_costs_no_inference() -> None:
    inner = Counting()
    memo = MemoEncoder(inner)
    first = await memo.encode(["a", "b"])
    np.testing.assert_array_equal(await memo.encode(["b", "a", "b"]), first[[1, 0, 1]])
    assert inner.calls == [["a", "b"]]


async def test_only_what_is_new_is_asked_for_and_once() -> None:
    inner = Counting()
    memo = MemoEncoder(inner)
    await memo.encode(["a"])
    await memo.encode(["a", "c", "c", "b"])
    assert inner.calls == [["a"], ["c", "b"]]


async def test_what_was_used_longest_ago_is_forgotten_first() -> None:
    inner = Counting()
    memo = MemoEncoder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await memo.encode([text])
    assert inner.calls == [["a"], ["b"], ["c"], ["b"]]


async def test_a_call_with_more_texts_than_it_remembers_is_answered() -> None:
    memo = MemoEncoder(HashingEncoder(), size=1)
    texts = ["a", "b", "c"]
    np.testing.assert_array_equal(await memo.encode(texts), await HashingEncoder().encode(texts))


async def test_the_same_question_asked_twice_at_once_is_encoded_once() -> None:
    inner = Counting(delay_s=0.01)
    memo = MemoEncoder(inner)
    results = await asyncio.gather(
        *(memo.encode(["same"]) for _ in range(20)), memo.encode(["same", "other"])
    )
    assert inner.calls == [["same"], ["other"]]
    assert all((result[0] == results[0][0]).all() for result in results)


async def test_documents_do_not_wash_the_questions_out() -> None:
    inner = Counting()
    memo = MemoEncoder(inner, size=4)
    await memo.encode(["question"])
    await memo.encode([f"passage {n}" for n in range(LARGEST_CALL + 1)])
    await memo.encode(["question"])
    assert len(inner.calls) == 2


async def test_an_error_is_not_remembered() -> None:
    inner = Counting()
    memo = MemoEncoder(inner)
    for _ in range(2):
        with pytest.raises(EncoderError, match="bad word"):
            await memo.encode(["poison"])
    assert len(inner.calls) == 2


async def test_another_callers_error_is_not_ours() -> None:
    memo = MemoEncoder(Counting(delay_s=0.01))
    theirs, ours = await asyncio.gather(
        memo.encode(["poison", "fine"]), memo.encode(["fine"]), return_exceptions=True
    )
    assert isinstance(theirs, EncoderError)
    assert isinstance(ours, np.ndarray)


@pytest.mark.parametrize("leaver", [0, 1], ids=["who asked first", "who joined"])
async def test_a_caller_who_leaves_takes_nothing_from_the_others(leaver: int) -> None:
    inner = Counting(delay_s=0.02)
    memo = MemoEncoder(inner)
    calls = [asyncio.create_task(memo.encode(["same"])) for _ in range(2)]
    await asyncio.sleep(0.005)
    calls[leaver].cancel()
    assert (await calls[1 - leaver]).shape == (1, 256)
    assert inner.calls == [["same"]]


async def test_a_caller_cannot_change_what_is_remembered() -> None:
    memo = MemoEncoder(HashingEncoder())
    first = await memo.encode(["a"])
    expected = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(await memo.encode(["a"]), expected)


def test_it_has_to_remember_something() -> None:
    with pytest.raises(ValueError, match="size: expected at least 1, got 0"):
        MemoEncoder(HashingEncoder(), size=0)
