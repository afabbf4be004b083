"""A blind test from its drawing to its verdict, over the command line, and what happens to who tampers with it."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

from evaluation.acceptance.drawing import Key, gateway_side
from evaluation.acceptance.sheet import write_sheet
from evaluation.acceptance.verdict import agreement, unblinded
from evaluation.answers.cases import case_digest, case_of
from evaluation.answers.results import CaseResult, Said, written
from gateway.cli import app
from gateway.errors import Conflict, InvalidRequest
from gateway.review.acceptance_tests import (
    AcceptanceTest,
    AcceptanceTests,
    Better,
    Pair,
    Vote,
    chained,
    commitment_of,
)
from storage.sql import Database

NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)
KEY = Key(test="t", secret="5e" * 32, seed=1, commitment="")


def cli(folder: Path, *arguments: str) -> str:
    config = folder / "sekisho.yaml"
    config.write_text("policy: {must: {description: Our city.}}\n", "utf-8")
    told = CliRunner().invoke(
        app, ["acceptance", *arguments, "--config", str(config)], catch_exceptions=False
    )
    assert told.exit_code == 0, told.output
    return " ".join(told.output.split())


def run_of(folder: Path, n: int = 12) -> Path:
    run = folder / "run"
    run.mkdir()
    lines = []
    for number in range(n):
        case = case_of(
            {"id": f"c{number}", "question": f"Question {number}?", "ground_truth": f"truth {number}"}, ""
        )
        said = Said(answer=f"=answer {number}", contexts=(), outcome="rag", answered=number != 0)
        lines.append(
            written(CaseResult(digest=case_digest(case), case=case, target="gateway", said=said, metrics={}))
        )
    (run / "results.jsonl").write_bytes(b"".join(lines))
    return run


def filled(sheet: Path, choose: Callable[[str], str]) -> None:
    """A judge who goes by what he reads in column A."""
    workbook = load_workbook(sheet)
    for row in workbook.worksheets[0].iter_rows(min_row=2):
        row[4].value = choose(str(row[2].value))
    workbook.save(sheet)


async def test_what_no_database_keeps_is_no_tampering(database: Database) -> None:
    drawn = replace(pairs(1)[0], left="It is\x00free.")
    store, made = AcceptanceTests(database), commitment_of([drawn], margin=0.1, key=KEY.secret)
    test = await store.create([drawn], tenant="acme", name="A", margin=0.1, commitment=made, by="t")
    for comment in ("half \ud83d", "\x00"):
        await store.vote(test, drawn.number, "left", tenant="acme", by="sato", comment=comment)
    found = unblinded(
        await store.test(test, tenant="acme"),
        await store.pairs(test, tenant="acme"),
        await store.votes(test, tenant="acme"),
        KEY.model_copy(update={"test": test, "commitment": made}),
    )
    assert found.judged == 1


def test_people_who_prefer_the_gateway_show_that_it_is_not_inferior(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run, key, sheet, page, figures = (tmp_path / n for n in ("", "key.json", "s.xlsx", "r.html", "r.json"))
    run = run_of(tmp_path)
    made = cli(tmp_path, "create", "--run", str(run), "--key", str(key), "--n", "10", "--margin", "0.1")
    assert "under /console/acceptance." in made
    test = re.findall(r"Test (\S+):", made)[0]
    assert key.stat().st_mode & 0o077 == 0
    for judge in ("sato", "suzuki"):
        cli(tmp_path, "sheet", test, "--out", str(sheet), "--judge", judge)
        texts = [
            str(row[2]) for row in load_workbook(sheet).worksheets[0].iter_rows(min_row=2, values_only=True)
        ]
        assert {text.startswith("=answer") for text in texts} == {True, False}  # sides are mixed
        filled(sheet, lambda left: "A" if left.startswith("=answer") else "B")
        cli(tmp_path, "read", test, str(sheet), "--judge", judge)
    assert "10 of 10" in cli(tmp_path, "report", test)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "nltk", None)  # as where it is not installed
        with pytest.raises(InvalidRequest, match=r"nltk: .*pip install '.\[report\]'"):
            cli(tmp_path, "report", test, "--key", str(key))
    assert "10 of 10" in cli(tmp_path, "report", test)  # it is not over
    told = cli(tmp_path, "report", test, "--key", str(key), "--out", str(page), "--json", str(figures))
    assert "not inferior" in told
    found = json.loads(figures.read_text("utf-8"))
    assert (found["win"]["n"], found["loss"]["n"], found["judges"]) == (10, 0, 2)
    assert found["win"]["ci95"] == pytest.approx([0.6915, 1.0], abs=1e-4)  # Clopper and Pearson, 10 of 10
    assert found["net_at_least"] == pytest.approx(0.6915 - 0.3085, abs=1e-4)
    assert "http" not in page.read_text("utf-8")
    with pytest.raises(Conflict, match="over"):
        cli(tmp_path, "read", test, str(sheet), "--judge", "late")

    with sqlite3.connect(tmp_path / ".sekisho" / "sekisho.db") as database:
        database.execute("UPDATE acceptance_votes SET better = 'same' WHERE id = 3")
    with pytest.raises(InvalidRequest, match="vote 3 of sato"):
        cli(tmp_path, "report", test, "--key", str(key))


def test_a_test_whose_key_cannot_be_written_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = str(run_of(tmp_path))
    with pytest.raises(InvalidRequest, match="No such file"):
        cli(tmp_path, "create", "--run", run, "--key", str(tmp_path / "keys" / "key.json"), "--n", "10")
    cli(tmp_path, "create", "--run", run, "--key", str(tmp_path / "key.json"), "--n", "10")
    with sqlite3.connect(tmp_path / ".sekisho" / "sekisho.db") as database:
        kept = [id_ for (id_,) in database.execute("SELECT id FROM acceptance_tests")]
    assert kept == [json.loads((tmp_path / "key.json").read_text("utf-8"))["test"]]


def test_a_sheet_holds_what_no_cell_can(tmp_path: Path) -> None:
    pair = replace(pairs(1)[0], left="Page one.\x0cPage two.")
    write_sheet(tmp_path / "s.xlsx", "t", [pair])
    [row] = load_workbook(tmp_path / "s.xlsx").worksheets[0].iter_rows(min_row=2, values_only=True)
    assert row[2] == "Page one.\ufffdPage two."


def test_who_asks_for_more_pairs_than_there_are_is_told_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequest, match="at most 11"):  # one case was not answered
        cli(tmp_path, "create", "--run", str(run_of(tmp_path)), "--key", "k.json", "--n", "12")


def pairs(n: int) -> tuple[Pair, ...]:
    return tuple(
        Pair(number=k, case_id=f"c{k}", language="en", question="?", left=f"l{k}", right=f"r{k}")
        for k in range(1, n + 1)
    )


def votes(*rows: tuple[str, int, str]) -> tuple[Vote, ...]:
    """Of judge, pair and win, tie or loss, in a whole chain."""
    made: list[Vote] = []
    for by, number, outcome in rows:
        side = gateway_side(KEY.secret, number)
        sides: dict[str, Better] = {"win": side, "tie": "same", "loss": "right" if side == "left" else "left"}
        vote = Vote(number=number, by=by, at=NOON, better=sides[outcome], critical=(), comment="", chain="")
        made.append(replace(vote, chain=chained(made[-1].chain if made else "", vote)))
    return tuple(made)


def standing(shown: tuple[Pair, ...], *, margin: float = 0.1) -> tuple[AcceptanceTest, Key]:
    commitment = commitment_of(shown, margin=margin, key=KEY.secret)
    test = AcceptanceTest(
        id="t", tenant="default", name="T", margin=margin, commitment=commitment, created_at=NOON, created_by="x",
        closed_at=None, pairs=len(shown), votes={"a": 1},
    )  # fmt: skip
    return test, KEY.model_copy(update={"commitment": commitment})


def test_a_pair_goes_to_the_side_with_more_votes_and_the_last_vote_of_a_judge_counts() -> None:
    shown = pairs(3)
    test, key = standing(shown)
    cast = votes(
        ("a", 1, "win"), ("b", 1, "loss"), ("c", 1, "win"), ("a", 2, "win"), ("a", 2, "loss"), ("a", 3, "win"), ("b", 3, "loss")
    )  # fmt: skip
    assert [one.outcome for one in unblinded(test, shown, cast, key).pairs] == ["win", "loss", "tie"]


@pytest.mark.parametrize(
    ("n", "lost", "expected"), [(200, 0, True), (200, 60, False), (20, 0, True), (5, 0, False)]
)
def test_too_few_ties_show_nothing(n: int, lost: int, expected: bool) -> None:
    """Ties alone: wins − losses is 0, but only many pairs show that it is not far below."""
    shown = pairs(n)
    test, key = standing(shown, margin=0.2)
    cast = votes(*(("a", k, "loss" if k <= lost else "tie") for k in range(1, n + 1)))
    assert unblinded(test, shown, cast, key).not_inferior is expected


def test_changed_pairs_and_foreign_keys_are_found_out() -> None:
    shown = pairs(2)
    test, key = standing(shown)
    cast = votes(("a", 1, "win"))
    changed = (replace(shown[0], right="better"), shown[1])
    with pytest.raises(InvalidRequest, match="not those that the test began with"):
        unblinded(test, changed, cast, key)
    with pytest.raises(InvalidRequest, match="not those"):
        unblinded(replace(test, margin=0.5), shown, cast, key)
    with pytest.raises(InvalidRequest, match="expected the key of test t"):
        unblinded(test, shown, cast, key.model_copy(update={"test": "u"}))
    with pytest.raises(InvalidRequest, match="was changed"):
        unblinded(test, shown, (replace(cast[0], comment="!"),), key)


def test_alpha_is_that_of_the_literature_and_none_where_there_is_none() -> None:
    whole = votes(("a", 1, "win"), ("b", 1, "win"), ("a", 2, "loss"), ("b", 2, "loss"))
    assert agreement(whole, KEY) == pytest.approx(1.0)
    # Two pairs, on one of them opposite: D_o = 4·2/4 = 2, D_e = 2·(3·1·4)/(4·3) = 2, so alpha is 0.
    half = votes(("a", 1, "win"), ("b", 1, "win"), ("a", 2, "win"), ("b", 2, "loss"))
    assert agreement(half, KEY) == pytest.approx(0.0)
    assert agreement(votes(("a", 1, "win")), KEY) is None
    assert agreement(votes(("a", 1, "win"), ("b", 1, "win")), KEY) is None


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [(5, "C", "better: expected A, B or same"), (6, "maybe", "critical: expected"), (1, "x", "number")],
)
def test_a_sheet_with_a_wrong_cell_is_refused_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: int, value: Any, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    made = cli(tmp_path, "create", "--run", str(run_of(tmp_path)), "--key", "k.json", "--n", "3")
    test = re.findall(r"Test (\S+):", made)[0]
    cli(tmp_path, "sheet", test, "--out", "s.xlsx", "--judge", "sato")
    workbook = load_workbook("s.xlsx")
    workbook.worksheets[0].cell(3, 5).value = "A"
    workbook.worksheets[0].cell(3, column).value = value
    workbook.save("s.xlsx")
    with pytest.raises(InvalidRequest, match=f"row 3: {expected}"):
        cli(tmp_path, "read", test, "s.xlsx", "--judge", "sato")
