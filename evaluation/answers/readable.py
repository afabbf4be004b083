"""The steps of a metric as lines for people: whatever a metric writes down, one line a statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Line", "readable"]

Tone = Literal["", "yes", "no", "mid"]
_TEXT = ("statement", "text", "sentence", "question", "claim", "label")
_VERDICT = ("state", "verdict", "supported", "kind", "attributed", "rating", "passed")
_LEFT_OUT = frozenset({"start", "end", "passage", "evidence_start", "evidence_end"})  # places, for programs
_YES = frozenset({"supported", "tp", "yes", "true", "correct", "passed", "relevant"})
_NO = frozenset(
    {"unsupported", "contradicted", "fp", "fn", "no", "false", "incorrect", "failed", "irrelevant"}
)


@dataclass(frozen=True, slots=True)
class Line:
    """A text with a verdict, and what else is known of it."""

    text: str
    badge: str = ""
    tone: Tone = ""
    rest: str = ""


def readable(steps: Mapping[str, Any]) -> list[Line]:
    """Lines for all steps, in their order."""
    return [line for name, value in steps.items() for line in _lines(name, value)]


def _lines(name: str, value: Any) -> Iterator[Line]:
    named = name.replace("_", " ")
    match value:
        case None | "" | [] | {}:
            return
        case Mapping() if any(isinstance(inner, list | tuple | Mapping) for inner in value.values()):
            for inner_name, inner in value.items():
                yield from _lines(f"{name} {inner_name}", inner)
        case Mapping():
            yield _of_mapping(named, value)
        case list() | tuple():
            for one in value:
                yield (
                    _of_mapping(named, one)
                    if isinstance(one, Mapping)
                    else Line(_told(one), named, _tone(named))
                )
        case _:
            yield Line(f"{named}: {_told(value)}")


def _of_mapping(name: str, one: Mapping[str, Any]) -> Line:
    text = next((key for key in _TEXT if isinstance(one.get(key), str)), None)
    verdict = next((key for key in _VERDICT if one.get(key) is not None and key != text), None)
    badge = name if verdict is None else _badge(verdict, one[verdict])
    rest = [
        f"{key.replace('_', ' ')}: {_told(value)}"
        for key, value in one.items()
        if key not in (text, verdict) and key not in _LEFT_OUT and value not in (None, "", [], {}, ())
    ]
    return Line(one[text] if text else name, badge, _tone(badge), "\n".join(rest))


def _badge(name: str, value: Any) -> str:
    if isinstance(value, bool) or (name in ("verdict", "attributed", "supported") and value in (0, 1)):
        told = "supported" if name in ("supported", "verdict", "attributed") else name
        return told if value else f"not {told}"
    return str(value)


def _tone(badge: str) -> Tone:
    word = badge.lower()
    if word in _YES:
        return "yes"
    return (
        "no"
        if word in _NO or word.startswith("not ")
        else ("mid" if word in ("unchecked", "undetermined") else "")
    )


def _told(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_told, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_told(inner)}" for key, inner in value.items())
    return str(value)
