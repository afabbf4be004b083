"""What chat front ends want done beside the chat: titles, tags, follow-ups, search queries.

Nobody asks anything there, but an asker could type it. So no model reads it: the reply is the least that is
valid, and says nothing that the prompt does not say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from gateway.domain import FrontEndTask, Turn

__all__ = ["front_end_task"]

_LONGEST_OPENING = 500  # characters of a prompt in which its opening stands, spaces included
_TITLE_WORDS, _TITLE_CHARACTERS = 5, 40
_CHAT = "<chat_history>"
_ASKER = re.compile(r"^[ \t]*(?:\|\|>)?(?:user|human):[ \t]*\n?[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_FOLLOW_UP = re.compile(r"^[ \t]*follow[ -]?(?:up )?(?:input|question):", re.IGNORECASE | re.MULTILINE)
_STANDALONE = re.compile(r"^[ \t]*standalone question:", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Known:
    front_end: str
    opening: str
    reply: str | Mapping[str, Any]


def front_end_task(turns: Sequence[Turn]) -> FrontEndTask | None:
    """The task that the last turn is, with its reply; None if it is one of a person's own."""
    prompt = turns[-1].text
    begins = " ".join(prompt[:_LONGEST_OPENING].split())
    known = next((one for one in _known() if begins.startswith(one.opening)), None)
    if known is None:
        return None
    follow_up = _follow_up(prompt)
    if known.reply == "FOLLOW_UP" and not follow_up:
        return None
    return FrontEndTask(known.front_end, _reply(known.reply, prompt, _title(turns), follow_up))


def _reply(reply: str | Mapping[str, Any], prompt: str, title: str, follow_up: str) -> str:
    words = {"TITLE": title, "FOLLOW_UP": follow_up}
    if isinstance(reply, str):
        return words[reply]
    if "TITLE" in reply.values() and "json" not in prompt.lower():  # changed by its operator
        return title
    filled = {name: title if value == "TITLE" else value for name, value in reply.items()}
    return json.dumps(filled, ensure_ascii=False)


def _title(turns: Sequence[Turn]) -> str:
    """The first words of the first question: of the chat in the prompt, else of the turns before it."""
    prompt = turns[-1].text
    found = _ASKER.search(prompt.partition(_CHAT)[2] or prompt)
    asked = found.group(1) if found else next((turn.text for turn in turns[:-1] if turn.role == "user"), "")
    words = asked.removesuffix("</chat_history>").split(maxsplit=_TITLE_WORDS)[:_TITLE_WORDS]
    return " ".join(words)[:_TITLE_CHARACTERS].strip(' "')


def _follow_up(prompt: str) -> str:
    """The last question of a prompt that wants it rephrased."""
    _, *after = _FOLLOW_UP.split(prompt)
    return _STANDALONE.split(after[-1])[0].strip() if after else ""


@cache
def _known() -> Sequence[_Known]:
    source = files("gateway.understanding") / "front_ends.yaml"
    return [_Known(**one) for one in yaml.safe_load(source.read_text(encoding="utf-8"))]
