"""Files of cases: JSON Lines, CSV or XLSX; a row that can't be used stops the run with its line and field.

In CSV and XLSX a list is written as JSON, a single text also as it is; an empty cell, as null in JSON Lines,
has the default of its column. Without `lang` the script of the text says the language, and where it does not
tell, the operator does (`understanding.default_language`): on another shelf nothing is found.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from cache.errors import InvalidEntry
from cache.store.content import checked
from cache.transfer.columns import DAYS, HEADINGS, REQUIRED, SHARED, incoming, is_read
from cache.transfer.numbering import split_number
from evaluation.rows import DEFAULT, listed, problem_of, rows
from gateway.errors import InvalidRequest
from languages.identification import Language, language_of

__all__ = [
    "Answer",
    "AnswerSpan",
    "Feedback",
    "FollowUp",
    "GateCase",
    "Message",
    "Pair",
    "ShelfEntry",
    "Traffic",
    "read_cases",
    "read_shelf",
]

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
EntryId = Annotated[str | None, BeforeValidator(lambda value: None if value == "" else value)]
# A list in a cell is written as JSON; a bare text in its place is a mistake, as it is in JSON Lines.
Listed = BeforeValidator(lambda value: value if _is_bare(value) else listed(value))
Row = TypeVar("Row", bound=BaseModel)


def _is_bare(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not value.lstrip().startswith("[")


class _InALanguage(BaseModel):
    lang: str = ""  # of a row that was read never empty

    @model_validator(mode="after")
    def _has_a_language(self, info: ValidationInfo) -> Self:
        if not self.lang:
            self._read_script(info.context or DEFAULT)
        return self

    def _read_script(self, default: Language) -> None:
        self.lang = language_of(self._said(), default=default)

    def _said(self) -> str:
        """The text whose script is read."""
        raise NotImplementedError


class _Asked(_InALanguage):
    text: Text

    def _said(self) -> str:
        return self.text


class Pair(_InALanguage):
    """May the answer to one question be reused for another?"""

    cached_question: Text
    question: Text
    should_reuse: bool
    category: str = "all"
    cached_lang: str | None = None  # as `lang`, where only that is given

    def _read_script(self, default: Language) -> None:
        self.lang = language_of(self.question, default=default)
        self.cached_lang = self.cached_lang or language_of(self.cached_question, default=default)


class ShelfEntry(_InALanguage):
    """A curated FAQ's entry, with its phrasings."""

    entry_id: Text
    questions: Annotated[list[Text], Listed, Field(min_length=1)]
    answer: str = ""  # read beside the question, if all entries have one
    group: str = ""  # who may read it; "" is everybody
    valid_from: date | None = None
    valid_until: date | None = None  # inclusive
    active: bool = True  # False: nobody is served it

    def _said(self) -> str:
        return "\n".join(self.questions)


class _Answered(_Asked):
    """A question and the entry that answers it (null: none)."""

    entry_id: EntryId


class Traffic(_Answered):
    """A question asked of that FAQ, and the entry that may answer it."""

    slice: str = "in_scope"
    group: str = ""  # the asker's


class Feedback(_Answered):
    """A question that a person labelled before."""


class GateCase(_Asked):
    """A question and the class it belongs to."""

    gold: Literal["must", "may", "must_not"]
    slice: str = "all"


class AnswerSpan(BaseModel):
    """A place in an answer that nothing supports, and the kind of error it is."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    type: str | None = None


class Answer(_InALanguage):
    """An answer, the contexts it was written from, and whether they support it."""

    answer: str
    contexts: Annotated[list[str], Listed]
    faithful: bool
    question: str | None = None
    group: str = "all"
    id: str = ""
    source: str = ""  # the data set that the row comes from
    kind: str = ""  # how it is true, or which error it holds
    unsupported: Annotated[list[AnswerSpan] | None, Listed] = None  # None: not annotated

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of error, or how it is true; as far as the row says."""
        types = (span.type for span in self.unsupported or () if span.type)
        return (self.kind,) if self.kind else tuple(dict.fromkeys(types))

    def _said(self) -> str:
        return self.question or self.answer


class Message(BaseModel):
    """One turn of a conversation."""

    role: Literal["user", "assistant", "system"]
    content: str


class FollowUp(_InALanguage):
    """A conversation, and whether its last turn, the asker's, can be understood without the others."""

    messages: Annotated[list[Message], Listed, Field(min_length=1)]
    standalone: bool

    @property
    def opens(self) -> bool:
        """Nobody but the operator said anything before."""
        return all(message.role == "system" for message in self.messages[:-1])

    def _said(self) -> str:
        return self.messages[-1].content


def read_cases(
    file: Path,
    form: type[Row],
    default_language: Language = DEFAULT,
    *,
    entries: Collection[str] | None = None,
) -> list[Row]:
    """All rows of a file.

    Args:
        default_language: of texts whose script does not tell.
        entries: what a row may name as the entry that answers it; None: anything.

    Raises:
        UnreadableTable, InvalidRequest: naming file, line and field of the first row that can't be used.
    """
    found = []
    for line, values in rows(file, read=form.model_fields.__contains__):
        try:
            row = form.model_validate(_filled(values, form), context=default_language)
        except ValidationError as exc:
            raise InvalidRequest(f"{file}, line {line}: {problem_of(exc)}") from exc
        answered_by = row.entry_id if isinstance(row, _Answered) else None
        if entries is not None and answered_by is not None and answered_by not in entries:
            expected = f"expected the id of an entry of --entries, or null, found “{answered_by}”"
            raise InvalidRequest(f"{file}, line {line}: entry_id: {expected}")
        found.append(row)
    if not found:
        raise InvalidRequest(f"{file} holds no cases")
    return found


def _filled(values: Mapping[str, Any], form: type[BaseModel]) -> dict[str, Any]:
    """What a row holds, without the empty cells, and the nulls, whose column has a default."""
    needed = {name for name, field in form.model_fields.items() if field.is_required()}
    return {key: value for key, value in values.items() if value not in ("", None) or key in needed}


def read_shelf(file: Path, default_language: Language = DEFAULT) -> list[ShelfEntry]:
    """The entries of a sheet as `sekisho export` writes it, or rows of `ShelfEntry` as JSON Lines.

    Raises:
        UnreadableTable, InvalidRequest: naming file, line and field of the first row that can't be used.
    """
    found = []
    how = {"required": REQUIRED, "headings": HEADINGS, "shared": SHARED, "days": DAYS, "read": is_read}
    for line, values in rows(file, **how):
        found.append(_shelf_entry(values, default_language, f"{file}, line {line}"))
    if not any(one.active for one in found):
        raise InvalidRequest(f"{file} holds no active entries")
    return found


def _shelf_entry(values: Mapping[str, Any], default: Language, where: str) -> ShelfEntry:
    """The entry of a row."""
    try:
        if values.keys() & {"entry_id", "questions"}:
            return ShelfEntry.model_validate(values, context=default)
        one = incoming(values, language_of(str(values.get("question")), default=default))
        content = checked(one.content)
    except ValidationError as exc:
        raise InvalidRequest(f"{where}: {problem_of(exc)}") from exc
    except InvalidEntry as exc:
        raise InvalidRequest(f"{where}: {exc}") from exc
    if one.id is None:
        raise InvalidRequest(f"{where}: id: expected the one that --traffic calls the entry by")
    questions = [split_number(phrasing)[1] for phrasing in content.phrasings]
    return ShelfEntry(
        entry_id=one.id,
        questions=questions,
        answer=content.answer,
        lang=content.language,
        group=content.group,
        valid_from=content.valid_from,
        valid_until=content.valid_until,
        active=one.state == "active",
    )
