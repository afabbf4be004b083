"""What is remembered of texts stays within bounds, whatever their length."""

from __future__ import annotations

from collections import Counter

from languages.remembering import LONG_ONES, LONGEST, remembered


def test_usual_texts_are_read_once_and_of_long_ones_the_last() -> None:
    read = Counter[str]()

    @remembered(1_000)
    def words_of(text: str, language: str) -> int:
        """How many words a text has."""
        read[text] += 1
        return len(text.split())

    usual = [f"question {n}" for n in range(1_000)]
    long = [f"question {n}" + " word" * LONGEST for n in range(10 * LONG_ONES)]
    for text in (*usual, *long, *usual, *long):
        assert words_of(text, "en") == len(text.split())
    assert {read[text] for text in usual} == {1}
    assert {read[text] for text in long} == {2}
    words_of(long[-1], "en")
    assert read[long[-1]] == 2
    assert words_of.__doc__ == "How many words a text has."
