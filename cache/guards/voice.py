"""Who does it: what was done to something (订单被取消了, "my order was cancelled") is not how to do it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cache.reading.words import Text, content_word

__all__ = ["done_to"]

# What says that something was done. "Can it be cancelled" asks how to do it; Japanese 〜れる may be courtesy.
_DONE = {
    "zh": frozenset({"被", "遭到", "遭"}),
    "en": frozenset({"was", "were", "been", "got"}),
    "ja": frozenset[str](),
}
_PARTICIPLE = re.compile("(?:ed|en)$")
_NEAR = 3  # words between such a word and what was done, and between a verb and its thing


def done_to(asked: Text, stored: Text) -> str:
    """What was done in one text and is to be done in the other, "" if nothing."""
    for suffered, done, said in ((asked, stored, "the question"), (stored, asked, "the entry")):
        happened = list(_suffered(suffered))
        if not happened or _is_done(done):
            continue
        to_do = frozenset(_to_do(done))
        for thing, verb in happened:
            if (thing, verb) in to_do:
                return f"{said} says that it was done to “{thing}”"
    return ""


def _is_done(text: Text) -> bool:
    return any(word.surface.casefold() in _DONE[text.language] for word in text.words)


def _suffered(text: Text) -> Iterator[tuple[str, str]]:
    """Things with what was done to them."""
    told = [content_word(word, text.language) for word in text.words]
    for at, word in enumerate(text.words):
        if word.surface.casefold() not in _DONE[text.language]:
            continue
        for behind in range(at + 1, min(at + 1 + _NEAR, len(told))):
            if told[behind] and (text.language == "zh" or _PARTICIPLE.search(text.words[behind].surface)):
                yield from ((thing, told[behind]) for thing in told[:behind] if thing)


def _to_do(text: Text) -> Iterator[tuple[str, str]]:
    """Things with the verbs that stand shortly before them."""
    for at, word in enumerate(text.words):
        verb = content_word(word, text.language)
        if not verb or (text.language == "en" and _PARTICIPLE.search(word.surface)):
            continue
        for thing in text.words[at + 1 : at + 1 + _NEAR]:
            yield content_word(thing, text.language), verb
