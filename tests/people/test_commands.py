"""`sekisho users`: who may sign in, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gateway.cli import app
from gateway.errors import InvalidRequest, NotFound


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "sekisho.yaml"
    file.write_text("policy: {must: {description: Libraries.}}\n", "utf-8")
    return file


def _users(config: Path, *words: str, password: str | None = None) -> Result:
    environment = {"CONSOLE_PASSWORD": password} if password else {}
    return CliRunner().invoke(app, ["users", *words, "--config", str(config)], env=environment)


def test_a_user_is_made_listed_and_disabled(config: Path) -> None:
    made = _users(config, "add", "sato", "--role", "admin", password="a long password")
    assert (made.exit_code, made.output.strip()) == (0, "sato is admin in default.")
    assert _users(config, "add", "sato", "--role", "viewer", "--tenant", "globex").exit_code == 0
    listed = _users(config, "list").output
    assert "sato" in listed
    assert "admin in" in listed
    assert _users(config, "disable", "sato").exit_code == 0
    assert _users(config, "password", "sato", password="another password").exit_code == 0


def test_the_password_is_asked_for_where_none_is_given(config: Path) -> None:
    words = ["users", "add", "sato", "--config", str(config)]
    asked = CliRunner().invoke(app, words, input="a long password\na long password\n")
    assert asked.exit_code == 0
    assert "a long password" not in asked.output


def test_what_cannot_be_done_is_named(config: Path) -> None:
    assert isinstance(_users(config, "add", "sato", password="short").exception, InvalidRequest)
    assert isinstance(_users(config, "disable", "nobody").exception, NotFound)
