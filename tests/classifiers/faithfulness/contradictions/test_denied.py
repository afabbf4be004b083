"""What the contexts deny is not granted, be the verb that they deny of one character."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.lines import Line
from gateway.checking.opening import judge_apart
from gateway.settings import Settings

EN = "Unopened bags can be exchanged within 7 days, but not returned."
JA = "未開封なら7日以内に交換できますが、返品はできません。"
BAGS = "未拆封7天内可以换，不能退。"
CARDS = "会员卡可以转让，不能退。"
HANDLE = "手柄可以清洗，但不可拆。"
FRESH = "7天内可退，生鲜不退。"
STAFF = "退休人员可以办卡，办后不退。"


@pytest.mark.parametrize(
    ("passage", "right", "wrong"),
    [
        (EN, "Unopened bags can be exchanged within 7 days.", "Unopened bags can be returned within 7 days."),
        (JA, "未開封なら7日以内に交換できます。", "未開封なら7日以内に返品できます。"),
        (BAGS, "未拆封7天内可以换。", "未拆封7天内可以退。"),
        (CARDS, "会员卡不能退，但可以转让。", "会员卡可以退。"),
        (CARDS, "会员卡可以转让。", "可以，会员卡能退。"),
        (HANDLE, "手柄可以清洗。", "手柄可以拆。"),
    ],
)
async def test_what_is_denied_does_not_pass(passage: str, right: str, wrong: str) -> None:
    async with judge_apart(Settings()) as judge:
        said = {text: await judge.judge(text, [passage], question="") for text in (right, wrong)}
    assert {text: verdict.passed for text, verdict in said.items()} == {right: True, wrong: False}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("passage", "statement"),
    [
        pytest.param(FRESH, "7天内可以退。", id="granted to others"),
        pytest.param(FRESH, "7天内可以退，生鲜除外。", id="but for these"),
        pytest.param(STAFF, "退休人员可以办卡。", id="退 of another word"),
    ],
)
async def test_what_is_granted_passes(passage: str, statement: str) -> None:
    async with judge_apart(Settings()) as judge:
        verdict = await judge.judge(statement, [passage], question="")
    assert verdict.passed  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("会员卡不能退。", [{"退"}]),
        ("不能退，但可以换", [{"退"}]),
        ("不能退票。", [{"退票"}]),
        ("现金不行。", [set()]),
    ],
)
def test_one_character_that_ends_its_clause_is_a_verb(text: str, denied: list[set[str]]) -> None:
    assert Line(text).denials == denied
