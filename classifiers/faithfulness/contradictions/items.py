"""Where a list names what the contexts deny: "It includes: batteries" beside "Batteries are not included"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.faithfulness.contradictions import DENYING
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.said import Said

__all__ = ["denied_wherever_named"]

# The others of an enumeration are not looked at: what denies them all, its first or last thing stands beside.
CLAUSE = re.compile(r"[,，、;；:：。]|\b(?:but|and|while)\b")


def denied_wherever_named(item: Said, introduced: str, known: Sequence[Line]) -> bool:
    """Whether each clause that names an item denies something, and the item as it is introduced doesn't."""
    whole = Line(introduced)
    if not introduced or whole.denials or DENYING.search(whole.plain):
        return False
    named = {term for term in item.content if not any(c.isdigit() for c in term)}
    if not named:
        return False
    sentences = (line.text for line in known if named <= line.content)
    clauses = (Line(text) for sentence in sentences for text in CLAUSE.split(sentence))
    naming = [clause for clause in clauses if named <= clause.content]
    return bool(naming) and all(clause.denials for clause in naming)
