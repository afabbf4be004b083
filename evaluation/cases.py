"""Files of cases, one JSON object a line; a row that can't be used stops the run with its line and field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from gateway.errors import InvalidRequest

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
]

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Row = TypeVar("Row", bound=BaseModel)


class Pair(BaseModel):
    """May the answer to one question be reused for another?"""

    cached_question: Text
    question: Text
    should_reuse: bool
    category: str = "all"
    lang: str = "en"
    cached_lang: str | None = None


class ShelfEntry(BaseModel):
    """A curated FAQ's entry, with its phrasings."""

    entry_id: Text
    questions: Annotated[list[Text], Field(min_length=1)]
    lang: str = "en"


class Traffic(BaseModel):
    """A question asked of that FAQ, and the entry that may answer it (null: none)."""

    text: Text
    entry_id: str | None
    slice: str = "in_scope"
    lang: str = "en"


class Feedback(BaseModel):
    """A question that a person labelled before: which entry answers it (null: none)."""

    text: Text
    entry_id: str | None
    lang: str = "en"


class GateCase(BaseModel):
    """A question and the class it belongs to."""

    text: Text
    gold: Literal["must", "may", "must_not"]
    slice: str = "all"
    lang: str = "en"


class AnswerSpan(BaseModel):
    """A place in an answer that nothing supports, and the kind of error it is."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    type: str | None = None


class Answer(BaseModel):
    """An answer, the contexts it was written from, and whether they support it."""

    answer: str
    contexts: list[str]
    faithful: bool
    question: str | None = None
    group: str = "all"
    lang: str = "en"
    id: str = ""
    source: str = ""  # the data set that the row comes from
    kind: str = ""  # how it is true, or which error it holds
    unsupported: list[AnswerSpan] | None = None  # None: not annotated

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of error, or how it is true; as far as the row says."""
        types = (span.type for span in self.unsupported or () if span.type)
        return (self.kind,) if self.kind else tuple(dict.fromkeys(types))


class Message(BaseModel):
    """One turn of a conversation."""

    role: Literal["user", "assistant", "system"]
    content: str


class FollowUp(BaseModel):
    """A conversation, and whether its last turn, the asker's, can be understood without the others."""

    messages: Annotated[list[Message], Field(min_length=1)]
    standalone: bool
    lang: str = "en"

    @property
    def opens(self) -> bool:
        """Nobody but the operator said anything before."""
        return all(message.role == "system" for message in self.messages[:-1])


def read_cases(file: Path, form: type[Row]) -> list[Row]:
    """All rows of a file.

    Raises:
        InvalidRequest: naming file, line and field of the first row that can't be used.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidRequest(f"{file} can't be read: {exc}") from exc
    rows = [_row(line, number, file, form) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise InvalidRequest(f"{file} holds no cases")
    return rows


def _row(line: str, number: int, file: Path, form: type[Row]) -> Row:
    try:
        return form.model_validate_json(line)
    except ValidationError as exc:
        problem = exc.errors()[0]
        field = ".".join(map(str, problem["loc"])) or "the row"
        raise InvalidRequest(f"{file}, line {number}: {field}: {problem['msg']}") from exc
