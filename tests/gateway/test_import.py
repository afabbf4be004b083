"""`sekisho import` says which entries compete, and fails for refused rows only; `calibrate` where nothing is promised."""

from __future__ import annotations

from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console
from typer.testing import CliRunner

from gateway.cli import app
from gateway.commands import data
from gateway.errors import InvalidRequest

FAQ = """question,answer,language
How can I reset my account password?,Press the link.,en
How can I reset my own account password?,Ask the desk.,en
Which wine goes with fish?,White.,en
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data.console, "width", 300)
    (tmp_path / "sekisho.yaml").write_text("policy: {must: {description: Accounts.}}", "utf-8")
    (tmp_path / "faq.csv").write_text(FAQ, "utf-8")
    return tmp_path


def imported(*options: str) -> str:
    result = CliRunner().invoke(app, ["import", "faq.csv", *options])
    assert result.exit_code == 0, result.output
    return result.output


def test_an_import_shows_the_entries_that_compete_and_keeps_them_all() -> None:
    printed = imported()
    assert "3 created" in printed
    assert "pairs of entries compete" in printed
    [row] = [line for line in printed.splitlines() if "own account" in line]
    assert "How can I reset my account password?" in row
    assert "wine" not in printed


def test_an_import_of_entries_far_apart_shows_no_pairs(folder: Path) -> None:
    lines = FAQ.splitlines(keepends=True)
    (folder / "faq.csv").write_text("".join([*lines[:2], lines[3]]), "utf-8")
    assert "compete" not in imported()


def test_an_import_that_changes_nothing_shows_no_pairs_again() -> None:
    imported()
    printed = imported()
    assert "3 unchanged" in printed
    assert "compete" not in printed


def test_a_last_day_is_past_by_the_clock_of_the_office(folder: Path) -> None:
    for zone in (
        "Pacific/Kiritimati",
        "Etc/GMT+12",
    ):  # UTC+14 and UTC-12: it is never the same day in all three
        today = datetime.now(ZoneInfo(zone)).date()
        lines = ["question,answer,language,valid_until", f"Is the {zone} fair open?,Yes.,en,{today}"]
        lines.append(f"Was the {zone} fair open?,Yes.,en,{today - timedelta(days=1)}")
        (folder / "faq.csv").write_text("\n".join(lines), "utf-8")
        (folder / "sekisho.yaml").write_text(
            f"policy: {{must: {{description: Fairs.}}}}\ncache: {{timezone: {zone}}}", "utf-8"
        )
        remarked = [line for line in imported().splitlines() if "its last day was" in line]
        assert [line.split()[1] for line in remarked] == ["3"], zone


def test_a_table_without_a_terminal_folds_what_is_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data.console, "width", 60)
    question = "訪問サポートの受付時間と料金と申し込みの方法を教えてください"
    (folder / "faq.csv").write_text(f"question,answer,language\n{question},1,ja\n{question},2,ja\n", "utf-8")
    result = CliRunner().invoke(app, ["import", "faq.csv", "--no-collisions"])
    assert "…" not in result.output
    lines = [line.split("│")[3].strip() for line in result.output.splitlines() if line.startswith("│")]
    assert f"“{question}”" in "".join(lines)


def test_an_import_looks_for_no_pairs_where_told_so() -> None:
    printed = imported("--no-collisions")
    assert "3 created" in printed
    assert "compete" not in printed


def test_a_language_that_nobody_is_answered_in_is_refused_with_those_that_are(folder: Path) -> None:
    result = CliRunner().invoke(app, ["import", "faq.csv", "--language", "jp"])
    assert result.exit_code == 2
    assert all(f"'{one}'" in result.output for one in ("jp", "en", "ja", "zh"))
    (folder / "faq.csv").write_text(FAQ.replace("White.,en", "White.,jp"), "utf-8")
    result = CliRunner().invoke(app, ["import", "faq.csv", "--no-collisions"])
    assert (result.exit_code, "2 created" in result.output) == (1, True)
    assert "expected en, ja or zh, found “jp”" in result.output


def test_a_question_in_another_language_than_its_row_is_listed_and_kept(folder: Path) -> None:
    rows = [
        "料金はいくらですか,5円です。",
        "How much is the fee?,5 yen.",
        "Wi-Fi,あります。",
        "営業時間,9時から。",
    ]
    (folder / "faq.csv").write_text("\n".join(["質問,回答", *rows]), "utf-8")
    printed = imported("--language", "ja", "--no-collisions")
    assert "4 created" in printed
    [row] = [line for line in printed.splitlines() if "reads as" in line]
    assert [cell.strip() for cell in row.strip("│ ").split("│")] == [
        "3", "language", "the question reads as en, and only who asks in ja is served its answer",
    ]  # fmt: skip


def test_an_import_says_that_its_tenant_is_new() -> None:
    assert "acme is a new tenant, beside default." in imported("--tenant", "acme", "--no-collisions")
    assert "new tenant" not in imported("--tenant", "acme", "--no-collisions")
    assert "new tenant" not in imported("--no-collisions")


@pytest.mark.parametrize("tenant", ["", " ", " acme", "acme ", "a" * 65])
@pytest.mark.parametrize(
    "command",
    [
        ["import", "faq.csv"],
        ["key", "--role", "client"],
        ["users", "add", "ann"],
        ["ask", "How?"],
        ["forget", "--asker", "u1"],
        ["import-reviews", "faq.csv"],
        ["acceptance", "create", "--run", "run", "--key", "key"],
    ],
    ids=" ".join,
)
def test_nothing_is_written_for_a_tenant_that_nobody_could_name(
    folder: Path, command: list[str], tenant: str
) -> None:
    before = sorted(folder.iterdir())
    result = CliRunner().invoke(app, [*command, "--tenant", tenant])
    assert isinstance(result.exception, InvalidRequest), result.output
    assert "a tenant's name has 1 to 64 characters" in str(result.exception)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("target", "code"), [("0.01", 1), ("0.49", 0)])
def test_calibrating_a_shelf_that_nothing_is_promised_for_fails(
    monkeypatch: pytest.MonkeyPatch, target: str, code: int
) -> None:
    monkeypatch.setenv("SEKISHO_CACHE__TARGET_ERROR", target)
    imported("--no-collisions")
    result = CliRunner().invoke(app, ["calibrate", "cache"])
    assert result.exit_code == code, result.output
    assert ("Nothing is promised for 1 of 1 shelves." in result.output) == bool(code)
    assert ("default cut: " in result.output) == bool(code)


def test_calibrating_shows_that_it_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = StringIO()
    imported("--no-collisions")
    monkeypatch.setattr(data, "errors", Console(file=shown, force_terminal=True))
    CliRunner().invoke(app, ["calibrate", "cache"])
    assert "calibrating" in shown.getvalue()


@pytest.mark.parametrize(
    ("what", "said"), [("entries", "3 rows of entries"), ("feedback", "0 rows of feedback")]
)
def test_an_export_says_what_it_wrote(what: str, said: str) -> None:
    imported("--no-collisions")
    result = CliRunner().invoke(app, ["export", "--what", what, "out.csv"])
    assert f"{said} written to out.csv" in result.output


def test_an_answer_that_was_withdrawn_is_listed_and_fails_nothing(folder: Path) -> None:
    header = "id,question,answer,language,state\n"
    (folder / "faq.csv").write_text(f"{header}one,One?,1.,en,retired\n", "utf-8")
    imported("--no-collisions")
    (folder / "faq.csv").write_text("question,answer,language\nOne?,1.,en\nTwo?,2.,en\n", "utf-8")
    printed = imported("--no-collisions")
    assert "1 created, 0 edited, 0 unchanged, 1 refused" in printed
    assert "this answer was withdrawn" in printed


def test_a_refused_row_fails_the_import_whatever_competes(folder: Path) -> None:
    (folder / "faq.csv").write_text(FAQ + "No answer?,,en\n", "utf-8")
    result = CliRunner().invoke(app, ["import", "faq.csv"])
    assert result.exit_code == 1
    assert "pairs of entries compete" in result.output
    assert "refused rows" in result.output
