"""What a bare yes or no says with its question."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.statements import statements
from classifiers.faithfulness.statements.replies import is_reply, spelled_out

SAID = [
    ("Can I get a refund after the trial?", "Yes.", "you can get a refund after the trial"),
    ("Can I get a refund after the trial?", "Unfortunately not.", "you can not get a refund after the trial"),
    ("I moved in May. Can I still register? I have a lease.", "**Yes, you can!**", "you can still register"),
    ("Is the pool open on Mondays?", "No.", "the pool is not open on mondays"),
    ("Do I have to send my receipts?", "No, you don't.", "you do not have to send your receipts"),
    ("does it cost extra", "Not at all.", "it do not cost extra"),
    ("Hello, could you tell me whether parking is free?", "Sure.", ""),
    ("I'd like to know if parking is free.", "It is.", "parking is free"),
    ("お試し期間のあとに返金できますか", "はい。", "お試し期間のあとに返金できます"),
    ("予約は必要なのでしょうか。", "いいえ、違います。", "予約は必要ではありません"),
    ("分割払いは可能でしょうか。", "もちろんです。", "分割払いは可能です"),
    ("返金できる？", "できません。", "返金できない"),
    ("昨日買ったのですが、返品してもいいですか？", "いいえ。", "返品してはいけません"),
    ("能不能退款？", "没问题。", "能退款"),
    ("试用期以后可以退款吗", "抱歉，不可以。", "试用期以后不可以退款"),
    ("有没有停车场？", "没有。", "没有停车场"),
    ("周末是否营业", "是的。", "周末营业"),
]  # fmt: skip
UNKNOWN = [
    ("When do you open?", "Yes."),
    ("Can you tell me the fee?", "Sure."),
    ("Can I park there, and what does it cost?", "Yes."),
    ("Is it free? Is it open?", "Yes."),
    ("Isn't it free?", "No."),
    ("料金を教えてもらえますか", "はい。"),
    ("何時まで開いていますか", "はい。"),
    ("返金できませんか", "はい。"),
    ("怎么退款？", "好的。"),
    ("可以退还是换？", "可以。"),
    ("你能告诉我运费吗", "当然。"),
]


@pytest.mark.parametrize(("question", "reply", "said"), SAID)
def test_a_reply_says_what_is_asked_or_denies_it(question: str, reply: str, said: str) -> None:
    assert is_reply(reply)
    assert spelled_out(reply, question) == said


@pytest.mark.parametrize(("question", "reply"), UNKNOWN)
def test_nobody_knows_what_a_yes_says_to_another_question(question: str, reply: str) -> None:
    assert spelled_out(reply, question) == ""
    assert statements(reply, question) == []
    assert [one.text for one in statements(f"{reply} The fee is 30 EUR.", question)] == ["The fee is 30 EUR."]


@pytest.mark.parametrize(
    "sentence", ["Yes, parking is free.", "No fees are charged.", "はい、返金できます。", "可以退款。", ""]
)
def test_what_says_more_is_no_bare_reply(sentence: str) -> None:
    assert not is_reply(sentence)


def test_a_reply_stands_behind_greetings_and_before_everything_else() -> None:
    question = "May I bring my dog?"
    found = statements("Thank you for your question. Yes. Leads are mandatory.", question)
    assert [(one.text, one.claim) for one in found] == [
        ("Yes.", "you may bring your dog"), ("Leads are mandatory.", "Leads are mandatory."),
    ]  # fmt: skip
    later = statements("Leads are mandatory. Of course.", question)
    assert [one.claim for one in later] == ["Leads are mandatory.", "Of course."]
