"""A number, an extension or an address stands beside the wrong subject, though each is in the contexts."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.contradictions.crossed import crossed
from classifiers.faithfulness.passages import Passages
from classifiers.faithfulness.said import said

DESKS = "システムの操作方法は情報システム部(内線2210)、規程の内容は経理部(内線3105)にお問い合わせください。"
MAIL = "Write to billing@example.com about invoices, and to help@example.com about passwords."
PRICES = "A flex desk costs 190 euros, a fixed desk 290 euros."
PLANS = "早割プランは予約の時点から50%の取消料です。通常プランの取消料は前日に宿泊料金の30%です。"
ROUTER = "The 5 GHz band is faster, the 2.4 GHz band reaches further."


def found(passage: str, statement: str) -> list[str]:
    known = Passages([passage]).lines
    return [number for number, _ in crossed(said(statement, ""), known, known, [])]


@pytest.mark.parametrize(
    ("passage", "statement", "numbers"),
    [
        (PRICES, "The fixed desk costs 190 euros.", ["190 euros"]),
        (DESKS, "規程の内容は情報システム部(内線2210)にお問い合わせください。", ["2210"]),
        (MAIL, "Write to billing@example.com about passwords.", ["billing@example.com"]),
        (ROUTER, "The 2.4 GHz band is faster.", ["2.4"]),
        (PLANS, "通常プランの取消料は前日に宿泊料金の半額です。", ["半額"]),
    ],
)
def test_what_belongs_to_another_is_crossed(passage: str, statement: str, numbers: list[str]) -> None:
    assert found(passage, statement) == numbers


@pytest.mark.parametrize(
    ("passage", "statement"),
    [
        (PRICES, "The fixed desk costs 290 euros."),
        (DESKS, "規程の内容は経理部(内線3105)にお問い合わせください。"),
        (MAIL, "Write to billing@example.com about invoices."),
        (ROUTER, "The 2.4 GHz band reaches further."),
        (PLANS, "早割プランは50%の取消料がかかりますので、宿泊料金の半額です。"),
        ("Step 1 resets the router, step 2 restarts it.", "Step 2 resets the router."),
    ],
)
def test_what_stands_beside_its_own_is_not(passage: str, statement: str) -> None:
    assert found(passage, statement) == []
