"""How much of a question stands in a text, in three scripts."""

from __future__ import annotations

import pytest

from classifiers.gate.lexical import Rarity, lexical_share, pieces
from classifiers.text import has_words, mostly_cjk, normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ｈｅｌｌｏ　Ｗｏｒｌｄ", "hello world"),
        ("ｶｰﾄﾞ", "カード"),
        ("a\u200bb\ufeffc", "abc"),
        ("  Straße\n\tNord ", "strasse nord"),
        ("\u202eabc", "abc"),
        ("", ""),
        ("葛\U000e0100城市", "葛城市"),
    ],
)
def test_one_form_for_the_same_characters(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", True), ("７", True), ("質", True), ("?!", False), ("🙂", False), ("_", False)],
)
def test_words_are_letters_and_digits(text: str, expected: bool) -> None:
    assert has_words(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("How?", False), ("カードの PIN は", True), ("怎么办", True), ("the kanji 質", False)],
)
def test_a_text_is_cjk_when_a_third_of_it_is(text: str, expected: bool) -> None:
    assert mostly_cjk(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Activating cards", ["activa", "card"]),
        ("発電所の", ["発電", "電所", "所の"]),
        ("银行卡PIN", ["银行", "行卡", "pin"]),
        ("税", ["税"]),
        ("アカ・ウント", ["アカ", "ウン", "ント"]),
        ("?!", []),
    ],
)
def test_pieces_are_stems_and_pairs(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


@pytest.mark.parametrize(
    ("question", "holding", "other"),
    [
        (
            "How do I activate my card?",
            "The activation of a new card takes a minute.",
            "Do I have to discard my old shoes?",
        ),
        (
            "飯田洞発電所の常時出力はいくらですか?",
            "飯田洞発電所は長野県にある。常時出力は260キロワットである。",
            "東大寺の仏像はいくつありますか。",
        ),
        ("荨麻在外形上有什么特征？", "荨麻为多年生草本，外形特征是叶对生。", "什么地方有好玩的景点？"),
    ],
)
def test_a_text_that_holds_the_words_holds_a_larger_share(question: str, holding: str, other: str) -> None:
    assert lexical_share(question, holding) > 0.4 > 0.3 > lexical_share(question, other)


def test_a_text_holds_the_whole_of_itself() -> None:
    for text in ("How do I activate my card?", "銀行口座の住所変更", "怎么注销账户？"):
        assert lexical_share(text, text) == pytest.approx(1.0)


def test_a_stem_stands_at_the_beginning_of_a_word() -> None:
    assert lexical_share("card", "discard") == 0.0


def test_nothing_holds_nothing() -> None:
    assert lexical_share("", "card") == 0.0
    assert lexical_share("🙂", "card") == 0.0
    assert lexical_share("card", "") == 0.0


def test_what_stands_everywhere_tells_little() -> None:
    rarity = Rarity.fitted(["our bank and cards", "our bank and loans", "our bank and fees"])
    assert rarity.weight("loan") > 2 * rarity.weight("bank")
    question = "bank loans"
    assert lexical_share(question, "loans", rarity) > lexical_share(question, "bank", rarity)
