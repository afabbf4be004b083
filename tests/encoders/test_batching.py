"""Concurrent calls share inferences, and nothing else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar

import numpy as np
import pytest
from anyio import to_thread

from encoders import EncoderError, Vector
from encoders.batching import MicroBatcher

BUDGET = 100
request_id = ContextVar("request_id", default="none")


class Model:
    """Turns a word into its length and first letter; can be held up, and chokes on "poison"."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.threads_inside = self.most_threads_inside = 0
        self.seen_ids: set[str] = set()
        self.begun = threading.Event()
        self.go = threading.Event()
        self.go.set()

    def __call__(self, batch: Sequence[str]) -> Vector:
        self.threads_inside += 1
        self.most_threads_inside = max(self.most_threads_inside, self.threads_inside)
        self.batches.append(list(batch))
        self.begun.set()
        self.seen_ids.add(request_id.get())
        assert self.go.wait(10)
        self.threads_inside -= 1
        if "poison" in batch:
            raise ValueError("bad word")
        return np.array([[len(word), ord(word[0])] for word in batch], np.float32)


def expected(*words: str) -> list[list[float]]:
    return [[len(word), ord(word[0])] for word in words]


def seen(rows: Sequence[Vector]) -> list[list[float]]:
    return [row.tolist() for row in rows]


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def batcher(model: Model) -> MicroBatcher[str]:
    return MicroBatcher(model, length=len, budget=BUDGET)


@asynccontextmanager
async def busy(model: Model, batcher: MicroBatcher[str]) -> AsyncIterator[None]:
    """An inference is under way while the body runs, and for that long only."""
    model.go.clear()
    under_way = asyncio.create_task(batcher.submit(["first"]))
    assert await to_thread.run_sync(model.begun.wait, 10)
    yield
    await asyncio.sleep(0)  # what the body started has asked by now
    model.go.set()
    await under_way


async def test_a_lone_call_is_dispatched_at_once(model: Model, batcher: MicroBatcher[str]) -> None:
    loop = asyncio.get_running_loop()
    timers: list[float] = []
    original, loop.call_at = (
        loop.call_at,
        lambda when, *a, **k: timers.append(when) or original(when, *a, **k),
    )  # type: ignore[method-assign,func-returns-value]
    assert seen(await batcher.submit(["lone"])) == expected("lone")
    assert not timers, "it waited for a timer"


async def test_calls_gather_while_the_model_is_busy(model: Model, batcher: MicroBatcher[str]) -> None:
    async with busy(model, batcher):
        calls = [asyncio.create_task(batcher.submit([word])) for word in ("aa", "bb", "cc", "dd")]
    assert [seen(rows) for rows in await asyncio.gather(*calls)] == [
        expected(w) for w in ("aa", "bb", "cc", "dd")
    ]
    assert model.batches == [["first"], ["aa", "bb", "cc", "dd"]]


async def test_rows_come_back_in_the_order_of_the_items(batcher: MicroBatcher[str]) -> None:
    words = ["w" * (1 + number * 37 % 90) + str(number) for number in range(200)]
    assert seen(await batcher.submit(words)) == expected(*words)


async def test_many_calls_at_once_never_mix_up_their_rows(batcher: MicroBatcher[str], model: Model) -> None:
    calls = [[chr(97 + n % 26) * (1 + n * k % 23) for k in range(1, 1 + n % 5)] for n in range(300)]
    rows = await asyncio.gather(*map(batcher.submit, calls))
    assert [seen(r) for r in rows] == [expected(*call) for call in calls]
    assert model.most_threads_inside == 1


async def test_with_more_threads_as_many_inferences_run_side_by_side() -> None:
    both = threading.Barrier(2)

    def infer(batch: Sequence[str]) -> Vector:
        both.wait(10)  # breaks unless another inference runs now
        return np.array([[len(word), ord(word[0])] for word in batch], np.float32)

    batcher = MicroBatcher(infer, length=len, budget=1, threads=2)
    words = ["aaaa", "bb", "c", "dddd"]
    for _ in range(2):
        assert seen(await batcher.submit(words)) == expected(*words)
    await batcher.close()


async def test_what_runs_together_is_of_similar_length_and_within_the_budget(
    model: Model, batcher: MicroBatcher[str]
) -> None:
    await batcher.submit(["x" * (1 + number * 31 % 97) for number in range(150)])
    for batch in model.batches:
        lengths = [len(word) for word in batch]
        assert max(lengths) <= min(lengths) * 9 // 8
        assert sum(lengths) <= BUDGET


async def test_an_item_above_the_budget_runs_alone(model: Model, batcher: MicroBatcher[str]) -> None:
    await batcher.submit(["y" * 1000, "z" * 1000])
    assert [len(batch) for batch in model.batches] == [1, 1]


async def test_a_long_call_does_not_hold_up_a_short_one(model: Model, batcher: MicroBatcher[str]) -> None:
    async with busy(model, batcher):
        long = asyncio.create_task(batcher.submit(["l" * 10] * 500))
        await asyncio.sleep(0)
        short = asyncio.create_task(batcher.submit(["s" * 10]))
    await short
    assert len(model.batches) <= 3
    assert not long.done()
    assert len(await long) == 500


async def test_an_error_reaches_the_call_that_caused_it_and_no_other(
    model: Model, batcher: MicroBatcher[str]
) -> None:
    async with busy(model, batcher):
        calls = [asyncio.create_task(batcher.submit([word])) for word in ("before", "poison", "after!")]
    before, poison, after = await asyncio.gather(*calls, return_exceptions=True)
    assert seen(before) == expected("before")  # type: ignore[arg-type]
    assert seen(after) == expected("after!")  # type: ignore[arg-type]
    assert isinstance(poison, EncoderError)
    assert "bad word" in str(poison)
    assert seen(await batcher.submit(["later"])) == expected("later")


async def test_two_calls_with_errors_of_their_own_each_get_one(
    model: Model, batcher: MicroBatcher[str]
) -> None:
    async with busy(model, batcher):
        calls = [asyncio.create_task(batcher.submit(["poison", "x" * 40])) for _ in range(2)]
    first, second = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(first, EncoderError)
    assert isinstance(second, EncoderError)
    assert first is not second


async def test_a_model_that_loses_rows_is_an_error(batcher: MicroBatcher[str]) -> None:
    forgetful = MicroBatcher(
        lambda batch: np.ones((len(batch) - 1, 2), np.float32), length=len, budget=BUDGET
    )
    with pytest.raises(EncoderError, match="inference failed"):
        await forgetful.submit(["one", "two"])


@pytest.mark.parametrize("leaver", [0, 1, 2])
async def test_a_caller_who_leaves_takes_nothing_from_the_others(
    model: Model, batcher: MicroBatcher[str], leaver: int
) -> None:
    async with busy(model, batcher):
        calls = [asyncio.create_task(batcher.submit([word])) for word in ("aa", "bb", "cc")]
        await asyncio.sleep(0)
        calls[leaver].cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)
    for number, (word, result) in enumerate(zip(("aa", "bb", "cc"), results, strict=True)):
        if number == leaver:
            assert isinstance(result, asyncio.CancelledError)
        else:
            assert seen(result) == expected(word)  # type: ignore[arg-type]
    assert len(model.batches[-1]) == 2, "work was done for a caller who had left"


async def test_a_caller_who_leaves_during_the_inference_leaves_the_batcher_sound(
    model: Model, batcher: MicroBatcher[str]
) -> None:
    model.go.clear()
    call = asyncio.create_task(batcher.submit(["gone"]))
    assert await to_thread.run_sync(model.begun.wait, 10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    model.go.set()
    assert seen(await batcher.submit(["here"])) == expected("here")


async def test_a_batch_carries_the_context_of_no_request(model: Model, batcher: MicroBatcher[str]) -> None:
    request_id.set("r-1")
    await batcher.submit(["word"])
    assert model.seen_ids == {"none"}


async def test_closing_finishes_what_was_asked_and_refuses_more(
    model: Model, batcher: MicroBatcher[str]
) -> None:
    async with busy(model, batcher):
        call = asyncio.create_task(batcher.submit(["asked"]))
        await asyncio.sleep(0)
        closing = asyncio.create_task(batcher.close())
    await closing
    assert seen(await call) == expected("asked")
    with pytest.raises(EncoderError, match="closed"):
        await batcher.submit(["too late"])
    await batcher.close()


def test_a_loop_that_shuts_down_leaves_nobody_waiting(model: Model, batcher: MicroBatcher[str]) -> None:
    async def leave() -> None:
        model.go.clear()
        asyncio.create_task(batcher.submit(["under way"]))  # noqa: RUF006 - the loop cancels it
        asyncio.create_task(batcher.submit(["q" * 99]))  # noqa: RUF006 - the loop cancels it
        assert await to_thread.run_sync(model.begun.wait, 10)
        threading.Timer(0.05, model.go.set).start()

    asyncio.run(leave())
    assert seen(asyncio.run(batcher.submit(["next"]))) == expected("next")
