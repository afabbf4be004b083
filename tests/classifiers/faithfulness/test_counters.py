"""So many of a thing: a numeral before a counter is a number, and another one is another number."""

from __future__ import annotations

import pytest

from gateway.checking.opening import judge_apart
from gateway.settings import Settings

COUNTED = [
    ("Put 2 drops into each eye, 5 times a day.", "Put 2 drops into each eye.", "Put 5 drops into each eye."),
    ("一共要四支。", "一共要四支。", "一共要三支。"),
    ("间隔3周，一共四针。", "一共四针。", "一共三针。"),
    ("每天五次，每次滴两滴。", "每次滴两滴。", "每次滴五滴。"),
    ("每班分两间教室上课。", "每班分两间教室。", "每班分三间教室。"),
    ("1日3回、1回に2滴さします。", "1回に2滴さします。", "1回に3滴さします。"),
    ("申込書は全部で四通必要です。", "申込書は四通必要です。", "申込書は三通必要です。"),
    ("靴下は四足まで洗えます。", "靴下は4足まで洗えます。", "靴下は五足まで洗えます。"),
]  # fmt: skip


@pytest.mark.parametrize(("passage", "right", "wrong"), COUNTED)
async def test_another_number_of_a_thing_does_not_pass(passage: str, right: str, wrong: str) -> None:
    async with judge_apart(Settings()) as judge:
        said = {text: await judge.judge(text, [passage], question="") for text in (right, wrong)}
    assert {text: verdict.passed for text, verdict in said.items()} == {right: True, wrong: False}  # type: ignore[union-attr]
