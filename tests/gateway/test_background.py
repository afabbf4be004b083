"""Work in the background that breaks is seen and begins again, and nobody's question waits for it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from gateway import background
from gateway.background import Background, every
from gateway.gatekeeping import promises
from gateway.metrics import Metrics
from tests.gateway.conftest import POLICY
from tests.gateway.running import Gateway, settings
from tests.gateway.test_learning import in_time, metric


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(CollectorRegistry())


def broken(metrics: Metrics, loop: str) -> float | None:
    return metrics.registry.get_sample_value("sekisho_background_failures_total", {"loop": loop})


async def test_a_loop_that_breaks_is_told_counted_and_begun_again(
    metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "FIRST_WAIT_S", 0.0)
    runs, going = 0, asyncio.Event()

    async def loop() -> None:
        nonlocal runs
        runs += 1
        if runs < 3:
            raise KeyError("How much is my wife's fine?")
        going.set()
        await asyncio.Event().wait()

    works = Background(metrics.broken_loops)
    with capture_logs() as logged:
        async with works.running("queue", loop):
            assert broken(metrics, "queue") == 0.0
            assert works.failing == ()
            await going.wait()
            assert works.failing == ("queue",)
    assert broken(metrics, "queue") == 2.0
    told = [line for line in logged if line["log_level"] == "error"]
    assert [(line["event"], line["loop"], line["error"]) for line in told] == [
        ("loop broke", "queue", "KeyError")
    ] * 2
    assert "fine" not in str(told)


class Away(Exception):  # noqa: N818
    pass


class Turns:
    """A piece of work that breaks at some of its turns, the last of which is waited for."""

    def __init__(self, *breaks: Exception | None) -> None:
        self._left = [*breaks]
        self.all = asyncio.Event()

    async def work(self) -> None:
        broke = self._left.pop(0) if self._left else None
        if not self._left:
            self.all.set()
        if broke:
            raise broke

    async def done(self, seconds: float, within_s: float = 20.0, **how: Any) -> bool:
        """Whether all turns came, if it is begun every so often."""
        loop = every(seconds, self.work, expected=(Away,), event="not done", log="sekisho", **how)
        task = asyncio.create_task(loop)
        try:
            await asyncio.wait_for(self.all.wait(), within_s)
        except TimeoutError:
            return False
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return True


SELDOM_S, NOT_LONG_S = 3600.0, 0.05


@pytest.mark.parametrize(
    ("breaks", "seconds", "how", "done"),
    [
        pytest.param([None], SELDOM_S, {}, True, id="the first turn comes at once"),
        pytest.param([None], SELDOM_S, {"first": False}, False, id="or after the others' wait"),
        pytest.param([None], 0.0, {"first": False}, True, id="and then it comes"),
        pytest.param([None] * 3, 0.0, {}, True, id="the next turn comes"),
        pytest.param([None] * 2, SELDOM_S, {"again_s": 0.0}, False, id="and no sooner"),
        pytest.param([Away()] * 3, 0.0, {}, True, id="so it does after an error"),
        pytest.param([Away()] * 2, SELDOM_S, {}, False, id="no sooner, either"),
        pytest.param([Away()] * 3, SELDOM_S, {"again_s": 0.0}, True, id="or as soon as that is wished"),
        pytest.param([KeyError()] * 2, 0.0, {}, False, id="what nobody expected ends the loop"),
    ],
)
async def test_work_is_done_every_so_often_and_tried_again(
    breaks: list[Exception | None], seconds: float, how: dict[str, Any], done: bool
) -> None:
    within_s = 20.0 if done else NOT_LONG_S
    assert await Turns(*breaks).done(seconds, within_s, **how) is done


@pytest.mark.parametrize(
    ("how", "told"),
    [({}, "my wife's fine"), ({"told": lambda exc: type(exc).__name__}, "Away")],
)
async def test_an_error_is_told_as_far_as_the_log_may_hold_it(how: dict[str, Any], told: str) -> None:
    with capture_logs() as logged:
        assert await Turns(Away("my wife's fine"), None).done(0.0, **how)
    assert [(line["log_level"], line["event"], line["error"]) for line in logged] == [
        ("warning", "not done", told)
    ]


async def test_a_loop_that_has_run_for_a_while_is_well_again(
    metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STEADY_S", 0.0)
    works = Background(metrics.broken_loops)

    async def loop() -> None:
        raise KeyError

    async with works.running("queue", loop):
        await asyncio.sleep(0)
    assert broken(metrics, "queue") == 1.0
    assert works.failing == ()


async def test_a_loop_finishes_what_it_has_to_when_the_gateway_ends(metrics: Metrics) -> None:
    written: list[str] = []

    async def loop() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            written.append("the rest")
            raise KeyError  # and if that breaks, the gateway ends all the same

    async with Background(metrics.broken_loops).running("outcomes", loop):
        await asyncio.sleep(0)
    assert written == ["the rest"]
    assert broken(metrics, "outcomes") == 1.0


def test_a_gateway_serves_on_while_a_loop_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "FRESH_S", 0.05)
    monkeypatch.setattr(background, "FIRST_WAIT_S", 0.05)
    name = 'sekisho_background_failures_total{loop="gate_cuts"}'

    async def unforeseen() -> None:
        raise RuntimeError("a mistake of ours")

    with Gateway(settings(tmp_path, POLICY)) as gateway, gateway.http(None) as http:
        assert http.get("/readyz").json()["background"] == "ok"
        monkeypatch.setattr(gateway.services.gatekeeping.promises, "kept", unforeseen)
        assert in_time(lambda: metric(gateway, name) >= 2)
        ready = http.get("/readyz")
        assert (ready.status_code, ready.json()["background"]) == (200, "failing")
