"""A model plays a person: the next message of a dialogue, or the end of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from classifiers.model_replies import AsksModel, read_object, response_format
from evaluation.answers.cases import AnswerCase
from evaluation.users.personas import LANGUAGES, Persona
from gateway.domain import Turn

__all__ = ["DONE", "SimulatedUser", "prompt"]

DONE = "DONE"


class _Next(BaseModel):
    """What the person says next."""

    model_config = ConfigDict(extra="ignore")

    message: str
    done: bool = False


_FORMAT = response_format(_Next, name="next_message")


class SimulatedUser:
    """Somebody who wants to know what a case asks."""

    version = "user@1"

    def __init__(self, model: AsksModel) -> None:
        self._model = model

    async def says(
        self, persona: Persona, case: AnswerCase, before: Sequence[Turn], *, turns_left: int
    ) -> str | None:
        """The next message; None once the person has nothing left to ask.

        Raises:
            ClassifierError: if the model can't be asked, or answers something else.
        """
        given = {
            "manner": persona.manner,
            "wants": case.question,
            "said": [{"role": turn.role, "text": turn.text} for turn in before],
            "turns_left": turns_left,
        }
        reply = await self._model.ask(
            prompt("user", case.lang), json.dumps(given, ensure_ascii=False), _FORMAT
        )
        said = read_object(reply, _Next, judge=self.version)
        message = said.message.strip()
        over = said.done or not message or message.strip(" .。!！").upper() == DONE
        return None if over else message


@cache
def prompt(name: str, language: str) -> str:
    """The prompt of this name, in English for languages that have none."""
    known = language if language in LANGUAGES else "en"
    return (files("evaluation.users") / "prompts" / f"{name}.{known}.md").read_text(encoding="utf-8")
