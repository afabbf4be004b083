"""Which sentences hold several claims, and what each claim is about."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.faithfulness.statements import statements
from classifiers.faithfulness.statements.clauses import clauses

# What is judged: a clause with the subject, condition or scope that it shares.
CLAIMS = {
    "X costs 5 EUR and is valid for a year.": ["X costs 5 EUR", "X is valid for a year."],
    "The fee is 5 EUR, and the deadline is 1 May.": ["The fee is 5 EUR,", "the deadline is 1 May."],
    "If the card is lost, the fee is 5 EUR and the card is blocked.": [
        "If the card is lost, the fee is 5 EUR",
        "If the card is lost, the card is blocked.",
    ],
    "For students, entry is free and the tour costs 5 EUR.": [
        "For students, entry is free",
        "For students, the tour costs 5 EUR.",
    ],
    "The office opens at 9:00 and closes at 17:00, while the desk is open until 20:00.": [
        "The office opens at 9:00",
        "The office closes at 17:00,",
        "the desk is open until 20:00.",
    ],
    "The pass (bus and tram) is cheap and includes parking.": [
        "The pass (bus and tram) is cheap",
        "The pass (bus and tram) includes parking.",
    ],
    "料金は500円で、有効期限は1年です。": ["料金は500円で、", "有効期限は1年です。"],
    "カードは無料で、1年間有効です。": ["カードは無料で、", "カードは1年間有効です。"],
    "料金は500円ですが、学生は無料です。": ["料金は500円です", "学生は無料です。"],
    "会員の場合は料金は無料で、期間は1年です。": ["会員の場合は料金は無料で、", "会員の場合は期間は1年です。"],
    "窓口は9時に開き、受付は17時に閉まります。": ["窓口は9時に開き、", "受付は17時に閉まります。"],
    "费用为五元，有效期一年。": ["费用为五元，", "有效期一年。"],
    "该卡免费，有效期为一年，可以在网上申请。": ["该卡免费，", "有效期为一年，", "该卡可以在网上申请。"],
    "如果您是会员，费用为五元，有效期为一年。": ["如果您是会员，费用为五元，", "如果您是会员，有效期为一年。"],
    "费用为五元，但学生免费。": ["费用为五元，", "学生免费。"],
    "南门周一到周四22:00关门，周五周六23:00关门。": ["南门周一到周四22:00关门，", "南门周五周六23:00关门。"],
    "六到十一岁打八折，十二岁以上九折。": ["六到十一岁打八折，", "十二岁以上九折。"],
}  # fmt: skip
WHOLE = [
    "The price of the apple and the pear is 5 EUR.",
    "The plan covers repairs and replacements of parts.",
    "You can use it if the card is signed and the fee is paid.",
    "The card is free and is valid only if you register.",
    "Both the card and the pass are free.",
    "It is not true that the card is free and the pass is cheap.",
    'The sign says "the desk is closed and the shop is open".',
    "The card that is new and the card that is old are valid.",
    "Bring a passport and any document that is valid.",
    "会議は東京で、午後3時から行われます。",
    "申し込みは、氏名と住所を書いて、郵送してください。",
    "料金は500円で、期限は1年というわけではありません。",
    "看板には「料金は無料で、期限は1年です」と書かれています。",
    "会員の場合は、料金は無料です。",
    "如果您是会员，费用为五元。",
    "申请后，有效期为一年。",
    "只有会员才可以借书，则需要登记。",
    "Registration of a dog; Fee to be paid: 3,000 yen; Where you go: the City Hall",
    "犬の登録; 手数料: 3,000円; 窓口: 1階",
    "世帯の住民税額: 100,000円未満; 保育料（月額）: 15,000円",
    "养犬登记；费用：500元",
]


@pytest.mark.parametrize(("sentence", "claims"), CLAIMS.items(), ids=CLAIMS)
def test_each_claim_of_a_sentence_is_judged_with_its_subject(sentence: str, claims: list[str]) -> None:
    assert [each.claim for each in statements(sentence)] == claims


@pytest.mark.parametrize("sentence", WHOLE)
def test_what_could_not_be_judged_alone_stays_whole(sentence: str) -> None:
    assert [sentence[each.start : each.end] for each in clauses(sentence)] == [sentence]


@given(st.lists(st.sampled_from(
    ["The fee", " is 5 EUR", " and ", ", but ", "(and is", ") ", "料金は", "500円で、", "無料ですが、", "费用为五元，", "; ", "「", "」"]
), max_size=12).map("".join))  # fmt: skip
def test_clauses_hold_the_whole_sentence_in_order(sentence: str) -> None:
    found = clauses(sentence)
    assert all(one.end <= other.start for one, other in pairwise(found))
    kept = "".join(sentence[each.start : each.end] for each in found)
    assert "".join(kept.split()) == "".join(sentence.split())
    assert all(each.subject in sentence for each in found)
