"""How judges ask a language model: one object out of one reply, in the form they asked for, or an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from classifiers import ClassifierError

__all__ = ["AsksModel", "read_object", "response_format"]

Form = TypeVar("Form", bound=BaseModel)

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)  # some models wrap their JSON in a code fence


class AsksModel(Protocol):
    """Any chat model."""

    @property
    def model(self) -> str: ...

    async def ask(self, system: str, user: str, response_format: Mapping[str, Any], /) -> str:
        """The model's reply, by the JSON schema where it knows such things.

        Raises:
            ClassifierError: if it can't be asked.
        """
        ...


def response_format(form: type[BaseModel], *, name: str) -> Mapping[str, Any]:
    """OpenAI's `response_format` for a form, strict: every field is asked for, and no other."""
    schema = form.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if part.get("type") == "object":
            part["required"] = list(part.get("properties", {}))
            part["additionalProperties"] = False
            for field in part.get("properties", {}).values():
                field.pop("default", None)  # OpenAI refuses schemas with defaults
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def read_object(reply: str, form: type[Form], *, judge: str) -> Form:
    """The one JSON object in a model's reply.

    Raises:
        ClassifierError: naming the judge whose model answered something else.
    """
    found = _OBJECT.search(reply)
    if not found:
        raise ClassifierError(f"{judge} answered no JSON object")
    try:
        return form.model_validate_json(found.group())
    except ValidationError as exc:
        raise ClassifierError(f"{judge} answered another JSON than asked for") from exc
