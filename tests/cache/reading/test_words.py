from __future__ import annotations

import pytest

from cache.reading.words import read_text


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
