"""The two contracts of OpenAI's that models speak: what a request is on each, and what a reply says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from gateway.models.chunks import ChatChunks, Chunks, ResponseEvents
from gateway.models.thoughts import spoken

__all__ = ["WIRES", "NoText", "Wire", "WireName"]

WireName = Literal["chat", "responses"]

# What an asker may not change: the words, the model, and how the reply comes.
_OURS = frozenset({"messages", "input", "model", "stream", "stream_options", "n"})
_NEEDS_A_PERSON_AT_THE_OTHER_END = frozenset({"tools", "tool_choice", "functions", "function_call"})
_RESPONSES_TAKES = frozenset({"temperature", "top_p", "user", "metadata", "reasoning", "service_tier"})


@dataclass(frozen=True, slots=True)
class NoText:
    """Why a reply holds no answer."""

    why: str
    cause: str = "no_text"
    called: bool = False  # a tool, instead of answering


class Wire(Protocol):
    """One of the two contracts. It sends nothing itself."""

    path: str
    conversation: str  # the key of a request under which the messages stand
    streaming: Mapping[str, Any]  # further options of a request whose reply is streamed

    def passed(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """What of an asker's options goes to the model, under the names of this contract."""
        ...

    def several(self, n: int) -> Mapping[str, Any]:
        """Further options of a request for several answers."""
        ...

    def split(self, reply: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Each answer of a reply, as if it were the only one."""
        ...

    def text(self, reply: Mapping[str, Any]) -> str | NoText:
        """The first answer of a reply."""
        ...

    def cut_off(self, reply: Mapping[str, Any]) -> bool:
        """Whether the model's limit on its length ended the first answer, which has a text."""
        ...

    def chunks(self) -> Chunks:
        """What puts a streamed reply together."""
        ...


class _Chat:
    """/chat/completions."""

    path = "/chat/completions"
    conversation = "messages"
    streaming: Mapping[str, Any] = {"stream_options": {"include_usage": True}}

    def passed(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return _allowed(options)

    def several(self, n: int) -> Mapping[str, Any]:
        return {"n": n}

    def split(self, reply: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        choices = reply.get("choices")
        found = choices if isinstance(choices, list) else []
        return [{**reply, "choices": [choice]} for choice in found] or [reply]

    def text(self, reply: Mapping[str, Any]) -> str | NoText:
        choices = reply.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
            return NoText("answered without choices", "unreadable")
        message = choices[0].get("message")
        if not isinstance(message, Mapping):
            return NoText("answered without a message", "unreadable")
        if choices[0].get("finish_reason") == "content_filter":
            return NoText("withheld its own answer (finish_reason content_filter)", "filtered")
        if message.get("tool_calls") or message.get("function_call"):
            return NoText("asked for a tool call, which nobody here can make", called=True)
        text = _joined(message.get("content"), part="text")
        if not text and message.get("refusal"):
            return NoText("refused to answer")
        return text or NoText("answered without text")

    def cut_off(self, reply: Mapping[str, Any]) -> bool:
        return any(choice.get("finish_reason") == "length" for choice in reply["choices"][:1])

    def chunks(self) -> Chunks:
        return ChatChunks()


class _Responses:
    """/responses, with the passages that a search in files found. It knows no several answers."""

    path = "/responses"
    conversation = "input"
    streaming: Mapping[str, Any] = {}

    def passed(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        allowed = _allowed(options)
        longest = allowed.get("max_completion_tokens", allowed.get("max_tokens"))
        limit = {} if longest is None else {"max_output_tokens": longest}
        known = {key: value for key, value in allowed.items() if key in _RESPONSES_TAKES}
        return {**known, **limit, "include": ["file_search_call.results"]}

    def several(self, n: int) -> Mapping[str, Any]:
        return {}

    def split(self, reply: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        return [reply]

    def text(self, reply: Mapping[str, Any]) -> str | NoText:
        output = reply.get("output")
        if not isinstance(output, list):
            return NoText("answered without output", "unreadable")
        items = [item for item in output if isinstance(item, Mapping)]
        if any(item.get("type") == "function_call" for item in items):
            return NoText("asked for a tool call, which nobody here can make", called=True)
        details = reply.get("incomplete_details")
        if isinstance(details, Mapping) and details.get("reason") == "content_filter":
            return NoText("withheld its own answer (content_filter)", "filtered")
        messages = (item for item in items if item.get("type") == "message")
        texts = [_joined(item.get("content"), part="output_text") for item in messages]
        return "\n\n".join(filter(None, texts)) or NoText("answered without text")

    def cut_off(self, reply: Mapping[str, Any]) -> bool:
        details = reply.get("incomplete_details")
        return isinstance(details, Mapping) and details.get("reason") == "max_output_tokens"

    def chunks(self) -> Chunks:
        return ResponseEvents()


WIRES: Final[Mapping[WireName, Wire]] = {"chat": _Chat(), "responses": _Responses()}


def _allowed(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in options.items()
        if key not in _OURS and key not in _NEEDS_A_PERSON_AT_THE_OTHER_END
    }


def _joined(content: Any, *, part: str) -> str:
    """A text, or the texts of its parts, without thoughts."""
    if isinstance(content, str):
        return spoken(content).strip()
    if not isinstance(content, list):
        return ""
    texts = [item.get("text") for item in content if isinstance(item, Mapping) and item.get("type") == part]
    return spoken("".join(text for text in texts if isinstance(text, str))).strip()
