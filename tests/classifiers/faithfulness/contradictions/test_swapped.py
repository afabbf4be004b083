"""Two things the other way round, and things that are only listed in another order."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.evidence import Contexts

TURNED = [
    ("Riverton buys the mill from Hadley.", "Hadley buys the mill from Riverton."),
    ("貸主が借主に敷金を返します。", "借主が貸主に敷金を返します。"),
]
LISTED = [
    ("炊事道具、食器、タオルの貸し出しはありません。", "タオル、食器、炊事道具の貸し出しはありません。"),
    ("マイページまたは電話で解約できます。", "電話またはマイページで解約できます。"),
]


@pytest.mark.parametrize(("context", "statement"), TURNED)
def test_what_is_turned_round_is_told(context: str, statement: str) -> None:
    assert Contexts([context]).evidence(statement).novelty.swapped


@pytest.mark.parametrize(("context", "statement"), LISTED)
def test_what_is_listed_may_stand_in_any_order(context: str, statement: str) -> None:
    assert Contexts([context]).evidence(statement).novelty.swapped == ()


def test_what_something_is_called_may_stand_before_or_behind_it() -> None:
    known = Contexts(["提前退租的，须支付一个月租金作为违约金。"])
    assert known.evidence("违约金为一个月租金。").novelty.swapped == ()
