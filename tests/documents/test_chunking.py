from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.retrieval.pieces import GOES_ON
from gateway.documents.chunking import chunks

HANDBOOK = """# Library

Manual L-1.

## Borrowing

You may borrow **ten** [books](https://example.com) at a time,
for two weeks.

| item | loan |
|---|---|
| books | 2 weeks |
| DVDs | 1 week |

### Returning

Bring these:

1. the item,
2. your card.
   - or its copy

```
RETURN 1
```
"""


def texts(
    text: str, *, language: str = "en", markdown: bool = True, title: str = "Library"
) -> list[tuple[str, str]]:
    return [(c.heading, c.text) for c in chunks(text, title=title, language=language, markdown=markdown)]


def test_markdown_is_cut_along_its_headings_and_read_as_plain_text() -> None:
    assert texts(HANDBOOK) == [
        ("Library", "Manual L-1."),
        (
            "Library › Borrowing",
            "You may borrow ten books at a time, for two weeks.\n"
            "- item: books; loan: 2 weeks\n- item: DVDs; loan: 1 week",
        ),
        (
            "Library › Borrowing › Returning",
            "Bring these:\n1. the item,\n2. your card.\n - or its copy\nRETURN 1",
        ),
    ]


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (
            ["年齢|負担", "６歳未満|２割", "７０歳未満|３割"],
            ["- 年齢: ６歳未満; 負担: ２割", "- 年齢: ７０歳未満; 負担: ３割"],
        ),
        (["item|loan|fee", "book|2 weeks|none"], ["- item: book; loan: 2 weeks; fee: none"]),
        (["窓口|市民課", "電話|03-1234"], ["- 窓口; 市民課", "- 電話; 03-1234"]),
        (["9:00|opens|daily", "17:00|closes|daily"], ["- 9:00; opens; daily", "- 17:00; closes; daily"]),
        (["item|loan"], ["- item; loan"]),
    ],
)
def test_a_table_without_a_head_has_one_in_its_first_row_if_it_looks_like_one(
    rows: list[str], lines: list[str]
) -> None:
    columns = rows[0].count("|") + 1
    table = "\n".join(f"|{row}|" for row in ["|".join([" "] * columns), "|".join(["---"] * columns), *rows])
    assert texts(table) == [("Library", "\n".join(lines))]


def test_a_title_that_is_not_the_first_heading_stands_before_it() -> None:
    assert texts("# Fees\n\n100 yen.", title="Parking") == [("Parking › Fees", "100 yen.")]


def test_lines_broken_by_their_width_are_joined_as_the_script_asks() -> None:
    assert texts("開館時間は\n9時からです。", language="ja", title="")[0][1] == "開館時間は9時からです。"
    assert texts("We open\nat nine.", title="")[0][1] == "We open at nine."


SENTENCES = {
    "en": ("The city office at window number {} is open from nine to five on weekdays. ", 400, 900),
    "ja": ("市役所の{}番窓口は、平日の午前9時から午後5時まで開いています。", 200, 450),
    "zh": ("市政府{}号窗口在工作日上午九点到下午五点开放。", 200, 450),
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_long_paragraph_is_cut_between_sentences_into_passages_of_the_right_size(language: str) -> None:
    pattern, least, most = SENTENCES[language]
    text = "".join(pattern.format(number) for number in range(100))
    found = texts(text, language=language, markdown=False, title="")
    assert all(least <= len(passage) <= most for _, passage in found[:-1])
    assert least / 2 <= len(found[-1][1]) <= most * 1.25
    end = re.compile(r"[.。]$")
    assert all(end.search(passage) for _, passage in found)
    assert "".join(p for _, p in found).replace(" ", "") == text.replace(" ", "")


def test_a_list_stays_with_the_sentence_that_announces_it() -> None:
    filler = "The city office is open on weekdays from nine to five. " * 15
    items = "\n".join(f"- Form C-{number} with a daytime telephone number" for number in range(8))
    found = texts(f"{filler}\n\nSend these:\n\n{items}")
    announcing = next(passage for _, passage in found if "Send these:" in passage)
    assert "Form C-0" in announcing


def test_text_without_sentences_is_cut_all_the_same() -> None:
    found = texts("x" * 5000, markdown=False)
    assert all(len(passage) <= 1125 for _, passage in found)
    assert sum(len(passage) for _, passage in found) == 5000


@pytest.mark.parametrize("text", ["", "\n\n \n", "# Only a heading", "---", "<!-- a comment -->"])
def test_a_document_without_text_makes_no_passages(text: str) -> None:
    assert texts(text) == []


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab.。、 \n#-*|1`>「」あ漢字:：?!"), max_size=2500), st.booleans())
def test_whatever_the_text_no_letter_is_lost_or_doubled(text: str, markdown: bool) -> None:
    def letters(of: str) -> list[str]:
        return sorted(re.findall(r"[abあ漢字]", of))

    found = chunks(text, title="", language="ja", markdown=markdown)
    if not markdown:
        assert letters("".join(c.text for c in found)) == letters(text)
    assert all(c.text.strip() and len(c.text) <= 450 * 1.25 + 1 for c in found)


def test_a_list_that_is_cut_says_so_on_both_sides_and_its_items_stay_whole() -> None:
    rows = "\n".join(f"|{n} items, ordered. Paid at the desk.|{n}00 yen|" for n in range(1, 31))
    first, *_, last = [text for _, text in texts(f"|number|fee|\n|---|---|\n{rows}")]
    assert (first[:2], first[-4:]) == ("- ", f"\n{GOES_ON}")
    assert (last[:4], last[-4:]) == (f"{GOES_ON}\n", " yen")
    assert all(line == GOES_ON or line.endswith(" yen") for line in [*first.splitlines(), *last.splitlines()])
