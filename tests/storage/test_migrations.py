"""What a developer relies on when writing the next revision."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from alembic import command
from alembic.config import Config

import storage.migrations


def test_the_command_finds_nothing_to_add_to_the_present_schema(tmp_path: Path) -> None:
    ini = Path(storage.migrations.__file__).with_name("alembic.ini")
    config = Config(ini, cmd_opts=Namespace(x=[f"url=sqlite:///{tmp_path / 'scratch.db'}"]))
    command.upgrade(config, "head")
    command.check(config)
