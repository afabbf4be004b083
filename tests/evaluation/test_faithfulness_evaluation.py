"""`sekisho evaluate faithfulness`: the judge beside simpler ways, its errors, and its report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import anyio
import numpy as np
import pytest
from typer.testing import CliRunner

from classifiers import ClassifierError
from classifiers.faithfulness import Checked, FaithfulnessVerdict, Unchecked
from classifiers.faithfulness.shipped import fitted_on
from encoders import EncoderIdentity, Vector
from evaluation.cases import Answer, AnswerSpan, read_cases
from evaluation.cli import app
from evaluation.command_line import latency
from evaluation.faithfulness.judging import FaithfulnessResult, evaluate_faithfulness
from evaluation.faithfulness.report import write_faithfulness_report
from evaluation.faithfulness.tables import worst_rows
from evaluation.faithfulness.ways import OURS, Compared, by_cosine, by_threshold, by_verdict, flag_all
from evaluation.fitted_on import judge_sources
from evaluation.statistics import estimate, f1
from gateway.errors import InvalidRequest
from tests.evaluation.verdicts import checked, statement
from training import fit_faithfulness


def case(name: str, *, faithful: bool, group: str = "a", **more: Any) -> Answer:
    return Answer(
        id=name, answer=f"{name} costs 5.", contexts=["All."], faithful=faithful, group=group, **more
    )


CASES = [
    case("one", faithful=False, kind="number", unsupported=[AnswerSpan(start=0, end=3)]),
    case("two", faithful=False, group="範囲 <b>", kind="name"),
    case("three", faithful=True, kind="list"),
    case("four", faithful=True, group="範囲 <b>", kind="polite"),
]
VERDICTS: list[FaithfulnessVerdict] = [
    checked(statement("one costs 5.", 0.1), statement("fine", 0.9), statement("fine", 0.9)),
    checked(*(statement("fine", 0.8) for _ in range(4)), statement("two costs 5.", 0.7)),
    checked(statement("three costs 5.", 0.9)),
    Unchecked(reason="nothing_to_check", judge="scripted@1"),
]


class ScriptedJudge:
    """Gives what stands in VERDICTS, or fails."""

    def __init__(self, dead: str = "") -> None:
        self._dead = dead
        self.most = self._now = 0

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        self._now += 1
        self.most = max(self.most, self._now)
        await anyio.lowlevel.checkpoint()
        self._now -= 1
        name = answer.split()[0]
        if name == self._dead:
            raise ClassifierError("the model is out of reach")
        return VERDICTS[["one", "two", "three", "four"].index(name)]


@pytest.fixture
def result() -> FaithfulnessResult:
    return anyio.run(evaluate_faithfulness, CASES, ScriptedJudge())


@pytest.fixture
def compared() -> Compared:
    return Compared(tuple(CASES), (by_verdict(OURS, VERDICTS), by_threshold(VERDICTS, 0.8), flag_all(CASES)))


def test_one_bad_statement_blocks_for_us_and_slips_past_a_mean(compared: Compared) -> None:
    ours, mean, all_of_them = compared.ways
    assert ours.flagged == (True, False, False, True)  # what was not checked is not delivered
    assert mean.flagged == (True, False, False, True)
    assert by_threshold(VERDICTS, 0.5).flagged == (False, False, False, True)
    assert all_of_them.flagged == (True,) * 4
    assert ours.suspicion == (0.9, pytest.approx(0.3), pytest.approx(0.1), None)


def test_every_way_is_measured_alike(compared: Compared) -> None:
    figures = compared.figures
    ours, everything = figures[OURS], figures["flag all"]
    assert (ours.auroc.value, everything.auroc.value) == (1.0, 0.5)
    assert (ours.recall.count, ours.recall.n, ours.false_blocks.count) == (1, 2, 1)
    assert everything.f1.value == pytest.approx(2 / 3)
    assert ours.within_group.value == 1.0  # the one group that has both kinds
    assert ours.auroc.ci95 is not None


def test_a_bootstrap_interval_holds_the_figure_and_is_the_same_twice() -> None:
    flags, bad = np.array([True, True, False, False] * 25), np.array([True, False, True, False] * 25)
    found = estimate(lambda drawn: f1(flags[drawn], bad[drawn]), 100)
    assert found == estimate(lambda drawn: f1(flags[drawn], bad[drawn]), 100)
    assert found.value == 0.5
    assert found.ci95 is not None
    low, high = found.ci95
    assert 0.35 < low < 0.45
    assert 0.55 < high < 0.65
    assert str(estimate(lambda _: None, 3)) == "–"


async def test_cosine_is_cut_on_the_file_itself_and_cannot_tell_a_swapped_word() -> None:
    found = await by_cosine(Letters(), CASES, VERDICTS)
    assert found.suspicion[3] is None  # no statements
    assert found.flagged[2] is False  # the faithful one below the cut that 5 % would pass
    assert "on this file" in found.note


class Letters:
    """An encoder of letter counts."""

    identity = EncoderIdentity("letters", 26, "0", ("en",))

    async def encode(self, texts: Sequence[str], /) -> Vector:
        counted = np.array([[1 + t.lower().count(chr(97 + i)) for i in range(26)] for t in texts], np.float32)
        return counted / np.linalg.norm(counted, axis=1, keepdims=True)


async def test_a_judge_that_fails_leaves_the_answer_unchecked_and_the_others_judged() -> None:
    found = await evaluate_faithfulness(CASES, ScriptedJudge(dead="one"))
    assert [isinstance(one.verdict, Checked) for one in found.judged] == [False, True, True, False]
    assert found.judged[0].verdict.reason == "the model is out of reach"
    assert found.as_json()["unchecked"] == 2


async def test_no_more_answers_are_judged_at_once_than_was_said() -> None:
    judge = ScriptedJudge()
    result = await evaluate_faithfulness(CASES, judge, at_once=2)
    assert result.at_once == 2
    assert latency(result.as_json(), at_once=2).endswith("up to 2 at a time")
    assert judge.most == 2


def test_the_surest_errors_come_first_with_the_statement_that_matters(result: FaithfulnessResult) -> None:
    rows = worst_rows(result, 5)
    assert [(name, decided) for name, decided, _, _ in rows] == [
        ("four polite", "kept back, though faithful"),
        ("two name", "delivered, though unfaithful"),
    ]
    assert rows[1][2:] == ("two costs 5.", "0.70: supported\nbeside: All.")


def test_the_report_is_one_file_that_needs_nothing_else(
    tmp_path: Path, result: FaithfulnessResult, compared: Compared
) -> None:
    file = tmp_path / "report.html"
    write_faithfulness_report(file, result, compared, about="a & b", warnings=["Warning: seen."])
    page = file.read_text("utf-8")
    assert not re.search(r'(src|href)="(?!#)', page)
    assert "a &amp; b" in page
    assert "範囲 &lt;b&gt;" in page
    assert "Warning: seen." in page
    assert "kept back, though faithful" in page
    assert len([ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]) == 2


def test_rows_that_the_judge_was_fitted_on_are_warned_about() -> None:
    source = next(iter(fitted_on()))
    seen, unseen = case("one", faithful=True, source=source), case("two", faithful=True, source="ours")
    assert any(said.startswith(f"Warning: 1 of {source}") for said in judge_sources("local", [seen, unseen]))
    assert not any(said.startswith("Warning") for said in judge_sources("local", [unseen]))
    assert "not known" in " ".join(judge_sources("local", [case("three", faithful=True)]))
    assert "not known" in " ".join(judge_sources("llm", [seen]))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answer": "a", "contexts": "text", "faithful": True}, "line 1: contexts"),
        ({"answer": "a", "contexts": []}, "line 1: faithful"),
        (
            {"answer": "a", "contexts": [], "faithful": False, "unsupported": [{"start": -1, "end": 1}]},
            "line 1: unsupported.0.start",
        ),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(row), "utf-8")
    with pytest.raises(InvalidRequest, match=said):
        read_cases(file, Answer)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        found = CliRunner(env={"COLUMNS": "180"}).invoke(app, ["faithfulness", *words])
        if found.exception and not isinstance(found.exception, SystemExit):
            raise found.exception
        return " ".join(found.output.split())

    return run


def test_the_command_shows_all_ways_the_kinds_of_error_and_the_worst(
    tmp_path: Path, run: Callable[..., str]
) -> None:
    context, file = "The fee is 10 yen per day. Members pay nothing.", tmp_path / "cases.jsonl"
    rows: list[dict[str, Any]] = [
        {"answer": "The fee is 10 yen per day.", "faithful": True, "id": "t1"},
        {"answer": "The fee is 90 yen per day.", "faithful": False, "kind": "number", "id": "f1"},
        {"answer": "Wild elephants dance on Mondays.", "faithful": True, "id": "t2"},
        {
            "answer": "Members pay 90 yen.", "faithful": False, "id": "f2",
            "unsupported": [{"start": 12, "end": 14, "type": "Evident Conflict"}],
        },
    ]  # fmt: skip
    file.write_text("".join(json.dumps(row | {"contexts": [context]}) + "\n" for row in rows), "utf-8")
    said = run("--cases", str(file), "--worst", "3", "--report", str(tmp_path / "r.html"))
    for name in (OURS, "words alone", "F below 0.8", "cosine", "flag all", "95 % intervals"):
        assert name in said
    assert "Evident Conflict" in said
    assert "t2" in said  # kept back, though the file calls it faithful
    assert "The shipped judge was fitted on" in said
    assert (tmp_path / "r.html").exists()
    alone = run("--cases", str(file), "--no-baselines")
    assert "cosine" not in alone


def test_every_data_set_of_the_fit_is_known() -> None:
    known = " ".join(fitted_on()).lower()
    for name in (*fit_faithfulness.FITTED, *(cut for cut in fit_faithfulness.CUT_SOURCE.values())):
        assert name.split("_")[0] in known, name
