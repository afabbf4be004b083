"""What was wrong is one sentence: the field, what was expected, and never what was found."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from encoders.problems import first_problem


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("expected an even number")
    return value


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    keys: list[int] = []
    even: Annotated[int, AfterValidator(_even)] = 0

    @model_validator(mode="after")
    def _together(self) -> _Row:
        if self.even and self.keys:
            raise ValueError("expected keys or even")
        return self


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"keys": [1, "secret"]}, "keys.1: Input should be a valid integer, unable to parse string as an integer"),
        ({"even": 1}, "even: expected an even number"),
        ({"even": 2, "keys": [1]}, "the row: expected keys or even"),
        ({"secret": 1}, "secret: unknown key"),
    ],
)  # fmt: skip
def test_the_first_problem_is_named(row: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as wrong:
        _Row.model_validate(row)
    assert first_problem(wrong.value, whole="the row", says={"extra_forbidden": "unknown key"}) == said
