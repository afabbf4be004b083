"""Simulated users, with a small server in place of the language model that plays and judges them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

from evaluation.users.personas import read_personas
from gateway.cli import app
from gateway.errors import InvalidRequest, UpstreamUnavailable
from tests.chatbot import Asked, Chatbot, Fails, Reply, Says

CASES = [
    {
        "id": "fee",
        "lang": "en",
        "question": "What is the fee for a parking permit?",
        "ground_truth": "30 euros.",
    },
    {"id": "hours", "lang": "ja", "question": "図書館は何時に閉まりますか", "ground_truth": "午後8時。"},
]


class Actor(Chatbot):
    """Plays the person and the judge by their prompts; everything else it answers as a chatbot."""

    def __init__(self) -> None:
        super().__init__()
        self.judged = 0
        self.broken = False

    def _reply_to(self, asked: Asked) -> Reply:
        if "response_format" not in asked.body:
            return super()._reply_to(asked)
        if self.broken:
            return Fails(400, "no credit left")
        given = json.loads(asked.question)
        if asked.body["response_format"]["json_schema"]["name"] == "next_message":
            return Says(json.dumps(self._says(given)))
        self.judged += 1
        return Says(self._judges(given))

    def _says(self, given: dict[str, Any]) -> dict[str, Any]:
        heard = [turn["text"] for turn in given["said"] if turn["role"] == "assistant"]
        if any("30 euros" in text or "午後8時" in text for text in heard):
            return {"message": "DONE", "done": True}
        again = " Say it plainly!" if heard else ""
        return {"message": given["wants"] + again, "done": False}

    def _judges(self, given: dict[str, Any]) -> str:
        right = given["ground_truth"].strip("。.") in given["answer"]
        if "nonsense" in given["answer"]:
            return "I would say: quite good!"
        score = 5 if right else 2
        names = ("understanding", "relevance", "completeness", "correctness", "coherence")
        return json.dumps({name: {"comment": f"it is {score}", "score": score} for name in names})


@pytest.fixture
def actor() -> Iterator[Actor]:
    with Actor() as playing:
        playing.when("plainly", Says("It is 30 euros."))
        playing.when("permit", Says("Permits are sold at the town hall."))
        playing.when("図書館", Says("図書館は午後8時に閉まります。"))
        yield playing


def run(folder: Path, actor: Actor, *more: str, cases: list[dict[str, Any]] | None = None) -> Any:
    file, config = folder / "cases.jsonl", folder / "sekisho.yaml"
    rows = CASES if cases is None else cases
    file.write_text("\n".join(json.dumps(case, ensure_ascii=False) for case in rows), "utf-8")
    config.write_text(
        f"policy: {{must: {{description: Questions about our city.}}}}\n"
        f"upstream: {{kind: openai, base_url: '{actor.base_url}', model: chatbot-1, max_retries: 0}}\n"
        f"evaluation: {{llm: {{base_url: '{actor.base_url}', model: actor-1}}}}\n",
        "utf-8",
    )
    given = ["evaluate", "users", "--cases", str(file), "--config", str(config), "--target", "upstream"]
    return CliRunner().invoke(app, [*given, "--out", str(folder / "run"), *more])


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run" / "summary.json").read_text("utf-8"))
    return found


def test_a_turn_that_does_not_help_is_red_and_a_person_who_knows_stops(tmp_path: Path, actor: Actor) -> None:
    told = run(tmp_path, actor, "--personas", "calm,angry", "--note", "played by a server of the tests")
    assert told.exit_code == 0, told.output
    found = summary(tmp_path)
    # The permit takes two turns, 0.4 and 1.0; the library one of 1.0.
    assert (found["dialogues"], found["turns"], found["turns_below_0.7"]) == (4, 6, 2)
    assert found["mean"] == pytest.approx((0.7 + 0.7 + 1 + 1) / 4)
    assert found["ended_by_the_person"] == 4
    assert found["by_lang"]["ja"]["mean"] == 1

    sheet = load_workbook(tmp_path / "run" / "dialogues.xlsx")["dialogues"]
    columns = [cell.value for cell in sheet[1]]
    assert columns[5:8] == ["turn 1", "turn 2", "turn 3"]
    rows = {(row[0].value, row[1].value): row for row in sheet.iter_rows(min_row=2)}
    first, second, third = rows["fee", "angry"][5:8]
    assert first.fill.fgColor.rgb.endswith("F4B8C1")
    assert "[0.40, rag]" in first.value
    assert "completeness 2: it is 2" in first.value
    assert not second.fill.fill_type
    assert third.value is None
    assert not rows["hours", "calm"][5].fill.fill_type
    lines = first.value.count("\n") + 1
    assert sheet.row_dimensions[first.row].height >= 15 * lines, "every line of a cell can be read"

    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "played by a server of the tests" in page
    assert "午後8時" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_a_judge_that_talks_nonsense_gives_no_verdict_and_no_number(tmp_path: Path, actor: Actor) -> None:
    actor.reset()
    actor.says("nonsense")
    told = run(tmp_path, actor, "--personas", "calm", "--turns", "2", cases=CASES[:1])
    assert told.exit_code == 0, told.output
    found = summary(tmp_path)
    assert (found["mean"], found["turns"], found["undetermined_turns"]) == (None, 2, 2)
    assert found["criteria"]["correctness"] is None


def test_an_interrupted_run_goes_on_without_paying_twice(tmp_path: Path, actor: Actor) -> None:
    assert run(tmp_path, actor, "--personas", "calm", cases=CASES[1:]).exit_code == 0
    paid = actor.judged
    actor.broken = True
    assert run(tmp_path, actor, "--personas", "calm").exit_code == 0
    assert summary(tmp_path)["failed"] == 1
    actor.broken = False
    assert run(tmp_path, actor, "--personas", "calm").exit_code == 0
    assert actor.judged == paid + 2  # the two turns of the permit
    whole = (tmp_path / "run" / "summary.json").read_text("utf-8")
    assert summary(tmp_path)["failed"] == 0
    assert run(tmp_path, actor, "--personas", "calm").exit_code == 0
    assert (actor.judged, (tmp_path / "run" / "summary.json").read_text("utf-8")) == (paid + 2, whole)


def test_where_nobody_can_be_asked_the_dialogues_stay_as_they_were(tmp_path: Path, actor: Actor) -> None:
    assert run(tmp_path, actor, "--personas", "calm").exit_code == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    told = run(tmp_path, actor, "--personas", "calm", "--url", "http://127.0.0.1:1")
    assert isinstance(told.exception, UpstreamUnavailable)
    assert str(told.exception) == "no gateway answers at http://127.0.0.1:1"
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before


def test_without_a_model_nobody_is_simulated(
    tmp_path: Path, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, config = tmp_path / "cases.jsonl", tmp_path / "sekisho.yaml"
    file.write_text(json.dumps(CASES[0]), "utf-8")
    config.write_text("policy: {must: {description: Ours.}}\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequest, match=r"evaluation\.llm"):
        CliRunner().invoke(
            app, ["evaluate", "users", "--cases", str(file), "--config", str(config)], catch_exceptions=False
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("en: {calm: {maner: x}}", "en.calm.manner"),
        ("en: [calm]", "en"),
        ("{", "can't be read"),
    ],
)
def test_a_file_of_personas_that_is_none_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "personas.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(InvalidRequest, match=expected):
        read_personas(file)


def test_personas_of_every_language_can_be_chosen_by_name() -> None:
    assert {language: len(found) for language, found in read_personas().items()} == {
        "en": 6,
        "ja": 6,
        "zh": 6,
    }
    assert list(read_personas(names=["elderly"])["ja"]) == ["elderly"]
    with pytest.raises(InvalidRequest, match="nobody"):
        read_personas(names=["nobody"])
