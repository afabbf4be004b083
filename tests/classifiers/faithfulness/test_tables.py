"""Answers read out of a table: what stands in a row belongs to its first cell and to the head of its column."""

from __future__ import annotations

import pytest

from gateway.checking.opening import judge_apart
from gateway.settings import Settings

ROAMING = """\
# 国际漫游

默认不开通国际漫游。

| 目的地 | 流量日包 | 通话 |
|---|---|---|
| 港澳台 | 每天18元，不限量，超过2GB限速 | 每分钟0.99元 |
| 日本、韩国、东南亚 | 每天25元，不限量，超过1GB限速 | 每分钟1.99元 |
"""
OVERRUN = "超出套餐的通话按每分钟0.15元计费。"
TARIFFS = """\
| 套餐 | 月费 | 流量 | 通话 |
|---|---|---|---|
| 青云套餐 | 39元 | 10GB | 100分钟 |
| 畅云套餐 | 79元 | 30GB | 300分钟 |
"""
CERTIFICATES = """\
| 種類 | 手数料 | 受付日数 |
|:--|--:|--:|
| 住民票の写し | 300円 | 1日 |
| 印鑑登録証明書 | 400円 | 2日 |
| 納税証明書 | 500円 | 5日 |
"""
FEES = """\
| certificate | fee | days |
|---|---|---|
| residence record | ¥300 | 1 day |
| seal registration | ¥400 | 2 days |
| tax payment | ¥500 | 5 days |
"""
CASES = [  # a table, what it says, what it says of another row
    (ROAMING, "港澳台的通话每分钟0.99元。", "港澳台的通话每分钟1.99元。"),
    (ROAMING, "港澳台的流量日包每天18元。", "港澳台的流量日包每天25元。"),
    (ROAMING, "韩国通话每分钟1.99元。", "韩国通话每分钟0.99元。"),
    (TARIFFS, "青云套餐的月费是39元。", "青云套餐的月费是79元。"),
    (TARIFFS, "青云套餐有100分钟通话。", "青云套餐有300分钟通话。"),
    (TARIFFS, "畅云套餐每月79元，含30GB流量和300分钟通话。", "畅云套餐每月39元，含30GB流量和300分钟通话。"),
    (CERTIFICATES, "住民票の写しの手数料は300円です。", "住民票の写しの手数料は400円です。"),
    (CERTIFICATES, "印鑑登録証明書は2日かかります。", "印鑑登録証明書は5日かかります。"),
    (FEES, "The fee for a seal registration is ¥400.", "The fee for a seal registration is ¥500."),
    (FEES, "A tax payment certificate takes 5 days.", "A tax payment certificate takes 2 days."),
]


@pytest.mark.parametrize(("table", "right", "wrong"), CASES)
async def test_an_answer_holds_to_its_row_and_column(table: str, right: str, wrong: str) -> None:
    async with judge_apart(Settings()) as judge:
        said = {text: await judge.judge(text, [table, OVERRUN], question="") for text in (right, wrong)}
    assert {text: verdict.passed for text, verdict in said.items()} == {right: True, wrong: False}  # type: ignore[union-attr]
