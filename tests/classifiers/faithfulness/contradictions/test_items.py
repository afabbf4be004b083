"""A list may name what the contexts deny, and say nothing itself that could be compared with the denial."""

from __future__ import annotations

import pytest

from classifiers.faithfulness import Checked
from classifiers.faithfulness.local import LocalJudge
from encoders.pairs import PairModel
from encoders.shipped import load_shipped_support

DENIED = [
    ("The kit includes:\n- a lamp\n- a charger\n- batteries", "The kit includes a lamp and a charger. Batteries are not included.", "batteries"),
    ("申請方法は次のとおりです。\n- 窓口\n- 電話(03-1234-5678)", "申請は窓口で受け付けます。電話での申請は受け付けていません。お問い合わせ先は03-1234-5678です。", "電話(03-1234-5678)"),
    ("请带：\n1. 身份证\n2. 户口本", "办理时请带身份证，不需要提供户口本。", "户口本"),
]  # fmt: skip
GRANTED = [
    ("The kit includes:\n- a lamp\n- batteries", "The kit includes a lamp and batteries. A charger is not included."),
    ("These are not covered:\n- Taxis\n- Meals", "Taxis and meals are not covered."),
    ("対象外の品目は次のとおりです。\n- パソコン\n- タイヤ", "パソコンとタイヤは収集できません。"),
    ("注意点は次のとおりです。\n- 現金は使えません\n- 駐車場はありません", "現金は使えません。駐車場はありません。"),
    ("以下不予报销：\n- 出租车费\n- 餐费", "出租车费和餐费不予报销。"),
]  # fmt: skip


@pytest.fixture(scope="module")
def reader() -> PairModel:
    return load_shipped_support()


@pytest.mark.parametrize(("answer", "context", "denied"), DENIED)
async def test_an_item_that_the_contexts_only_deny_is_held_back(
    reader: PairModel, answer: str, context: str, denied: str
) -> None:
    verdict = await LocalJudge(reader).judge(answer, [context])
    assert isinstance(verdict, Checked)
    assert [one.text for one in verdict.statements if not one.supported] == [denied]


@pytest.mark.parametrize(("answer", "context"), GRANTED)
async def test_an_item_that_is_granted_or_listed_as_denied_passes(
    reader: PairModel, answer: str, context: str
) -> None:
    assert (await LocalJudge(reader).judge(answer, [context])).passed
