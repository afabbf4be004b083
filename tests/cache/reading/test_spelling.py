"""Which spellings are one, and what only looks like a numeral."""

from __future__ import annotations

import pytest

from cache.reading.spelling import spelt


@pytest.mark.parametrize(
    ("language", "some", "other"),
    [
        ("zh", "醫保斷繳三個月會怎麼樣", "医保断缴3个月会怎么样"),
        ("zh", "两个人能用吗", "2个人能用吗"),
        ("zh", "产假一百五十八天", "产假158天"),
        ("zh", "轉帳", "转账"),
        ("zh", "ｉＰｈｏｎｅ１５", "iPhone 15"),
        ("ja", "令和6年一月一日の午後5時", "2024年1月1日の17時"),
        ("ja", "٣万円と三万٤円", "30000円と30004円"),
        ("ja", "粗大ゴミの出し方", "粗大ごみの出し方"),
        ("ja", "Ｗｉ－Ｆｉのパスワードを教えて下さい", "WiFiのパスワードを教えてください"),
    ],
)
def test_spellings_of_one_word_are_one(language: str, some: str, other: str) -> None:
    assert spelt(some, language) == spelt(other, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "一般怎么办理一部分"),
        ("ja", "統一した書式、万一の場合"),
        ("en", "Ｔｅｎ days"),
        ("de", "Straße"),
    ],
)
def test_what_only_contains_a_numeral_stays(language: str, text: str) -> None:
    assert spelt(text, language) == text
