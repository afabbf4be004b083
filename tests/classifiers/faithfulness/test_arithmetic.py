"""A number that the contexts don't have may follow from those they have; any other stays new."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.evidence import Contexts

FOLLOWS = [
    ("A bag costs 60 euros online and 85 euros at the airport.", "Booking online saves you 25 euros.", ""),
    ("A passport costs 70 pounds.\nThe express service costs an additional 32 pounds.", "An adult pays 102 pounds.", ""),
    ("A permit costs £84 a year.\nElectric vehicles receive a discount of 50 per cent.", "Electric ones pay £42.", ""),
    ("Lunch costs £4.20 per day.", "Lunch costs £21.", "What do I pay for 5 days?"),
    ("Care is offered from 7:00 to 17:00.", "Care is offered for ten hours.", ""),
    ("管理費は月額14,500円、修繕積立金は月額9,800円です。", "合わせて24,300円です。", ""),
    ("延長保育は18時15分から19時15分までです。", "延長保育は1時間です。", ""),
    ("受付は4月4日から4月6日までです。", "受付期間は3日間です。", ""),
    ("延長は10時から12時まで、1時間1,500円です。", "2時間で3,000円です。", ""),
    ("特急券は料金の30パーセントを手数料としていただきます。", "手数料は3割ですので、7割が戻ります。", ""),
    ("子女教育每个子女每月扣除2,000元。", "每月四千元。", "有2个孩子能扣多少？"),
    ("探视时间为16:00至16:30。", "可以探视半个小时。", ""),
]  # fmt: skip
STAYS_NEW = [
    ("A bag costs 60 euros online and 85 euros at the airport.", "A bag costs 25 euros online.", ""),
    ("A permit costs £84 a year.\nElectric vehicles receive a discount of 50 per cent.", "Electric ones pay £41.", ""),
    ("Lunch costs £4.20 per day.", "A week costs £21.", ""),
    ("管理費は月額14,500円、修繕積立金は月額9,800円です。", "合わせて24,500円です。", ""),
    ("延長は10時から12時まで、1時間1,500円です。", "2時間で4,500円です。", ""),
    ("特急券は料金の30パーセントを手数料としていただきます。", "手数料は3割ですので、8割が戻ります。", ""),
    ("特急券は料金の30パーセントを手数料としていただきます。", "手数料は7割です。", ""),
    ("Hourly leave may be taken for 40 hours a year.\nThe bus pass is paid by half: 50 per cent.", "You may take 20 hours of hourly leave a year.", ""),
    ("受付は4月4日から4月6日までです。", "受付は4月3日までです。", ""),
    ("探视时间为16:00至16:30。", "可以探视四十分钟。", ""),
]  # fmt: skip


@pytest.mark.parametrize(("context", "statement", "question"), FOLLOWS)
def test_what_follows_from_the_numbers_is_not_new(context: str, statement: str, question: str) -> None:
    assert Contexts(context.split("\n")).evidence(statement, question).features.new_numbers == 0


@pytest.mark.parametrize(("context", "statement", "question"), STAYS_NEW)
def test_a_number_that_follows_from_nothing_stays_new(context: str, statement: str, question: str) -> None:
    assert Contexts(context.split("\n")).evidence(statement, question).novelty.numbers
