"""A number that the contexts give another matter, told of one that has a number of its own there."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.evidence import Contexts

# contexts, a statement with another matter's number, the same with its own
TOLD_OF_ANOTHER = [
    ("Unused tickets are refunded within 14 days of the concert being cancelled.\nWhat is left in the hall is kept for 30 days.",
     "If the concert is cancelled, unused tickets are refunded within {}.", "30 days", "14 days"),
    ("Guests may cancel the booked room free of charge until 48 hours before arrival.\nThe pool closes 12 hours before a storm.",
     "You can cancel your booked room free of charge up to {} before arrival.", "12 hours", "48 hours"),
    ("Damaged parcels must be reported to the carrier with photographs within seven days of delivery.\nLabels expire after 21 days.",
     "Report damaged parcels to the carrier with photographs within {} of delivery.", "21 days", "seven days"),
    ("定期券の払い戻しには手数料220円がかかります。\n紛失した定期券の再発行には520円がかかります。\n駐輪場は1日150円です。",
     "定期券を払い戻す場合、手数料として{}が必要です。", "150円", "220円"),
    ("账户注销申请提交后,资料将在15天内删除。\n发票可在90天内补开。",
     "提交注销申请后,账户资料会在{}内删除。", "90天", "15天"),
    ("骑行结束后须在30分钟内还车,否则按超时计费。\n客服在5分钟内接听。",
     "骑行结束后请在{}内还车,不然要按超时计费。", "5分钟", "30分钟"),
]  # fmt: skip
# contexts, a statement whose number is its own, though another one stands beside the same words
ITS_OWN = [
    ("A passport costs £69.50 by express.\nThe service by express takes three days and costs an additional £32.", "£69.50 if you want it by express."),
    ("Unused tickets are refunded within 14 days.", "Unused tickets are refunded within two weeks."),
    ("Members pay £8 for a class and £5 for the pool.", "A class costs members £8, and the pool £5."),
    ("料金は月2,970円で、20GBまで使えます。\n1GBの追加は550円です。", "550円で1GB足せます。"),
    ("账户注销后,资料将在15天内删除;备份在90天内删除。", "备份会在90天内删除。"),
]  # fmt: skip


@pytest.mark.parametrize(("contexts", "statement", "another", "own"), TOLD_OF_ANOTHER)
def test_the_number_of_another_matter_is_found(contexts: str, statement: str, another: str, own: str) -> None:
    known = Contexts(contexts.split("\n"))
    assert known.evidence(statement.format(another)).novelty.crossed
    assert not known.evidence(statement.format(own)).novelty.crossed


@pytest.mark.parametrize(("contexts", "statement"), ITS_OWN)
def test_a_number_of_its_own_is_left_alone(contexts: str, statement: str) -> None:
    assert not Contexts(contexts.split("\n")).evidence(statement).novelty.crossed
