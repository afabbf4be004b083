"""Runs: nothing is paid twice, nothing is lost, and the way it is worked on changes no result."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from openpyxl import load_workbook

from evaluation.answers.journal import Results
from evaluation.answers.runs import run_folder
from evaluation.metrics import Score
from gateway.errors import InvalidRequest, UpstreamUnavailable
from tests.chatbot import Chatbot, Fails, Says
from tests.evaluation.answers.conftest import METRICS, Evaluate, Rows, equal, read_rows, write_rows
from tests.played_examiner import PlayedExaminer

N = 40


@pytest.fixture(scope="module")
def chatbot() -> Iterator[Chatbot]:
    with Chatbot() as bot:
        yield bot


@pytest.fixture
def bot(chatbot: Chatbot) -> Chatbot:
    chatbot.reset()
    chatbot.always(Says("The fee is 10 yen.", ["The fee is 10 yen. We open at nine."], delay_s=0.02))
    return chatbot


@pytest.fixture
def config(tmp_path: Path, bot: Chatbot) -> Path:
    file = tmp_path / "bot.yaml"
    file.write_text(
        f"upstream: {{kind: openai, base_url: '{bot.base_url}', model: m, contexts: azure-on-your-data, "
        "max_retries: 0, price: {input: 1.0, output: 2.0}}\n",
        "utf-8",
    )
    return file


def _rows(n: int = N) -> Rows:
    return [
        {
            "id": f"c{place}",
            "question": f"What is fee number {place}?",
            "ground_truth": "The fee is 10 yen." if place % 2 else f"The fee is {place} yen.",
            "lang": "en",
            "recorded_answer": "The fee is 10 yen.",
            "recorded_contexts": ["The fee is 10 yen."],
            "tags": ["odd" if place % 2 else "even"],
        }
        for place in range(n)
    ]


def test_a_killed_and_resumed_run_equals_an_unbroken_one(
    tmp_path: Path, bot: Chatbot, config: Path, evaluate: Evaluate
) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", _rows())
    words = ["answers", "--cases", str(cases), "--target", "upstream", "-c", str(config)]
    words += ["--concurrency", "2", "--metrics", METRICS]
    out = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-m", "gateway", "evaluate", *words, "--out", str(out)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ},
    )  # fmt: skip
    journal = out / "results.jsonl"
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 8):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = journal.read_bytes().count(b"\n")
    assert 8 <= done < N
    with journal.open("ab") as file:  # what a kill in the middle of a write leaves
        file.write(b'{"digest": "half a li')
    asked = len(bot.asked)

    resumed = evaluate(*words, "--out", out)
    assert resumed.exit_code == 0
    assert f"{done} of {N} cases: done already" in resumed.output
    assert len(bot.asked) - asked == N - done  # none of the finished was paid twice

    unbroken = evaluate(*words, "--out", tmp_path / "unbroken")
    assert unbroken.exit_code == 0
    ours, theirs = read_rows(journal), read_rows(tmp_path / "unbroken" / "results.jsonl")
    assert [row["case"]["id"] for row in ours] == [row["id"] for row in _rows()]
    assert equal(ours, theirs)
    summaries = [
        json.loads((tmp_path / name / "summary.json").read_text("utf-8")) for name in ("killed", "unbroken")
    ]
    for summary in summaries:
        del summary["latency_ms"], summary["cost"]
    assert equal(*summaries)
    assert "0.0012 USD" in unbroken.output  # 40 × (10 read, 10 written) at 1 and 2 a million


def test_what_changed_runs_again_and_a_new_metric_asks_nobody(
    tmp_path: Path, bot: Chatbot, config: Path, evaluate: Evaluate
) -> None:
    rows = _rows(4)
    cases = write_rows(tmp_path / "cases.jsonl", rows)
    words = ["answers", "--cases", cases, "--target", "upstream", "-c", config, "--out", tmp_path / "run"]
    evaluate(*words, "--metrics", "faithfulness")
    assert len(bot.asked) == 4

    said = evaluate(*words, "--metrics", "faithfulness,semantic_similarity").output
    assert "4 of 4 cases: answered already, only measured again" in said
    assert len(bot.asked) == 4

    rows[1]["ground_truth"] = "Another one."
    write_rows(cases, rows)
    said = evaluate(*words, "--metrics", "faithfulness,semantic_similarity").output
    assert "1 of 4 cases: changed since, run again" in said
    assert "3 of 4 cases: done already" in said
    assert len(bot.asked) == 5
    assert "Against the run before" in (tmp_path / "run" / "report.html").read_text("utf-8")

    evaluate(*words, "--metrics", "faithfulness", "--fresh")
    assert len(bot.asked) == 9


def test_a_target_that_fails_is_recorded_and_asked_again(
    tmp_path: Path, bot: Chatbot, config: Path, evaluate: Evaluate
) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", _rows(3))
    bot.when("number 1?", Fails(500))
    words = ["answers", "--cases", cases, "--target", "upstream", "-c", config, "--out", tmp_path / "run"]
    evaluate(*words)
    found = json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))
    assert (found["n"], found["outcomes"]) == (3, {"rag": 2, "error": 1})
    assert found["metrics"]["faithfulness"] | {"histogram": 0} == {
        "n": 2, "mean": 1.0, "ci95": [1.0, 1.0], "p10": 1.0, "p50": 1.0, "p90": 1.0, "histogram": 0,
        "undetermined": 1, "reasons": {"the target failed": 1},
    }  # fmt: skip
    assert found["good"]["undetermined"] == 1

    bot.reset()
    bot.says("The fee is 10 yen.", ["The fee is 10 yen."])
    assert "1 of 3 cases: answered by another target or configuration, or failed" in evaluate(*words).output
    assert len(bot.asked) == 1


@pytest.mark.parametrize("again", [(), ("--fresh",), ("--workers", "2")], ids=" ".join)
@pytest.mark.parametrize("refused", [True, False], ids=["wrong key", "nobody there"])
def test_where_nobody_can_be_asked_the_finished_run_stays_as_it_was(
    tmp_path: Path, bot: Chatbot, config: Path, evaluate: Evaluate, again: tuple[str, ...], refused: bool
) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", _rows(3))
    words = ["answers", "--cases", cases, "--metrics", "semantic_similarity", "--out", tmp_path / "run"]
    assert evaluate(*words, "--target", "upstream", "-c", config).exit_code == 0
    finished = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    asked = len(bot.asked)
    bot.always(Fails(401, "no such key"))
    if refused:
        config.write_text(config.read_text("utf-8").replace("model: m", "model: another"), "utf-8")
        target, told = ["--target", "upstream", "-c", config], "answered 401"
    else:
        target, told = (
            ["--url", "http://127.0.0.1:1", "--key", "x"],
            "no gateway answers at http://127.0.0.1:1",
        )
    with pytest.raises(UpstreamUnavailable, match=told):
        evaluate(*words, *target, *again)
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == finished
    assert len(bot.asked) - asked == refused  # the first case alone


def test_a_refusal_in_the_middle_of_a_run_is_that_of_a_case(
    tmp_path: Path, bot: Chatbot, config: Path, evaluate: Evaluate
) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", _rows(3))
    bot.when("number 1?", Fails(403))
    words = ["answers", "--cases", cases, "--target", "upstream", "-c", config, "--out", tmp_path / "run"]
    assert evaluate(*words).exit_code == 0
    assert [row["cause"] for row in read_rows(tmp_path / "run" / "results.jsonl")] == ["", "http_403", ""]


def test_a_new_metric_needs_nobody_who_answers(
    tmp_path: Path, bot: Chatbot, config: Path, evaluate: Evaluate
) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", _rows(2))
    words = ["answers", "--cases", cases, "--target", "upstream", "-c", config, "--out", tmp_path / "run"]
    evaluate(*words, "--metrics", "semantic_similarity")
    bot.always(Fails(401))
    assert evaluate(*words, "--metrics", "semantic_similarity,faithfulness").exit_code == 0


def test_a_language_model_judges_where_one_is_configured_and_its_tokens_are_counted(
    tmp_path: Path, evaluate: Evaluate
) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", _rows(10))
    with PlayedExaminer() as model:
        llm = f"{{base_url: '{model.base_url}', model: played, price: {{input: 100, output: 200, currency: JPY}}}}"
        (tmp_path / "llm.yaml").write_text(f"evaluation: {{llm: {llm}}}\n", "utf-8")
        words = ("answers", "--cases", cases, "--target", "recorded", "-c", tmp_path / "llm.yaml")
        said = evaluate(*words, "--metrics", "gpt_score", "--out", tmp_path / "run").output
    assert "judge 100 tokens read, 100 written, 0.0300 JPY" in said
    found = json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))
    assert found["metrics"]["gpt_score"]["n"] == 9  # its tenth reply is nonsense
    assert found["metrics"]["gpt_score"]["reasons"] == {"played answered no JSON object": 1}
    assert "As a language model" in (tmp_path / "run" / "report.html").read_text("utf-8")
    with pytest.raises(InvalidRequest, match="needs a language model"):
        evaluate("answers", "--cases", cases, "--target", "recorded", "--metrics", "gpt_score")


def test_undetermined_is_never_a_number(tmp_path: Path, evaluate: Evaluate) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Score(float("nan"))
    rows = _rows(2)
    rows[0] |= {"recorded_answer": " ", "recorded_contexts": []}
    del rows[1]["recorded_answer"]
    cases = write_rows(tmp_path / "cases.jsonl", rows)
    result = evaluate("answers", "--cases", cases, "--target", "recorded", "--out", tmp_path / "run")
    assert result.exit_code == 0
    for file in ("results.jsonl", "summary.json", "report.html"):
        assert "NaN" not in (tmp_path / "run" / file).read_text("utf-8")
    found = json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))
    assert found["metrics"]["faithfulness"]["mean"] is None
    assert found["metrics"]["faithfulness"]["undetermined"] == 2
    assert found["good"] | {"ci95": 0} == {
        "metric": "semantic_similarity", "at_least": 0.7, "n": 0, "share": 0.0, "ci95": 0, "stop_at": 0.9,
        "stop": False, "undetermined": 1,
    }  # fmt: skip


def test_a_case_whose_script_does_not_tell_is_in_the_language_that_serves(
    tmp_path: Path, evaluate: Evaluate
) -> None:
    row = {"question": "開館時間", "recorded_answer": "9時", "recorded_contexts": ["開館時間は9時です。"]}
    cases, config = write_rows(tmp_path / "cases.jsonl", [row]), tmp_path / "zh.yaml"
    config.write_text("understanding: {default_language: zh}\n", "utf-8")
    words = ("answers", "--cases", cases, "--target", "recorded", "--out", tmp_path / "run")
    for more, language in ((("-c", config), "zh"), ((), "ja")):
        assert evaluate(*words, *more).exit_code == 0
        (found,) = read_rows(tmp_path / "run" / "results.jsonl")
        assert found["case"]["lang"] == language


def test_processes_find_what_one_process_finds(tmp_path: Path, evaluate: Evaluate) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", _rows())
    for workers in ("1", "2"):
        out = tmp_path / workers
        words = ("answers", "--cases", cases, "--target", "recorded", "--out", out, "--workers", workers)
        assert evaluate(*words).exit_code == 0
    one, two = (read_rows(tmp_path / name / "results.jsonl") for name in ("1", "2"))
    assert equal(one, two)


def test_ray_finds_what_one_process_finds(tmp_path: Path, evaluate: Evaluate) -> None:
    pytest.importorskip("ray", reason='the extra "distributed" is not installed')
    cases = write_rows(tmp_path / "cases.jsonl", _rows())
    words = ("answers", "--cases", cases, "--target", "recorded")
    assert evaluate(*words, "--out", tmp_path / "here", "--workers", "1").exit_code == 0
    on_ray = evaluate(*words, "--out", tmp_path / "ray", "--executor", "ray", "--workers", "2")
    assert on_ray.exit_code == 0
    here, there = (read_rows(tmp_path / name / "results.jsonl") for name in ("here", "ray"))
    assert equal(here, there)


def test_a_metric_that_measured_nothing_has_no_interval_in_the_report(
    tmp_path: Path, evaluate: Evaluate
) -> None:
    cases = write_rows(
        tmp_path / "cases.jsonl", [{"question": "What is the fee?", "recorded_answer": "99 yen."}]
    )
    evaluate("answers", "--cases", cases, "--target", "recorded", "--out", tmp_path / "run")
    assert '<div class="quiet">0 cases</div>' in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_the_report_needs_nothing_else_and_the_sheet_says_the_same(
    tmp_path: Path, evaluate: Evaluate
) -> None:
    rows = _rows(6)
    rows[0] |= {
        "recorded_answer": "=1+1 <b>bold</b> the fee is 99 yen.",
        "question": "<script>alert(1)</script>?",
    }
    cases = write_rows(tmp_path / "cases.jsonl", rows)
    evaluate(
        "answers", "--cases", cases, "--target", "recorded", "--out", tmp_path / "run", "--note", "A try."
    )
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    for foreign in ("<script", "http://", "https://", "src=", "@import", "url("):
        assert foreign not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "A try." in page
    assert page.index("99 yen") < page.index("What is fee number 3?")  # the worst first
    sheet = load_workbook(tmp_path / "run" / "results.xlsx")
    cells = list(sheet["cases"].iter_rows(values_only=True))
    assert len(cells) == 7
    assert cells[1][cells[0].index("answer")] == rows[0]["recorded_answer"]
    figures = dict(row for row in sheet["figures"].iter_rows(min_row=2, values_only=True))
    assert figures["n"] == 6


def test_one_folder_takes_one_run(tmp_path: Path) -> None:
    with (
        run_folder(tmp_path / "run"),
        pytest.raises(InvalidRequest, match="another run is writing"),
        run_folder(tmp_path / "run"),
    ):
        raise AssertionError("the folder was given twice")


def test_a_damaged_line_is_counted_and_its_case_runs_again(tmp_path: Path, evaluate: Evaluate) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", _rows(3))
    words = ("answers", "--cases", cases, "--target", "recorded", "--out", tmp_path / "run")
    evaluate(*words)
    file = tmp_path / "run" / "results.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b'{"broken": 1}\n' + lines[2])
    said = evaluate(*words).output
    assert "2 of 3 cases: done already" in said
    assert "1 of 3 cases: damaged lines left out" in said
    assert len(Results(file)) == 3


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--target", "gateway"], True),
        (["--target", "gateway", "--metrics", "semantic_similarity"], False),
        (["--target", "upstream"], False),
        (["--target", "recorded"], False),
    ],
    ids=str,
)
def test_a_judge_that_measures_what_it_let_pass_is_said_to(
    tmp_path: Path, bot: Chatbot, config: Path, evaluate: Evaluate, more: list[str], told: bool
) -> None:
    cases = write_rows(tmp_path / "cases.jsonl", _rows(2))
    out = tmp_path / "run"
    ran = evaluate("answers", "--cases", cases, "-c", config, "--out", out, "--note", "Ours", *more)
    assert ran.exit_code == 0
    assert ("no independent figure" in ran.output) is told
    report = (out / "report.html").read_text("utf-8")
    assert "Ours" in report
    assert ("no independent figure" in report) is told
