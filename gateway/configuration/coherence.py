"""What may be wrong though each key is right: files that aren't there, things that don't go together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from classifiers.text import normalise, only_words
from gateway.configuration.problems import Location, Problem
from gateway.errors import ConfigurationError
from gateway.gatekeeping.policy import read_examples
from gateway.rag.contexts import read_contexts
from gateway.settings import ExampleSettings, GateSettings, PolicySettings, Settings

__all__ = ["classes", "conflicts", "sound", "unreadable_contexts", "unreadable_files"]

S = TypeVar("S", bound=BaseModel)


def classes(policy: PolicySettings) -> list[tuple[Location, ExampleSettings]]:
    """Every part of a policy that has examples, and where it stands."""
    topics = enumerate(policy.must_not.topics)
    return [
        (("policy", "must"), policy.must),
        (("policy", "may"), policy.may),
        (("policy", "must_not"), policy.must_not),
        *((("policy", "must_not", "topics", place), topic) for place, topic in topics),
    ]


def sound(data: dict[str, Any]) -> tuple[PolicySettings, GateSettings]:
    """The sections that name files, by themselves; the defaults for one that can't be used."""
    return _section(PolicySettings, data.get("policy")), _section(GateSettings, data.get("gate"))


def _section(model: type[S], given: Any) -> S:
    try:
        return model.model_validate(given or {})
    except ValidationError:
        return model()


def unreadable_files(policy: PolicySettings, gate: GateSettings, *, base: Path) -> Iterator[Problem]:
    """The files and folders that are named and can't be read, seen from the folder `base`."""
    listed: list[tuple[Location, list[Path]]] = [
        *(((*where, "examples_file"), examples.examples_file) for where, examples in classes(policy)),
        (("gate", "deny_file"), gate.deny_file),
        (("gate", "allow_file"), gate.allow_file),
        (("gate", "canaries_file"), gate.canaries_file),
    ]
    for where, files in listed:
        for file in files:
            if why := _unreadable(base / file):
                yield Problem(where, why)
    for folder in policy.must.documents:
        if not (base / folder).exists():
            yield Problem(("policy", "must", "documents"), f"there is no folder or file {base / folder}")


def _unreadable(file: Path) -> str:
    if not file.is_file():
        return f"there is no file {file}"
    try:
        file.read_text(encoding="utf-8")
    except UnicodeDecodeError as exc:
        return f"{file} is not UTF-8 (byte {exc.start})"
    except OSError as exc:
        return f"{file} can't be read: {exc.strerror}"
    return ""


def unreadable_contexts(settings: Settings) -> Iterator[Problem]:
    """The expression that finds the chatbot's contexts, read as the gateway will."""
    try:
        read_contexts(settings.upstream.contexts)
    except ConfigurationError as exc:
        yield Problem(("upstream", "contexts"), str(exc).removeprefix("upstream.contexts: "))


def conflicts(settings: Settings) -> Iterator[Problem]:
    """Topics of one name, and an example that stands in two classes: nobody can say which one counts."""
    named: dict[str, Location] = {}
    for place, topic in enumerate(settings.policy.must_not.topics):
        where: Location = ("policy", "must_not", "topics", place, "name")
        if topic.name in named:
            yield Problem(where, f"there are two topics {topic.name!r}", named[topic.name])
        named.setdefault(topic.name, where)
    known: dict[str, Location] = {}
    for where, text in _examples(settings):
        first = known.setdefault(only_words(normalise(text)), where)  # as the gate compares them
        if first[1] != where[1]:
            yield Problem(where, f"“{text}” is an example of {first[1]}, too", first)


def _examples(settings: Settings) -> Iterator[tuple[Location, str]]:
    for where, examples in classes(settings.policy):
        for place, text in enumerate(examples.examples):
            yield (*where, "examples", place), text
        for file in examples.examples_file:
            for text in read_examples(settings.path(file)):
                yield (*where, "examples_file"), text
