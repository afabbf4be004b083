"""An answer into individual statements: each can be true or false by itself, and knows where it stands."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from classifiers.faithfulness.segmentation import Sentence, sentences
from classifiers.faithfulness.speech_acts import speech_act

__all__ = ["Statement", "statements"]

TABLE_RULE = re.compile(r"[\s|:=\-+]*-[\s|:=\-+]*")
CLAUSE_END = re.compile(r"[;；]\s*")
TITLE_WORDS = 6  # a heading of up to six words (or twice as many characters) names a part and claims nothing
TITLE_CHARACTERS = 12
SHORTEST_CLAUSE = 4


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim of an answer; `answer[start:end] == text`."""

    text: str
    start: int
    end: int


def statements(answer: str) -> list[Statement]:
    """The statements of an answer, in order, without overlap; greetings, questions and refusals are none."""
    found: list[Statement] = []
    for sentence in _without_table_heads(answer, sentences(answer)):
        found.extend(_statements_of(sentence))
    return found


def _statements_of(sentence: Sentence) -> Iterator[Statement]:
    if sentence.kind == "heading" and _is_title(sentence.text):
        return
    if sentence.kind in ("code", "row"):
        yield Statement(sentence.text, sentence.start, sentence.end)
        return
    if sentence.kind != "item" and speech_act(sentence.text) == "lead_in":
        return
    for clause in _clauses(sentence):
        if speech_act(clause.text) in ("claim", "lead_in"):  # a clause or item introduces nothing
            yield clause


def _is_title(text: str) -> bool:
    if any(c.isdigit() for c in text):
        return False
    return len(text.split()) <= TITLE_WORDS and sum(ord(c) > 0x2E7F for c in text) <= TITLE_CHARACTERS


def _clauses(sentence: Sentence) -> Iterator[Statement]:
    """Parts between semicolons, where each is long enough to claim something by itself."""
    cuts = [0, *(m.end() for m in CLAUSE_END.finditer(sentence.text)), len(sentence.text)]
    parts = [sentence.text[a:b].rstrip() for a, b in itertools.pairwise(cuts)]
    if len(parts) < 2 or any(_size(part) < SHORTEST_CLAUSE for part in parts if part):
        yield Statement(sentence.text, sentence.start, sentence.end)
        return
    for cut, part in zip(cuts, parts, strict=False):
        if part:
            yield Statement(part, sentence.start + cut, sentence.start + cut + len(part))


def _size(text: str) -> int:
    return len(text.split()) + sum(ord(c) > 0x2E7F for c in text)


def _without_table_heads(answer: str, found: list[Sentence]) -> Iterator[Sentence]:
    """Rows but the one above the rule: column names claim nothing."""
    for sentence in found:
        if sentence.kind != "row" or not _is_table_head(answer, sentence.end):
            yield sentence


def _is_table_head(answer: str, end: int) -> bool:
    following = answer[end:].lstrip(" \t\r\n")[:200].split("\n", 1)[0]
    return bool(TABLE_RULE.fullmatch(following.strip()))
