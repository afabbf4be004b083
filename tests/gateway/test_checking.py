"""The judges of faithfulness as a configuration opens them, with a played language model behind a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from classifiers.faithfulness import Checked, Unchecked
from encoders.testing import HashingEncoder
from gateway.checking.metrics import CheckMetrics
from gateway.checking.opening import open_judge
from gateway.settings import FaithfulnessSettings
from tests.chatbot import Chatbot, Fails, Says
from tests.gateway.conftest import UPSTREAM
from tests.gateway.running import Gateway, settings
from tests.tiny_models import save_reader

PASS, DOGS = "The annual pass costs 120 EUR.", "Dogs may come along."
QUESTION = "How much is the annual pass?"
CONFIG = """
gate: {{enabled: false}}
cache: {{enabled: false}}
faithfulness:
  judge: llm
  llm: {{base_url: "{url}", model: judge-1, price: {{input: 1000000, output: 2000000, currency: JPY}}}}
  repair: drop
"""


def plays(model: Chatbot, *verdicts: int, statements: tuple[str, ...] = (PASS, DOGS)) -> None:
    """The steps are told apart by what is asked."""
    said = [
        {"index": at, "reason": "said the test", "verdict": verdict} for at, verdict in enumerate(verdicts, 1)
    ]
    model.when('"answer": ', Says(json.dumps({"statements": statements})))
    model.when('"passages": ', Says(json.dumps({"statements": said})))


@pytest.fixture(scope="module")
def model() -> Iterator[Chatbot]:
    with Chatbot() as model:
        yield model


@pytest.fixture(scope="module")
def checking(chatbot: Chatbot, model: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    text = CONFIG.format(url=model.base_url) + UPSTREAM.format(url=chatbot.base_url)
    with Gateway(settings(tmp_path_factory.mktemp("checking"), text)) as running:
        yield running


@pytest.fixture(autouse=True)
def script(chatbot: Chatbot, model: Chatbot) -> None:
    chatbot.reset()
    model.reset()
    chatbot.says(f"{PASS} {DOGS}", [PASS])


def test_an_answer_with_a_statement_that_the_model_denies_is_delivered_without_it(
    checking: Gateway, model: Chatbot
) -> None:
    plays(model, 1, 0)
    with checking.openai() as client:
        raw = client.chat.completions.with_raw_response.create(
            model="sekisho", messages=[{"role": "user", "content": QUESTION}]
        )
    told = {name: value for name, value in raw.headers.items() if name.startswith("x-sekisho")}
    assert told == {
        "x-sekisho-outcome": "rag", "x-sekisho-reason": "repaired", "x-sekisho-faithfulness": "0.500", "x-sekisho-worst": "0.000",
    }  # fmt: skip
    assert raw.parse().choices[0].message.content == PASS
    only = checking.answer(QUESTION)["questions"][0]
    assert (only["text"], only["cut"], only["marks"]) == (PASS, [DOGS], [])
    worst = only["worst_statement"]
    assert (worst["text"], worst["state"], worst["judge"]) == (DOGS, "unsupported", "llm@1:judge-1")
    first = only["steps"][-1]["found"]["statements"][0]
    assert first["span"] == {"type": "passage_span", "passage": 0, "start": 0, "end": len(PASS), "text": PASS}


def test_it_is_withheld_where_the_rest_would_not_answer(checking: Gateway, model: Chatbot) -> None:
    plays(model, 0, 1)
    body = checking.answer(QUESTION)
    assert (body["outcome"], body["reason"]) == ("withheld", "unsupported_statement")
    assert "120" not in body["text"]


@pytest.mark.parametrize("reply", [Fails(500), Says("I can't do JSON.")], ids=["down", "no JSON"])
def test_a_model_that_gives_no_verdict_has_not_checked(checking: Gateway, model: Chatbot, reply: Any) -> None:
    model.always(reply)
    body = checking.answer(QUESTION)
    assert (body["outcome"], body["reason"], body["faithfulness"]) == ("escalated", "unchecked", "unchecked")
    with checking.http() as client:
        alone = client.post("/v1/faithfulness", json={"answer": PASS, "contexts": [PASS]}).json()
    assert (alone["type"], alone["reason"]) == ("unchecked", "judge_failed")


def test_what_is_asked_is_json_at_temperature_0_and_counted(checking: Gateway, model: Chatbot) -> None:
    plays(model, 1, 1)
    with checking.http() as client:
        before = _metrics(client.get("/metrics").text)
        body = client.post(
            "/v1/faithfulness", json={"answer": f"{PASS} {DOGS}", "contexts": [PASS, DOGS]}
        ).json()
        after = _metrics(client.get("/metrics").text)
    assert (body["type"], body["passed"], body["faithfulness"], body["judge"]) == (
        "checked",
        True,
        1.0,
        "llm@1:judge-1",
    )
    assert [
        (asked.body["temperature"], asked.body["response_format"]["json_schema"]["strict"])
        for asked in model.asked
    ] == [(0, True)] * 2
    assert json.loads(model.asked[1].question)["statements"][1] == {"index": 2, "statement": DOGS}
    spent = {name: after[name] - before.get(name, 0) for name in after}
    assert spent['llm_calls_total{result="answered"}'] == 2
    assert spent['llm_tokens_total{direction="read"}'] == spent['llm_tokens_total{direction="written"}'] == 20
    assert spent['llm_cost_total{currency="JPY"}'] == 60


def _metrics(text: str) -> dict[str, float]:
    ours = (
        line.removeprefix("sekisho_faithfulness_")
        for line in text.splitlines()
        if line.startswith("sekisho_faithfulness_llm")
    )
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in ours)}


async def judged(metrics: CheckMetrics, answer: str, contexts: list[str], **given: Any) -> Any:
    async with AsyncExitStack() as stack:
        judge = await open_judge(FaithfulnessSettings(**given), HashingEncoder(), metrics, stack)
        return await judge.judge(answer, contexts)


async def test_a_cascade_counts_who_decided(model: Chatbot) -> None:
    plays(model, 1)
    metrics = CheckMetrics(CollectorRegistry())
    llm = {"base_url": model.base_url, "model": "judge-1"}
    margins = {"supported_from": 1.0, "unsupported_below": 0.0}  # the local judge is never sure
    verdict = await judged(metrics, PASS, [PASS], judge="cascade", llm=llm, cascade=margins)
    assert isinstance(verdict, Checked)
    assert verdict.statements[0].judge == "llm@1:judge-1"
    assert metrics.cascade.labels("second")._value.get() == 1
    model.reset()
    model.always(Fails(500))
    assert isinstance(
        await judged(metrics, PASS, [PASS], judge="cascade", llm=llm, cascade=margins), Unchecked
    )
    assert metrics.cascade.labels("nobody")._value.get() == 1


async def test_a_model_of_the_hub_is_opened_by_its_folder(tmp_path: Path) -> None:
    folder = str(save_reader(tmp_path, ["LABEL_0", "LABEL_1"], [(PASS, PASS)], [(PASS, DOGS)]))
    metrics = CheckMetrics(CollectorRegistry())
    verdict = await judged(
        metrics, PASS, [PASS], judge="cross-encoder", model=folder, supported_label="LABEL_0", cut=0.5
    )
    assert isinstance(verdict, Checked)
    assert verdict.passed


async def test_a_judge_that_is_off_has_not_checked() -> None:
    assert isinstance(await judged(CheckMetrics(CollectorRegistry()), PASS, [PASS], judge="off"), Unchecked)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"judge": "llm"}, "judge: llm needs llm"),
        ({"judge": "cascade"}, "judge: cascade needs llm"),
        ({"judge": "cross-encoder"}, "judge: cross-encoder needs model"),
        ({"judge": "off", "cut": 0.5}, "judge: off has no cut"),
        ({"cascade": {"supported_from": 0.1, "unsupported_below": 0.2}}, "must not be above supported_from"),
        ({"block": "some"}, "'any', 'mean' or 'nothing'"),
        ({"repair": "rewrite"}, "'none' or 'drop'"),
    ],
)
def test_settings_that_can_not_judge_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FaithfulnessSettings(**given)
