"""Chinese in traditional characters is judged as in simplified ones, and told in its own."""

from __future__ import annotations

import pytest

from classifiers.faithfulness import Checked
from classifiers.faithfulness.one_script import Texts
from gateway.checking.opening import judge_apart
from gateway.settings import Settings

POOL = "參觀無需預約。泳客須戴泳帽。未滿十二歲者應由大人陪同。押金兩百元於離場時退還。夜間時段優惠票僅限會員購買。"
CASES = [  # what stands there, and what doesn't
    ("參觀不用預約。", "參觀必須預約。"),
    ("未滿十二歲者應由大人陪同。", "未滿十二歲者不應由大人陪同。"),
    ("押金兩百元在離場時退還。", "押金三百元在離場時退還。"),
    ("夜間時段優惠票僅限會員購買。", "夜間時段優惠票會員與非會員均可購買。"),
]


@pytest.mark.parametrize(("right", "wrong"), CASES)
@pytest.mark.parametrize("question", ["", "泳池怎麼用？"])
async def test_traditional_characters_are_read_with_the_words_of_simplified_ones(
    right: str, wrong: str, question: str
) -> None:
    async with judge_apart(Settings()) as judge:
        said = [await judge.judge(text, [POOL], question=question) for text in (right, wrong)]
    assert [verdict.passed for verdict in said] == [True, False]  # type: ignore[union-attr]


async def test_what_was_written_is_told_as_it_was_written() -> None:
    answer = "押金三百元於離場時退還。"
    async with judge_apart(Settings()) as judge:
        verdict = await judge.judge(answer, ["前言。", POOL], question=None)
    assert isinstance(verdict, Checked)
    (statement,) = verdict.statements
    assert statement.text == answer
    assert statement.evidence in POOL
    assert [part.text for part in statement.new if part.kind == "number"] == ["三百元"]
    assert all(part.text in answer for part in statement.new if part.kind == "wording")


@pytest.mark.parametrize(
    ("answer", "context"),
    [("料金は無料です。", "無料期間"), ("無料", "営業時間は九時からです。"), ("It is free.", "免費入場。" + "Entry. " * 9)],
)  # fmt: skip
def test_other_languages_stay_as_they_are(answer: str, context: str) -> None:
    texts = Texts.of(answer, [context], None)
    assert texts.in_one_script() is texts
