"""`sekisho.yaml` to settings: read whole or refused whole, with the line and what was expected."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_settings import SettingsError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from classifiers.text import normalise
from gateway.errors import ConfigurationError
from gateway.gatekeeping.lists import unknown_rules
from gateway.gatekeeping.policy import read_examples
from gateway.rag.contexts import read_contexts
from gateway.settings import ExampleSettings, GateSettings, PolicySettings, Settings

__all__ = ["find_settings", "load_settings", "with_policy"]

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<default>[^}]*))?\}")
_SECRETS = {
    "address", "api_key", "client_secret", "encryption_key", "former_encryption_keys", "key",
    "previous_secret", "qdrant_api_key", "secret",
}  # fmt: skip
_SEALS = "SEKISHO_STORAGE__ENCRYPTION_KEY"
_DATABASE = ("storage", "url")
_PASSWORD = re.compile(r"//[^/@]*:[^/@]+@")  # in a URL
_FOR_THE_COMMAND_LINE = {"SEKISHO_CONFIG", "SEKISHO_URL", "SEKISHO_KEY"}

Location = tuple[str | int, ...]
S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class _Problem:
    where: Location
    message: str
    also: Location = ()  # the other place of two that don't go together


def load_settings(file: Path | None = None) -> Settings:
    """The settings of a file (or the defaults), overridden by `SEKISHO_SECTION__KEY`.

    Raises:
        ConfigurationError: naming every problem with its line.
    """
    text = _read(file) if file else ""
    tree = _parse(text, file)
    data, problems = _expand(tree)
    problems += [_Problem((), message) for message in _unknown_variables()]
    base = file.resolve().parent if file else Path.cwd()
    settings = None
    try:
        settings = Settings(**data)
    except ValidationError as exc:
        known = {problem.where for problem in problems}  # what an unset variable leaves empty is told once
        problems += [_explain(error) for error in exc.errors() if error["loc"] not in known]
    except SettingsError as exc:
        problems.append(_Problem((), _not_json(exc)))
    if settings:
        settings._base = base
    problems += _unreadable_files(
        *([settings.policy, settings.gate] if settings else _sound(data)), base=base
    )
    if settings and not problems:
        problems = [_Problem(*found) for found in unknown_rules(settings)]
        problems += _contexts(settings)
        problems += _conflicts(settings)
    if problems or not settings:
        raise ConfigurationError(_report(file, text, problems))
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
        problems = [_explain({**error, "loc": ("policy", *error["loc"])}) for error in exc.errors()]
        raise ConfigurationError(_report(name, text, problems)) from exc
    known = {file for _, examples in _classes(settings.policy) for file in examples.examples_file}
    foreign = [
        _Problem((*where, "examples_file"), f"{file} is not a file of the present policy")
        for where, examples in _classes(policy)
        for file in examples.examples_file
        if file not in known
    ]
    if foreign:
        raise ConfigurationError(_report(name, text, foreign))
    other = settings.model_copy(update={"policy": policy})
    other._base = settings._base
    return other


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as exc:
        raise ConfigurationError(f"{file} can't be used: it is not UTF-8 (byte {exc.start})") from exc
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
    except YAMLError as exc:  # control characters, for one
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


def _expand(tree: dict[str, Any]) -> tuple[dict[str, Any], list[_Problem]]:
    """`${VAR}` and `${VAR:default}` in every text; a secret written into the file is refused."""
    problems: list[_Problem] = []

    def expand(value: Any, where: Location) -> Any:
        if isinstance(value, dict):
            return {key: expand(item, (*where, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [expand(item, (*where, place)) for place, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        if _holds_a_secret(where, value):
            problems.append(
                _Problem(where, "secrets come from the environment only: write ${NAME_OF_A_VARIABLE}")
            )
        return _VARIABLE.sub(lambda match: variable(match, where), value)

    def variable(match: re.Match[str], where: Location) -> str:
        found = os.environ.get(match["name"], match["default"])
        if found is None:
            problems.append(_Problem(where, f"the environment variable {match['name']} is not set"))
        return found or ""

    try:
        return expand(tree, ()), problems
    except RecursionError:
        return {}, [_Problem((), "an alias (*name) stands inside of what it names")]


def _is_secret(where: Location) -> bool:
    """Whether what stands there must be told to nobody; a secret may be one of a list."""
    return next((name for name in reversed(where) if isinstance(name, str)), "") in _SECRETS


def _holds_a_secret(where: Location, value: str) -> bool:
    """Whether the file itself says it: in plain words, as a variable's default, or inside a URL."""
    if where == _DATABASE:
        return bool(_PASSWORD.search(_VARIABLE.sub("", value)))
    variable = _VARIABLE.fullmatch(value)
    return _is_secret(where) and (variable is None or bool(variable["default"]))


def _unknown_variables() -> Iterator[str]:
    """An override that hits nothing is a mistake, not a wish."""
    for name in os.environ:
        if name.startswith("SEKISHO_") and name not in _FOR_THE_COMMAND_LINE:
            section = name.removeprefix("SEKISHO_").split("__")[0].lower()
            if section not in Settings.model_fields:
                known = ", ".join(Settings.model_fields)
                yield f"the environment variable {name} names no section; known: {known}"
        if name.upper() == _SEALS and not os.environ[name]:  # ignored, it would leave texts open
            yield f"the environment variable {name} is set to nothing"


def _not_json(exc: SettingsError) -> str:
    """Which variables the override that can't be read may be; pydantic names the section only."""
    section = str(exc).split('"')[1]
    prefix = f"SEKISHO_{section.upper()}"
    of_it = [name for name in os.environ if name.upper() == prefix or name.upper().startswith(f"{prefix}__")]
    return f'{" or ".join(of_it)}: expected JSON where a section or a list is due, as ["one", "two"]'


def _explain(error: Any) -> _Problem:
    """The problem, blamed on the environment variable that brought it, if one did."""
    problem = _explained(error)
    variable = _variable_at(problem.where, unknown=error["type"] == "extra_forbidden")
    if variable is None:
        return problem
    return _Problem((), f"the environment variable {variable} ({_dotted(problem.where)}): {problem.message}")


def _variable_at(where: Location, *, unknown: bool) -> str | None:
    """The override of this very place; below an unknown key, too."""
    at = [str(name).lower() for name in where]
    for name in os.environ:
        parts = name.lower().removeprefix("sekisho_").split("__")
        if name.upper().startswith("SEKISHO_") and (parts == at or (unknown and parts[: len(at)] == at)):
            return name
    return None


def _explained(error: Any) -> _Problem:
    where: Location = error["loc"]
    match error["type"]:
        case "extra_forbidden":
            known = _keys_of(where[:-1])
            close = difflib.get_close_matches(str(where[-1]), known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            return _Problem(where, f"unknown key{hint} (known: {', '.join(known)})")
        case "missing":
            return _Problem(where, "is missing")
        case "model_type" | "model_attributes_type":
            found = "an empty section" if error["input"] is None else repr(error["input"])
            return _Problem(where, f"expected the keys {', '.join(_keys_of(where))}, not {found}")
        case "dict_type":
            return _Problem(where, f"expected keys with values, not {error['input']!r}")
        case "too_short" if isinstance(error["input"], str | SecretStr):
            wanted, given = error["ctx"]["min_length"], error["ctx"]["actual_length"]
            return _Problem(where, f"expected at least {wanted} character{'s' * (wanted > 1)}, not {given}")
        case _:
            secret = _is_secret(where) or where == _DATABASE
            told = (
                "" if secret or isinstance(error["input"], dict | SecretStr) else f", not {error['input']!r}"
            )
            return _Problem(where, error["msg"].removeprefix("Value error, ") + told)


def _keys_of(where: Location) -> list[str]:
    """The keys that a section at this place knows."""
    model: Any = Settings
    for name in where:
        if isinstance(name, str):
            model = _model_in(model.model_fields[name].annotation)
    return sorted(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(_model_in(inner) for inner in annotation.__args__ if inner is not type(None))


def _classes(policy: PolicySettings) -> list[tuple[Location, ExampleSettings]]:
    """Every part of a policy that has examples, and where it stands."""
    topics = enumerate(policy.must_not.topics)
    return [
        (("policy", "must"), policy.must),
        (("policy", "may"), policy.may),
        (("policy", "must_not"), policy.must_not),
        *((("policy", "must_not", "topics", place), topic) for place, topic in topics),
    ]


def _sound(data: dict[str, Any]) -> tuple[PolicySettings, GateSettings]:
    """The sections that name files, by themselves; the defaults for one that can't be used."""
    return _section(PolicySettings, data.get("policy")), _section(GateSettings, data.get("gate"))


def _section(model: type[S], given: Any) -> S:
    try:
        return model.model_validate(given or {})
    except ValidationError:
        return model()


def _unreadable_files(policy: PolicySettings, gate: GateSettings, *, base: Path) -> Iterator[_Problem]:
    listed: list[tuple[Location, list[Path]]] = [
        *(((*where, "examples_file"), examples.examples_file) for where, examples in _classes(policy)),
        (("gate", "deny_file"), gate.deny_file),
        (("gate", "allow_file"), gate.allow_file),
        (("gate", "canaries_file"), gate.canaries_file),
    ]
    for where, files in listed:
        for file in files:
            if why := _unreadable(base / file):
                yield _Problem(where, why)
    for folder in policy.must.documents:
        if not (base / folder).exists():
            yield _Problem(("policy", "must", "documents"), f"there is no folder or file {base / folder}")


def _contexts(settings: Settings) -> Iterator[_Problem]:
    """The expression that finds the chatbot's contexts, read as the gateway will."""
    try:
        read_contexts(settings.upstream.contexts)
    except ConfigurationError as exc:
        yield _Problem(("upstream", "contexts"), str(exc).removeprefix("upstream.contexts: "))


def _conflicts(settings: Settings) -> Iterator[_Problem]:
    """Topics of one name, and an example that stands in two classes: nobody can say which one counts."""
    named: dict[str, Location] = {}
    for place, topic in enumerate(settings.policy.must_not.topics):
        where: Location = ("policy", "must_not", "topics", place, "name")
        if topic.name in named:
            yield _Problem(where, f"there are two topics {topic.name!r}", named[topic.name])
        named.setdefault(topic.name, where)
    known: dict[str, Location] = {}
    for where, text in _examples(settings):
        first = known.setdefault(normalise(text), where)
        if first[1] != where[1]:
            yield _Problem(where, f"“{text}” is an example of {first[1]}, too", first)


def _examples(settings: Settings) -> Iterator[tuple[Location, str]]:
    for where, examples in _classes(settings.policy):
        for place, text in enumerate(examples.examples):
            yield (*where, "examples", place), text
        for file in examples.examples_file:
            for text in read_examples(settings.path(file)):
                yield (*where, "examples_file"), text


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


def _report(file: Path | None, text: str, problems: list[_Problem]) -> str:
    """All problems, in the order of the file."""
    root = _yaml().compose(text)
    placed = [(_line(root, one.where), one, _line(root, one.also)) for one in problems]
    rows = [_row(*one) for one in sorted(placed, key=lambda one: one[0])]
    return "\n".join([f"{file or 'the configuration'} can't be used:", *rows])


def _row(line: int, problem: _Problem, other: int) -> str:
    at = [f"line {line}"] if line else []
    name = [_dotted(problem.where)] if problem.where else []
    also = f" ({_dotted(problem.also)}, line {other})" if other else ""
    return f"  {', '.join(at + name)}{': ' if at or name else ''}{problem.message}{also}"


def _dotted(where: Location) -> str:
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
