"""Why a judge said so, in the reader's language: made of what it found, as JSON, not of its sentence.

What has no parts, as the words of a language model, is shown as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cache.matching import Objection
from gateway.console.texts import Texts

__all__ = ["expected_of", "objection_reason", "reason_of", "statement_reason"]

NAMED = 5  # parts of a kind that are spelled out

Found = Mapping[str, Any]


def reason_of(t: Texts, found: Found) -> str:
    """Why a stage found what it found; "" where the rest of the page says it already."""
    match found.get("type"):
        case "gate_verdict":
            rule = f"why.gate.{found.get('rule', '').partition(':')[0]}"
            return t.or_else(f"{rule}.{found['label']}", t.or_else(rule, found["reason"]))
        case "checked" if not found["passed"]:
            return t("why.worst", reason=statement_reason(t, found["statements"][found["worst"]]))
        case "near_miss":
            return _near(t, found)
        case "failed":
            return _failed(t, found)
        case "unchecked":
            return _named(t, "why.unchecked", found["reason"])
        case "miss" if found.get("lookup_failed"):
            return t("why.lookup_failed")
        case "checked" | "hit" | "miss" | "nothing_relevant":
            return ""
    return str(found.get("reason") or "")


def _near(t: Texts, found: Found) -> str:
    if "objection" not in found:  # a ticket from before there were codes
        return str(found["reason"])
    if found["objection"] is None:
        return t("why.below_cut")
    seen = Objection(*(found["objection"][name] for name in ("guard", "seen", "failed")))
    return objection_reason(t, seen)


def _failed(t: Texts, found: Found) -> str:
    kind, _, status = found["cause"].partition("_")
    if kind == "http":
        return t.or_else(f"why.failed.http_{status}", t("why.failed.http", status=status))
    return _named(t, "why.failed", found["cause"]) if found["cause"] != "unknown" else str(found["reason"])


def objection_reason(t: Texts, objection: Objection) -> str:
    """Why a guard keeps an entry back; in its own words if it is none of ours."""
    kind = "failed" if objection.failed else objection.guard
    return t.or_else(f"why.guard.{kind}", str(objection))


def statement_reason(t: Texts, statement: Found) -> str:
    """What is new in a statement, by kind."""
    kinds: dict[str, list[str]] = {}
    for part in statement.get("new") or ():
        kinds.setdefault(part["kind"], []).append(_part(t, part))
    if kinds and statement.get("state") != "unchecked":
        return t("why.joint").join(t(f"why.{kind}", text=_some(texts)) for kind, texts in kinds.items())
    return _named(t, "why.unchecked", statement["reason"])


def _named(t: Texts, section: str, reason: str) -> str:
    """The text of a reason that is one word; other words are shown as they are."""
    return t.or_else(f"{section}.{reason}", reason)


def _part(t: Texts, part: Found) -> str:
    if not part["instead"]:
        return str(part["text"])
    return t("why.instead", mine=part["text"], theirs=part["instead"])


def _some(texts: Iterable[str]) -> str:
    known = list(dict.fromkeys(texts))
    return ", ".join(known[:NAMED]) + (" …" if len(known) > NAMED else "")


def expected_of(t: Texts, field: str, fallback: str) -> str:
    """What a field takes; all further phrasings are alike, and all days."""
    if field in ("valid_from", "valid_until", "review_by", "review_before"):
        field = "day"
    return t.or_else(f"expected.{'phrasings' if field.startswith('phrasing') else field}", fallback)
