"""What some sentence of the contexts refuses is not granted, though a nearer sentence refuses nothing."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.contradictions.facts import facts
from classifiers.faithfulness.contradictions.refused import refused
from classifiers.faithfulness.passages import Passages
from classifiers.faithfulness.said import said

RETURNS = "商品到着後14日以内であれば返品を受け付けます。セール品と食品は返品できません。"
REMOTE = "在宅勤務は週3日まで認められます。試用期間中の社員は在宅勤務を利用できません。"
REFUNDS = "签收后七天内可以无理由退货。生鲜食品和定制商品不支持无理由退货。"
COUPONS = "退款将在三个工作日内原路返回。使用优惠券的订单，优惠券不予退还。"
LEAVE = "Either parent may take parental leave. Line managers cannot refuse parental leave."
CANCEL = "期間の後は、やむを得ない事情がある場合に限り、学部事務室に取り消しを願い出ることができます。"
SALE = "Items can be exchanged within 30 days. Sale items and gift cards cannot be exchanged."


def found(passage: str, statement: str) -> tuple[tuple[str, str], ...]:
    each = said(statement, "")
    return refused(each, facts(each.line, Passages([passage]).lines))


@pytest.mark.parametrize(
    ("passage", "statement"),
    [
        (RETURNS, "食品も14日以内であれば返品できます。"),
        (REMOTE, "試用期間中の社員も週3日まで在宅勤務を利用できます。"),
        (REFUNDS, "生鲜食品七天内也可以无理由退货。"),
        (COUPONS, "优惠券会和退款一起退还。"),
        (LEAVE, "Your line manager may refuse parental leave."),
        (SALE, "Gift cards can be exchanged within 30 days."),
    ],
)
def test_what_is_refused_in_another_sentence_is_seen(passage: str, statement: str) -> None:
    assert found(passage, statement)


@pytest.mark.parametrize(
    ("passage", "statement"),
    [
        pytest.param(RETURNS, "返品は14日以内に限ります。", id="granted to others"),
        pytest.param(RETURNS, "食品は返品の対象外です。", id="refused in other words"),
        pytest.param(REFUNDS, "定制商品不能无理由退货。", id="refused in other words, in Chinese"),
        pytest.param(REFUNDS, "签收后七天内可以无理由退货。", id="无 of 无理由 refuses nothing"),
        pytest.param(
            CANCEL,
            "事情がある場合は学部事務室に取り消しを願い出てください。",
            id="やむを得ない denies nothing",
        ),
        pytest.param(
            SALE, "You can exchange items for 30 days, but not gift cards.", id="refused at the end"
        ),
        pytest.param(
            "Dogs are not allowed in the hall. Guide dogs are allowed in the hall.",
            "Guide dogs are allowed in the hall.",
            id="granted in a sentence of its own",
        ),
    ],
)
def test_what_is_granted_or_refused_alike_is_not(passage: str, statement: str) -> None:
    assert found(passage, statement) == ()
