"""Who does it, the asker or whoever is asked: "can I call you" is not "can you call me"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from cache.reading.words import Text, overlap

__all__ = ["done_by_the_other"]

_ABOUT_THE_SAME = 0.6  # share of content in common from which it is the same that is done
_HELPS: Final = r"\b(?:can|could|may|might|do|will|would|should|must|shall)"
_POLITELY: Final = "(?:please |also |just |kindly )?"
# Japanese verbs whose plain form tells who does them; 証明書を郵送できますか may ask for either.
_CALLS: Final = "(電話|連絡|訪問)"
_BRINGS: Final = "(送|届け|電話|連絡|訪問)"
_BY_THE_ASKER: Final = {
    "en": re.compile(rf"{_HELPS} (?:i|we) {_POLITELY}(\w+)\b[^.?!;]*\byou\b"),
    "ja": re.compile(
        rf"{_CALLS}を?(?:する|し|かけ)?(?:こと)?[はが]?(?=でき|可能|られ)"
        rf"|{_BRINGS}[っし]?(?=ても?(?:い|良|よ|大丈夫|構|かま))"
    ),
    "zh": re.compile("(给|联系|通知|告诉|[到去来])(?=[你您贵])"),
}
_FOR_THE_ASKER: Final = {
    "en": re.compile(rf"{_HELPS} you {_POLITELY}(\w+)\b[^.?!;]*\b(?:me|us)\b"),
    "ja": re.compile(rf"{_BRINGS}を?(?:かけ|[っし])?て?(?=もら|いただ|頂|くれ|くださ|下さ|ほし|欲し)"),
    "zh": re.compile("(给|联系|通知|告诉|[到去来])(?=我)"),
}
_COMES: Final = {"去": "到", "来": "到"}  # who goes to you comes to me


def done_by_the_other(asked: Text, stored: Text) -> frozenset[str]:
    """The asker, and what one of two texts has him do and the other has done for him; empty if nothing."""
    if overlap(asked, stored) < _ABOUT_THE_SAME:
        return frozenset()
    (mine, for_me), (theirs, for_them) = map(_acts, (asked, stored))
    if not (mine - for_me) & (for_them - theirs) | (for_me - mine) & (theirs - for_them):
        return frozenset()
    common = (word for word in asked.content if word in stored.content)
    return frozenset({"I", next(common, "I")})


def _acts(text: Text) -> tuple[frozenset[str], frozenset[str]]:
    """What the asker does, and what is done for him."""
    return _told(_BY_THE_ASKER, text), _told(_FOR_THE_ASKER, text)


def _told(acts: Mapping[str, re.Pattern[str]], text: Text) -> frozenset[str]:
    found = (one[one.lastindex or 0] for one in acts[text.language].finditer(text.written))
    return frozenset(_COMES.get(act, act) for act in found)
