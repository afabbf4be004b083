"""A statement about one half of a contrast takes nothing from the other half."""

from __future__ import annotations

import pytest

from gateway.checking.opening import judge_apart
from gateway.settings import Settings

EN = "Shipping within the warranty is paid by us, after the warranty by the buyer."
ZH = "保修期内的运费由我们承担，保修期外由买家承担。"
PAID = "花呗3期免手续费，6期手续费3%。"
HALVES = [
    (EN, "Shipping after the warranty is paid by the buyer.", "Shipping after the warranty is paid by us."),
    (ZH, "保修期外的运费由买家承担。", "保修期外的运费由我们承担。"),
    (ZH, "保修期内的运费由我们承担。", "保修期内的运费由买家承担。"),
    (PAID, "花呗6期手续费3%。", "花呗6期免手续费。"),
]


@pytest.mark.parametrize(("contrast", "right", "wrong"), HALVES)
async def test_the_halves_of_a_contrast_are_not_mixed(contrast: str, right: str, wrong: str) -> None:
    async with judge_apart(Settings()) as judge:
        said = {text: await judge.judge(text, [contrast], question="") for text in (right, wrong)}
    assert {text: verdict.passed for text, verdict in said.items()} == {right: True, wrong: False}  # type: ignore[union-attr]


async def test_a_sum_per_year_is_none_per_month() -> None:
    async with judge_apart(Settings()) as judge:
        said = [await judge.judge(f"云朵卡{per}128元。", ["云朵卡每年128元。"]) for per in ("每年", "每月")]
    assert [verdict.passed for verdict in said] == [True, False]  # type: ignore[union-attr]
