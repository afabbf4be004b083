"""What a text says under its disguise, for judging only: what goes on to RAG is never changed.

`normalise` undoes what no honest asker would miss: width, invisible characters, case. Here is undone what may
also be a part number, an identifier or code: look-alike letters, letters set apart, digits for letters,
encodings. So each of these forms is judged beside the text as it stands, and the worse counts.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

from classifiers.text import normalise
from languages.scripts import EAST_ASIAN

__all__ = ["hidden_forms"]

_LONGEST: Final = 4_000  # characters; no question is longer, and a gate must not be slowed down by noise
_MOST_FORMS: Final = 6

# Letters of other scripts that look like Latin ones, lower case, each group after what it stands for: from
# Unicode's confusables.txt (UTS #39, Unicode License V3).
_LOOK_ALIKES: Final = str.maketrans(
    {
        alike: letters[0]
        for letters in [
            "aаαɑᴀ",
            "bвʙꞵ",
            "cⅽсϲᴄ",
            "dԁᴅđ",
            "eеεᴇ",
            "gɡɢ",
            "hһʜħ",
            "iіιıɪ",
            "jјϳᴊ",
            "kкκᴋ",
            "lӏʟł",
            "mмᴍ",
            "nոɴ",
            "oоοᴏø",
            "pрρᴘ",
            "qԛ",
            "rгʀ",
            "sѕꜱ",
            "tтτᴛŧ",
            "uυսᴜ",
            "vѵνᴠ",
            "wԝωᴡ",
            "xхχ",
            "yуγʏ",
            "zᴢ",
        ]
        for alike in letters[1:]
    }
)
_DIGITS: Final = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"}
)
_MIXED: Final = re.compile(r"(?=[\w@$]*[a-z])(?=[\w@$]*[013457@$])[a-z0-9@$]{2,24}")
_LEAST_MIXED: Final = 2  # words: one is a part number
_APART: Final = re.compile(r"(?<!\w)\w(?:[ .\-_*|/+~]{1,2}\w){4,}(?!\w)")
_BETWEEN: Final = re.compile(r"[ .\-_*|/+~]")
_APART_CJK: Final = re.compile(f"(?:[{EAST_ASIAN}][ .\\-_*|/+~·・]{{1,2}}){{3,}}[{EAST_ASIAN}]")
_BETWEEN_CJK: Final = re.compile(r"[ .\-_*|/+~·・]")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\-]{16,}={0,2}")
_HEX: Final = re.compile(r"(?:(?:\\x|0x|%)?[0-9a-fA-F]{2}[ ,]?){12,}")
_NO_HEX: Final = re.compile(r"\\x|0x|[% ,]")
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_LEAST_UNSEEN: Final = 3
_WIDE: Final = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
_LEAST_WIDE: Final = 6
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]+")
_ESCAPED: Final = re.compile(r"%[0-9a-fA-F]{2}|&#?\w{2,8};")
_COMMON: Final = re.compile(
    r"\b(the|and|to|of|your|you|all|how|what|me|for|is|in|a|my|that|with|instructions?|prompt|make)\b"
)
_LEAST_COMMON: Final = 3  # words: so many of them are no accident in a text that is turned around


def hidden_forms(text: str) -> tuple[str, ...]:
    """The normalised forms that a text takes without its disguises; none for a plain one.

    What `normalise` undoes is among them where the vector of the text as it stands can't be trusted.
    """
    text = text[:_LONGEST]
    plain = normalise(text)
    forms: dict[str, None] = {plain: None} if _veiled(text) else {}
    for undo in (_tags, _letters, _together, _digits, _escapes, _base64, _hex, _turned):
        for found in undo(text):
            form = normalise(found)
            if form and form != plain:
                forms.setdefault(form)
    return tuple(forms)[:_MOST_FORMS]


def _veiled(text: str) -> bool:
    return len(_UNSEEN.findall(text)) >= _LEAST_UNSEEN or len(_WIDE.findall(text)) >= _LEAST_WIDE


def _tags(text: str) -> Iterator[str]:
    """Letters from Unicode's block of tags, which nobody sees and models read."""
    hidden = "".join(_TAGS.findall(text))
    if hidden:
        yield "".join(chr(ord(character) - 0xE0000) for character in hidden)


def _letters(text: str) -> Iterator[str]:
    """Look-alikes of other scripts and marks over letters."""
    plain = normalise(text)
    if plain.isascii():
        return
    latin = plain.translate(_LOOK_ALIKES)
    yield latin
    yield "".join(_without_marks(character) for character in unicodedata.normalize("NFC", latin))


def _without_marks(character: str) -> str:
    if unicodedata.category(character) == "Mn" and not "\u3099" <= character <= "\u309c":
        return ""
    base = unicodedata.normalize("NFD", character)[0]
    return base if base.isascii() else character  # a mark on kana makes another letter


def _together(text: str) -> Iterator[str]:
    """Letters that were set apart. Two spaces or a bar part words; else they stay one word."""
    plain = text.casefold()
    joined = _APART.sub(lambda found: _join(found.group()), plain)
    yield _APART_CJK.sub(lambda found: _BETWEEN_CJK.sub("", found.group()), joined)


def _join(letters: str) -> str:
    return " ".join(_BETWEEN.sub("", word) for word in re.split(r" {2,}|[|/] ?", letters))


def _digits(text: str) -> Iterator[str]:
    """Digits and signs in the place of letters."""
    plain = normalise(text)
    if len(_MIXED.findall(plain)) >= _LEAST_MIXED:
        yield _MIXED.sub(lambda found: found.group().translate(_DIGITS), plain)


def _escapes(text: str) -> Iterator[str]:
    """Percent signs of addresses and entities of HTML."""
    if _ESCAPED.search(text):
        yield html.unescape(unquote(text))


def _base64(text: str) -> Iterator[str]:
    for found in _BASE64.findall(text):
        yield from _in_place(text, found, _of_base64)


def _hex(text: str) -> Iterator[str]:
    for match in _HEX.finditer(text):
        yield from _in_place(text, match.group(), _of_hex)


def _of_base64(digits: str) -> bytes:
    standard = digits.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(standard + "=" * (-len(standard) % 4))


def _of_hex(digits: str) -> bytes:
    return bytes.fromhex(_NO_HEX.sub("", digits))


def _in_place(text: str, found: str, decode: Callable[[str], bytes]) -> Iterator[str]:
    """The text with what was decoded in its place, if that reads like words and not like an identifier."""
    try:
        decoded = decode(found).decode("utf-8")
    except (binascii.Error, ValueError):
        return
    readable = sum(character.isalpha() or character in " ,.!?'、。，？！" for character in decoded)
    if readable >= 0.9 * len(decoded) and len(decoded) >= 6 and (" " in decoded or not decoded.isascii()):
        yield text.replace(found, f" {decoded} ")


def _turned(text: str) -> Iterator[str]:
    """Letters moved by thirteen places, or written from the end."""
    plain = normalise(text)
    there = len(_COMMON.findall(plain))
    for turned in (codecs.encode(plain, "rot13"), plain[::-1]):
        if len(_COMMON.findall(turned)) >= max(_LEAST_COMMON, there + 2):
            yield turned
