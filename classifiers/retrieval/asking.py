"""What a question asks about, as words: without those that only ask, the rest by their rarity."""

from __future__ import annotations

import re

from classifiers.faithfulness.wording import folded, rarity, terms
from languages.scripts import HIRAGANA

__all__ = ["asked_about", "coverage", "without_asking"]

LONGEST_QUESTION = 2_000  # characters; more is a pasted document
KANA = re.compile(f"[{HIRAGANA}]")
# Words that ask; with them gone, what is left is what is asked about.
ASKING = re.compile(
    r"何(?!度|回)|誰|だれ|どこ|いつ|どの|どれ|どう|どんな|どちら|なぜ|いくら|いくつ|教えて|知りたい|ください|できますか|ですか|ますか|でしょうか"
    r"|什么|谁|哪[个些里年一儿]?|何时|何地|多少|几|怎么样?|如何|为什么|吗|呢|请问|是否"
    r"|\b(?:please|tell|know|want|need|like|explain|describe|kind|type|sort|name|many|much|long|often|possible)\b"
)


def without_asking(question: str) -> str:
    """A question with blanks for the words that only ask."""
    return ASKING.sub(lambda found: " " * len(found[0]), question)


def asked_about(question: str) -> dict[str, float]:
    """The question's own words with their weights; a particle with its noun says half of what a noun says."""
    found = terms(ASKING.sub(" ", folded(question[:LONGEST_QUESTION]))).content
    return {term: rarity(term) * (0.5 if KANA.search(term) else 1.0) for term in found}


def coverage(question: str, text: str) -> float:
    """Share of the question's own words, by rarity, that a text holds."""
    asked = asked_about(question)
    there = set(terms(folded(text)).content)
    total = sum(asked.values())
    return sum(weight for term, weight in asked.items() if term in there) / total if total else 0.0
