"""The operator's lists: what they find in a question, and what they refuse to look for."""

from __future__ import annotations

import pytest

from classifiers.gate.lists import List, Listed, compiled, listable
from classifiers.text import normalise
from gateway.gatekeeping.words import word_cut

CUT = word_cut("ja")


def found(question: str, *items: Listed) -> list[str]:
    return [one.item.rule for one in List(items, CUT).found(normalise(question))]


def listed(rule: str = "deny:1", **what: tuple[str, ...]) -> Listed:
    return Listed(rule=rule, **what)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "question", "is_found"),
    [
        ("Who is your CEO?", "who is your ceo", True),
        ("Who is your CEO?", "ＷＨＯ is your ceo!!", True),
        ("Who is your CEO?", "Who is your CEO's wife?", False),
        ("株価はいくらですか", "株価はいくらですか？", True),
        ("株价是多少", "股票价格是多少", False),
    ],
)
def test_a_text_is_the_whole_question_however_it_is_written(text: str, question: str, is_found: bool) -> None:
    assert bool(found(question, listed(texts=(text,)))) is is_found


@pytest.mark.parametrize(
    ("word", "question", "is_found"),
    [
        ("organ", "Can I donate an organ?", True),
        ("organ", "Which organization runs this?", False),
        ("Credit Card", "my credit  card's fee", True),
        ("credit card", "creditcard", False),
        ("ass", "Please assist me with my pass", False),
        ("京都", "京都の天気を教えて", True),
        ("京都", "東京都の天気を教えて", False),
        ("盗む", "自転車を盗んだ人がいます", True),
        ("申し込み", "申込方法を教えてください", True),
        ("カード", "ｶｰﾄﾞの再発行", True),
        ("手数料", "解約手数料はいくらですか", True),
        ("退款", "我想退款", True),
        ("注销", "怎么註銷账户", True),
        ("款", "我想退款", False),
        ("bitcoin", "Bitcoinは買えますか", True),
        ("解約", "what does 解約 mean", True),
    ],
)
def test_a_word_is_found_whole_in_each_language(word: str, question: str, is_found: bool) -> None:
    assert bool(found(question, listed(words=(word,)))) is is_found


@pytest.mark.parametrize(
    ("pattern", "question", "is_found"),
    [
        (r"order \d{6}", "Where is ORDER 123456?", True),
        (r"order \d{6}", "Where is order 12345?", False),
        ("競合他社|ライバル社", "ﾗｲﾊﾞﾙ社のほうが安いですか", True),
        ("^(hours|open)", "when are you open", False),
    ],
)
def test_a_pattern_is_found_anywhere_in_any_case_and_width(
    pattern: str, question: str, is_found: bool
) -> None:
    assert bool(found(question, listed(patterns=(pattern,)))) is is_found


def test_a_pattern_over_what_is_forbidden_must_be_the_whole_question() -> None:
    item = Listed(rule="allow:1", patterns=("how do i kill (a|the) process",), over_forbidden=True)
    assert found("How do I kill the process", item)
    assert not found("How do I kill the process and then the president", item)


def test_every_item_is_found_once_the_first_of_the_list_first() -> None:
    items = (listed("deny:a", words=("card", "fee")), listed("deny:b", patterns=("card",)))
    assert found("the fee of a card", *items) == ["deny:a", "deny:b"]
    assert found("the fee of a card", *reversed(items)) == ["deny:b", "deny:a"]


def test_a_pattern_ends_where_python_s_own_engine_would_not_in_a_lifetime() -> None:
    one = List([listed(patterns=(r"(a+)+$", r"(x|x|y)*z$"))], CUT)
    assert one.found("a" * 50_000 + "!") == []


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("(", "missing )"), (r"(?=a)b", "look-around"), (r"(a)\1", "back-reference"), ("a*", "empty text")],
)
def test_a_pattern_that_cannot_be_used_is_refused(pattern: str, told: str) -> None:
    with pytest.raises(ValueError, match=told.replace(")", r"\)")):
        compiled(pattern)


@pytest.mark.parametrize("text", ["", "  ", "?!", "…"])
def test_a_text_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="letter or a digit"):
        listable(text)


def test_half_a_character_in_a_question_breaks_nothing() -> None:
    assert found("a card \ud800", listed(patterns=("card",))) == ["deny:1"]
