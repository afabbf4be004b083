"""What settings are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, HttpUrl

from classifiers.gate.lists import compiled, listable
from gateway.settings.templates import check_template

__all__ = [
    "NAME",
    "Forbidden",
    "Listable",
    "Name",
    "NotOurs",
    "Paths",
    "Patterns",
    "Plain",
    "RefusalStatus",
    "RuleName",
    "Section",
    "Text",
    "Url",
    "Waiting",
]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | Path) else value


def _as_number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _checked(check: Callable[[str], object]) -> AfterValidator:
    """The text as it was written, once `check` has nothing against it."""

    def checked(text: str) -> str:
        check(text)
        return text

    return AfterValidator(checked)


def _without_slash(url: HttpUrl) -> str:
    return str(url).rstrip("/")


Paths = Annotated[list[Path], BeforeValidator(_as_list)]  # one path or several, relative to the file
Url = Annotated[str, BeforeValidator(lambda value: _without_slash(HttpUrl(value)))]
NAME = r"^[a-z][a-z0-9_]{0,39}$"
Name = Annotated[str, Field(pattern=NAME)]  # in headers, metrics and addresses
Text = Annotated[str, AfterValidator(str.strip), Field(min_length=1)]
Listable = Annotated[list[Annotated[Text, _checked(listable)]], BeforeValidator(_as_list)]  # one or several
Patterns = Annotated[list[Annotated[Text, _checked(compiled)]], BeforeValidator(_as_list)]
RefusalStatus = Annotated[Literal[200, 400], BeforeValidator(_as_number)]  # a variable is a text
RuleName = Annotated[str, Field(pattern=r"^[a-z_]+(:[a-z0-9_]{1,40})?$")]


def _template(*fields: str, needed: str = "") -> AfterValidator:
    return _checked(partial(check_template, fields=fields, needed=needed))


_Language = Annotated[str, Field(pattern="^(en|ja|zh)$")]
Plain = dict[_Language, Annotated[Text, _template()]]  # a text by language
NotOurs = dict[_Language, Annotated[Text, _template("nearest", "question")]]
Forbidden = dict[_Language, Annotated[Text, _template("topic", "question")]]
Waiting = dict[_Language, Annotated[Text, _template("ticket", "question", needed="ticket")]]


class Section(BaseModel):
    """A part of the file: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
