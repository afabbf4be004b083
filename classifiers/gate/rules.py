"""Which of the gate's rules the operator enforces, his own lists among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from classifiers.gate import GateVerdict, ShadowVerdict
from classifiers.gate.lists import Found, Listed, Lists

__all__ = ["EVERY_RULE", "SHADOWABLE", "TORN", "Default", "Rules", "first_enforced"]

# Rules that may be judged without being enforced, in the order in which they are asked. "default" speaks
# where no evidence places a question; "length" and "empty" hold back what can't be judged; "llm" and
# "detector" are judges from outside.
SHADOWABLE = (
    "empty",
    "deny",
    "allow",
    "example",
    "pattern",
    "forbidden",
    "entry",
    "scope",
    "default",
    "name",
    "length",
    "llm",
    "detector",
)
TORN = "forbidden:ours"  # it looks forbidden and ours: a person decides, and it forbids what leans on it
Default = Literal["refuse", "escalate", "pass"]


@dataclass(frozen=True, slots=True)
class Rules:
    """How the gate's rules are applied.

    `shadow` names classes (may, must_not, must_not:TOPIC, unsure) and rules (deny, deny:NAME, scope …) that
    are judged and told of, but not enforced.
    """

    lists: Lists | None = None
    shadow: frozenset[str] = frozenset()
    default: Default | None = None
    _quiet: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        items = {item.rule for item in (*self.deny, *self.allow) if item.shadow}
        object.__setattr__(self, "_quiet", self.shadow | items)

    @property
    def deny(self) -> tuple[Listed, ...]:
        """The items of the deny list."""
        return self.lists.deny.items if self.lists else ()

    @property
    def allow(self) -> tuple[Listed, ...]:
        """The items of the allow list."""
        return self.lists.allow.items if self.lists else ()

    def is_quiet(self, rule: str) -> bool:
        """Whether a rule is in shadow mode by its name."""
        return not {rule, rule.partition(":")[0]}.isdisjoint(self._quiet)

    def denied(self, normalised: str) -> list[Found]:
        """The items of the deny list that a question has."""
        return self.lists.deny.found(normalised) if self.lists else []

    def allowed(self, normalised: str, *, over_forbidden: bool) -> list[Found]:
        """The items of the allow list that a question has, of the one strength or the other."""
        found = self.lists.allow.found(normalised) if self.lists else []
        return [one for one in found if one.item.over_forbidden == over_forbidden]

    def in_shadow(self, verdict: GateVerdict) -> bool:
        """Whether this verdict is told of, but not enforced."""
        rule = verdict.rule.partition(":")[0]
        names = {verdict.rule, rule}
        if verdict.label == "must":  # letting pass enforces nothing, but for an item of the allow list
            return rule == "allow" and not names.isdisjoint(self._quiet)
        classes = {verdict.label, "must_not"} if rule == "forbidden" else {verdict.label}
        if verdict.topic:
            names |= {f"{one}:{verdict.topic}" for one in classes}
        return not (names | classes).isdisjoint(self._quiet)


EVERY_RULE = Rules()


def first_enforced(
    rules: Rules, verdicts: Iterator[GateVerdict] | Iterable[GateVerdict], shadow: list[ShadowVerdict]
) -> GateVerdict | None:
    """The first verdict that is enforced; those before it are added to `shadow`."""
    for verdict in verdicts:
        if not rules.in_shadow(verdict):
            return verdict
        shadow.append(verdict.as_shadow())
    return None
