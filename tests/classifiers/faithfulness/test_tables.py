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


SAVINGS = """\
| Product | Rate (AER) | Minimum |
|---|---|---|
| Easy Saver | 2.10% | £1 |
| Fixed 1 Year | 4.20% | £1,000 |
| Fixed 2 Years | 4.05% | £1,000 |
| Cash ISA | 3.40% | £1 |
"""
LIMITS = """\
| Limit | Everyday | Plus | Premier |
|---|---|---|---|
| Cash per day | £300 | £500 | £1,000 |
| Purchases per day | £3,000 | £5,000 | £15,000 |
"""
COVER = """\
| Cover | Sum per person | Excess |
|---|---|---|
| Medical | £5,000,000 | £75 |
| Baggage | £1,500 | £50 |
"""
CARDS = """\
| 等级 | 年消费 | 折扣 |
|---|---|---|
| 银卡 | 1,000元 | 98折 |
| 金卡 | 5,000元 | 95折 |
| 黑卡 | 20,000元 | 9折 |
"""
SHIPPING = """\
| 地区 | 普通快递 | 加急 |
|---|---|---|
| 江浙沪 | 6元 | 15元 |
| 其他大陆地区 | 8元 | 20元 |
"""
ACCOUNTS = """\
| Account | Monthly fee | Waived when |
|---|---|---|
| Everyday | £0 | always free |
| Plus | £6 | at least £2,000 is paid in during the month |
| Premier | £15 | never |
"""
FURNITURE = "椅子は400円、机は800円、ベッドは1,200円です。"
LOCKED = "登录密码连续输错5次，锁定2小时；支付密码连续输错3次，锁定24小时。"
GATES = "南门周日至周四晚上十点关门,周五、周六延至十一点半。"
WARRANTY = "家电整机保修1年,主要部件保修3年,凭电子发票享受保修。"
SIDES = [  # what a table or a list of values says, and what it says of another row, column or thing
    (SAVINGS, "The Fixed 1 Year account pays 4.20% AER.", "The Fixed 1 Year account pays 4.05% AER."),
    (SAVINGS, "Fixed 2 Years pays 4.05%.", "The Fixed 2 Years account pays 4.20% AER."),
    (SAVINGS, "The Cash ISA pays 3.40% AER.", "The Easy Saver pays 3.40%."),
    (LIMITS, "With a Plus card you can withdraw up to £500 a day.", "With a Plus card you can withdraw up to £1,000 a day."),
    (LIMITS, "The daily cash limit of the Plus card is £500.", "The daily cash limit of the Plus card is £1,000."),
    (LIMITS, "With Everyday you can spend £3,000 per day.", "With Everyday you can spend £5,000 per day."),
    (COVER, "The excess for baggage is £50.", "The excess for baggage is £75."),
    (CARDS, "银卡会员享受98折。", "银卡会员享受95折。"),
    (CARDS, "黑卡会员打9折。", "黑卡会员打98折。"),
    (SHIPPING, "江浙沪加急运费是15元。", "江浙沪加急运费是20元。"),
    (SHIPPING, "其他大陆地区加急20元。", "其他大陆地区加急15元。"),
    (ACCOUNTS, "The Premier account costs £15 a month.", "The Premier account costs £6 a month."),
    (ACCOUNTS, "The Everyday account has no monthly fee.", "The Plus account costs £15 a month."),
    (FURNITURE, "ベッドの処理券は1,200円です。", "ベッドの処理券は800円です。"),
    (FURNITURE, "机は800円です。", "机は1,200円です。"),
    (LOCKED, "登录密码连续输错5次，会锁定2小时。", "登录密码连续输错5次，会锁定24小时。"),
    (GATES, "南门周五周六23:30关门。", "南门周日至周四23:30关门。"),
    (WARRANTY, "家电整机保修1年。", "家电整机保修3年。"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "right", "wrong"), SIDES)
async def test_a_value_of_another_row_column_or_thing_is_stopped(told: str, right: str, wrong: str) -> None:
    async with judge_apart(Settings()) as judge:
        said = {text: await judge.judge(text, [told], question="") for text in (right, wrong)}
    assert {text: verdict.passed for text, verdict in said.items()} == {right: True, wrong: False}  # type: ignore[union-attr]


async def test_a_row_is_pointed_at_as_it_stands_in_the_context() -> None:
    async with judge_apart(Settings()) as judge:
        verdict = await judge.judge("The Premier account costs £15 a month.", [ACCOUNTS], question="")
    span = verdict.statements[0].span  # type: ignore[union-attr]
    assert span is not None
    assert span.text == ACCOUNTS[span.start : span.end] == "| Premier | £15 | never |"
