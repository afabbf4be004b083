"""What the stages found, as JSON with nothing left out."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from gateway.rendering import rendered, rendered_steps
from storage.texts import storable
from tests.review.asking import ENTRY, STEPS


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step.found).__name__)
def test_every_field_of_every_finding_is_rendered(step: Any) -> None:
    def names(value: Any) -> Any:
        if is_dataclass(value):
            return {"type", *(part.name for part in fields(value))}
        return None

    shown = rendered(step)
    assert isinstance(shown, dict)
    assert set(shown) == {"type", "stage", "ms", "found"}
    found = shown["found"]
    assert set(found) == names(step.found)
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown


def test_a_finding_says_its_type_in_snake_case() -> None:
    types = [step["found"]["type"] for step in rendered_steps(STEPS)]  # type: ignore[index, call-overload]
    assert types == [
        "gate_verdict", "near_miss", "hit", "miss", "draft", "nothing_relevant", "checked", "unchecked",
    ]  # fmt: skip


def test_an_entry_keeps_its_dates_and_sources() -> None:
    shown = rendered(ENTRY)
    assert isinstance(shown, dict)
    assert shown["valid_until"] == "2027-03-31"
    assert shown["created_at"] == "2026-04-01T00:00:00+00:00"
    assert shown["sources"] == [{"type": "source", "document": "fees.md", "version": "ab12"}]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (float("inf"), None),
        (np.array([1.0, 2.0], dtype=np.float32), [1.0, 2.0]),
        ({"a": (1, None)}, {"a": [1, None]}),
        ("a\x00b\ud800", "a�b?"),
    ],
)
def test_numbers_and_texts_become_what_json_and_sql_can_hold(value: object, shown: object) -> None:
    assert rendered(value) == shown


def test_what_is_no_value_of_the_domain_is_an_error() -> None:
    with pytest.raises(TypeError, match="object is no value of the domain"):
        rendered(object())


def test_an_ordinary_text_stays_as_it_is() -> None:
    assert storable("手数料は？😀\n") == "手数料は？😀\n"
