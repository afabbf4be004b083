"""Whether a question leans on earlier turns. Taking one for self-contained may replay a wrong answer;
holding one back only costs a look into the cache. So a question has to show that it names its subject.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.understanding.naming import is_name, naming_words, stem
from gateway.understanding.weighing import Caution, Nearness, read_weights, signs
from gateway.understanding.wording import Wording

__all__ = ["continues", "leans", "plain", "points_back", "ruled"]

_EDGE = ".。．?？!！… \t\n"
_LONG_NAME = {"ja": 4, "zh": 3}  # characters: 住民票写し names more than 番号, 信用卡 more than 审批
_TOO_EARLY = 3  # a boundary this near the start has no subject before it


def leans(
    text: str,
    wording: Wording,
    *,
    earlier: Sequence[str],
    nearness: Nearness | None = None,
    caution: Caution = "strict",
) -> str | None:
    """Why a question can't stand alone, or None if it can.

    `earlier` are the asker's turns before it. Without any, only a question that names nothing at all leans.
    `nearness` and `caution` count where signs are weighed: in English.
    """
    said = plain(text)
    if not earlier:
        return None if naming_words(said, wording) else points_back(said, wording)
    if why := ruled(said, wording):
        return why
    if wording.needed is None:
        found = signs(said, wording, earlier=earlier, nearness=nearness)
        held = read_weights().of(nearness).hold_back(found, caution)
        return "names too little" if held else None
    return "names too little" if _evidence(text, wording, earlier) < wording.needed else None


def ruled(text: str, wording: Wording) -> str | None:
    """Why a question after another can't stand alone whatever it was, or None if no rule says so."""
    said = plain(text)
    if back := points_back(said, wording):
        return back
    if wording.elliptic_start.match(said):
        return "names a topic only"
    if not naming_words(said, wording):
        return "names no subject"
    if wording.needed is not None and wording.fragment.match(said):
        return "is a fragment"
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


def _evidence(text: str, wording: Wording, earlier: Sequence[str]) -> int:
    """How many signs speak for a named subject, in languages that we have no labelled dialogues of."""
    said = plain(text)
    own = naming_words(said, wording)
    known = {stem(word) for turn in earlier for word in naming_words(turn, wording)}
    seen = (
        any(is_name(word) and not said.startswith(word) for word in own),
        len(own) > 1 and any(stem(word) in known for word in own),
        wording.mine.search(said) is not None,
        wording.names.match(said) is not None,
    )
    asks = wording.question_start.match(said) or wording.question.search(text)
    names = sum(1 + (len(word) >= _LONG_NAME[wording.language]) for word in own)
    return names + 2 * sum(seen) - (0 if asks else 2)  # what only states goes on with what was said
