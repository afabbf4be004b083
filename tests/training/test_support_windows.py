"""Which sentences a cross-encoder reads with a statement."""

from __future__ import annotations

from training.support_windows import LONGEST_WINDOW, gathered, joined

SENTENCES = [
    "Loans last three weeks.",
    "Fines are 25p a day.",
    "The  branch\nopens at nine.",
    "Fines go to loans.",
]
WORDS = [{"loan", "three", "week"}, {"fine", "25p", "day"}, {"branch", "open", "nine"}, {"fine", "loan"}]
LENGTHS = [len(one) for one in SENTENCES]


def test_sentences_are_added_for_what_the_first_leaves_open_and_keep_their_order() -> None:
    said = {"fine": 1.0, "25p": 1.0, "day": 1.0, "week": 0.9}
    assert gathered(said, WORDS, LENGTHS, "en") == [0, 1]


def test_what_adds_nothing_is_left_out() -> None:
    assert gathered({"branch": 1.0, "open": 1.0, "purple": 1.0}, WORDS, LENGTHS, "en") == [2]
    assert gathered({"purple": 1.0}, WORDS, LENGTHS, "en") == []
    assert gathered({}, WORDS, LENGTHS, "en") == []
    assert gathered({"fine": 1.0}, [], [], "en") == []


def test_a_window_has_room_for_so_many_characters_but_always_for_its_best_sentence() -> None:
    said = {"fine": 1.0, "25p": 1.0, "day": 1.0, "week": 0.9}
    long = LONGEST_WINDOW["zh"]
    assert gathered(said, WORDS, [long + 1] * 4, "zh") == [1]
    assert gathered(said, WORDS, [long // 2] * 4, "zh") == [0, 1]


def test_sentences_are_joined_as_their_language_does() -> None:
    assert joined(SENTENCES[1:3], "en") == "Fines are 25p a day. The branch opens at nine."
    assert joined(["一日です。", "無料です。"], "ja") == "一日です。無料です。"
