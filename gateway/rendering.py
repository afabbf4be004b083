"""What the stages found, as JSON that a person or a program can read back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gateway.domain import Step
from storage.texts import storable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Json", "rendered", "rendered_object", "rendered_steps"]

Json = dict[str, Any] | list[Any] | str | int | float | bool | None


def rendered_steps(steps: Iterable[Step]) -> list[Json]:
    """Every stage with its time and all that it found: `{"type", "stage", "ms", "found": {"type", …}}`."""
    return [rendered(step) for step in steps]


def rendered(value: object) -> Json:
    """Any frozen value of the domain as JSON: a dataclass becomes an object that names its `type`."""
    match value:
        case str():
            return storable(value)
        case None | bool() | int():
            return value
        case float() | np.floating():
            number = float(value)
            return number if math.isfinite(number) else None  # JSON has no NaN
        case np.integer():
            return int(value)
        case datetime() | date():
            return value.isoformat()
        case Mapping():
            return {str(name): rendered(inner) for name, inner in value.items()}
        case list() | tuple() | set() | frozenset() | np.ndarray():
            return [rendered(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        return rendered_object(value)
    raise TypeError(f"{type(value).__name__} is no value of the domain and can't be rendered")


def rendered_object(value: DataclassInstance) -> dict[str, Any]:
    """A frozen dataclass of the domain as the JSON object that `rendered` makes of it."""
    named, names = _form(type(value))
    return {"type": named} | {name: rendered(getattr(value, name)) for name in names}


@cache  # by class: every answer is rendered, and asking a class for its fields costs more than reading them
def _form(kind: type) -> tuple[str, tuple[str, ...]]:
    """How a dataclass is called in JSON, and what it shows."""
    names = (*(part.name for part in fields(kind)), *getattr(kind, "derived", ()))
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower(), names
