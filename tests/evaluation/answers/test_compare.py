"""Two runs, paired by case: what changed, whether chance could have done it, and what CI is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from evaluation.answers.comparison import GoodChange, MetricChange, compare
from evaluation.answers.journal import Results
from evaluation.answers.results import CaseResult, Said, read_result, written
from evaluation.answers.summary import Good
from evaluation.statistics import Rate
from gateway.errors import InvalidRequest
from tests.evaluation.answers.conftest import Evaluate, evaluated, write_rows

TRUTH = "The fee is 10 yen a day."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Twelve cases before and after: c0 was right and strays now, c1 the reverse, c2 was rewritten."""
    folder = tmp_path_factory.mktemp("runs")
    for name, wrong, truth in (("before", 1, TRUTH), ("after", 0, "The fee is 10 yen per day.")):
        rows: list[dict[str, Any]] = [
            {
                "id": f"c{place}",
                "question": f"Fee {place}?",
                "ground_truth": truth if place == 2 else TRUTH,
                "recorded_answer": "Dogs bark at the moon." if place == wrong else TRUTH,
                "recorded_contexts": [TRUTH],
            }
            for place in range(12)
        ]
        for row in rows:
            row["lang"] = "en"
        cases = write_rows(folder / f"{name}.jsonl", rows)
        assert (
            evaluated("answers", "--cases", cases, "--target", "recorded", "--out", folder / name).exit_code
            == 0
        )
    return folder / "before", folder / "after"


def test_cases_are_paired_by_id_and_only_the_same_ones(runs: tuple[Path, Path]) -> None:
    # Recorded answers are part of a case: whoever answers anew keeps them out of the file.
    found = compare(
        Results(runs[0] / "results.jsonl"), Results(runs[1] / "results.jsonl"), Good("faithfulness")
    )
    assert found.n == 9
    assert set(found.rewritten) == {"c0", "c1", "c2"}


@pytest.fixture
def answered_anew(runs: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """The same cases twice, as two targets answered them: only the digests are made equal here."""
    folders = []
    for run in runs:
        folder = tmp_path / run.name
        folder.mkdir()
        results = [read_result(line) for line in (run / "results.jsonl").read_bytes().splitlines()]
        lines = [json.loads(written(result)) | {"digest": result.case.id} for result in results]
        (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        folders.append(folder)
    return folders[0], folders[1]


def test_runs_without_a_case_in_common_keep_no_threshold(runs: tuple[Path, Path], tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (runs[0] / "results.jsonl").read_text("utf-8").splitlines()]
    other = [row | {"case": row["case"] | {"id": f"other {row['case']['id']}"}} for row in rows]
    (tmp_path / "other").mkdir()
    write_rows(tmp_path / "other" / "results.jsonl", other)
    (tmp_path / "t.yaml").write_text(
        "good: {max_drop: 0.5, max_became_bad: 3}\ncached_unchanged: true", "utf-8"
    )
    result = evaluated(
        "compare", runs[0], tmp_path / "other", "--thresholds", tmp_path / "t.yaml",
        "--json", tmp_path / "c.json",
    )  # fmt: skip
    assert result.exit_code == 1, result.output
    found = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert found["n"] == 0
    assert [one["kept"] for one in found["thresholds"]] == [False, False, False]


@pytest.mark.parametrize(
    ("thresholds", "code", "missed"),
    [
        ("good: {max_became_bad: 1, max_drop: 0}", 0, []),
        ("good: {max_became_bad: 0}", 1, ["good.max_became_bad"]),
        ("metrics: {semantic_similarity: {min_mean: 0.99}}", 1, ["metrics.semantic_similarity.min_mean"]),
        ("metrics: {semantic_similarity: {max_drop: 0.2}}\nmax_errors: 0\nmax_undetermined: 0", 0, []),
        ("good: {min_lower: 0.9}\ncached_unchanged: true", 1, ["good.min_lower"]),
    ],
)
def test_the_exit_code_says_whether_the_thresholds_hold(
    answered_anew: tuple[Path, Path], tmp_path: Path, thresholds: str, code: int, missed: list[str]
) -> None:
    (tmp_path / "t.yaml").write_text(thresholds, "utf-8")
    result = evaluated(
        "compare", *answered_anew, "--thresholds", tmp_path / "t.yaml", "--junit", tmp_path / "j.xml",
        "--report", tmp_path / "c.html", "--json", tmp_path / "c.json",
    )  # fmt: skip
    assert result.exit_code == code, result.output
    found = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert [one["name"] for one in found["thresholds"] if not one["kept"]] == missed
    assert (found["good"]["became_good"], found["good"]["became_bad"], found["good"]["p"]) == (1, 1, 1.0)
    assert [one["id"] for one in found["worse"]] == ["c0", "c2"]
    assert [one["id"] for one in found["better"]] == ["c1"]
    suites = {suite.name: suite for suite in JUnitXml.fromfile(str(tmp_path / "j.xml"))}
    assert suites["cases"].failures == 1
    assert suites["thresholds"].failures == len(missed)
    assert "Dogs bark at the moon." in (tmp_path / "c.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("goods: {min_share: 0.9}", "goods: unknown key"),
        ("good: {min_shar: 0.9}", "good.min_shar: unknown key"),
        ("good: {min_share: 90}", "good.min_share: "),
        ("metrics: {rouge: {min_mean: 0.5}}", "metrics.rouge: not measured in both runs"),
        ("good: [", "can't be read"),
    ],
)
def test_thresholds_that_mean_nothing_are_refused(
    answered_anew: tuple[Path, Path], tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "t.yaml").write_text(text, "utf-8")
    with pytest.raises(InvalidRequest, match="--thresholds") as refused:
        evaluated("compare", *answered_anew, "--thresholds", tmp_path / "t.yaml")
    assert said in str(refused.value)


def test_a_folder_without_a_run_is_refused(tmp_path: Path, evaluate: Evaluate) -> None:
    with pytest.raises(InvalidRequest, match="expected the folder of a run"):
        evaluate("compare", tmp_path, tmp_path)


def test_cached_answers_are_proven_by_entry_and_text(
    answered_anew: tuple[Path, Path], tmp_path: Path
) -> None:
    one = next(iter(Results(answered_anew[0] / "results.jsonl")))

    def run(name: str, *said: tuple[str | None, str]) -> Results:
        lines = []
        for place, (entry, text) in enumerate(said):
            lines.append(
                json.loads(written(CaseResult(
                    digest="d", case=one.case, target="t", metrics={},
                    said=Said(answer=text, contexts=(), outcome="ground_truth", entry=entry),
                )))
            )  # fmt: skip
            lines[-1]["case"]["id"] = f"c{place}"
        return Results(write_rows(tmp_path / name, lines))

    before = run("b", ("e1", "A"), ("e1", "A"), ("e1", "A"), ("e1", "A"), (None, "A"))
    after = run("a", ("e1", "A"), ("e2", "A"), ("e1", "A!"), (None, "A"), ("e1", "A"))
    cached = compare(before, after, Good("faithfulness")).cached
    assert (cached.unchanged, cached.changed, cached.new) == (1, ("c1", "c2", "c3"), 1)


def test_significance_is_paired() -> None:
    before = [0.5] * 20
    steady = MetricChange(before, [value + 0.01 for value in before], 0, 0, ("v", "v"))
    assert steady.p is not None
    assert steady.p < 0.001  # small, but every single case
    noise = MetricChange(before, [value + 1e-7 for value in before], 0, 0, ("v", "v"))
    assert (noise.p, noise.as_json()["better"]) == (1.0, 0)
    none = MetricChange(before, before, 0, 0, ("v", "v"))
    assert (none.p, none.delta, none.ci95) == (1.0, 0.0, (0.0, 0.0))
    assert MetricChange([], [], 1, 0, ("v", "v")).p is None
    assert GoodChange(Rate(10, 20), Rate(20, 20), 10, 0).p == pytest.approx(2 / 2**10)
