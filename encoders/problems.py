"""What was wrong with a file, a reply or a row, as one sentence; Pydantic would fill a screen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import ValidationError

__all__ = ["first_problem"]

_NOTHING: Mapping[str, str] = MappingProxyType({})


def first_problem(error: ValidationError, *, whole: str, says: Mapping[str, str] = _NOTHING) -> str:
    """The field of the first problem and what was expected there, never what was found: it may be a secret.

    Args:
        whole: what to call the place of a problem that is of no field.
        says: our own words for kinds of problems, by Pydantic's names.
    """
    first = error.errors(include_input=False, include_url=False)[0]
    field = ".".join(map(str, first["loc"])) or whole
    return f"{field}: {says.get(first['type']) or first['msg'].removeprefix('Value error, ')}"
