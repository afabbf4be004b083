"""`sekisho evaluate`: tables for people, `--json` for programs."""

from __future__ import annotations

import typer

from evaluation.acceptance.commands import acceptance
from evaluation.answers.commands import answers_command
from evaluation.answers.compare_commands import compare_command
from evaluation.artificial.commands import coverage_command, questions_command
from evaluation.cache.commands import cache_command
from evaluation.faithfulness.commands import faithfulness_command
from evaluation.followups.commands import followups_command
from evaluation.gate.commands import gate_command
from evaluation.users.commands import users_command

__all__ = ["acceptance", "app"]

app = typer.Typer(help="Measure a part of the gateway on a file of cases.", no_args_is_help=True)

app.command("cache")(cache_command)
app.command("followups")(followups_command)
app.command("gate")(gate_command)
app.command("faithfulness")(faithfulness_command)
app.command("answers")(answers_command)
app.command("users")(users_command)
app.command("questions")(questions_command)
app.command("coverage")(coverage_command)
app.command("compare")(compare_command)
