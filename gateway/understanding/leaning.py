"""What a question shows of leaning on earlier turns: words that point back, a topic without a question, no
subject of its own. `follow_ups` weighs it beside what a model says that reads both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gateway.understanding.naming import naming_words
from gateway.understanding.wording import Wording

__all__ = [
    "RULES",
    "Rule",
    "Shown",
    "as_read",
    "continues",
    "plain",
    "points_back",
    "said_before",
    "shown",
    "taken_up",
]

Rule = Literal["points_back", "topic_only", "no_subject", "fragment"]
RULES: tuple[Rule, ...] = ("points_back", "topic_only", "no_subject", "fragment")

_EDGE = ".。．?？!！… \t\n"
_TOO_EARLY = 3  # a boundary this near the start has no subject before it
# A letter that stands for something, as in 「aとbをつなげて」; プランA and Aプラン are names.
_STANDS_FOR = re.compile("(?<![A-Za-z0-9ァ-ヺー一-鿿])[A-Za-z](?=[とをのはがに＋+=＝])")
_TURNS_READ = 5  # of the asker, the last ones
_LONGEST_TURN, _LONGEST_READ = 200, 400  # characters, of a turn and of all that is read


@dataclass(frozen=True, slots=True)
class Shown:
    """By which rule a question seems to lean, in words."""

    rule: Rule
    why: str


def said_before(earlier: Sequence[str]) -> str:
    """The asker's last turns as the model reads them, the newest last."""
    turns = [" ".join(turn.split())[-_LONGEST_TURN:] for turn in earlier[-_TURNS_READ:]]
    return " | ".join(turns)[-_LONGEST_READ:]


def as_read(earlier: Sequence[str], text: str) -> tuple[str, str]:
    """What the model reads together: the asker's turns, and the one after them."""
    return said_before(earlier), " ".join(text.split())


def shown(text: str, wording: Wording) -> Shown | None:
    """By what a question after another seems to lean whatever the other was, or None."""
    said = plain(text)
    if back := points_back(said, wording):
        return Shown("points_back", back)
    if wording.elliptic_start.match(said):
        return Shown("topic_only", "names a topic only")
    if not naming_words(said, wording):
        return Shown("no_subject", "names no subject")
    if wording.fragment.match(said):
        return Shown("fragment", "is a fragment")
    return None


def points_back(text: str, wording: Wording) -> str | None:
    """The words by which a text points at what was said before it, if there are any."""
    shown = wording.exempt.sub(" _ ", plain(text))
    if found := wording.leaning_start.match(shown):
        return f"begins with “{found.group().strip()}”"
    if (found := wording.pointer.search(shown)) or (found := wording.comparison.search(shown)):
        return f"refers to “{found.group().strip()}”"
    for found in wording.anaphor.finditer(shown):
        if not _resolved(shown[: found.start()], found.group(), wording):
            return f"refers to “{found.group().strip()}”"
    return None


def taken_up(text: str, earlier: Sequence[str]) -> str | None:
    """A letter by which a Japanese turn names what an earlier one let it stand for."""
    before = {letter for turn in earlier for letter in _STANDS_FOR.findall(turn)}
    return next((letter for letter in _STANDS_FOR.findall(text) if letter in before), None)


def continues(text: str, wording: Wording, *, item: bool) -> bool:
    """Whether a sentence goes on with the question before it in the same message: "Any side effects?".

    The items of a list may be fragments without going on with each other.
    """
    said = plain(text)
    if points_back(said, wording) or wording.hint.search(wording.exempt.sub(" _ ", said)):
        return True
    return not item and (not naming_words(said, wording) or wording.fragment.match(said) is not None)


def plain(text: str) -> str:
    """A text on one line, without the marks at its ends."""
    return " ".join(text.split()).strip(_EDGE)


def _resolved(before: str, anaphor: str, wording: Wording) -> bool:
    """Whether what stands before a pronoun holds what it can mean: "lost my card, how do I block it"."""
    near = wording.possessive_start.match(anaphor) is not None
    if not near and not wording.boundary.search(before, min(_TOO_EARLY, len(before))):
        return False
    return bool(naming_words(before, wording))
