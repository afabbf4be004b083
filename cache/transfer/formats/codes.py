"""The code of a format as sections of tokens: `#,##0"円";[Red]-#,##0"円"`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["ENGLISH", "JAPANESE", "Section", "Token", "UnknownLook", "language_of", "sections_of"]

ENGLISH, JAPANESE = 0x09, 0x11  # the last ten bits of a locale
_SYSTEM = 0xF000  # from here on a locale stands for what the computer is set to
_TOKEN = re.compile(
    r"""
      "(?P<text>[^"\\]*)" | \\(?P<escaped>[^\\]) | _(?P<space>.) | \*(?P<fill>\ )
    | \[\$(?P<symbol>[^\]\\-]*)(?:-(?P<locale>[^\]]*))?\]
    | (?P<color>\[(?:black|blue|cyan|green|magenta|red|white|yellow|color\s?\d{1,2})\])
    | \[(?P<test>[<>=]{1,2}-?\d+(?:\.\d+)?)\]
    | \[(?P<elapsed>h+|m+|s+)\]
    | (?P<general>general|@) | (?P<noon>am/pm) | (?P<strange>[^\x00-\x7f]+/[^\x00-\x7f]+|e[+-])
    | (?P<time>y+|m+|d+|h+|s+|g+|e+|a+)
    | (?P<digit>[0#?]) | (?P<point>\.) | (?P<comma>,) | (?P<percent>%) | (?P<next>;)
    | (?P<between>[/:]) | (?P<plain>[ $+\-()]|[^\x00-\x7f])
    """,
    re.VERBOSE | re.IGNORECASE,
)  # no backslash is a literal: in Japan it may look like a yen sign


class UnknownLook(ValueError):  # noqa: N818 - errors are named as facts
    """Nobody can tell how a format shows a value."""


class Token(NamedTuple):
    """A part of a section; the text of a literal is shown as it is."""

    kind: str  # literal, or the name of a group of _TOKEN
    text: str


Section = Sequence[Token]


def sections_of(code: str) -> Sequence[Section]:
    """The sections of a format, without colours and without the section for texts.

    Raises:
        UnknownLook: if it holds what is not known here.
    """
    sections: list[list[Token]] = [[]]
    at = 0
    while at < len(code):
        found = _TOKEN.match(code, at)
        if found is None:
            raise UnknownLook(code)
        at = found.end()
        token = _token(found)
        if token.kind == "next":
            sections.append([])
        elif token.kind != "color":
            sections[-1].append(token)
    for_texts = len(sections) > 3 or (len(sections) > 1 and any(one.text == "@" for one in sections[-1]))
    return sections[:-1] if for_texts else sections


def _token(found: re.Match[str]) -> Token:
    kind = str(found.lastgroup)
    match kind:
        case "text" | "escaped" | "plain" | "symbol":
            return Token("literal", found[kind])
        case "locale" if found["symbol"]:
            language_of(found["locale"])
            return Token("literal", found["symbol"])
        case "space" | "fill":  # as wide as a letter; as wide as the cell
            return Token("literal", " " if kind == "space" else "")
        case "strange":
            raise UnknownLook(found[0])
        case _:
            return Token(kind, found[kind].lower())


def language_of(locale: str) -> int:
    """The language of a locale such as 411 or ja-JP; 0 for one that asks for nothing here.

    Raises:
        UnknownLook: if it asks for other numerals, or for what the computer is set to.
    """
    if re.fullmatch(r"[0-9a-f]{1,4}", locale, re.IGNORECASE) and (number := int(locale, 16)) < _SYSTEM:
        return number & 0x3FF
    if found := re.fullmatch(r"(en|ja|zh)-[a-z]{2}(?:-x-gannen)?", locale, re.IGNORECASE):
        return {"en": ENGLISH, "ja": JAPANESE}.get(found[1].lower(), 0)
    raise UnknownLook(locale)
