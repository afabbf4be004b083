"""Which parts of a passage bear on a question."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.retrieval.strips import coverage, refined, strips

CUT = {
    "pairs of sentences": (
        "It opens at nine. It closes at five. Dr. Lee leads it. Ask him.",
        ["It opens at nine. It closes at five.", "Dr. Lee leads it. Ask him."],
    ),
    "Japanese without spaces": (
        "料金は500円です。期限は1年です。窓口は二階です。",
        ["料金は500円です。期限は1年です。", "窓口は二階です。"],
    ),
    "Chinese": ("费用为五元。有效期一年。窗口在二楼。", ["费用为五元。有效期一年。", "窗口在二楼。"]),
    "a list with what announces it": (
        "You need:\n- a passport\n- a photo\n\nPay at the desk.",
        ["You need:\n- a passport\n- a photo", "Pay at the desk."],
    ),
    "a table stays whole": ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", ["| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"]),
    "a heading with what follows": ("# Fees\n\n5 EUR.", ["Fees\n\n5 EUR."]),
}  # fmt: skip


@pytest.mark.parametrize(("passage", "parts"), CUT.values(), ids=CUT)
def test_a_passage_is_cut_at_its_sentences(passage: str, parts: list[str]) -> None:
    assert [passage[each.start : each.end] for each in strips(passage)] == parts


REFINED = {
    "en": (
        "What does parking cost?",
        "The hall was built in 1990. It seats many. Parking costs 5 EUR. Pay at the gate. Dogs must wait. Cats, too.",
        "Parking costs 5 EUR. Pay at the gate.",
    ),
    "ja": (
        "駐車料金はいくらですか",
        "会館は1990年に建てられました。座席は多数あります。駐車料金は500円です。門で支払います。犬は入れません。猫も同じです。",
        "駐車料金は500円です。門で支払います。",
    ),
    "zh": (
        "停车费用是多少？",
        "会馆建于1990年。座位很多。停车费用为五元。在门口支付。狗不能进入。猫也一样。",
        "停车费用为五元。在门口支付。",
    ),
}


@pytest.mark.parametrize(("question", "passage", "kept"), REFINED.values(), ids=REFINED)
def test_what_bears_on_the_question_is_kept_in_order(question: str, passage: str, kept: str) -> None:
    assert refined(question, passage, kept_from=0.3) == kept
    assert refined(question, passage, kept_from=0.0) == passage


def test_parts_that_stood_apart_are_joined_as_they_are_written() -> None:
    english = "Parking costs 5 EUR. Pay first. The hall is old. It is red. Parking ends at five. Leave then."
    assert refined("Parking?", english) == "Parking costs 5 EUR. Pay first. Parking ends at five. Leave then."
    japanese = "駐車は有料です。前払いです。会館は古いです。赤いです。駐車は五時までです。出てください。"
    assert refined("駐車は？", japanese) == "駐車は有料です。前払いです。駐車は五時までです。出てください。"


@pytest.mark.parametrize("question", ["", "？", "Zebra?"])
def test_a_passage_that_holds_nothing_of_the_question_stays_whole(question: str) -> None:
    assert refined(question, "One. Two. Three. Four. Five.") == "One. Two. Three. Four. Five."
    assert coverage(question, "One.") == 0


@given(
    st.lists(
        st.sampled_from(["A fee. ", "費用です。", "\n- item", "\n# Head\n", "| a |\n", "x:\n", "\n\n"])
    ).map("".join)
)
def test_strips_are_ordered_and_lose_no_sentence(passage: str) -> None:
    found = strips(passage)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(each.start < each.end for each in found)
