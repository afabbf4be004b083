"""Which sentences a model reads with a statement."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.said import said
from classifiers.faithfulness.windows import LONGEST_WINDOW, window_for

LOANS = "Loans last three weeks."
FINES = "Overdue  items cost\n25p a day."
HOURS = "The Riverside branch opens at nine."
LINES = [Line(text) for text in (LOANS, FINES, HOURS)]


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("The Riverside branch opens early.", HOURS),
        (
            "Loans last three weeks and overdue items cost 25p.",
            f"{LOANS} Overdue items cost 25p a day.",
        ),
        ("Overdue items cost 25p, loans last weeks.", f"{LOANS} Overdue items cost 25p a day."),
        ("Penguins swim.", ""),
    ],
)
def test_sentences_are_added_for_what_the_first_leaves_open_and_keep_their_order(
    statement: str, read: str
) -> None:
    assert window_for(said(statement, ""), LINES) == read


def test_a_window_has_room_for_so_many_characters_but_always_for_its_best_sentence() -> None:
    long = "申请需要身份证。" + "办理时间以窗口公告为准，" * (LONGEST_WINDOW["zh"] // 12 + 1)
    other = "费用为五百元。"
    asked = said("申请需要身份证和五百元费用。", "")
    assert window_for(asked, [Line(long), Line(other)]) == long
    assert window_for(asked, [Line("申请需要身份证。"), Line(other)]) == "申请需要身份证。费用为五百元。"


def test_no_lines_give_no_window() -> None:
    assert window_for(said("Loans last three weeks.", ""), []) == ""
