"""Cases: a question with what should answer it, and what was answered if that was recorded.

Files are JSON Lines, CSV or XLSX; the keys are the columns:

| key | holds |
|---|---|
| `id` | what the case is called in every run; without one, it is made from the question |
| `lang` | `en`, `ja`, `zh`; else the script of the question says it, else `understanding.default_language` |
| `real_question`, `question` | what the person wrote, and the question in it that stands alone; one will do |
| `messages` | the turns before it, each with `role` and `text` |
| `ground_contexts` | the passages that answer it: texts, or `text` with `id` |
| `ground_truth` | the answer a person wrote from them |
| `answerable` | `false` if nothing answers it; by default as ground truth, ground contexts or `gold` say |
| `recorded_answer`, `recorded_contexts` | what was answered, from what |
| `tags` | words to group by |

In CSV and XLSX a list is written as JSON, a single context also as it is, and tags with commas between them.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from evaluation.rows import DEFAULT, listed, problem_of, rows
from gateway.domain import Turn
from gateway.errors import InvalidRequest
from languages.identification import Language, language_of

__all__ = ["AnswerCase", "AnsweredCase", "Context", "case_digest", "case_of", "read_answer_cases"]

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Context:
    """A passage; its id, where the file or the chatbot has one."""

    text: str
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCase:
    """A question with what should answer it."""

    id: str
    lang: str
    real_question: str
    question: str
    messages: tuple[Turn, ...] = ()
    ground_contexts: tuple[Context, ...] = ()
    ground_truth: str = ""  # "" where nobody wrote one
    answerable: bool | None = None  # None: nobody said
    recorded_answer: str | None = None
    recorded_contexts: tuple[Context, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCase:
    """A case with what its target answered: what metrics measure."""

    case: AnswerCase
    answer: str
    contexts: tuple[Context, ...]  # in the order of retrieval
    outcome: str  # rag, ground_truth, refused …; "recorded" for an answer of the file
    answered: bool = True  # False where the target said that it has no answer: refused, escalated, withheld
    entry: str | None = None  # the verified entry that answered


def read_answer_cases(file: Path, default_language: Language = DEFAULT) -> Iterator[AnswerCase]:
    """The cases of a file, a few at a time in memory; the default is of questions whose script does not tell.

    Raises:
        UnreadableTable, InvalidRequest: naming file, line and field of the first row that can't be used.
    """
    seen: dict[bytes, int] = {}
    for line, values in rows(file, read=_KNOWN.__contains__):
        where = f"{file}, line {line}"
        case = case_of(values, where, default_language)
        first = seen.setdefault(hashlib.sha256(case.id.encode()).digest()[:12], line)
        if first != line:
            raise InvalidRequest(
                f"{where}: id: expected another than in line {first}, found “{case.id}” again"
            )
        yield case
    if not seen:
        raise InvalidRequest(f"{file} holds no cases")


def case_of(values: Mapping[str, Any], where: str, default_language: Language = DEFAULT) -> AnswerCase:
    """The case of a row.

    Raises:
        InvalidRequest: naming the field, after `where`.
    """
    named = {key: value for key, value in values.items() if not (value is None or value == "")}
    for key in named.keys() - _KNOWN:
        close = difflib.get_close_matches(key, _KNOWN, n=1, cutoff=0.85)
        if close:  # a typing error would leave out what it names, in silence
            raise InvalidRequest(f"{where}: {key}: unknown; did you mean {close[0]}?")
    try:
        return _frozen(_CaseRow.model_validate(named), default_language)
    except ValidationError as exc:
        raise InvalidRequest(f"{where}: {problem_of(exc)}") from exc


def case_digest(case: AnswerCase) -> str:
    """The same for two cases only if everything in them is the same."""
    return hashlib.sha256(json.dumps(asdict(case), ensure_ascii=False).encode()).hexdigest()[:32]


def _tags(value: Any) -> Any:
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [tag.strip() for tag in value.replace("、", ",").replace("，", ",").split(",") if tag.strip()]
    return listed(value)


def _as_context(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class _ContextRow(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: _Text
    id: str = Field("", coerce_numbers_to_str=True)


class _TurnRow(BaseModel):
    role: Role
    text: str = Field(validation_alias=AliasChoices("text", "content"))


_Contexts = Annotated[
    list[Annotated[_ContextRow, BeforeValidator(_as_context)]],
    BeforeValidator(listed),
    Field(max_length=1000),
]


class _CaseRow(BaseModel):
    """A row of a file. What it holds besides is left alone: exports and data sets carry more."""

    id: Annotated[_Text, Field(max_length=200, coerce_numbers_to_str=True)] | None = None
    lang: Annotated[str, StringConstraints(pattern="^[a-z]{2}$")] | None = None
    real_question: _Text | None = None
    question: _Text | None = None
    messages: Annotated[list[_TurnRow], BeforeValidator(listed)] = []
    ground_contexts: _Contexts = []
    ground_truth: Annotated[str, StringConstraints(strip_whitespace=True)] = ""
    answerable: bool | None = None
    gold: Literal["must", "may", "must_not"] | None = None
    recorded_answer: str | None = None
    recorded_contexts: _Contexts = []
    tags: Annotated[list[_Text], BeforeValidator(_tags)] = []

    @model_validator(mode="after")
    def _asks(self) -> _CaseRow:
        if not (self.real_question or self.question):
            raise ValueError("expected question or real_question")
        return self


_KNOWN = frozenset(_CaseRow.model_fields)


def _frozen(row: _CaseRow, default_language: Language) -> AnswerCase:
    asked = row.real_question or row.question or ""
    return AnswerCase(
        id=row.id or f"q-{hashlib.sha256(asked.encode()).hexdigest()[:12]}",
        lang=row.lang or language_of(asked, default=default_language),
        real_question=asked,
        question=row.question or asked,
        messages=tuple(Turn(turn.role, turn.text) for turn in row.messages),
        ground_contexts=tuple(Context(one.text, one.id) for one in row.ground_contexts),
        ground_truth=row.ground_truth,
        answerable=_answerable(row),
        recorded_answer=row.recorded_answer,
        recorded_contexts=tuple(Context(one.text, one.id) for one in row.recorded_contexts),
        tags=tuple(row.tags),
    )


def _answerable(row: _CaseRow) -> bool | None:
    if row.answerable is not None:
        return row.answerable
    if row.gold in ("may", "must_not"):
        return False
    return True if row.ground_truth or row.ground_contexts else None
