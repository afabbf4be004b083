"""Pydantic's errors in our words, blamed on the environment variable that brought them, if one did."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import BaseModel, SecretStr

from gateway.configuration.environment import is_secret, variable_at
from gateway.configuration.problems import Location, Problem, dotted
from gateway.settings import Settings
from gateway.settings.types import NAME

__all__ = ["explained"]


def explained(error: Any) -> Problem:
    """The problem, blamed on the environment variable that brought it, if one did."""
    problem = _problem_of(error)
    variable = variable_at(problem.where, below=_is_a_section_of_its_own(error))
    if variable is None:
        return problem
    return Problem((), f"the environment variable {variable} ({dotted(problem.where)}): {problem.message}")


def _is_a_section_of_its_own(error: Any) -> bool:
    """Whether an override below this place can have brought what stands there: a key, or keys for a value."""
    kind = error["type"]
    return kind == "extra_forbidden" or (kind.endswith("_type") and isinstance(error["input"], dict))


def _problem_of(error: Any) -> Problem:
    where: Location = tuple(name for name in error["loc"] if name != "[key]")
    match error["type"]:
        case "extra_forbidden":
            known = _keys_of(where[:-1])
            close = difflib.get_close_matches(str(where[-1]), known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            return Problem(where, f"unknown key{hint} (known: {', '.join(known)})")
        case "missing":
            return Problem(where, "is missing")
        case "model_type" | "model_attributes_type":
            found = "an empty section" if error["input"] is None else repr(error["input"])
            return Problem(where, f"expected the keys {', '.join(_keys_of(where))}, not {found}")
        case "dict_type":
            return Problem(where, f"expected keys with values, not {error['input']!r}")
        case "too_short" if isinstance(error["input"], str | SecretStr):
            wanted, given = error["ctx"]["min_length"], error["ctx"]["actual_length"]
            return Problem(where, f"expected at least {wanted} character{'s' * (wanted > 1)}, not {given}")
        case "string_pattern_mismatch" if error["ctx"]["pattern"] == NAME:
            expected = "expected at most 40 of a-z, 0-9 and _, a letter first"
            return Problem(where, f"{expected}, not {error['input']!r}")
        case "zoneinfo_str":
            expected = "expected a time zone's IANA name, such as Asia/Tokyo"
            return Problem(where, f"{expected}, not {error['input']!r}")
        case _:
            secret = is_secret(where)
            told = (
                "" if secret or isinstance(error["input"], dict | SecretStr) else f", not {error['input']!r}"
            )
            return Problem(where, error["msg"].removeprefix("Value error, ") + told)


def _keys_of(where: Location) -> list[str]:
    """The keys that a section at this place knows."""
    model: Any = Settings
    for name in where:
        if isinstance(name, str):
            model = _model_in(model.model_fields[name].annotation)
    return sorted(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(_model_in(inner) for inner in annotation.__args__ if inner is not type(None))
