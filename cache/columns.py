"""The columns of a sheet of entries: what they may be called, and what their cells hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, cast, get_args

from cache.content import Content
from cache.entries import EntryKind, EntryState, Source
from cache.errors import InvalidEntry
from cache.store import Incoming

__all__ = ["DAYS", "HEADINGS", "REQUIRED", "TEXTS", "incoming"]

TEXTS = ("id", "kind", "group", "language", "question", "answer", "state", "owner")
DAYS = ("valid_from", "valid_until", "review_by")
REQUIRED = ("question", "answer")
HEADINGS = {  # as helpdesks head their own sheets
    "質問": "question", "質問文": "question", "问题": "question", "問題": "question", "提问": "question",
    "回答": "answer", "回答文": "answer", "答え": "answer", "答案": "answer", "答复": "answer",
    "言語": "language", "语言": "language", "語言": "language",
}  # fmt: skip
_FURTHER = re.compile(r"phrasing_(\d+)")


def incoming(values: Mapping[str, Any], language: str | None) -> Incoming:
    """The entry of a row; `language` stands for an empty one.

    Raises:
        InvalidEntry: naming the column.
    """
    texts = {name: _text(values, name) for name in TEXTS}
    state = texts["state"].lower() or "active"
    if state not in get_args(EntryState):
        raise InvalidEntry("state", f"expected one of {', '.join(get_args(EntryState))}, found “{state}”")
    if not texts["question"]:
        raise InvalidEntry("question", "expected a text, found nothing")
    content = Content(
        kind=cast("EntryKind", texts["kind"].lower() or "ground_truth"),
        group=texts["group"].lower(),
        language=texts["language"].lower() or language or "",
        phrasings=(texts["question"], *_further(values)),
        answer=texts["answer"],
        owner=texts["owner"],
        sources=_sources(values.get("sources")),
        valid_from=_day(values, "valid_from"),
        valid_until=_day(values, "valid_until"),
        review_by=_day(values, "review_by"),
    )
    return Incoming(
        content=content,
        state=cast("EntryState", state),
        id=texts["id"] or None,
        names_group="group" in values,
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidEntry(name, f"expected a text, found {json.dumps(value)[:60]}")
    return value.strip()


def _further(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The phrasings after the question, from the list or the numbered columns."""
    listed = values.get("phrasings") or []
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InvalidEntry("phrasings", f"expected a list of texts, found {json.dumps(listed)[:60]}")
    numbered = [(int(found[1]), name) for name in values if (found := _FURTHER.fullmatch(name))]
    return (*listed, *(_text(values, name) for _, name in sorted(numbered)))


def _sources(value: Any) -> tuple[Source, ...]:
    match value:
        case None:
            return ()
        case str():
            return tuple(_source_line(line) for line in value.splitlines() if line.strip())
        case list():
            return tuple(_source_object(one) for one in value)
        case _:
            raise InvalidEntry("sources", f"expected a list of documents, found {json.dumps(value)[:60]}")


def _source_line(line: str) -> Source:
    document, at, version = line.strip().rpartition("@")
    return Source(document, version) if at else Source(version, "")


def _source_object(one: Any) -> Source:
    match one:
        case {"document": str(document), "version": str(version)}:
            return Source(document, version)
        case {"document": str(document)} | str(document):
            return Source(document, "")
        case _:
            raise InvalidEntry(
                "sources", f"expected objects with document and version, found {json.dumps(one)[:60]}"
            )


def _day(values: Mapping[str, Any], name: str) -> date | None:
    text = _text(values, name)
    if not text:
        return None
    try:
        return date.fromisoformat(text.replace("/", "-"))
    except ValueError as wrong:
        raise InvalidEntry(name, f"expected a day such as 2026-04-01, found “{text[:40]}”") from wrong
