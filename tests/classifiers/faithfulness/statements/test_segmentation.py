"""Where sentences end: what sentencex does, and the mistakes of it that we mend."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.faithfulness.statements.segmentation import sentences
from languages.identification import script_language

SENTENCES = {
    "abbreviations and money": (
        "Dr. Smith paid $3.5 million in Jan. 2020 to U.S. Bank, Inc. It failed [1].",
        ["Dr. Smith paid $3.5 million in Jan. 2020 to U.S. Bank, Inc.", "It failed [1]."],
    ),
    "titles": ("Ms. Keller helps. Call Prof. Dr. Lee.", ["Ms. Keller helps.", "Call Prof. Dr. Lee."]),
    "approximate": ("The fee is approx. 20 EUR. Pay now.", ["The fee is approx. 20 EUR.", "Pay now."]),
    "addresses": (
        "See https://a.example/b?c=d.e for more. Or write to a.b@c.example.",
        ["See https://a.example/b?c=d.e for more.", "Or write to a.b@c.example."],
    ),
    "citations behind the mark": ("It is so.[1] It is not.[2][3]", ["It is so.[1]", "It is not.[2][3]"]),
    "quotation": ('He said "No. I won\'t." and left. Fine.', ['He said "No. I won\'t." and left.', "Fine."]),
    "versions": ("Version 2.3.1 is out! Really? No.", ["Version 2.3.1 is out!", "Really?", "No."]),
    "list items": (
        "Intro:\n- One. And more.\n- Two\n1. Three\n2) Four",
        ["Intro:", "One.", "And more.", "Two", "Three", "Four"],
    ),
    "a list on one line": (
        "Do this: (1) Open it. (2) Press it, and (3) wait 3 days. Room (4) is shut.",
        ["Do this:", "Open it.", "Press it, and", "wait 3 days.", "Room (4) is shut."],
    ),
    "a list without stops": (
        "1) Open the menu 2) Wait 2 days 3) Close it, or ask ①の窓口 ②の窓口",
        ["Open the menu", "Wait 2 days", "Close it, or ask", "の窓口", "の窓口"],
    ),
    "one in another": (
        "1. Write. 2. Hand in (1) the form and (2) a photo. 3. Pay.",
        ["Write.", "Hand in (1) the form and (2) a photo.", "Pay."],
    ),
    "Japanese and Chinese lists on one line": (
        "①申し込みます。②払います。 3. 8:30までに出します。4日後です。\n步骤：1、打开应用。2、等待3天。",
        [
            "申し込みます。",
            "払います。",
            "3. 8:30までに出します。",
            "4日後です。",
            "步骤：",
            "打开应用。",
            "等待3天。",
        ],
    ),
    "no list, but numbers that are told": (
        "Adults: 1. Children: 2. The fee is 1. Then pay 2. Wait: 1. Done.",
        ["Adults: 1.", "Children: 2.", "The fee is 1.", "Then pay 2.", "Wait: 1.", "Done."],
    ),
    "headings, tables and code": (
        "# Fees\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nprint('a. b')\n```\nEnd.",
        ["Fees", "| a | b |", "| 1 | 2 |", "print('a. b')", "End."],
    ),
    "quoted lines": ("> Quoted. Twice.\n\nNot.", ["Quoted.", "Twice.", "Not."]),
    "lines broken by width": (
        "This is a sentence that goes\non here. Next",
        ["This is a sentence that goes\non here.", "Next"],
    ),
    "lines that are sentences": (
        "Opening hours 9 to 5\nClosed on Sunday",
        ["Opening hours 9 to 5", "Closed on Sunday"],
    ),
    "Japanese": (
        "料金は3.5万円です（税込。送料別）。期限は3日です。",
        ["料金は3.5万円です（税込。送料別）。", "期限は3日です。"],
    ),
    "a Japanese quotation and its verb": (
        "「はい。そうです。」と答えた。次です。",
        ["「はい。そうです。」と答えた。", "次です。"],
    ),
    "Japanese marks": (
        "本当?はい!半角｡全角ピリオド．次",
        ["本当?", "はい!", "半角｡", "全角ピリオド．", "次"],
    ),
    "Japanese items": (
        "・項目一\n・項目二です。次は5%。\n① 三つ目",
        ["項目一", "項目二です。", "次は5%。", "三つ目"],
    ),
    "Japanese citations": (
        "500円です[1]。3日です。[2]次です。",
        ["500円です[1]。", "3日です。[2]", "次です。"],
    ),
    "a stop before a digit": ("です。3日です（税込。3%）。", ["です。", "3日です（税込。3%）。"]),
    "Chinese": (
        "价格是3.5元（含税。不含运费）。真的吗？好的。",
        ["价格是3.5元（含税。不含运费）。", "真的吗？", "好的。"],
    ),
    "Chinese items": ("步骤：\n一、打开\n二、关闭", ["步骤：", "打开", "关闭"]),
    "signs beyond the basic plane": (
        "😀絵文字です。𠮷野家です。次。",
        ["😀絵文字です。", "𠮷野家です。", "次。"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), SENTENCES.values(), ids=SENTENCES)
def test_a_text_is_cut_into_its_sentences(text: str, expected: list[str]) -> None:
    assert [s.text for s in sentences(text)] == expected


@pytest.mark.parametrize("blank", ["", "  \n\t", "---", "***", "```\n```"])
def test_marks_alone_are_no_sentence(blank: str) -> None:
    assert sentences(blank) == []


PIECES = st.sampled_from(
    [
        "料金は",
        "3.5",
        "。",
        "！",
        "\n",
        "\r\n",
        "- ",
        "1. ",
        "| a |",
        "```",
        "# ",
        "「",
        "」と",
        "Mr. ",
        "Hello",
        " ",
        "? ",
        "[1]",
        "；",
        "你好",
        "😀",
        "\x85",
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)))
def test_spans_are_ordered_do_not_overlap_and_hold_their_text(text: str) -> None:
    found = sentences(text)
    assert all(text[s.start : s.end] == s.text == s.text.strip() != "" for s in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(st.lists(st.sampled_from(["Word", "名前", "です。", "end. ", "3.5 "]), max_size=30).map("".join))
def test_nothing_but_white_space_is_lost_from_running_text(text: str) -> None:
    kept = "".join("".join(s.text.split()) for s in sentences(text))
    assert kept == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hello", "en"),
        ("年会費は無料", "ja"),
        ("年会费是多少", "zh"),
        ("iPhoneの設定", "ja"),
        ("", "en"),
        ("データ", "ja"),
    ],
)
def test_the_script_tells_the_rules_of_writing(text: str, language: str) -> None:
    assert script_language(text) == language


def test_what_stands_below_a_long_row_is_no_part_of_it_unless_it_is_indented() -> None:
    row = "library: Central Library; Tuesday to Friday: 9:30 to 20:00; Saturday: 9:30 to 17:00"
    assert [one.text for one in sentences(f"- {row}\nBoth are closed on Mondays.")] == [
        row,
        "Both are closed on Mondays.",
    ]
    assert [one.text for one in sentences(f"- {row}\n  Sunday is a day off.")] == [
        f"{row}\n  Sunday is a day off."
    ]
