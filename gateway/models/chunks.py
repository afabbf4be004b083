"""A streamed reply, put together from its events into the reply that it would have been in one piece.

So what reads replies (texts, contexts, tokens) reads streams, too, wherever in the stream the chatbot puts
its contexts. What is in several events is there once: many repeat their passages in every chunk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from gateway.models.halves import Pieces, whole
from gateway.models.thoughts import Spoken

__all__ = ["ChatChunks", "Chunks", "ResponseEvents"]


class Chunks(Protocol):
    """What came so far."""

    reply: dict[str, Any]
    finished: bool  # the chatbot said that this is all

    @property
    def text(self) -> str: ...  # of the answer, without thoughts and spaces before its first letter

    def add(self, event: Mapping[str, Any], /) -> None: ...  # ValueError: nested too deeply


class ChatChunks:
    """Chunks of /chat/completions: deltas of one message, and whatever the chatbot adds beside them."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._choice: dict[str, Any] = {"message": self._message}
        self._pieces, self._spoken = Pieces(), Spoken()
        self.reply: dict[str, Any] = {}
        self.finished = False

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._spoken.text

    def add(self, event: Mapping[str, Any], /) -> None:
        """Take in the next chunk."""
        _merge(self.reply, whole({name: value for name, value in event.items() if name != "choices"}))
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and choice.get("index", 0) == 0:
                self._add_choice(choice)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self.reply["choices"] = [self._choice]
        delta = choice.get("delta", choice.get("message"))
        delta = dict(delta) if isinstance(delta, Mapping) else {}
        ends = bool(choice.get("finish_reason"))  # some servers send "" until the last chunk
        self._spoken.add(self._pieces.add(_text(delta.pop("content", None)), last=ends))
        _merge(self._message, whole(delta))
        self._message["content"] = self.text
        _merge(self._choice, whole({name: value for name, value in choice.items() if name not in _SAID}))
        self.finished = self.finished or ends


_SAID = frozenset({"delta", "message"})


class ResponseEvents:
    """Events of /responses: finished items, deltas of text, at last the whole response."""

    def __init__(self) -> None:
        self._output: list[Any] = []
        self._index: object = None  # of the message that is being written
        self._before = ""  # the messages that are written
        self._pieces, self._spoken = Pieces(), Spoken()
        self.reply: dict[str, Any] = {"output": self._output}
        self.finished = False

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._before + self._spoken.text

    def add(self, event: Mapping[str, Any], /) -> None:
        """Take in the next event."""
        match event:
            case {"type": "response.output_text.delta", "delta": str(delta)}:
                if event.get("output_index") != self._index:
                    self._spoken.add(self._pieces.add("", last=True))
                    self._before = f"{self.text.rstrip()}\n\n" if self.text else ""
                    self._spoken = Spoken()
                self._index = event.get("output_index")
                self._spoken.add(self._pieces.add(delta, last=False))
            case {"type": "response.output_item.done", "item": item}:
                self._output.append(whole(item))
            case {"type": "response.completed" | "response.incomplete", "response": Mapping() as response}:
                self.reply = {"output": self._output, **whole(response)}
                self.finished = True


def _text(content: object) -> str:
    """A delta's text, or the texts of its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Lists grow by what they don't have, objects by their parts; of anything else the last word counts."""
    for name, value in new.items():
        before = into.get(name)
        if isinstance(before, dict) and isinstance(value, Mapping):
            _merge(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            before.extend(item for item in value if item not in before)
        elif value is not None:
            into[name] = value
