"""What a person writes into an entry, checked before it is stored."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import get_args

from cache.entries import Entry, EntryKind, Source
from cache.errors import InvalidEntry, TooLong
from cache.reading.text import normalise
from languages.identification import LANGUAGES

__all__ = ["GROUP", "Content", "checked", "content_of"]

LONGEST_PHRASING = 2_000  # characters; a question, not a document
LONGEST_ANSWER = 32_000  # a cell of a spreadsheet holds 32,767 characters
MOST_PHRASINGS = 200
MOST_SOURCES = 30
LONGEST_DOCUMENT = 1024  # characters of its name
GROUP = re.compile(r"([a-z][a-z0-9_]{0,39})?")  # nothing is everybody of the tenant
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The part of an entry that people write. The first phrasing is the entry's question."""

    kind: EntryKind
    language: str  # ISO 639-1
    phrasings: tuple[str, ...]
    answer: str
    group: str = ""  # who may read it; "" is everybody of the tenant
    owner: str = ""
    sources: tuple[Source, ...] = ()
    valid_from: date | None = None
    valid_until: date | None = None  # inclusive
    review_by: date | None = None


def content_of(entry: Entry) -> Content:
    """What people wrote into an entry."""
    return Content(
        kind=entry.kind,
        group=entry.group,
        language=entry.language,
        phrasings=entry.phrasings,
        answer=entry.answer,
        owner=entry.owner,
        sources=entry.sources,
        valid_from=entry.valid_from,
        valid_until=entry.valid_until,
        review_by=entry.review_by,
    )


def checked(content: Content) -> Content:
    """The content, trimmed, with phrasings that say the same kept once.

    Raises:
        InvalidEntry: naming the first field that can't be used.
    """
    if content.kind not in get_args(EntryKind):
        raise InvalidEntry("kind", f"expected ground_truth or confirmed_answer, found “{content.kind}”")
    if content.language not in LANGUAGES:  # nobody asks in it
        expected = f"expected {', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}"
        raise InvalidEntry("language", f"{expected}, found “{content.language[:50]}”")
    if not GROUP.fullmatch(content.group):
        expected = "expected at most 40 of a-z, 0-9 and _, a letter first, or nothing for everybody"
        raise InvalidEntry("group", f"{expected}, found “{content.group[:50]}”")
    if content.valid_from and content.valid_until and content.valid_from > content.valid_until:
        raise InvalidEntry("valid_until", f"expected a day not before valid_from ({content.valid_from})")
    if len(content.sources) > MOST_SOURCES:
        raise InvalidEntry("sources", f"expected at most {MOST_SOURCES}, found {len(content.sources)}")
    return replace(
        content,
        phrasings=_checked_phrasings(content.phrasings),
        answer=_checked_answer(content.answer),
        owner=_checked_text("owner", content.owner, longest=200),
        sources=tuple(_checked_source(source) for source in content.sources),
    )


def _checked_phrasings(phrasings: tuple[str, ...]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for phrasing in dict.fromkeys(phrasings):
        text = _checked_text("phrasings", " ".join(phrasing.split()), longest=LONGEST_PHRASING)
        if not text:
            continue
        normalised = normalise(text)
        if not normalised:
            raise InvalidEntry("phrasings", f"expected letters or digits, found “{text}”")
        kept.setdefault(normalised, text)
        if len(kept) > MOST_PHRASINGS:  # nobody waits for the rest to be read: there may be 100,000
            raise InvalidEntry("phrasings", f"expected at most {MOST_PHRASINGS}, found {len(phrasings)}")
    if not kept:
        raise InvalidEntry("question", "expected at least one question, found none")
    return tuple(kept.values())


def _checked_answer(answer: str) -> str:
    text = _checked_text("answer", answer, longest=LONGEST_ANSWER)
    if not text:
        raise InvalidEntry("answer", "expected a text, found nothing")
    return text


def _checked_source(source: Source) -> Source:
    document = _checked_text("sources", source.document, longest=LONGEST_DOCUMENT)
    if not document or "\n" in document:
        raise InvalidEntry("sources", f"expected the name of a document on one line, found {document!a}")
    return Source(document, _checked_text("sources", source.version, longest=64))


def _checked_text(field: str, text: str, *, longest: int) -> str:
    trimmed = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(trimmed) > longest:
        raise TooLong(field, longest=longest, found=len(trimmed))
    found = _UNSTORABLE.search(trimmed)
    if found:
        raise InvalidEntry(field, f"expected UTF-8 text without control characters, found {found.group()!a}")
    return trimmed
