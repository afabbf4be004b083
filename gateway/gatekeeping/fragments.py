"""A text that is handed over in pieces, turn by turn, put together again. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["assembled"]

_QUOTED = re.compile(
    r"「([^」]+)」|『([^』]+)』|“([^”]+)”|«([^»]+)»|‘([^’]+)’|\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)|`([^`]+)`"
)
_HANDED_OVER = re.compile(r"[:：=＝]\s*(\S.*)$", re.DOTALL)  # "the second part: …"
_SPACED = re.compile(r"[A-Za-z0-9]")


def assembled(turns: Sequence[str]) -> tuple[str, ...]:
    """What the pieces in these turns give: joined as they are, and where words are spaced, by a space.

    A piece is what a turn quotes, or else what it says after a colon. One turn with pieces hides nothing.
    """
    pieces = [found for turn in turns if (found := _pieces(turn))]
    if len(pieces) < 2:
        return ()
    whole = [piece for found in pieces for piece in found]
    joined = "".join(whole)
    return tuple(dict.fromkeys([joined, " ".join(whole)])) if _SPACED.search(joined) else (joined,)


def _pieces(turn: str) -> list[str]:
    quoted = ["".join(groups) for groups in _QUOTED.findall(turn)]
    if quoted:
        return quoted
    handed = _HANDED_OVER.search(turn)
    return [handed.group(1)] if handed else []
