"""The operator's policy as the gate wants it: files of examples read, topics named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from classifiers.gate import ClassPolicy, Policy, Topic
from gateway.errors import ConfigurationError
from gateway.gatekeeping.files import rows_of
from gateway.settings import ExampleSettings, Settings

__all__ = ["read_canaries", "read_examples", "read_policy"]


def read_policy(settings: Settings) -> Policy:
    """The policy with every example.

    Raises:
        ConfigurationError: naming the file and line of an example that can't be read.
    """
    policy = settings.policy

    def class_policy(section: ExampleSettings) -> ClassPolicy:
        return ClassPolicy(section.description, _examples(section, settings))

    return Policy(
        must=class_policy(policy.must),
        may=class_policy(policy.may),
        must_not=class_policy(policy.must_not),
        topics=tuple(
            Topic(topic.name, topic.description, _examples(topic, settings))
            for topic in policy.must_not.topics
        ),
    )


def read_canaries(settings: Settings) -> tuple[str, ...]:
    """The questions that must always pass.

    Raises:
        ConfigurationError: naming the file and line of one that can't be read.
    """
    from_files = (text for file in settings.gate.canaries_file for text in read_examples(settings.path(file)))
    return tuple(dict.fromkeys([*settings.gate.canaries, *from_files]))


def _examples(section: ExampleSettings, settings: Settings) -> tuple[str, ...]:
    from_files = (text for file in section.examples_file for text in read_examples(settings.path(file)))
    return tuple(dict.fromkeys([*section.examples, *from_files]))


def read_examples(file: Path) -> Iterator[str]:
    """The examples of a file.

    Raises:
        ConfigurationError: naming the file and line of one that can't be read.
    """
    for line, row in rows_of(file, required=("text",)):
        if not isinstance(row.get("text"), str) or not row["text"].strip():
            raise ConfigurationError(f'{file}, line {line}: expected an object with "text"')
        yield row["text"].strip()
