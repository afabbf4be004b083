"""`sekisho.yaml` to settings: read whole or refused whole, with the line and what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from gateway.configuration.coherence import classes, conflicts, sound, unreadable_contexts, unreadable_files
from gateway.configuration.environment import expanded, not_json, unknown_variables
from gateway.configuration.explaining import explained
from gateway.configuration.problems import Problem, report
from gateway.errors import ConfigurationError
from gateway.gatekeeping.lists import unknown_rules
from gateway.settings import PolicySettings, Settings

__all__ = ["find_settings", "load_settings", "with_policy"]


def load_settings(file: Path | None = None) -> Settings:
    """The settings of a file (or the defaults), overridden by `SEKISHO_SECTION__KEY`.

    Raises:
        ConfigurationError: naming every problem with its line.
    """
    text = _read(file) if file else ""
    tree = _parse(text, file)
    data, problems = expanded(tree)
    problems += [Problem((), message) for message in unknown_variables()]
    base = file.resolve().parent if file else Path.cwd()
    settings = None
    try:
        settings = Settings(**data)
    except ValidationError as exc:
        known = {problem.where for problem in problems}  # what an unset variable leaves empty is told once
        problems += [explained(error) for error in exc.errors() if error["loc"] not in known]
    except SettingsError as exc:
        problems.append(Problem((), not_json(exc)))
    if settings:
        settings._base = base
    problems += unreadable_files(*([settings.policy, settings.gate] if settings else sound(data)), base=base)
    if settings and not problems:
        problems = [Problem(*found) for found in unknown_rules(settings)]
        problems += unreadable_contexts(settings)
        problems += conflicts(settings)
    if problems or not settings:
        raise ConfigurationError(report(file, _yaml().compose(text), problems))
    return settings


def find_settings(file: Path | None) -> Settings:
    """The settings of the named file, of `sekisho.yaml` where it lies in the folder, or the defaults."""
    here = Path("sekisho.yaml")
    return load_settings(file or (here if here.exists() else None))


def with_policy(settings: Settings, text: str) -> Settings:
    """The same settings with another policy: a text with the section `policy:`, as in the file.

    It may read no file that the present policy does not, for it does not come from the operator's disk; what
    `${VARIABLES}` hold stays with them, too.

    Raises:
        ConfigurationError: naming every problem with its line.
    """
    name = Path("the policy")
    tree = _parse(text, name)
    if set(tree) != {"policy"} or not isinstance(tree["policy"], dict):
        raise ConfigurationError("the policy can't be used: expected one section, `policy:`")
    try:
        policy = PolicySettings(**tree["policy"])
    except ValidationError as exc:
        problems = [explained({**error, "loc": ("policy", *error["loc"])}) for error in exc.errors()]
        raise ConfigurationError(report(name, _yaml().compose(text), problems)) from exc
    known = {file for _, examples in classes(settings.policy) for file in examples.examples_file}
    foreign = [
        Problem((*where, "examples_file"), f"{file} is not a file of the present policy")
        for where, examples in classes(policy)
        for file in examples.examples_file
        if file not in known
    ]
    if foreign:
        raise ConfigurationError(report(name, _yaml().compose(text), foreign))
    other = settings.model_copy(update={"policy": policy})
    other._base = settings._base
    return other


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as exc:
        line = exc.object.count(b"\n", 0, exc.start) + 1
        raise ConfigurationError(f"{file} can't be used: line {line}: not UTF-8 (byte {exc.start})") from exc
    except OSError as exc:
        raise ConfigurationError(f"{file} can't be read: {exc.strerror}") from exc


def _yaml() -> YAML:
    """YAML 1.2; PyYAML reads 1.1 and takes `examples: [What does it cost?]` for a mistake."""
    return YAML(typ="safe", pure=True)


def _parse(text: str, file: Path | None) -> dict[str, Any]:
    try:
        tree = _yaml().load(text)
    except MarkedYAMLError as exc:
        line = f"line {exc.problem_mark.line + 1}: " if exc.problem_mark else ""
        raise ConfigurationError(f"{file} can't be used: {line}not YAML: {exc.problem}") from exc
    except ReaderError as exc:
        number = text.count("\n", 0, exc.position) + 1
        why = f"line {number}: not YAML: the control character U+{exc.character:04X}"
        raise ConfigurationError(f"{file} can't be used: {why}") from exc
    except YAMLError as exc:
        raise ConfigurationError(f"{file} can't be used: not YAML: {exc}") from exc
    except RecursionError as exc:
        raise ConfigurationError(f"{file} can't be used: it is nested too deeply") from exc
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigurationError(
            f"{file} can't be used: expected sections such as `policy:`, not a {type(tree).__name__}"
        )
    for key in tree:
        if not isinstance(key, str):
            raise ConfigurationError(
                f"{file} can't be used: expected sections such as `policy:`, not {key!r}"
            )
    return tree
