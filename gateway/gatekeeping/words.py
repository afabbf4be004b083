"""The words of a question, cut by its language, for those who look for whole words in it."""

from __future__ import annotations

import re
from functools import partial

from classifiers.gate.lists import Cut
from languages.identification import Language, language_of
from languages.scripts import EAST_ASIAN
from languages.words import WordReader, word_reader

__all__ = ["word_cut"]

_RUN = re.compile(f"[{EAST_ASIAN}]+|[^{EAST_ASIAN}]+")
_SPACED = re.compile(r"[^\W_]+[+#]*")
_POSSESSIVE = re.compile(r"['’]s\b")
_CJK = re.compile(f"[{EAST_ASIAN}]")


def word_cut(default: Language) -> Cut:
    """Cuts normalised texts; `default` is the language of bare Han that could be either."""
    return partial(_cut, word_reader(), "zh" if default == "zh" else "ja")


def _cut(reader: WordReader, default: Language, text: str) -> list[tuple[str, str]]:
    """Japanese and Chinese by their dictionaries, what stands between by its spaces.

    There a word is its spelling: stems would take an organization for an organ.
    """
    written = language_of("".join(_CJK.findall(text)), default=default)
    words: list[tuple[str, str]] = []
    for run in _RUN.findall(text):
        if not _CJK.match(run):
            words += [(word, word) for word in _SPACED.findall(_POSSESSIVE.sub("", run))]
            continue
        words += [(word.surface, word.base) for word in reader(run, written) if word.kind != "mark"]
    return words
