"""Whether a question leans on earlier turns. Taking one for self-contained may replay a wrong answer;
holding one back only costs a look into the cache. So a question has to show that it names its subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.understanding.wording import Wording

__all__ = ["continues", "leans", "points_back"]

_WORD = re.compile(r"[A-Za-z][\w'’&-]*|\d[\w.%-]*")
_RUN = re.compile(r"[一-鿿々〇]{2,}|[ァ-ヺー]{2,}|[一-鿿々〇ァ-ヺー]{3,}|[A-Za-z][\w'’&-]+|\d[\w.%-]+")
_SUFFIXES = ("'s", "ies", "es", "s", "ing", "ed", "d", "ly", "'re", "'ve", "'ll", "'d", "'m", "n't")
_EDGE = ".。．?？!！… \t\n"
_LONG_COMPOUND = 4  # characters: 住民票写し names more than 番号
_TOO_EARLY = 3  # a boundary this near the start has no subject before it


def leans(text: str, wording: Wording, *, earlier: Sequence[str]) -> str | None:
    """Why a question can't stand alone, or None if it can.

    `earlier` are the turns before it. Without any, only a question that names nothing at all leans.
    """
    plain = _plain(text)
    subjects = _subjects(plain, wording)
    if not earlier:
        return None if subjects else points_back(plain, wording)
    if back := points_back(plain, wording):
        return back
    if wording.elliptic_start.match(plain):
        return "names a topic only"
    if not subjects:
        return "names no subject"
    if wording.fragment.match(plain):
        return "is a fragment"
    if _evidence(plain, subjects, wording, earlier) < wording.needed:
        return "names too little"
    return None


def points_back(text: str, wording: Wording) -> str | None:
    """The words by which a text points at what was said before it, if there are any."""
    shown = wording.exempt.sub(" _ ", _plain(text))
    if found := wording.leaning_start.match(shown):
        return f"begins with “{found.group().strip()}”"
    if (found := wording.pointer.search(shown)) or (found := wording.comparison.search(shown)):
        return f"refers to “{found.group().strip()}”"
    for found in wording.anaphor.finditer(shown):
        if not _resolved(shown[: found.start()], wording):
            return f"refers to “{found.group().strip()}”"
    return None


def continues(text: str, wording: Wording, *, item: bool) -> bool:
    """Whether a sentence goes on with the question before it in the same message: "Any side effects?".

    The items of a list may be fragments without going on with each other.
    """
    plain = _plain(text)
    if points_back(plain, wording):
        return True
    return not item and (not _subjects(plain, wording) or wording.fragment.match(plain) is not None)


def _resolved(before: str, wording: Wording) -> bool:
    """Whether a clause before the pronoun holds what it can mean: "lost my card, how do I block it"."""
    if not wording.boundary.search(before, min(_TOO_EARLY, len(before))):
        return False
    return bool(_subjects(before, wording))


def _evidence(plain: str, subjects: list[str], wording: Wording, earlier: Sequence[str]) -> int:
    """How much speaks for a named subject; weights by hand, checked on MTRAG and CAsT 2019."""
    proper = any(_is_name(word) and not plain.startswith(word) for word in subjects)
    known = {_stem(word) for turn in earlier for word in _subjects(turn, wording)}
    repeated = any(_stem(word) in known for word in subjects)
    weight = sum(1 + (wording.language != "en" and len(word) >= _LONG_COMPOUND) for word in subjects)
    signs = (
        proper,
        repeated,
        wording.mine.search(plain) is not None,
        wording.names.match(plain) is not None,
    )
    return weight + 2 * (sum(signs) - (wording.definite.search(plain) is not None))


def _subjects(text: str, wording: Wording) -> list[str]:
    """The words that name something of their own."""
    if wording.language == "en":
        return [word for word in _WORD.findall(text) if not _is_generic(word, wording)]
    runs: list[str] = _RUN.findall(wording.generic_runs.sub(" ", text))
    return [run for run in runs if not wording.generic.issuperset(run)]


def _is_generic(word: str, wording: Wording) -> bool:
    word = word.lower().replace("’", "'")
    if len(word) == 1 or word in wording.generic:
        return True
    stems = [word[: -len(suffix)] for suffix in _SUFFIXES if word.endswith(suffix)]
    return any(stem + end in wording.generic for stem in stems for end in ("", "e", "y"))


def _is_name(word: str) -> bool:
    return word[0].isupper() or any(character.isupper() or character.isdigit() for character in word)


def _stem(word: str) -> str:
    word = word.lower().replace("’", "'")
    for suffix in _SUFFIXES[:6]:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(_EDGE)
