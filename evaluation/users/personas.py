"""Who asks: personas, by language, shipped or the operator's own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from encoders.problems import first_problem
from gateway.errors import InvalidRequest

__all__ = ["LANGUAGES", "Persona", "Personas", "read_personas"]

LANGUAGES = ("en", "ja", "zh")


@dataclass(frozen=True, slots=True)
class Persona:
    """A temper in which somebody asks."""

    name: str
    manner: str

    @property
    def version(self) -> str:
        """Another one whenever the manner is."""
        return f"{self.name}@{hashlib.sha256(self.manner.encode()).hexdigest()[:8]}"


Personas = Mapping[str, Mapping[str, Persona]]  # by language, then by name


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    manner: str = Field(min_length=1)


_FILE = TypeAdapter(dict[str, _Row])
_BY_LANGUAGE = TypeAdapter(dict[str, dict[str, _Row]])


def read_personas(own: Path | None = None, names: Sequence[str] = ()) -> Personas:
    """The shipped personas, or those of a file of one's own (YAML: language, name, `manner`).

    Args:
        names: only these; each must exist in one language at least.

    Raises:
        InvalidRequest: naming file and field, or the name that nobody has.
    """
    read = _own(own) if own else {language: _shipped(language) for language in LANGUAGES}
    known = {name for found in read.values() for name in found}
    for name in names:
        if name not in known:
            raise InvalidRequest(f"--personas: expected some of {', '.join(sorted(known))}, not {name}")
    return {
        language: {name: one for name, one in found.items() if not names or name in names}
        for language, found in read.items()
    }


def _shipped(language: str) -> dict[str, Persona]:
    text = (files("evaluation.users") / "personas" / f"{language}.yaml").read_text(encoding="utf-8")
    return _personas(_FILE.validate_python(yaml.safe_load(text)))


def _own(file: Path) -> dict[str, dict[str, Persona]]:
    try:
        found = _BY_LANGUAGE.validate_python(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as exc:
        raise InvalidRequest(f"{file} can't be read: {exc}") from exc
    except ValidationError as exc:
        raise InvalidRequest(f"{file}: {first_problem(exc, whole='the file')}") from exc
    return {language: _personas(rows) for language, rows in found.items()}


def _personas(rows: Mapping[str, _Row]) -> dict[str, Persona]:
    return {name: Persona(name, row.manner) for name, row in rows.items()}
