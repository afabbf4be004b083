"""A bare yes or no says nothing by itself; with its question it is a statement like any other.

"Can I get a refund after the trial?" - "Yes." says "you can get a refund after the trial".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Self

import yaml

from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.faithfulness.statements.speech_acts import filled, plain_sentence
from languages.identification import script_language

__all__ = ["is_reply", "spelled_out"]

LONGEST_REPLY: Final = 40  # characters
LONGEST_ASKED: Final = 200  # of the sentence that asks


def is_reply(sentence: str) -> bool:
    """Whether it is a yes or a no, and nothing else."""
    return len(sentence) <= LONGEST_REPLY and _says(sentence) is not None


def spelled_out(reply: str, question: str) -> str:
    """What a yes or no says with its question; nothing where that asks for something else."""
    words = _words()[script_language(question)]
    affirms, asked = _says(reply), words.asked(question)
    if affirms is None or not asked:
        return ""
    return words.confirmed(asked) if affirms else words.denied(asked)


def _says(sentence: str) -> bool | None:
    """Whether it is a yes; None if it is neither that nor a no."""
    plain = plain_sentence(sentence)
    said = [words.says(plain) for words in _words().values()]
    return next((one for one in said if one is not None), None)


@dataclass(frozen=True, slots=True)
class _Words:
    """The expressions of replies.yaml in one language."""

    yes: re.Pattern[str]
    no: re.Pattern[str]
    asks: tuple[re.Pattern[str], ...]
    beside: re.Pattern[str]
    confirming: tuple[tuple[re.Pattern[str], str], ...]
    denying: tuple[tuple[re.Pattern[str], str], ...]

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        named = {name: text for name, text in table.items() if isinstance(text, str)}

        def read(pattern: str) -> re.Pattern[str]:
            return re.compile(filled(pattern, named), re.IGNORECASE)

        def turns(name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
            return tuple((read(found), instead) for found, instead in table[name])

        return cls(
            read("|".join(table["yes"])),
            read("|".join(table["no"])),
            tuple(map(read, table["asked"])),
            read("|".join(table["else"])),
            turns("confirmed"),
            turns("denied"),
        )

    def says(self, plain: str) -> bool | None:
        if self.no.fullmatch(plain):
            return False
        return True if self.yes.fullmatch(plain) else None

    def asked(self, question: str) -> str:
        """What a text asks a yes or no for; nothing if that is more than one thing, or none."""
        found = [asked for one in sentences(question) if (asked := self._asked(plain_sentence(one.text)))]
        return found[0] if len(found) == 1 else ""

    def _asked(self, sentence: str) -> str:
        if len(sentence) > LONGEST_ASKED or self.beside.search(sentence):
            return ""
        found = (one.search(sentence) for one in self.asks)
        return next((one[1].strip() for one in found if one), "")

    def confirmed(self, asked: str) -> str:
        for found, instead in self.confirming:
            asked = found.sub(instead, asked)
        return asked

    def denied(self, asked: str) -> str:
        said = self.confirmed(asked)
        turned = (found.subn(instead, said, count=1) for found, instead in self.denying)
        return next((text for text, times in turned if times), "")


@cache
def _words() -> Mapping[str, _Words]:
    data = yaml.safe_load(files(__package__).joinpath("replies.yaml").read_text(encoding="utf-8"))
    return {language: _Words.of(table) for language, table in data.items()}
