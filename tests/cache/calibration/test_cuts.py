"""Which cut serves a shelf: calibrated, raised by the audit, or none."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.calibration import Cut
from cache.calibration import cuts as kept_cuts
from cache.calibration.cuts import PAUSED, Cuts
from storage.remembered import recall, remember
from storage.sql import Database

DEFAULT = Cut(score=0.8, target_error=0.01, bound=None, probes=0, served=0.0, why="default")
CALIBRATED = Cut(score=0.7, target_error=0.01, bound=0.009, probes=500, served=0.6, why="calibrated")


@pytest.fixture
def cuts(database: Database) -> Cuts:
    return Cuts(database, target_error=0.01, made_for="model@1")


async def test_a_kept_cut_says_since_when_it_serves(cuts: Cuts) -> None:
    kept = await cuts.keep("shop", "en", CALIBRATED)
    assert kept.since
    assert replace(kept, since="") == CALIBRATED
    assert await cuts.of("shop", "en") == kept
    assert await cuts.of("shop", "ja") is None


async def test_a_calibration_that_finds_the_same_score_serves_on(cuts: Cuts) -> None:
    kept = await cuts.keep("shop", "en", CALIBRATED)
    again = await cuts.keep("shop", "en", replace(CALIBRATED, why="calibrated again"))
    assert (again.since, again.why) == (kept.since, "calibrated again")
    other = await cuts.keep("shop", "en", replace(CALIBRATED, score=0.71))
    assert other.since > kept.since


@pytest.mark.parametrize("calibrated", [True, False], ids=["over a calibrated cut", "over the default"])
async def test_a_tightened_cut_holds_until_the_next_calibration(cuts: Cuts, calibrated: bool) -> None:
    present = await cuts.keep("shop", "en", CALIBRATED) if calibrated else DEFAULT
    assert await cuts.tighten("shop", "en", present=present, score=PAUSED, why="too many were wrong")
    tight = await cuts.of("shop", "en")
    assert tight is not None
    assert (tight.score, tight.tightened_from, tight.bound) == (PAUSED, present.score, None)
    assert tight.since > present.since
    released = await cuts.keep("shop", "en", CALIBRATED)
    assert (released.score, released.tightened_from) == (0.7, None)
    assert released.since not in (present.since, tight.since)


async def test_a_cut_that_was_replaced_is_not_tightened(cuts: Cuts) -> None:
    newer = await cuts.keep("shop", "en", CALIBRATED)
    for outdated in (DEFAULT, replace(CALIBRATED, since="2020-01-01T00:00:00.000000+00:00")):
        assert not await cuts.tighten("shop", "en", present=outdated, score=0.9, why="late")
    assert await cuts.of("shop", "en") == newer


@pytest.mark.parametrize("calibrated", [True, False], ids=["over a calibrated cut", "over the default"])
async def test_of_replicas_that_tighten_at_once_one_does(database: Database, calibrated: bool) -> None:
    replicas = [Cuts(database, target_error=0.01, made_for="model@1") for _ in range(4)]
    present = await replicas[0].keep("shop", "en", CALIBRATED) if calibrated else DEFAULT
    done = await asyncio.gather(
        *(one.tighten("shop", "en", present=present, score=0.9, why="audit") for one in replicas)
    )
    assert sum(done) == 1


async def test_a_cut_tightened_while_its_score_is_found_again_stays_tight(
    cuts: Cuts, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = await cuts.keep("shop", "en", CALIBRATED)
    audits: list[asyncio.Task[bool]] = []

    async def tightened_meanwhile(connection: AsyncConnection, name: str, *, lock: bool = False) -> Any:
        found = await recall(connection, name, lock=lock)
        if not audits:
            tightening = cuts.tighten("shop", "en", present=present, score=PAUSED, why="too many were wrong")
            audits.append(asyncio.create_task(tightening))
            await asyncio.wait(audits, timeout=0.3)
        return found

    monkeypatch.setattr(kept_cuts, "recall", tightened_meanwhile)
    await cuts.keep("shop", "en", CALIBRATED)
    assert await audits[0]
    tight = await cuts.of("shop", "en")
    assert tight is not None
    assert (tight.score, tight.tightened_from) == (PAUSED, 0.7)


async def test_a_cut_counts_only_for_its_model_and_target(cuts: Cuts, database: Database) -> None:
    await cuts.keep("shop", "en", CALIBRATED)
    assert await Cuts(database, target_error=0.01, made_for="model@2").of("shop", "en") is None
    assert await Cuts(database, target_error=0.02, made_for="model@1").of("shop", "en") is None


@pytest.mark.parametrize(
    "garbage", ["0.5", {"made_for": "model@1"}, {"made_for": "model@1", "score": "high"}], ids=str
)
async def test_what_is_kept_in_no_form_we_know_cuts_nothing(database: Database, garbage: object) -> None:
    async with database.begin() as connection:
        await remember(connection, {"cache.cut.shop.en": garbage})
    assert await Cuts(database, target_error=0.01, made_for="model@1").of("shop", "en") is None
