"""Canned replies as templates: `{topic}`, `{ticket}`. Which fields a text may have is checked at start."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from string import Formatter

__all__ = ["check_template", "fill"]


def check_template(text: str, *, fields: Collection[str], needed: str = "") -> None:
    """Whether a template can be filled.

    Raises:
        ValueError: naming what is wrong with it.
    """
    expected = ", ".join(f"{{{name}}}" for name in fields) or "none at all"
    try:
        used = _fields(text)
    except ValueError as exc:
        raise ValueError(f"expected fields such as {{ticket}}, and {{{{ for a brace: {exc}") from exc
    for name, bare in used:
        if not bare or name not in fields:
            raise ValueError(f"unknown field {{{name}}} (known here: {expected})")
    if needed and needed not in dict(used):
        raise ValueError(f"expected the field {{{needed}}}: without it the asker can't come back to this")


def fill(template: str, values: Mapping[str, str]) -> str | None:
    """The text with its fields filled in, or None if one of them is not known this time."""
    if any(not values.get(name) for name, _ in _fields(template)):
        return None
    return template.format_map(values)


def _fields(text: str) -> list[tuple[str, bool]]:
    """Each field with whether it is a bare name, as only those are filled: no attribute, format or `!r`."""
    parts = Formatter().parse(text)
    return [
        (name, name.isidentifier() and not how and not form)
        for _, name, form, how in parts
        if name is not None
    ]
