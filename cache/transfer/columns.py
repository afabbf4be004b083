"""The columns of a sheet of entries: what they may be called, and what their cells hold."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from typing import Any, cast, get_args

from cache.entries import EntryKind, EntryState, Source
from cache.errors import InvalidEntry
from cache.reading.numerals import numerals
from cache.store import Incoming
from cache.store.content import Content
from cache.transfer.heads import by_alias

__all__ = [
    "DAYS",
    "HEADINGS",
    "KNOWN",
    "REQUIRED",
    "SHARED",
    "TEXTS",
    "incoming",
    "is_read",
    "source_line",
    "unknown",
]

TEXTS = ("id", "kind", "group", "language", "question", "answer", "state", "owner")
DAYS = ("valid_from", "valid_until", "review_by")
REQUIRED = ("question", "answer")
SHARED = ("kind", "group", "language", "state", "owner", "sources", *DAYS)  # of all rows beside merged cells
_ALIASES = {  # as helpdesks head their own sheets; only what can mean one thing
    "question": "質問 質問文 質問内容 标准问题 标准问 标准问法 知识标题 标准提问 问题 問題 標準問題 提问",
    "answer": "回答 回答文 回答内容 答え 答案 标准答案 標準答案 答案内容 答复 回复内容",
    "language": "言語 语言 語言",
    "phrasings": "別名 言い換え 別の言い方 類似質問 同義質問 别名 相似问 相似问题 相似问法 相似问句 "
    "相似問題 同义问 同义问题 扩展问 扩展问题 扩展问法 其他问法",
    "valid_from": "有効開始日 公開開始日 掲載開始日 生效日期 生效日 生效时间 生效時間",
    "valid_until": "有効期限 有効終了日 公開終了日 掲載終了日 有效期至 有效期截止 "
    "失效日期 失效时间 失效時間 到期日 到期时间",
    "review_by": "見直し日 見直し期限 次回見直し日 复核日期 复核期限 复审日期",
    "owner": "担当 担当者 担当部署 担当課 担当部課 所管課 主管課 所管部署 "
    "负责人 負責人 负责部门 負責部門 责任人 责任部门",
    "sources": "出典 参照文書 出处 出處 资料来源 知识来源",
}
_NUMBERED = ("phrasing", "phrasing ", *_ALIASES["phrasings"].split())
HEADINGS = (
    by_alias(_ALIASES)
    | {name.replace("_", " "): name for name in DAYS}
    | {f"{name}{n}": f"phrasing_{n}" for name in _NUMBERED for n in range(1, 21)}
)
_ERRORS = {  # of Excel, LibreOffice and Google Sheets
    "#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#FIELD!",
    "#BLOCKED!", "#CONNECT!", "#BUSY!", "#UNKNOWN!", "#GETTING_DATA", "#ERROR!",
}  # fmt: skip
_IN_VERSIONS = {"%": "%25", "@": "%40", "\n": "%0A"}  # what a line of a cell can't hold, and the mark itself
_BREAK = re.compile(r"[\n\r\v\f]")  # of lines; others may stand in the name of a document
_FURTHER = re.compile(r"phrasing_(\d+)")
_REVISION = re.compile(r"(\d{1,9})(?:\.0)?")  # programs make fractions of numbers in a column with gaps
_DAY = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?:[ T](?:0?0:00|23:59)(?::\d\d)?)?")
_ERA = re.compile(r"(令和|平成|[rh])(元|\d{1,2})([-/.年].*)", re.IGNORECASE | re.DOTALL)
_ERA_OF = {"r": "令和", "h": "平成"}
KNOWN = (*TEXTS, *DAYS, "sources", "phrasings", "revision")


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
        revision=_revision(values) if texts["id"] else None,
    )


def is_read(name: str) -> bool:
    """Whether anything is read from a column."""
    return name in KNOWN or _FURTHER.fullmatch(name) is not None


def unknown(values: Mapping[str, Any]) -> list[str]:
    """The columns of a row that nothing is read from."""
    return [name for name in values if name and not is_read(name)]


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidEntry(name, f"expected a text, found {json.dumps(value)[:60]}")
    return _no_error(name, value.strip())


def _no_error(name: str, text: str) -> str:
    """A text, unless it is what a formula left behind that could not be worked out."""
    if text.upper() in _ERRORS:
        raise InvalidEntry(name, f"expected a text, found the error “{text}” of the sheet")
    return text


def _revision(values: Mapping[str, Any]) -> int | None:
    """The revision of the entry that a row was exported from; None if it does not say."""
    text = str(values.get("revision") or "").strip()
    found = _REVISION.fullmatch(text)
    if text and not found:
        raise InvalidEntry("revision", f"expected the number that was exported, found “{text[:40]}”")
    return int(found[1]) if found else None


def _further(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The phrasings after the question: a list, or one a line, or the numbered columns."""
    listed = values.get("phrasings") or []
    if isinstance(listed, str):
        listed = [_no_error("phrasings", one.strip()) for one in listed.splitlines()]
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InvalidEntry("phrasings", f"expected a list of texts, found {json.dumps(listed)[:60]}")
    numbered = [(int(found[1]), name) for name in values if (found := _FURTHER.fullmatch(name))]
    return (*listed, *(_text(values, name) for _, name in sorted(numbered)))


def _sources(value: Any) -> tuple[Source, ...]:
    match value:
        case None:
            return ()
        case str():
            lines = (_no_error("sources", line.strip()) for line in _BREAK.split(value))
            return tuple(_source_of(line) for line in lines if line)
        case list():
            return tuple(_source_object(one) for one in value)
        case _:
            raise InvalidEntry("sources", f"expected a list of documents, found {json.dumps(value)[:60]}")


def source_line(source: Source) -> str:
    """A source as a line of a cell, which `incoming` reads back."""
    version = "".join(_IN_VERSIONS.get(one, one) for one in source.version)
    return f"{source.document}@{version}"


def _source_of(line: str) -> Source:
    document, at, version = line.rpartition("@")
    if not at:
        return Source(line, "")
    for one, written in reversed(_IN_VERSIONS.items()):  # the mark itself last
        version = version.replace(written, one)
    return Source(document, version)


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
    """A day as people write it: 2026-04-01, 2026/4/1, 2026年4月1日, 令和8年4月1日, R8.4.1.

    Sheets write 2026/4/1 0:00, too.
    """
    text = _text(values, name)
    if not text:
        return None
    written = unicodedata.normalize("NFKC", text)
    if era := _ERA.fullmatch(written):
        name = _ERA_OF.get(era[1].lower(), era[1])
        written = f"{numerals().year_of_era(name, era[2])}{era[3]}"
    found = _DAY.fullmatch(written)
    try:
        return date(*map(int, found.groups())) if found else date.fromisoformat(text)
    except ValueError as wrong:
        raise InvalidEntry(name, f"expected a day such as 2026-04-01, found “{text[:40]}”") from wrong
