"""The words that guards know, from the YAML files beside this module."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import resources
from typing import Any

import yaml

from cache.text import is_cjk

__all__ = ["read_table", "word_pattern"]

# Not \b: a Japanese character beside a Latin word is a letter too ("2FAをenableする").
_BEGIN, _END = "(?<![a-z0-9'])", "(?![a-z0-9])"
_ENGLISH_ENDINGS = "(?:s|es|d|ed|ing|ment|ly)?"


def read_table(name: str) -> Any:
    """A table by its file name, as YAML gives it; the guard that asked for it checks its form."""
    return yaml.safe_load(resources.files("cache.guards").joinpath(name).read_text(encoding="utf-8"))


def word_pattern(terms: Iterable[str], *, inflected: bool = True) -> re.Pattern[str]:
    """What finds any of the terms, the longest first.

    Japanese and Chinese terms are found anywhere, others as whole words with English endings;
    `…` in a term stands for up to three words ("turn … off").
    """
    ordered = sorted(set(terms), key=len, reverse=True)
    return re.compile("|".join(_one_term(term, inflected=inflected) for term in ordered) or r"(?!)")


def _one_term(term: str, *, inflected: bool) -> str:
    if is_cjk(term):
        return re.escape(term)
    if "…" in term:
        first, last = (re.escape(part.strip()) for part in term.split("…"))
        return rf"{_BEGIN}{first}{_ENGLISH_ENDINGS}\s(?:[\w']+\s){{0,3}}{last}{_END}"
    first, *rest = term.split(" ")
    words = [_inflected(first) if inflected else re.escape(first), *map(re.escape, rest)]
    return _BEGIN + r"\s".join(words) + _END


def _inflected(word: str) -> str:
    """The word with its endings: a final e may go, a final consonant may double."""
    if word.endswith("e"):
        return rf"{re.escape(word[:-1])}(?:e|es|ed|er|ing|ement)"
    if word.endswith("y"):
        return rf"{re.escape(word[:-1])}(?:y|ys|ies|ied|ying|yed)"
    last = re.escape(word[-1])
    return rf"{re.escape(word)}(?:{last}ed|{last}ing|s|es|ed|er|ing|ment|ly)?"
