"""What the gate knows before the operator says a word: attacks, harmless look-alikes, everyday questions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from classifiers.gate import Topic
from classifiers.gate.detector import Detector, shipped_detector

__all__ = ["Attacks", "Pattern", "Shipped", "shipped_attacks", "shipped_background", "shipped_everyday"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """An attack that is known by its wording alone."""

    topic: str
    expression: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Attacks:
    """Forbidden knowledge: topics with examples, patterns, and harmless texts that look alike."""

    topics: tuple[Topic, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    harmless: tuple[str, ...] = ()
    detector: Detector | None = None  # trained on these topics and more

    def matching(self, *forms: str) -> Pattern | None:
        """The first pattern that matches the text in one of its forms, if any."""
        return next(
            (known for form in forms for known in self.patterns if known.expression.search(form)), None
        )


@lru_cache(maxsize=1)
def shipped_attacks() -> Attacks:
    """The list in attacks.yaml, and the detector trained on it."""
    data = _read("attacks.yaml")
    return Attacks(
        topics=tuple(Topic(name, examples=_texts(lines)) for name, lines in data["topics"].items()),
        patterns=tuple(
            Pattern(topic, re.compile(expression))
            for topic, expressions in data["patterns"].items()
            for expression in expressions
        ),
        harmless=_texts(data["harmless"]),
        detector=shipped_detector(),
    )


@lru_cache(maxsize=1)
def shipped_everyday() -> tuple[str, ...]:
    """The questions in everyday.yaml, which stand for "may"."""
    return _texts(_read("everyday.yaml"))


@lru_cache(maxsize=1)
def shipped_background() -> Mapping[str, tuple[str, ...]]:
    """The questions in background.yaml, which stand for "may", by subject."""
    return {subject: tuple(texts) for subject, texts in _read("background.yaml").items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """All of it, but for what is given in its place."""

    attacks: Attacks = field(default_factory=shipped_attacks)
    everyday: Sequence[str] = field(default_factory=shipped_everyday)
    background: Mapping[str, Sequence[str]] = field(default_factory=shipped_background)


def _texts(by_language: Mapping[str, list[str]]) -> tuple[str, ...]:
    return tuple(text for lines in by_language.values() for text in lines)


def _read(name: str) -> Any:
    return yaml.safe_load((files("classifiers.gate") / name).read_text(encoding="utf-8"))
