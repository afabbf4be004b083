from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from cache.reading.text import exact_key, normalise
from languages.words import simplified, word_reader


def bases(language: str, text: str) -> list[str]:
    return [word.base for word in word_reader()(text, language)]


@pytest.mark.parametrize(
    ("language", "some", "others"),
    [
        ("en", "Cancelled subscriptions", "cancel subscription"),
        ("ja", "申込み", "申し込み"),
        ("ja", "引越し", "引っ越し"),
        ("ja", "子ども", "子供"),
        ("ja", "サーバ", "サーバー"),
        ("zh", "帳號註銷", "帐号注销"),
        ("zh", "下載軟體", "下载软件"),
    ],
)
def test_spellings_of_one_word_share_its_base(language: str, some: str, others: str) -> None:
    assert bases(language, some) == bases(language, others)


@pytest.mark.parametrize(
    ("language", "text", "surface", "kind"),
    [
        ("en", "Office 365 on C++", "365", "number"),
        ("ja", "田中さんの口座", "田中", "name"),
        ("ja", "パスワードを忘れた", "忘れ", "verb"),
        ("ja", "二十日", "二十", "number"),
        ("zh", "上海的航班", "上海", "name"),
        ("zh", "挂失信用卡", "挂失", "verb"),
    ],
)
def test_a_word_has_its_kind(language: str, text: str, surface: str, kind: str) -> None:
    assert {word.surface: word.kind for word in word_reader()(text, language)}[surface] == kind


def test_an_unknown_language_has_no_words() -> None:
    with pytest.raises(LookupError, match="'fr'"):
        word_reader()("bonjour", "fr")


def test_many_threads_may_ask_at_once() -> None:
    texts = [f"暗証番号を{at}回間違えました" for at in range(200)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda text: bases("ja", text), texts))
    assert all(str(at) in words for at, words in enumerate(found))


def test_traditional_characters_keep_their_own_exact_key() -> None:
    assert simplified("簡體") == simplified("简体")
    assert exact_key(normalise("簡體")) != exact_key(normalise("简体"))
