"""Messages as clients send them, to the turns of a conversation."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, Literal

from pydantic import BaseModel

from gateway.domain import Conversation, Turn
from gateway.errors import InvalidRequest
from gateway.settings import ServerSettings
from gateway.understanding.front_ends import front_end_task
from storage.texts import storable

__all__ = ["Message", "check_readable", "conversation"]

REPLIES_ARE_LONGER = 4  # times a question, at most
MOST_MARKS = 30  # on one character, as in Unicode's stream-safe text (UAX 15)

_OF_THE_CLIENT = ("system", "developer")
Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class ContentPart(BaseModel):
    """A part of a message; only text can be judged."""

    type: str
    text: str | None = None

    @property
    def said(self) -> str | None:
        """Its text, if it is one."""
        return self.text if self.type == "text" else None

    @property
    def mark(self) -> str:
        """What stands for it where it is none."""
        return "[image]" if "image" in self.type else "[attachment]"


class Message(BaseModel):
    """One message of OpenAI's chat contract."""

    role: Role
    content: str | list[ContentPart] | None = None


def conversation(
    messages: Sequence[Message],
    *,
    tenant: str,
    group: str,
    request_id: str,
    limits: ServerSettings,
    front_end_tasks: bool,
    asker: str | None = None,
    options: Mapping[str, Any] | None = None,
    choices: int = 1,
    question: str | None = None,
) -> Conversation:
    """The conversation that these messages are; `front_end_tasks` says whether those are known.

    Args:
        question: the field that the last message was given in, where it was none of `messages`.

    Raises:
        InvalidRequest: naming the message that can't be used.
    """
    last = len(messages) - 1
    if not messages or messages[last].role != "user":
        raise InvalidRequest(
            "the last message must be the asker's (role: user)", param=f"messages[{max(last, 0)}].role"
        )
    place = question or f"messages[{last}].content"
    asked = Turn("user", storable(_text(messages[last], place)))
    if not asked.text.strip():
        raise InvalidRequest("the question is empty", param=place)
    turns = (*_earlier(messages[:last], limits), asked)
    task = front_end_task(turns) if front_end_tasks else None
    if task is None:  # no stage reads a task
        check_readable(asked.text, longest=limits.max_question_chars, param=place)
    return Conversation(
        turns=turns,
        tenant=tenant,
        group=group,
        request_id=request_id,
        asker=asker,
        options=options or {},
        choices=choices,
        task=task,
    )


def check_readable(text: str, *, longest: int, param: str) -> None:
    """Refuse a text that would take too long to read, counted as it is read: by NFKC, ㌖ has six characters.

    Python orders a run of combining marks in time that grows with its square, and nobody else runs meanwhile.

    Raises:
        InvalidRequest: saying why.
    """
    size = len(text)
    if size <= longest and not text.isascii():
        if any(marks and len(list(run)) > MOST_MARKS for marks, run in groupby(text, _is_mark)):
            raise InvalidRequest(
                f"more than {MOST_MARKS} combining marks in a row can't be read", param=param
            )
        size = len(unicodedata.normalize("NFKC", text))
    if size > longest:
        raise InvalidRequest(f"at most {longest} characters are read, not {size}", param=param)


def _is_mark(character: str) -> bool:
    return unicodedata.combining(character) > 0


def _earlier(messages: Sequence[Message], limits: ServerSettings) -> Iterator[Turn]:
    """The turns before the last one that say something, as far as they fit.

    Front ends send the whole chat every time: what is too long, or an image, would end it for good.
    """
    others = [place for place, message in enumerate(messages) if message.role not in _OF_THE_CLIENT]
    too_many = set(others[: max(len(messages) + 1 - limits.max_messages, 0)])
    for place, message in enumerate(messages):
        match message.role:
            case "tool" | "function":
                raise InvalidRequest("tool results are not supported", param=f"messages[{place}].role")
            case "system" | "developer":
                yield Turn("system", storable(_shown(message)))  # nobody reads it
            case role if place not in too_many and (text := storable(_shown(message))).strip():
                times = 1 if role == "user" else REPLIES_ARE_LONGER
                yield Turn(role, _fitting(text, limits.max_question_chars * times))


def _fitting(text: str, longest: int) -> str:
    """The end of a text, as much of it as can be read."""
    text = text[-longest:]
    if text.isascii():
        return text
    runs = groupby(text, _is_mark)
    text = "".join("".join(islice(run, MOST_MARKS) if marks else run) for marks, run in runs)
    while (size := len(unicodedata.normalize("NFKC", text))) > longest:
        text = text[len(text) - len(text) * longest // size :]
    return text


def _text(message: Message, param: str) -> str:
    """The text of a message that has to be all text."""
    for number, part in enumerate(_parts(message)):
        if part.said is None:
            raise InvalidRequest(
                f"only parts of type text can be checked, not {part.type}", param=f"{param}[{number}]"
            )
    return _shown(message)


def _shown(message: Message) -> str:
    """The text of a message, with a mark for each part that is none."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.mark if part.said is None else part.said for part in _parts(message))


def _parts(message: Message) -> Sequence[ContentPart]:
    return message.content if isinstance(message.content, list) else ()
