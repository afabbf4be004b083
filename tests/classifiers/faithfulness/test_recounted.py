"""A number from elsewhere in the contexts, put where the evidence has another."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.contradictions.recounted import recounted
from classifiers.faithfulness.lines import Line

ELSEWHERE = "複数の窓口: 24小时内恢复. 3年, 9時"


@pytest.mark.parametrize(
    ("statement", "evidence", "found"),
    [
        ("授权码24小时内有效。", "授权码75分钟内有效。", (("24小时", "75分钟"),)),
        ("我们在24小时内答复投诉。", "我们在48小时内答复，复杂的在15天内答复。", (("24小时", "48小时"),)),
        ("有効期間は3年間です。", "有効期間は5年間です。", (("3年間", "5年間"),)),
    ],
)
def test_another_number_between_the_same_characters_is_found(
    statement: str, evidence: str, found: tuple[tuple[str, str], ...]
) -> None:
    window = [Line(evidence)]
    assert recounted(Line(statement), window, [*window, Line(ELSEWHERE)]) == found


@pytest.mark.parametrize(
    ("statement", "evidence"),
    [
        ("国际订单15天内送达。", "国内订单3天内送达，国际订单15天内送达。"),  # the evidence has both
        ("均等割が2割、5割、または7割軽くなります。", "均等割が7割、5割または2割軽減されます。"),
        ("授权码24小时内有效。", "授权码最多3次有效。"),  # no other time
        ("里面有10个G的国内流量和100分钟通话，", "校园卡每月29元，含50GB流量和200分钟通话，只限在校大学生。"),
        ("验证码24小时内有效。", "授权码75分钟后失效。"),  # other words around it
    ],
)
def test_a_number_of_its_own_is_left_alone(statement: str, evidence: str) -> None:
    window = [Line(evidence)]
    assert recounted(Line(statement), window, [*window, Line(ELSEWHERE)]) == ()
