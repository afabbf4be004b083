from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.reading.text import character_grams, exact_key, is_cjk, normalise, words


@pytest.mark.parametrize(
    ("some", "others"),
    [
        ("How do I reset MY password?!", "how do i reset my password"),
        ("Ｈｏｗ　do I reset", "how do I reset"),
        ("“Quoted” text…", "quoted text"),
        ("don’t", "don't"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("葛\U000e0100城市の\u034f料金", "葛城市の料金"),
        ("ｻｰﾊﾞｰの 再起動", "サーバーの再起動"),
        ("サーバの再起動", "サーバーの再起動。"),
        ("サ―バ―の再起動", "サーバーの再起動"),
        ("パスワードを、変更したい！", "パスワードを変更したい"),
        ("データ・ベース", "データベース"),
        ("Wi-Fi の設定", "wi‐fiの設定"),
        ("1,000円", "1000円"),
        ("１２時", "12時"),
        ("能 退款 吗？", "能退款吗"),
        ("①番", "1番"),
        ("e-mail", "E‑mail"),
    ],
)
def test_what_a_reader_ignores_is_ignored(some: str, others: str) -> None:
    assert normalise(some) == normalise(others)
    assert exact_key(normalise(some)) == exact_key(normalise(others))


@pytest.mark.parametrize(
    ("some", "others"),
    [
        ("C", "C#"),
        ("C", "C++"),
        ("C+", "C++"),
        ("1.5", "15"),
        ("version 2.0", "version 20"),
        ("-5 degrees", "5 degrees"),
        ("10 %", "10"),
        ("10²", "102"),
        ("10:30", "1030"),
        ("1/2", "12"),
        ("10-20", "1020"),
        ("$5", "€5"),
        ("R&D", "RD"),
        ("a.b@example.com", "ab@example.com"),
        (">5", "<5"),
        ("can't", "can"),
        ("ビル", "ビール"),
        ("公開", "非公開"),
        ("が", "か"),
        ("買います", "買いません"),
    ],
)
def test_what_may_change_the_meaning_stays(some: str, others: str) -> None:
    assert normalise(some) != normalise(others)


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_marks_alone_leave_nothing() -> None:
    assert normalise("?! … 。") == ""


@pytest.mark.parametrize("mark", "#+^_")
def test_long_runs_of_marks_are_read_once(mark: str) -> None:
    run = mark * 100_000  # the mark that went first once had the text read again: quadratic, for hours
    assert normalise(f"fee {run} fee") == "fee fee"
    assert normalise(f"fee {run}fee") == f"fee {mark}fee"
    assert normalise(f"fee{run} fee") == f"fee{run} fee"


def test_a_run_of_japanese_is_one_word_and_many_grams() -> None:
    assert words(normalise("VPN に接続")) == ["vpn", "に接続"]
    assert {"に接", "接続", "_vp"} <= character_grams("vpnに接続")


@pytest.mark.parametrize(
    ("text", "expected"), [("パスワードreset", True), ("reset 方法 of the card", False), ("12", False)]
)
def test_the_script_of_a_text_is_that_of_most_letters(text: str, expected: bool) -> None:
    assert is_cjk(text) is expected
