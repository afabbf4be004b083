"""A fact that a statement ties to another subject, name, day, side or bound than the contexts do is held back."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.evidence import Contexts

CONTEXTS = [
    "Saver tickets are bound to one train. Flexible tickets can be cancelled free of charge until the day before.",
    "Desk A on the ground floor serves students. Desk B on the first floor serves the public.",
    "The applicant submits the form to the registry. Power banks may not exceed 100 Wh in the cabin.",
    "Hybrid vehicles receive a discount of half the fee. Each member can borrow two films at a time, for three days.",
    "Photography is prohibited in the vault. The pool is closed on Mondays. Dogs are welcome on the second floor.",
    "処理券はコンビニエンスストアや市内のスーパーで購入してください。申請者は受付に書類を渡します。",
    "缶・びんは第1・第3金曜日に収集します。ペットを飼う前に管理組合へ届け出てください。荷物は10キロ以上で追加料金です。",
    "住院须带身份证、医保卡和住院通知单。普通病房的探视时间为每天15:00至20:00。重症监护室每天16:00至16:30。",
    "借款人向银行提交材料。体温超过37.3度的儿童不得入园。周二闭馆。陪护床每晚20元。",
]
WRONG = [
    ("Saver tickets can be cancelled free of charge until the day before.", "exchanged"),
    ("Desk A on the first floor serves the public.", "exchanged"),
    ("Electric vehicles receive a discount of half the fee.", "exchanged"),
    ("Each member can borrow three films at a time.", "crossed"),
    ("The registry submits the form to the applicant.", "swapped"),
    ("Power banks in the cabin must have at least 100 Wh.", "degree"),
    ("The pool is closed on Sundays.", "new_numbers"),
    ("処理券は郵便局や市内のスーパーで購入してください。", "exchanged"),
    ("受付は申請者に書類を渡します。", "swapped"),
    ("缶・びんは第2・第4金曜日に収集します。", "new_numbers"),
    ("缶・びんは水曜日に収集します。", "new_numbers"),
    ("ペットを飼い始めてから管理組合へ届け出てください。", "opposite"),
    ("荷物は10キロ以下で追加料金です。", "opposite"),
    ("処理券は市内のスーパーで無料で配っています。", "degree"),
    ("住院须带身份证、户口本和住院通知单。", "exchanged"),
    ("重症监护室的探视时间为每天15:00至20:00。", "exchanged"),
    ("银行向借款人提交材料。", "swapped"),
    ("体温低于37.3度的儿童不得入园。", "degree"),
    ("周三闭馆。", "new_numbers"),
    ("陪护床免费。", "degree"),
]
RIGHT = [
    "You can cancel flexible tickets free of charge until the day before.",
    "On the first floor, desk B serves the public.",
    "The form is submitted to the registry by the applicant.",
    "Power banks in the cabin may have at most 100 Wh.",
    "Hybrid cars receive a discount of half the fee.",
    "Each member can borrow two movies at a time.",
    "No photography in the vault.",
    "On Monday the pool is closed.",
    "処理券は市内のスーパーかコンビニエンスストアで購入できます。",
    "書類は申請者が受付に渡します。",
    "缶・びんは月の1回目と3回目の金曜日に収集します。",
    "住院须带住院通知单、身份证和医保卡。",
    "星期二闭馆。",
]


@pytest.fixture(scope="module")
def contexts() -> Contexts:
    return Contexts(CONTEXTS)


@pytest.mark.parametrize(("statement", "feature"), WRONG)
def test_a_fact_of_another_subject_contradicts(contexts: Contexts, statement: str, feature: str) -> None:
    found = contexts.evidence(statement).features
    assert getattr(found, feature)
    assert found.contradicted


@pytest.mark.parametrize("statement", RIGHT)
def test_the_same_fact_in_another_order_does_not(contexts: Contexts, statement: str) -> None:
    assert not contexts.evidence(statement).features.contradicted
