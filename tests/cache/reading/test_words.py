from __future__ import annotations

import pytest

from cache.reading.words import clauses, present, read_text


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("会員証をなくした", ("会員", "証", "なくす")),
        ("スタッフの募集", ("社員", "募集")),
        ("レシートがない", ("レシート",)),
    ],
)
def test_a_word_says_something_if_its_first_synonym_is_several_words(
    text: str, content: tuple[str, ...]
) -> None:
    assert read_text(text, "ja").content == content


@pytest.mark.parametrize(
    ("text", "language", "parts"),
    [
        ("It broke, so can I get $1,000.50 back?", "en", ("it broke", "so can i get $1000.50 back")),
        (
            "壊れました。キャンセル・返品はできますか？",
            "ja",
            ("壊れました", "キャンセル", "返品はできますか"),
        ),
        ("不想要了，怎么取消/退货？", "zh", ("不想要了", "怎么取消", "退货")),
        ("", "en", ()),
    ],
)
def test_a_text_is_cut_into_its_clauses(text: str, language: str, parts: tuple[str, ...]) -> None:
    assert clauses(read_text(text, language)) == parts


@pytest.mark.parametrize(
    ("past", "verb"), [("came", "come"), ("paid", "pay"), ("taken", "take"), ("booked", "book")]
)
def test_a_verb_has_one_base_in_present_and_past(past: str, verb: str) -> None:
    bases = (present(read_text(word, "en").words[0].base) for word in (past, verb))
    assert len({*bases}) == 1
