"""Messages as clients send them, to the turns of a conversation."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from pydantic import BaseModel

from gateway.domain import Conversation, Turn
from gateway.errors import InvalidRequest
from gateway.settings import ServerSettings
from storage.texts import storable

__all__ = ["Message", "check_readable", "conversation"]

REPLIES_ARE_LONGER = 4  # times a question, at most
MOST_MARKS = 30  # on one character, as in Unicode's stream-safe text (UAX 15)

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class ContentPart(BaseModel):
    """A part of a message; only text can be judged."""

    type: str
    text: str | None = None


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
    asker: str | None = None,
    options: Mapping[str, Any] | None = None,
    choices: int = 1,
) -> Conversation:
    """The conversation that these messages are.

    Raises:
        InvalidRequest: naming the message that can't be used.
    """
    if len(messages) > limits.max_messages:
        raise InvalidRequest(
            f"{len(messages)} messages are too many, at most {limits.max_messages} are read", param="messages"
        )
    turns = tuple(_turn(message, place) for place, message in enumerate(messages))
    last = len(turns) - 1
    if not turns or turns[-1].role != "user":
        raise InvalidRequest(
            "the last message must be the asker's (role: user)", param=f"messages[{max(last, 0)}].role"
        )
    if not turns[-1].text.strip():
        raise InvalidRequest("the question is empty", param=f"messages[{last}].content")
    for place, turn in enumerate(turns):
        if turn.role != "system":  # those are the operator's, and nobody reads them
            longest = limits.max_question_chars * (1 if turn.role == "user" else REPLIES_ARE_LONGER)
            check_readable(turn.text, longest=longest, param=f"messages[{place}].content")
    return Conversation(
        turns=turns,
        tenant=tenant,
        group=group,
        request_id=request_id,
        asker=asker,
        options=options or {},
        choices=choices,
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


def _turn(message: Message, place: int) -> Turn:
    match message.role:
        case "tool" | "function":
            raise InvalidRequest("tool results are not supported", param=f"messages[{place}].role")
        case "developer":
            return Turn("system", storable(_text(message, place)))
        case role:
            return Turn(role, storable(_text(message, place)))


def _text(message: Message, place: int) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = message.content or []
    for number, part in enumerate(parts):
        if part.type != "text" or part.text is None:
            raise InvalidRequest(
                f"only parts of type text can be checked, not {part.type}",
                param=f"messages[{place}].content[{number}]",
            )
    return "\n".join(part.text or "" for part in parts)
