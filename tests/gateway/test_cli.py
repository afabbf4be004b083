"""The `sekisho` command before it knows what it is to do."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from gateway.cli import COMMANDS, loaded, main


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


@pytest.mark.parametrize(
    "arguments",
    [["import", "missing.csv"], ["import-reviews", "missing.xlsx"], ["export", "away/entries.csv"]],
)
def test_a_file_that_is_not_there_is_named_without_a_traceback(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["sekisho", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = capsys.readouterr().err.strip()
    assert told.startswith("error: ")
    assert told.endswith(": No such file or directory")


def test_brackets_in_what_people_wrote_are_no_markup(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("faq.csv").write_text("question,answer,language\nWhat is [/b] for?,It ends bold.,xx-[/i]\n", "utf-8")
    monkeypatch.setattr(sys, "argv", ["sekisho", "import", "faq.csv"])
    with pytest.raises(SystemExit):
        main()
    assert "xx-[/i]" in capsys.readouterr().out


def test_the_command_says_its_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sekisho", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().out) == (0, f"{version('sekisho')}\n")
