"""Which spellings are one word, and what only contains one."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files

import pytest
import yaml

from languages.spelling import one_spelling

ROWS = yaml.safe_load(files("languages").joinpath("spelling.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("some", "other"),
    [
        ("粗大ゴミの出し方", "粗大ごみの出し方"),
        ("アイスの椅子とイス", "アイスのイスと椅子"),
        ("引越の手続は、どこへ問合せしますか", "引っ越しの手続きは、どこへ問い合わせしますか"),
        ("申込期限", "申し込み期限"),
        ("けがをした。こどもは", "怪我をした。子供は"),
        ("ｻｰﾊﾞに接続出来ません", "サーバーに接続できません"),
        ("受け付けの時間", "受付の時間"),
        ("怎么登陆帐号", "怎么登录账号"),
    ],
)
def test_spellings_of_one_word_are_one(some: str, other: str) -> None:
    assert one_spelling(some) == one_spelling(other)


@pytest.mark.parametrize(
    "text",
    [
        "熊本市の蛇口", "アイスとアドバイス", "かけがえのない人", "引越す時に", "受け付けます", "はんこうした", "カンガルー",
        "そのよいすがた", "取消订单的入口", "ebay fax", "Straße",
    ],
)  # fmt: skip
def test_what_only_contains_a_word_stays(text: str) -> None:
    assert one_spelling(text) == text


def test_no_word_stands_in_two_rows_or_is_read_as_another_that_is_read_otherwise() -> None:
    times = Counter(word for row in ROWS for word in row)
    assert [word for word, number in times.items() if number > 1] == []
    assert [row[0] for row in ROWS if one_spelling(row[0]) != row[0]] == []


def test_no_single_kanji_is_read_otherwise() -> None:
    assert [word for row in ROWS for word in row[1:] if re.fullmatch("[一-鿿]", word)] == ["帐", "咋", "啥"]
