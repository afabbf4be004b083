"""Work in the background that breaks is seen and begins again, and nobody's question waits for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from gateway import background
from gateway.background import Background
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
        monkeypatch.setattr(gateway.services.gatekeeping.promises, "refresh", unforeseen)
        assert in_time(lambda: metric(gateway, name) >= 2)
        ready = http.get("/readyz")
        assert (ready.status_code, ready.json()["background"]) == (200, "failing")
