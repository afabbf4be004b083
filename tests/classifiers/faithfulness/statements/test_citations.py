"""Marks and lists of sources claim nothing, in whatever form a chatbot writes them; what they stand on does."""

from __future__ import annotations

import pytest

from classifiers.faithfulness import Checked
from classifiers.faithfulness.lexical import LexicalJudge
from classifiers.faithfulness.statements import statements

CONTEXTS = [
    "The town hall opens at 8:30 on weekdays. A copy of the register costs 450 yen.",
    "市役所は平日8時30分に開き、17時に閉まります。手数料は450円です。",
    "市政厅工作日8:30开门。户籍副本费用为450日元。",
]
SAID = {
    "A copy of the register costs 450 yen{}.": "A copy of the register costs 950 yen{}.",
    "市役所は平日8時30分に開きます{}。": "市役所は平日9時30分に開きます{}。",
    "户籍副本费用为450日元{}。": "户籍副本费用为950日元{}。",
}
MARKS = [
    " [1]", "[1][2]", " [1, 2]", "【1】", " [^1]", " {1}", " ¹", " <sup>1</sup>", " [doc1]", "[doc2][doc3]", " [ref 3]",
    " [Source 1]", " [citation:3]", " (doc 2)", " (passage 3)", " 【4:0†handbook.md】", " [handbook.md]", " [Handbook, p. 3]",
    " (source: handbook.md)", " (Source: Town handbook, section 2)", " (出典：利用案内)", "（参考：ご利用案内 3ページ）", " [来源：使用指南]",
]  # fmt: skip
ENDS = [
    "\n\nSource: handbook.md",
    "\n\n**Source:** [Handbook](https://example.org/h)",
    "\n\nSources:\n- [1] handbook.md\n- [2] Fees and forms, 2026",
    "\n\n## References\n1. Town handbook\n2. https://example.org/fees",
    "\n\n[Handbook](https://example.org/h)",
    "\n\n参考資料: 利用案内.pdf",
    "\n\n出典：利用案内（令和6年版）",
    "\n\n参考来源：使用指南.docx",
]
NOT_SOURCES = [
    ("Source: the fee is 950 yen.", "Source: the fee is 950 yen."),
    ("Admission is [free](https://example.org/h).", "Admission is [free](https://example.org/h)."),
    ("Sources:\n- handbook.md\n\nThe fee is 950 yen.", "The fee is 950 yen."),
    ("Sources:\n- The fee is 950 yen.", "The fee is 950 yen."),
    ("参考：手数料は950円です。", "参考：手数料は950円です。"),
]


def passes(answer: str) -> bool:
    verdict = LexicalJudge().judge_now(answer, CONTEXTS)
    assert isinstance(verdict, Checked)
    return verdict.passed


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("true", SAID)
def test_a_mark_neither_supports_a_statement_nor_makes_it_unsupported(true: str, mark: str) -> None:
    assert passes(true.format(mark))
    assert not passes(SAID[true].format(mark))


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("true", SAID)
def test_sources_at_the_end_are_no_statements(true: str, end: str) -> None:
    answer = true.format("")
    assert [one.text for one in statements(answer + end)] == [answer]


@pytest.mark.parametrize(("answer", "claim"), NOT_SOURCES)
def test_what_claims_something_is_no_source(answer: str, claim: str) -> None:
    assert [one.text for one in statements(answer)] == [claim]


@pytest.mark.parametrize(
    "greeting", ["Hi Jane! ", "Hello Mr. Tanaka, ", "Great question, Anna! ", "您好，李先生！"]
)
def test_who_is_spoken_to_and_what_is_wished_is_no_claim(greeting: str) -> None:
    assert passes(greeting + "A copy of the register costs 450 yen.")
