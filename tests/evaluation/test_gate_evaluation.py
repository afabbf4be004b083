"""`sekisho evaluate gate`: what it refuses to score, what stands beside it, and the report."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from cache.store.content import Content
from classifiers.gate import ClassPolicy, GateLabel, GateVerdict, Policy
from classifiers.gate.promise import GateCuts, Promise
from classifiers.testing import ScriptedGate
from encoders.testing import HashingEncoder
from evaluation.cases import GateCase
from evaluation.fitted_on import FittedTexts
from evaluation.gate.few_shot import few_shot
from evaluation.gate.judging import GateResult, JudgedQuestion, evaluate_gate
from evaluation.gate.report import write_report
from evaluation.gate.words_baseline import WordsBaseline
from gateway.assembly import assemble
from gateway.cli import app
from gateway.configuration.loading import load_settings

POLICY = Policy(
    must=ClassPolicy("Our library.", tuple(f"How do I renew book {n}?" for n in range(10))),
    may=ClassPolicy("", tuple(f"Who won match {n}?" for n in range(10))),
)


def case(text: str, gold: str, part: str = "all") -> GateCase:
    return GateCase.model_validate({"text": text, "gold": gold, "slice": part})


def judged(text: str, gold: str, label: GateLabel, score: float, part: str) -> JudgedQuestion:
    verdict = GateVerdict(label=label, score=score, reason="", nearest=None, judge="j")
    return JudgedQuestion(case(text, gold, part), verdict, 1.0)


async def test_what_the_gate_was_fitted_on_is_not_scored() -> None:
    cases = [
        case("Where is the atlas?", "must", "in_scope"),
        case("ＨＯＷ do i renew  book 3", "must", "in_scope"),  # an example, in other letters
        case("Who won match 4?", "may", "known"),
        case("Who won the cup?", "may", "new"),
    ]
    gate = ScriptedGate({"Who won the cup?": "may", "ＨＯＷ do i renew  book 3": "may"})
    result = await evaluate_gate(cases, gate, HashingEncoder(8), fitted=FittedTexts(POLICY))
    assert [one.text for one in result.left_out] == ["ＨＯＷ do i renew  book 3"]
    assert (result.false_refusals.count, result.false_refusals.n) == (0, 1)
    slices = result.slices()
    assert (slices["in_scope"].n, slices["new"].seen) == (1, False)
    assert slices["known"].seen  # shown, as the slice holds nothing else, and marked
    assert result.of_class("may")["may"].n == 1  # and counted nowhere else
    assert result.as_json()["left_out"] == 1


async def test_an_unsure_must_question_counts_as_refused() -> None:
    cases = [case("a one", "must"), case("b two", "must")]
    result = await evaluate_gate(cases, ScriptedGate({"a one": "unsure"}), HashingEncoder(8))
    assert result.false_refusals.value == 0.5
    assert result.of_class("must")["unsure"].value == 0.5


async def test_the_baseline_learns_from_the_same_examples() -> None:
    words = WordsBaseline.fit(POLICY, 0.02)
    assert words is not None
    cases = [case("How do I renew a book?", "must", "ours"), case("Who won the match?", "may", "other")]
    result = await evaluate_gate(cases, ScriptedGate(), HashingEncoder(8), baseline=words)
    other = result.slices()["other"]
    assert other.words_auroc == 1.0
    assert other.words_reach_rag is not None
    assert other.words_reach_rag.value == 0.0
    assert WordsBaseline.fit(Policy(must=POLICY.must), 0.02) is None  # nothing to tell must from


async def test_the_curve_draws_that_many_examples_for_every_seed() -> None:
    fitted: list[Policy] = []

    async def fit(policy: Policy) -> ScriptedGate:
        fitted.append(policy)
        return ScriptedGate({"Who won the cup?": "may" if policy.may.examples else "must"})

    cases = [case("Where is the atlas?", "must", "ours"), case("Who won the cup?", "may", "other")]
    curve = await few_shot(POLICY, cases, fit, HashingEncoder(8), error=0.02, sizes=(0, 5), seeds=3)
    assert [len(policy.must.examples) for policy in fitted] == [0, 5, 5, 5]
    assert len({policy.must.examples for policy in fitted[1:]}) == 3
    assert all(policy.must.description == "Our library." for policy in fitted)
    other = curve.reach_rag()["other"]
    assert (other[0].median, other[5].median) == (1.0, 0.0)
    assert curve.as_json()["reach_rag_rate"]["other"] == {"0": [1.0, 1.0, 1.0], "5": [0.0, 0.0, 0.0]}


def test_the_report_is_one_file_that_needs_nothing_else(tmp_path: Path) -> None:
    result = GateResult(
        tuple(
            [judged(f"m{n}", "must", "must" if n else "unsure", 0.2 + 0.02 * n, "範囲内") for n in range(40)]
            + [
                judged(f"o{n}", "may", "may" if n > 3 else "must", 0.5 - 0.01 * n, "near <&> far")
                for n in range(40)
            ]
            + [judged(f"x{n}", "must_not", "must_not", 0.0, "attack") for n in range(10)]
        )
    )
    file = tmp_path / "report.html"
    write_report(file, result, about="a & b", promise=0.02)
    page = file.read_text("utf-8")
    assert not re.search(r'(src|href)="(?!#)', page)  # no address but inside the page
    assert "a &amp; b" in page
    assert "near &lt;&amp;&gt; far" in page
    assert "2.5 %" in page  # one of 40 must-questions refused
    drawn = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    texts = ["".join(one.itertext()) for one in drawn]
    assert len(drawn) == 2
    assert "範囲内  (40)" in texts[0]
    assert "near <&> far" in texts[1]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    def run(*words: str) -> str:
        result = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["evaluate", "gate", *words])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.output

    return run


def test_the_command_measures_with_what_is_served(tmp_path: Path, run: Callable[..., str]) -> None:
    policy = {"must": {"description": "Our library.", "examples": list(POLICY.must.examples)}}
    config: dict[str, Any] = {
        "policy": policy | {"may": {"examples": list(POLICY.may.examples)}},
        "gate": {"max_false_refusal": 0.2},
        "cache": {"pair_model": False},
    }
    (tmp_path / "sekisho.yaml").write_text(json.dumps(config), "utf-8")
    asked = [f"Where do I return book {n}?" for n in range(6)] + ["Is there parking?", "May I eat here?"]
    rows = [{"text": text, "gold": "must", "slice": "ours"} for text in asked]
    rows += [{"text": POLICY.must.examples[0], "gold": "must", "slice": "ours"}]
    rows += [{"text": "Who won the cup?", "gold": "may", "slice": "other"}]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    words = ("--config", str(tmp_path / "sekisho.yaml"), "--cases", str(tmp_path / "cases.jsonl"))
    out = ("--json", str(tmp_path / "out.json"), "--baseline", "--report", str(tmp_path / "report.html"))

    said = run(*words, *out)
    before = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert "1 case left out" in said
    assert "refuse all" in said
    assert before["left_out"] == 1
    assert before["slices"]["ours"]["n"] == 8
    assert before["slices"]["other"]["words_reach_rag_rate"] == 0.0
    assert "<svg" in (tmp_path / "report.html").read_text("utf-8")

    asyncio.run(let_nearly_everything_through(tmp_path / "sekisho.yaml"))
    assert "2 cases left out" in run(*words, *out)  # the entry that is served since is no new question
    after = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert (before["must_false_refusal_rate"], after["must_false_refusal_rate"]) == (1.0, 0.0)


async def let_nearly_everything_through(config: Path) -> None:
    """Keep cuts for the gate that serves, as `sekisho calibrate gate` does, and publish an entry."""
    cuts = GateCuts(scope=0.0, suspicious_from=2.0)
    promise = Promise(cuts=cuts, error=0.2, n=8, refused=(), on_average=0.1, at_most=0.3)
    async with assemble(load_settings(config)) as services:
        question = ("Where do I return book 5?",)
        content = Content(kind="ground_truth", language="en", phrasings=question, answer="At the desk.")
        await services.stores.entries.create("default", content, by="a reviewer", state="active")
        gate = services.gatekeeping.promises.of("default")
        assert gate is not None
        await services.gatekeeping.promises.keep(gate[1], promise)
