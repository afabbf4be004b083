"""The `sekisho` command before it knows what it is to do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gateway.cli import COMMANDS, loaded


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_says_of_a_command_what_the_command_says_of_itself(name: str) -> None:
    first = loaded(name).help.partition("\n\n")[0]
    assert COMMANDS[name][1] == " ".join(first.split())


def test_the_help_imports_nothing_that_takes_long() -> None:
    script = (
        "import sys; sys.argv = ['sekisho', '--help']; from gateway.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "sys.exit(str({'numpy', 'sqlalchemy', 'pydantic', 'fastapi'} & set(sys.modules) or ''))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert ran.stderr.strip() == ""
    assert "import-reviews" in ran.stdout
