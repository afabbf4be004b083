"""The language of a text, short ones above all."""

from __future__ import annotations

import pytest

from languages.identification import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("営業時間", "ja"),
        ("手数料は？", "ja"),
        ("会員", "ja"),
        ("電話番号", "ja"),
        ("ｶｰﾄﾞ", "ja"),
        ("カード", "ja"),
        ("圀", "ja"),
        ("振込手数料", "ja"),
        ("PayPayで払えますか", "ja"),
        ("「How do I activate my card?」とは何ですか", "ja"),
        ("费用", "zh"),
        ("国家图书馆", "zh"),
        ("會員", "zh"),
        ("這個多少錢", "zh"),
        ("营业时间是？", "zh"),
        ("iPhone 怎么激活", "zh"),
        ("信用卡", "zh"),
        ("優の良品在哪里", "zh"),
        ("将 The House of the Yellow Carpet 添加到播放列表", "zh"),
        ("How do I activate my card?", "en"),
        ("hours", "en"),
        ("What does 営業時間 mean?", "en"),
        ("How do I say こんにちは in Japanese?", "en"),
        ("Où est la gare ?", "en"),
        ("了解", "ja"),
        ("在庫不足", "ja"),
        ("契約終了", "ja"),
        ("目的地", "ja"),
        ("不可以", "zh"),
        ("了解了", "zh"),
        ("我不了解", "zh"),
        ("", "ja"),
    ],
)
def test_the_script_and_the_words_tell_the_language(text: str, language: str) -> None:
    assert language_of(text, default="ja") == language


@pytest.mark.parametrize(
    "text", ["OK", "123", "😀", "Wi-Fi", "2FA", "…", "？？？", "国", "時間", "了解", "不要"]
)
@pytest.mark.parametrize("hint", ["ja", "zh"])
def test_what_says_nothing_by_itself_takes_the_language_of_the_conversation(text: str, hint: str) -> None:
    assert language_of(text, hint=hint, default="ja") == hint


@pytest.mark.parametrize(
    ("text", "default", "language"),
    [
        ("国", "ja", "ja"), ("国", "zh", "zh"), ("時間", "zh", "zh"), ("了解", "zh", "zh"), ("123", "zh", "zh"), ("😢", "ja", "ja"),
        ("？？？", "ja", "ja"), ("!!!", "en", "en"), ("OK", "ja", "en"),
    ],
)  # fmt: skip
def test_without_a_conversation_the_default_decides_for_bare_han_and_no_letters(
    text: str, default: str, language: str
) -> None:
    assert language_of(text, default=default) == language


@pytest.mark.parametrize("text", ["费用", "手数料は？", "What are your hours?"])
def test_a_clear_text_overrules_the_conversation(text: str) -> None:
    assert len({language_of(text, hint=hint, default="ja") for hint in (None, "en", "ja", "zh", "fr")}) == 1
