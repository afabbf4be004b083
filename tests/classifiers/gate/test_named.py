"""A question about somebody else's product sounds like ours: only its name says whose it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from classifiers.gate import GateLabel, GateVerdict
from classifiers.gate.named import NamedGate, asked_names, stands_in
from classifiers.gate.rules import EVERY_RULE, Rules
from encoders import Encoded
from languages.identification import Language

QUESTION = Encoded("How do I cancel my Netflix subscription?", np.zeros(3, np.float32))


def said(label: GateLabel = "must", rule: str = "scope") -> GateVerdict:
    return GateVerdict(
        label=label, score=0.8, reason="it looks ours", nearest=None, judge="examples@2", rule=rule
    )


class Says:
    def __init__(self, verdict: GateVerdict) -> None:
        self._verdict = verdict

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        return self._verdict


class Words:
    """What an operator has written, in one text."""

    def __init__(self, text: str = "") -> None:
        self._text = text

    def language_of(self, text: str, /) -> Language:
        return "en"

    async def lacks(self, names: Sequence[str], question: Encoded, /, *, tenant: str) -> bool:
        return not any(stands_in(name, self._text, "en") for name in names)


async def judged(verdict: GateVerdict, own: str = "Plans", rules: Rules = EVERY_RULE) -> GateVerdict:
    return await NamedGate(Says(verdict), Words(own), rules).judge(QUESTION, tenant="t")


@pytest.mark.parametrize("rule", ["scope", "document", "entry"])
async def test_what_names_what_we_never_do_goes_to_a_person(rule: str) -> None:
    found = await judged(said(rule=rule))
    assert (found.label, found.rule) == ("unsure", "name")
    assert found.reason == "nothing of ours names Netflix, though it looks ours"


async def test_what_we_have_written_about_is_ours() -> None:
    assert (await judged(said(), own="How to watch us on netflix")).label == "must"


@pytest.mark.parametrize(
    "verdict",
    [said(rule="allow:1"), said(rule="example"), said(rule="default"), said("may"), said("unsure")],
)
async def test_a_name_overrules_nothing_that_the_operator_said_and_refuses_nothing(
    verdict: GateVerdict,
) -> None:
    assert await judged(verdict) is verdict


@pytest.mark.parametrize("rules", [Rules(default="refuse"), Rules(default="pass")])
async def test_a_name_holds_nothing_where_unsure_sends_to_no_person(rules: Rules) -> None:
    assert (await judged(said(), rules=rules)).label == "must"


@pytest.mark.parametrize("quiet", ["name", "unsure"])
async def test_a_name_is_only_told_of_in_shadow(quiet: str) -> None:
    found = await judged(said(), rules=Rules(shadow=frozenset({quiet})))
    assert (found.label, found.rule) == ("must", "scope")
    assert [(one.rule, one.label) for one in found.shadow] == [("name", "unsure")]


@pytest.mark.parametrize(
    ("language", "question", "names"),
    [
        ("en", "How do I reset my Bitwarden password?", ["Bitwarden"]),
        ("en", "how do i cancel netflix", ["netflix"]),
        ("en", "Barclays locked my account, how do I unlock it?", ["Barclays"]),
        ("en", "When does my Amazon Prime membership renew?", ["Amazon Prime"]),
        ("en", "What is Netflix's price?", ["Netflix"]),
        ("ja", "ソフトバンクの解約方法を教えてください", ["ソフトバンク"]),
        ("ja", "Kyashのパスワードを忘れました", ["Kyash"]),
        ("ja", "ピザーラの住所変更の手続きは？", ["ピザーラ"]),
        ("ja", "りそな銀行の金利はいくらですか", ["りそな"]),
        ("zh", "支付宝怎么解绑银行卡", ["支付宝"]),
        ("zh", "支付寶怎麼解綁銀行卡", ["支付宝"]),
        ("zh", "民生银行的贷款利率是多少", ["民生银行"]),
        ("zh", "Steam怎么修改密码", ["Steam"]),
    ],
)
def test_a_question_names_what_it_is_about(language: Language, question: str, names: list[str]) -> None:
    assert asked_names(question, language) == tuple(names)


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "I'm Julie Novak, how do I change my address?"),
        ("en", "Dear Sir, my name is Peter. How do I delete my data?"),
        ("en", "Thanks, Anna! And how do I change my card?"),
        ("en", "My colleague Tom left, how do I remove him?"),
        ("en", "I live in Leeds, can I pay by direct debit?"),
        ("en", "Do you deliver to France?"),
        ("en", "How do I log in on my iPhone or in Chrome?"),
        ("en", "Can I import customers from Excel?"),
        ("en", "Do you accept Klarna?"),
        ("en", "Can I read the PDF in German on Monday?"),
        ("en", "HOW DO I CANCEL MY SUBSCRIPTION"),
        ("ja", "田中と申します。カードを紛失しました"),
        ("ja", "大阪に引っ越したので住所変更をしたい"),
        ("ja", "iPhoneでアプリに登録できますか"),
        ("ja", "LINEから問い合わせたい"),
        ("ja", "PayPayは使えますか"),
        ("ja", "クレジットカードの申し込みはできますか"),
        ("ja", "ライオンの餌やりは何時ですか"),  # イオン
        ("zh", "我叫李明，社保卡丢了怎么补办"),
        ("zh", "我从北京搬来，居住证怎么办"),
        ("zh", "可以用支付宝缴费吗"),
        ("zh", "微信里能预约吗"),
        ("zh", "华为手机能装吗"),
        ("zh", "聊天记录怎么导出"),
    ],
)
def test_persons_places_and_means_are_not_what_is_asked_about(language: Language, question: str) -> None:
    assert asked_names(question, language) == ()


def test_a_story_names_much_by_the_way() -> None:
    assert asked_names("My Netflix bill came. " + "And then I waited for days. " * 8, "en") == ()


@pytest.mark.parametrize(
    ("language", "name", "text"),
    [
        ("en", "Ledgerly Pro", "Ledgerly is our software."),
        ("en", "Ledgerley", "Ledgerly is our software."),
        ("ja", "ひのでポイント", "ひのでポイントがたまります"),
        ("ja", "バスパス", "高齢者のバスの乗車証"),
        ("zh", "云川通", "雲川通App"),
        ("zh", "12306", "火车票在12306购买"),
    ],
)
def test_a_name_of_ours_may_be_spelled_in_other_ways(language: Language, name: str, text: str) -> None:
    assert stands_in(name, text, language)
    assert not stands_in("Netflix", text, language)
