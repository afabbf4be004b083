"""What is wrong with a configuration: all of it at once, in the order of the file, each with its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

__all__ = ["Location", "Problem", "dotted", "report"]

Location = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What stands at a place and can't be used, and what was expected there."""

    where: Location
    message: str
    also: Location = ()  # the other place of two that don't go together


def report(file: Path | None, root: Node | None, problems: Sequence[Problem]) -> str:
    """All problems of a file, whose tree has its root there."""
    placed = [(_line(root, one.where), one, _line(root, one.also)) for one in problems]
    rows = [_row(*one) for one in sorted(placed, key=lambda one: one[0])]
    return "\n".join([f"{file or 'the configuration'} can't be used:", *rows])


def _row(line: int, problem: Problem, other: int) -> str:
    at = [f"line {line}"] if line else []
    name = [dotted(problem.where)] if problem.where else []
    also = f" ({dotted(problem.also)}, line {other})" if other else ""
    return f"  {', '.join(at + name)}{': ' if at or name else ''}{problem.message}{also}"


def dotted(where: Location) -> str:
    """A place as people write it: policy.must.examples."""
    return ".".join(map(str, where))


def _line(node: Node | None, where: Location) -> int:
    """The line of a key, as deep as the file goes; 0 where the file does not have it."""
    line = 0
    for name in where:
        match node:
            case MappingNode():
                found = next(((key, value) for key, value in node.value if key.value == str(name)), None)
            case SequenceNode() if isinstance(name, int) and name < len(node.value):
                found = (node.value[name], node.value[name])
            case _:
                found = None
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line
