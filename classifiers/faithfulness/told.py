"""What askers tell of themselves: "I posted it on 2 April, it cost 1,200 yuan". An answer may take that up.

What they ask for or have heard elsewhere ("is it 50 yuan?", "the website says 50") is for the contexts to
confirm, so its numbers are no facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import yaml

from classifiers.faithfulness.quantities import quantities
from classifiers.faithfulness.quantities.pool import Quantity
from languages.identification import script_language

__all__ = ["told_numbers"]

SENTENCE: Final = re.compile(r"[^.!?。！？\n]+(?:\.(?=\d)[^.!?。！？\n]*)*[.!?。！？]*")


def told_numbers(question: str) -> tuple[Quantity, ...]:
    """The numbers that a question states, in its order."""
    return tuple(number for clause in _stated(question) for number in quantities(clause))


def _stated(question: str) -> Iterator[str]:
    """What is stated, clause by clause."""
    words = _wording()[script_language(question)]
    for sentence in SENTENCE.findall(question):
        clauses = [] if words["tag"].search(sentence) else words["clause"].split(sentence)
        for clause in clauses:
            if words["heard"].search(clause):
                continue
            if words["open_question"].search(clause) or not words["asks_whether"].search(clause):
                yield clause
            elif supposed := words["supposes"].search(clause):
                yield supposed[0]


@cache
def _wording() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    """The expressions of told.yaml by language and purpose."""
    data = yaml.safe_load(files(__package__).joinpath("told.yaml").read_text(encoding="utf-8"))
    flags = re.IGNORECASE | re.VERBOSE
    return {at: {name: re.compile(one, flags) for name, one in each.items()} for at, each in data.items()}
