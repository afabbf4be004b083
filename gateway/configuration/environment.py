"""What the environment adds to a configuration: `${VARIABLES}` in its file, and overrides of its keys."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from pydantic_settings import SettingsError

from gateway.configuration.problems import Location, Problem
from gateway.settings import Settings

__all__ = ["expanded", "is_secret", "not_json", "unknown_variables", "variable_at"]

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<default>[^}]*))?\}")
_SECRETS = {
    "address", "api_key", "client_secret", "encryption_key", "former_encryption_keys", "key",
    "previous_secret", "qdrant_api_key", "secret",
}  # fmt: skip
_SEALS = "SEKISHO_STORAGE__ENCRYPTION_KEY"
_DATABASE = ("storage", "url")
_PASSWORD = re.compile(r"//[^/@]*:[^/@]+@")  # in a URL
# Kubernetes tells every container where a service called sekisho is.
_OF_KUBERNETES = re.compile(r"SEKISHO_(SERVICE_(HOST|PORT\w*)|PORT_\d+_(TCP|UDP|SCTP)\w*)")
_FOR_THE_COMMAND_LINE = {"SEKISHO_CONFIG", "SEKISHO_URL", "SEKISHO_KEY"}


def expanded(tree: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """`${VAR}` and `${VAR:default}` in every text; a secret written into the file is refused."""
    problems: list[Problem] = []

    def expand(value: Any, where: Location) -> Any:
        if isinstance(value, dict):
            return {key: expand(item, (*where, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [expand(item, (*where, place)) for place, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        if _holds_a_secret(where, value):
            problems.append(
                Problem(where, "secrets come from the environment only: write ${NAME_OF_A_VARIABLE}")
            )
        return _VARIABLE.sub(lambda match: variable(match, where), value)

    def variable(match: re.Match[str], where: Location) -> str:
        found = os.environ.get(match["name"], match["default"])
        if found is None:
            problems.append(Problem(where, f"the environment variable {match['name']} is not set"))
        elif not found and match["default"] is None and where[-1] == "api_key":
            empty = f"the environment variable {match['name']} is set to nothing"
            keyless = f"for a server that wants no key, write ${{{match['name']}:}}"
            problems.append(Problem(where, f"{empty}; {keyless}"))
        return found or ""

    try:
        return expand(tree, ()), problems
    except RecursionError:
        return {}, [Problem((), "an alias (*name) stands inside of what it names")]


def is_secret(where: Location) -> bool:
    """Whether what stands there must be told to nobody; a secret may be one of a list, or a part of a URL."""
    name = next((name for name in reversed(where) if isinstance(name, str)), "")
    return name in _SECRETS or where == _DATABASE


def _holds_a_secret(where: Location, value: str) -> bool:
    """Whether the file itself says it: in plain words, as a variable's default, or inside a URL."""
    if where == _DATABASE:
        return bool(_PASSWORD.search(_VARIABLE.sub("", value)))
    variable = _VARIABLE.fullmatch(value)
    return is_secret(where) and (variable is None or bool(variable["default"]))


def unknown_variables() -> Iterator[str]:
    """An override that hits nothing is a mistake, not a wish."""
    for name in os.environ:
        if name.startswith("SEKISHO_") and not _is_of_others(name):
            section = name.removeprefix("SEKISHO_").split("__")[0].lower()
            if section not in Settings.model_fields:
                known = ", ".join(Settings.model_fields)
                yield f"the environment variable {name} names no section; known: {known}"
        if name.upper() == _SEALS and not os.environ[name]:  # ignored, it would leave texts open
            yield f"the environment variable {name} is set to nothing"


def _is_of_others(name: str) -> bool:
    """Whether it was not meant for the configuration."""
    link = name == "SEKISHO_PORT" and "://" in os.environ[name]
    return link or name in _FOR_THE_COMMAND_LINE or _OF_KUBERNETES.fullmatch(name) is not None


def not_json(exc: SettingsError) -> str:
    """Which variables the override that can't be read may be; pydantic names the section only."""
    section = str(exc).split('"')[1]
    prefix = f"SEKISHO_{section.upper()}"
    of_it = [name for name in os.environ if name.upper() == prefix or name.upper().startswith(f"{prefix}__")]
    return f'{" or ".join(of_it)}: expected JSON where a section or a list is due, as ["one", "two"]'


def variable_at(where: Location, *, below: bool) -> str | None:
    """The override that brought what stands there: of this very place, of one below it, or JSON around it."""
    at = [str(name).lower() for name in where]
    for name in os.environ:
        if not name.upper().startswith("SEKISHO_"):
            continue
        parts = name.lower().removeprefix("sekisho_").split("__")
        if parts == at or (below and parts[: len(at)] == at):
            return name
        if parts == at[: len(parts)] and _holds(os.environ[name], where[len(parts) :]):
            return name
    return None


def _holds(value: str, where: Location) -> bool:
    """Whether it is JSON in which something stands at this place."""
    try:
        found = json.loads(value)
        for name in where:
            found = found[name]
    except (ValueError, LookupError, TypeError):
        return False
    return True
