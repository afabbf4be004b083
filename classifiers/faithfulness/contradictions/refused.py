"""Where a statement grants what the contexts refuse, in a sentence that is not its nearest: "food can be
returned within 14 days" beside "items can be returned within 14 days" and "sale items and food cannot".

What is refused may be told of several things at once, so each of them is looked for in the statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.faithfulness.contradictions.facts import Fact, telling
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.said import Said
from classifiers.faithfulness.wording import weight

__all__ = ["refused"]

LONGEST = {"en": 15, "ja": 30, "zh": 30}  # terms of what is refused
TOLD = 0.8  # share of what a clause refuses that the statement grants
LEAST = 0.3  # weight of that
LISTED = re.compile(r"[とや、・]|及び|および|並びに|以?及|[，,和与或]|\b(?:and|or)\b")
REFUSES_EN = re.compile(r"\b(?:not|cannot|never)\b|n't\b")
REFUSED_ZH = re.compile(r"[不未无](?:支持|允许|提供|接受|享受|能|可以?|得|予|会|在)?")


def refused(each: Said, near: Sequence[Fact]) -> tuple[tuple[str, str], ...]:
    """The statement, and the clause that refuses it, among the facts near it."""
    own, longest = telling(each.line), LONGEST[each.line.language]
    for fact in near:
        if len(fact.content) > longest or not _refuses_more(fact.line, each.line):
            continue
        told = _told(fact)
        named = _named(fact, own)
        if weight(told) < LEAST or weight(told & own) < TOLD * weight(told) or not named:
            continue
        if not any(_grants(other, named | (told & own)) for other in near):
            return ((each.line.plain, fact.line.plain.strip()),)
    return ()


def _refuses_more(line: Line, said: Line) -> bool:
    """Whether a clause denies what a statement doesn't: 不支持无理由退货 beside 支持无理由退货."""
    if line.language == "en" and not REFUSES_EN.search(line.plain):
        return False
    left = [near for near in line.denials if all(near.isdisjoint(own) for own in said.denials)]
    known = line.language == "zh" or any(not near.isdisjoint(said.vocabulary) for near in left)
    return bool(left) and known and len(said.denials) < len(line.denials)


def _told(fact: Fact) -> frozenset[str]:
    if fact.line.language != "zh":
        return fact.told
    behind = fact.line.plain[len(fact.about.plain) :]
    return telling(Line(REFUSED_ZH.sub(" ", behind, count=1)))


def _named(fact: Fact, own: frozenset[str]) -> frozenset[str]:
    """The words of the first thing of its subject that the statement has whole."""
    things = (telling(Line(thing)) for thing in LISTED.split(fact.about.plain))
    return next((thing for thing in things if thing and thing <= own), frozenset())


def _grants(fact: Fact, words: frozenset[str]) -> bool:
    return not fact.line.denials and words <= fact.content
