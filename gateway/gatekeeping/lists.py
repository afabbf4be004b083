"""The operator's deny and allow lists, out of the configuration and its files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from classifiers.gate.lists import Listed, Lists
from classifiers.gate.rules import SHADOWABLE, Rules
from classifiers.gate.shipped import shipped_attacks
from encoders.problems import first_problem
from gateway.errors import ConfigurationError
from gateway.gatekeeping.files import rows_of
from gateway.gatekeeping.words import word_cut
from gateway.settings import AllowSettings, DenySettings, ListedSettings, Settings

__all__ = ["denying_replies", "read_rules", "told_of", "unknown_rules"]

S = TypeVar("S", bound=ListedSettings)
_CLASSES = ("may", "must_not", "unsure")


def read_rules(settings: Settings) -> Rules:
    """How the gate's rules are applied, lists compiled.

    Raises:
        ConfigurationError: naming the file and line of an item that can't be used.
    """
    gate = settings.gate
    deny, allow = _denied(settings), _allowed(settings)
    lists = (
        Lists.of(deny, allow, word_cut(settings.understanding.default_language)) if deny or allow else None
    )
    return Rules(lists, frozenset(gate.shadow), gate.default)


def told_of(rules: Rules) -> Iterator[str]:
    """What the rules are, a line each, in the words of the configuration."""
    for kind, items in (("deny", rules.deny), ("allow", rules.allow)):
        counts = Counter(item.rule for item in items)
        for rule in counts:
            some = [item for item in items if item.rule == rule]
            forms = {"text": "texts", "word": "words", "pattern": "patterns"}
            counted = {form: sum(len(getattr(item, name)) for item in some) for form, name in forms.items()}
            looks_for = ", ".join(f"{form} {number}" for form, number in counted.items() if number)
            more = [f"topic {some[0].topic}"] if kind == "deny" and some[0].topic else []
            more += ["over forbidden"] if some[0].over_forbidden else []
            more += ["in shadow"] if rules.is_quiet(rule) else []
            yield f"  {rule}: {'; '.join([looks_for, *more])}"
    if rules.shadow:
        yield f"  judged, but not enforced: {', '.join(sorted(rules.shadow))}"
    if rules.default:
        yield f"  what no evidence places: {rules.default}"


def denying_replies(settings: Settings) -> dict[str, dict[str, str]]:
    """What the asker is told by an item of the deny list that has words of its own, by its rule."""
    return {rule: item.reply for rule, item in _items("deny", settings, DenySettings) if item.reply}


def unknown_rules(settings: Settings) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Places of `gate.shadow` that name no class and no rule, and names that two items share.

    Raises:
        ConfigurationError: naming the file and line of an item that can't be used.
    """
    deny, allow = _denied(settings), _allowed(settings)
    named = [f"detector:{one.name}" for one in settings.gate.detectors]
    named += [*(item.rule for item in deny), *(item.rule for item in allow)]
    topics = {*(topic.name for topic in settings.policy.must_not.topics)}
    topics |= {topic.name for topic in shipped_attacks().topics} | {item.topic for item in deny if item.topic}
    known = {*_CLASSES, *SHADOWABLE, *named, *(f"must_not:{topic}" for topic in topics)} - {"empty"}
    for place, name in enumerate(settings.gate.shadow):
        if name not in known:
            yield (
                ("gate", "shadow", place),
                f"names no class and no rule: {name} (known: {', '.join(sorted(known))})",
            )
    for kind, items in (("deny", settings.gate.deny), ("allow", settings.gate.allow)):
        names = [item.name for item in items if item.name]
        for place, item in enumerate(items):
            if item.name and names.count(item.name) > 1:
                yield ("gate", kind, place, "name"), f"expected a name of its own, not {item.name} twice"


def _denied(settings: Settings) -> list[Listed]:
    return [_listed(rule, item, topic=item.topic) for rule, item in _items("deny", settings, DenySettings)]


def _allowed(settings: Settings) -> list[Listed]:
    return [
        _listed(rule, item, over_forbidden=item.over is not None)
        for rule, item in _items("allow", settings, AllowSettings)
    ]


def _listed(rule: str, item: ListedSettings, **more: Any) -> Listed:
    return Listed(
        rule=rule,
        texts=tuple(item.text),
        words=tuple(item.word),
        patterns=tuple(item.pattern),
        shadow=item.shadow,
        **more,
    )


def _items(kind: str, settings: Settings, model: type[S]) -> Iterator[tuple[str, S]]:
    """The items of a list with the rule that each is: by its name, its place, or its file."""
    inline: Sequence[S] = getattr(settings.gate, kind)
    for place, item in enumerate(inline, start=1):
        yield f"{kind}:{item.name or place}", item
    for file in getattr(settings.gate, f"{kind}_file"):
        stem = re.sub(r"[^a-z0-9_]+", "_", Path(file).stem.lower())[:40]
        for item in _of_file(settings.path(file), model):
            yield f"{kind}:{item.name or stem}", item


def _of_file(file: Path, model: type[S]) -> Iterator[S]:
    for line, row in rows_of(file):
        try:
            yield model.model_validate(row)
        except ValidationError as exc:
            problem = first_problem(exc, whole="the item")
            raise ConfigurationError(f"{file}, line {line}: {problem}") from exc
