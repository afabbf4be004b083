"""What a reasoning model thinks before it speaks, `<think>…</think>`, is no part of its answer."""

from __future__ import annotations

import re

__all__ = ["Spoken", "spoken"]

_OPENS = "<think>"
_CLOSES = re.compile("</think>", re.IGNORECASE)
_LONGEST_MARK = 8  # characters


class Spoken:
    """A text without the thoughts that it begins with, while it comes; nothing, for as long as they go on."""

    def __init__(self) -> None:
        self.text = ""
        self._before = ""  # what is not text: the end of thoughts, or what may become their beginning

    def add(self, piece: str) -> None:
        """Take in what comes next."""
        if self.text:
            self.text += piece
            return
        before = (self._before + piece).lstrip()
        while before[: len(_OPENS)].lower() == _OPENS:
            thought, *after = _CLOSES.split(before[len(_OPENS) :], maxsplit=1)
            if not after:
                self._before = _OPENS + thought[-_LONGEST_MARK:]
                return
            before = after[0].lstrip()
        if _OPENS.startswith(before.lower()):
            self._before = before
        else:
            self.text = before


def spoken(text: str) -> str:
    """A whole text without the thoughts that it begins with."""
    heard = Spoken()
    heard.add(text)
    return heard.text
