"""Who only told the asker of it, asked him or gave it to him is not whom it is for: "my mother asked me"."""

from __future__ import annotations

import re
from typing import Final

from cache.reading.words import Text

__all__ = ["without_reporters"]

# A person with what he said, up to what he said it of; in normalised texts.
_REPORTER: Final = {
    "en": re.compile(
        r"\b(?:my|our|an?) (?:[\w']+ ){1,3}?"
        r"(?:asked|told|asks|tells|is asking|says?|said|thinks|mentioned|wants? to know)"
        r"(?: me| us)?\b(?! (?:for|to)\b(?! (?:you|write|contact|call|ask|email)\b))"
        r"|\b(?:my|our|an?) (?:[\w']+ ){1,3}?(?:gave|sent|bought|lent) (?:me|us)\b"
    ),
    "ja": re.compile(
        r"(?:^|(?<=\s))[^\sにがはの]{1,5}(?:に|から|が|は)\S{0,14}?"
        r"(?:聞かれ|訊かれ|言われ|尋ねられ|質問され|教わり|教わっ|聞きま|聞いた|言っていま|言うので"
        r"|もらった|もらいました|貰った|くれた|くれました)"
    ),
    "zh": re.compile(
        r"(?:^|(?<=\s))我?的?[^\s我]{1,4}?(?:跟我说|告诉我|(?:来)?问我|让我来?问|想知道|说(?![要想])|送(?:给|了)?我|给了我)"
    ),
}
# Where such a word stands, it is about that person after all.
_ABOUT_HIM: Final = {
    "en": re.compile(r"\b(?:she|he|her|hers|his|him|they|their|theirs|them)\b"),
    "ja": re.compile("彼|本人|代わ|代理|の分|頼"),
    "zh": re.compile("[他她替帮代]|给(?!我)"),
}


def without_reporters(text: Text) -> str:
    """A text, normalised, without the persons in it who only say or ask something."""
    if _ABOUT_HIM[text.language].search(text.plain):
        return text.plain
    return _REPORTER[text.language].sub(" ", text.plain)
