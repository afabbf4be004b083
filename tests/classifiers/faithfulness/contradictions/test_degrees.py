"""Must for may, all for some, at least for at most: held back where one is told for the other, and only there."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.evidence import Contexts

OTHERWISE = [
    ("Guests may leave their bags at the desk.", "Guests must leave their bags at the desk."),
    ("領収書の提出は任意です。", "領収書を必ず提出してください。"),
    ("どの会員も水曜日は入れません。水曜日は一部の会員が使えます。", "すべての会員が水曜日に使えます。"),
    ("每次预约不得少于2人。", "每次预约最多2人。"),
    ("下单后1小时内可自行修改。", "下单超过1小时后可自行修改。"),
    ("每周二有部分班级开放。", "每个班级每周二都开放。"),
    ("请假一天以上须提交证明。", "请假一天以上不用提交证明。"),
    ("一部の書類がそろってから審査します。", "すべての書類を審査します。"),
    ("申請が認められることがあります。", "申請は必ず認められます。"),
]  # fmt: skip
ALIKE = [
    ("The company may refuse the request only for important reasons, and has to give these in writing within four weeks.", "The company must give its reasons in writing within four weeks."),
    ("Scanning is offered on the Team plan only; shared folders are also on the Solo plan.", "If you also need scanning, you have to be on the Team plan."),
    ("Lenses are insured as standard. Frames are insured at extra cost.", "Only partly. Lenses are insured as standard."),
    ("会場の都合により中止した場合は、チケットの種類にかかわらず全額を返金します。", "会場の都合で中止になったときは、どのチケットでも全額が返金されます。"),
    ("每次预约不得少于2人。", "每次至少要预约2人。"),
    ("每次预约,不少于2人。", "每次预约不得少于2人。"),
    ("下单后1小时内可自行修改。", "下单未满1小时可自行修改。"),
    ("每月第一个周五统一收运。", "每个月的第一个周五统一收运。"),
    ("请病假一天以内的，可凭挂号记录补办。", "病假一天以内免证明，凭挂号记录补办。"),
    ("書類がそろってから30日以内にお支払いします。", "書類がすべてそろえば、30日以内にお支払いします。"),
    ("認めるかどうかは学部長が決めます。", "必ず認められるとは限らず、決めるのは学部長です。"),
    ("エレベーターのない建物の3階以上への搬入は1点1,650円です。", "エレベーターのない4階への搬入は1点1,650円です。"),
]  # fmt: skip


@pytest.mark.parametrize(("context", "statement"), OTHERWISE)
def test_another_degree_is_found(context: str, statement: str) -> None:
    assert Contexts([context]).evidence(statement).novelty.degrees


@pytest.mark.parametrize(("context", "statement"), ALIKE)
def test_the_same_in_other_words_is_left_alone(context: str, statement: str) -> None:
    novelty = Contexts([context]).evidence(statement).novelty
    assert (novelty.degrees, novelty.negation) == ((), False)
