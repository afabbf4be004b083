"""`sekisho calibrate faithfulness`: on answers the judge was not fitted on, kept in SQL, used by what serves."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy import insert
from typer.testing import CliRunner

from classifiers import faithfulness
from classifiers.faithfulness import Checked
from classifiers.faithfulness.lexical import LexicalJudge
from classifiers.faithfulness.promise import CalibratedJudge, CutPromise, CutsInForce
from classifiers.faithfulness.shipped import fitted_on
from encoders import EncoderIdentity
from encoders.shipped import SUPPORT
from encoders.testing import HashingEncoder
from evaluation.cli import app as evaluate
from evaluation.faithfulness.calibration import reviewed_answers
from gateway.background import Background
from gateway.checking.delivering import Delivering
from gateway.checking.metrics import CheckMetrics
from gateway.checking.opening import open_checking
from gateway.checking.promises import FaithfulnessPromises, MadeFor, judged_by
from gateway.cli import app
from gateway.configuration.loading import load_settings
from gateway.errors import InvalidRequest
from gateway.metrics import Metrics
from gateway.settings import FaithfulnessSettings, Settings
from gateway.stores import open_database
from storage.remembered import remember
from storage.schema import draft_labels, tickets
from storage.sql import Database

FEES = [
    "The fee for a {} is 10 yen per day.",
    "A {} may be kept for two weeks.",
    "Nobody may reserve a {} twice.",
]
THINGS = ("book", "map", "film", "atlas", "magazine", "newspaper", "record", "game")
CONTEXT = " ".join(fee.format(thing) for fee in FEES for thing in THINGS)
TRUE = [fee.format(thing) for fee in FEES for thing in THINGS]
FALSE = [f"The fee for a {thing} is 95 yen per day." for thing in THINGS]
IDENTITY = EncoderIdentity("e", 2, "d", ("en",))
PROMISE = CutPromise(cut=0.9, error=0.05, n=100, blocked=4, on_average=0.05, at_most=0.1)


def case(answer: str, *, faithful: bool, **more: Any) -> dict[str, Any]:
    return {"answer": answer, "contexts": [CONTEXT], "faithful": faithful, "lang": "en"} | more


CASES = [case(answer, faithful=True) for answer in TRUE] + [case(answer, faithful=False) for answer in FALSE]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "sekisho.yaml").write_text(json.dumps({"policy": {"must": {"description": "Our library."}}}))
    return tmp_path / "sekisho.yaml"


@pytest.fixture
def run(config: Path) -> Callable[..., tuple[int, str]]:
    def run(*rows: dict[str, Any], command: str = "calibrate") -> tuple[int, str]:
        file = config.parent / "cases.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        words = [*(["calibrate"] if command == "calibrate" else []), "faithfulness", "--config", str(config)]
        words += ["--cases", str(file)] if rows else []
        words += ["--no-baselines"] if command == "evaluate" else []
        found = CliRunner(env={"COLUMNS": "200"}).invoke(app if command == "calibrate" else evaluate, words)
        if found.exception and not isinstance(found.exception, SystemExit):
            raise found.exception
        return found.exit_code, " ".join(found.output.split())

    return run


async def kept(config: Path) -> Any:
    async with open_database(load_settings(config)) as database:
        return await FaithfulnessPromises(database, MadeFor.of(FaithfulnessSettings(), IDENTITY))._kept()


def test_an_answer_that_is_called_both_faithful_and_not_is_told(run: Callable[..., tuple[int, str]]) -> None:
    _, said = run(*CASES, CASES[0] | {"faithful": not CASES[0]["faithful"]}, CASES[1])
    assert "2 repeated answers were counted once" in said
    assert "1 answers are called both faithful and not: the last row counts" in said


def test_cases_set_the_cut_of_their_language_and_evaluate_says_so(
    config: Path, run: Callable[..., tuple[int, str]]
) -> None:
    code, said = run(*CASES, CASES[0], case("Old.", faithful=True, source=next(iter(fitted_on()))))
    assert code == 0, said
    assert "kept: at most 4.0% on average" in said  # 1 of 24 + 1
    assert "1 repeated answers were counted once" in said
    assert "1 answers left out: the judge was fitted on" in said
    value = anyio.run(kept, config)
    assert value is not None
    assert set(value.promises) == {"en"}
    assert len(value.answers) == len(TRUE)
    _, said = run(*CASES[:5], case("Wild.", faithful=False), command="evaluate")
    assert "the cut that serves was calibrated on 5 of these answers" in said


def test_too_few_answers_change_nothing_and_say_how_many_are_missing(
    config: Path, run: Callable[..., tuple[int, str]]
) -> None:
    code, said = run(*CASES[:7])
    assert code == 1
    assert "none: 7 faithful answers, 12 more are needed for 5.0%" in said
    assert anyio.run(kept, config) is None


def test_a_promise_that_is_not_kept_changes_nothing(
    config: Path, run: Callable[..., tuple[int, str]]
) -> None:
    code, said = run(*(case(f"The fee for a book is {n} dollars.", faithful=True) for n in range(100, 130)))
    assert code == 1
    assert "not kept, and nothing changed" in said
    assert "now" in said.partition("as it was")[2]
    assert " at a cut of 0." in said
    assert " before" not in said
    assert anyio.run(kept, config) is None


async def label(database: Database, outcome: str, cases: Sequence[dict[str, Any]]) -> None:
    """A ticket of each, on which a reviewer said whether the draft was supported."""
    now = datetime.now(UTC)
    drafts = [
        {
            "ticket_id": f"{outcome[:1]}{place}", "tenant": "default", "language": "en", "question": "?",
            "answer": one["answer"], "contexts": one["contexts"], "faithful": one["faithful"], "by": "sato",
            "at": now,
        }
        for place, one in enumerate(cases)
    ]  # fmt: skip
    opened = [
        {
            "id": draft["ticket_id"], "tenant": "default", "request_id": "r", "language": "en",
            "real_question": "?", "question": "?", "outcome": outcome, "reason": "r", "state": "answered",
            "created_at": now, "updated_at": now,
        }
        for draft in drafts
    ]  # fmt: skip
    async with database.begin() as connection:
        await connection.execute(insert(tickets), opened)
        await connection.execute(insert(draft_labels), drafts)


def test_what_reviewers_said_of_drafts_is_calibrated_on_without_a_file(
    config: Path, run: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEKISHO_CACHE__AUDIT_RATE_RAG", "1")
    with pytest.raises(InvalidRequest, match="labelled no answer"):
        run()

    async def labelled() -> None:
        async with open_database(load_settings(config)) as database:
            await label(database, "withheld", CASES)

    anyio.run(labelled)
    code, said = run()
    assert code == 0, said


async def test_what_was_held_back_counts_as_seldom_as_what_was_delivered_is_audited(
    database: Database,
) -> None:
    await label(database, "withheld", [case(f"Loan {n}.", faithful=True) for n in range(400)])
    await label(database, "answered", [case(f"Fee {n}.", faithful=True) for n in range(50)])
    counted = {share: await reviewed_answers(database, "default", audited=share) for share in (0.0, 0.1, 1.0)}
    assert (len(counted[0.0]), len(counted[1.0])) == (0, 400)
    assert 15 <= len(counted[0.1]) <= 70
    assert {one.answer[:4] for one in counted[1.0]} == {"Loan"}, "what was delivered is left to the audit"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cut": 0.3}, "cut is set to 0.3"),
        ({"judge": "off"}, "judge is off"),
        ({"block": "nothing"}, "faithfulness.block: nothing"),
    ],
)
def test_a_judge_without_a_cut_of_its_own_is_refused(
    config: Path, run: Callable[..., tuple[int, str]], settings: dict[str, Any], said: str
) -> None:
    config.write_text(json.dumps({"policy": {"must": {"description": "Ours."}}, "faithfulness": settings}))
    with pytest.raises(InvalidRequest, match=said):
        run(*CASES)


def counted() -> tuple[CheckMetrics, Background]:
    metrics = Metrics(CollectorRegistry())
    return metrics.checking, Background(metrics.broken_loops)


async def test_what_serves_cuts_there_and_every_replica_follows(database: Database) -> None:
    encoder, settings = HashingEncoder(8), FaithfulnessSettings()
    made_for = MadeFor.of(settings, encoder.identity)
    there = FaithfulnessPromises(database, made_for)
    async with open_checking(settings, database, encoder, *counted()) as judge:
        assert isinstance(judge, CalibratedJudge)
        before = await judge.judge(TRUE[0], [CONTEXT])
        assert isinstance(before, Checked)
        assert before.passed
    await there.keep({"en": PROMISE}, ["0a"])
    async with open_checking(settings, database, encoder, *counted()) as judge:
        after = await judge.judge("A book may be kept, and maps are free.", [CONTEXT])
        assert isinstance(after, Checked)
        assert all(one.supported is (one.score is not None and one.score >= 0.9) for one in after.statements)
    here = FaithfulnessPromises(database, made_for)
    assert here.cuts.present == {}
    await here.refresh()
    assert here.cuts.present == {"en": 0.9}
    assert await here.calibrated_on() == {"0a"}


async def test_audited_answers_belong_to_the_judge_its_cut_and_the_chatbot() -> None:
    def word(changed: Any = None, *, cut: float | None = None, language: str = "en") -> str:
        settings = Settings.model_validate(changed or {})
        cuts = CutsInForce({} if cut is None else {"en": cut})
        return Delivering(settings, IDENTITY, CalibratedJudge(LexicalJudge(), cuts))(language)

    openai = {"kind": "openai", "base_url": "https://rag.example/v1", "model": "a"}
    llm = {"base_url": "https://judge.example/v1", "model": "a"}
    web = {"url": "https://search.example"}
    others = [
        {"faithfulness": {"cut": 0.3}},
        {"faithfulness": {"repair": "drop"}},
        {"faithfulness": {"judge": "off"}},
        {"upstream": openai},
        {"upstream": {**openai, "model": "b"}},
        {"upstream": {**openai, "contexts": "citations[].text"}},
        {"upstream": {**openai, "extra_body": {"data_sources": ["manuals"]}}},
        {"upstream": {"corrective": {"reads_ambiguous": False}}},
        {"upstream": {"corrective": {"evaluator": "llm", "llm": llm}}},
        {"upstream": {"corrective": {"evaluator": "local", "web": web}}},
    ]
    words = [word(), word(cut=0.4), word(cut=0.5), *map(word, others)]
    assert len({*words}) == len(words)
    assert word(cut=0.4, language="ja") == word(language="ja"), "the cut of another language"
    assert word({"faithfulness": {"timeout_s": 3, "streaming": "sentence"}}) == word()
    patient = {"evaluator": "local", "web": {**web, "api_key": "secret", "timeout_s": 9}}
    assert word({"upstream": {"corrective": patient}}) == words[-1]


async def test_cuts_made_for_another_judge_or_promise_are_dropped(database: Database) -> None:
    made_for = MadeFor.of(FaithfulnessSettings(), IDENTITY)
    await FaithfulnessPromises(database, made_for).keep({"en": PROMISE}, ["0a"])
    for changed in (FaithfulnessSettings(max_false_block=0.1), FaithfulnessSettings(block="mean")):
        other = FaithfulnessPromises(database, MadeFor.of(changed, IDENTITY))
        await other.refresh()
        assert other.cuts.present == {}
        assert await other.calibrated_on() == frozenset()


async def test_a_language_calibrated_later_leaves_the_others_as_they_are(database: Database) -> None:
    promises = FaithfulnessPromises(database, MadeFor.of(FaithfulnessSettings(), IDENTITY))
    await promises.keep({"en": PROMISE}, ["0a"])
    await promises.keep({"ja": PROMISE}, ["0b"])
    assert promises.cuts.present == {"en": 0.9, "ja": 0.9}
    assert await promises.calibrated_on() == {"0a", "0b"}


async def test_an_operators_own_cut_is_not_overruled(database: Database) -> None:
    settings = FaithfulnessSettings(cut=0.2)
    async with open_checking(settings, database, HashingEncoder(8), *counted()) as judge:
        assert not isinstance(judge, CalibratedJudge)


@pytest.mark.parametrize(
    "garbage", ["0.5", {"promises": {}}, {"made_for": {}, "promises": {"en": 1}, "answers": []}], ids=str
)
async def test_what_is_kept_in_no_form_we_know_decides_nothing(database: Database, garbage: object) -> None:
    promises = FaithfulnessPromises(database, MadeFor.of(FaithfulnessSettings(), IDENTITY))
    async with database.begin() as connection:
        await remember(connection, {"faithfulness.promise": garbage})
    await promises.refresh()
    assert (promises.cuts.present, await promises.calibrated_on()) == ({}, frozenset())


def test_cuts_belong_to_the_code_and_tables_of_all_folders_of_the_judges() -> None:
    folder = Path(faithfulness.__file__).parent
    names = {file.relative_to(folder).as_posix() for file in judged_by() if file.is_relative_to(folder)}
    assert SUPPORT / "identity.json" in judged_by()  # and to the model that they read with
    assert {
        "lexical_weights.json",
        "local_weights.json",
        "statements/clauses.json",
        "quantities/units.py",
        "contradictions/alternatives.yaml",
    } <= names
