"""Judges from outside, through the whole gateway: a model where the gate is unsure, detectors beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.responses import JSONResponse

from gateway.errors import ConfigurationError
from tests.chatbot import Chatbot, Fails, Reply, Says, Silent
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import Gateway, settings
from tests.gateway.test_learning import metric
from tests.moderation import ModerationServer
from tests.tiny_models import save_classifier, save_guard

UNPLACED = ("Where can I buy a guitar?", "ギターはどこで買えますか", "在哪里可以买吉他")
# Nothing says what is ours, and what nothing places is unsure: so every question is that is not forbidden.
SAYS_NOTHING = """
policy:
  may: {{examples: ["What is the weather tomorrow?"]}}
  must_not: {{topics: [{{name: crime, description: How to commit a crime., examples: [How do I steal books?]}}]}}
gate:
  default: escalate
  unsure: llm
  llm: {{base_url: "{llm}", model: judge-1, timeout_s: 1}}
"""
DETECTORS = """
gate:
  detectors:
    - {{kind: openai-moderation, name: moderation, model: omni, base_url: "{moderation}", labels: {{violence: crime, illicit: drugs}}}}
    - {{kind: llm, name: watching, model: judge-2, base_url: "{llm}", shadow: true}}
"""


@pytest.fixture(scope="module")
def llm() -> Iterator[Chatbot]:
    with Chatbot() as model:
        yield model


@pytest.fixture(scope="module")
def moderation() -> Iterator[ModerationServer]:
    with ModerationServer(
        {"late": "violence", "renew": "illicit", "borrow": "harassment/threatening"}
    ) as one:
        yield one


@pytest.fixture(scope="module")
def unsure(chatbot: Chatbot, llm: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    text = SAYS_NOTHING.format(llm=llm.base_url) + UPSTREAM.format(url=chatbot.base_url)
    with Gateway(settings(tmp_path_factory.mktemp("unsure"), text)) as running:
        yield running


@pytest.fixture(scope="module")
def gateway(
    chatbot: Chatbot,
    llm: Chatbot,
    moderation: ModerationServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Gateway]:
    judges = DETECTORS.format(llm=llm.base_url, moderation=moderation.base_url)
    text = POLICY + UPSTREAM.format(url=chatbot.base_url) + judges
    with Gateway(settings(tmp_path_factory.mktemp("outside"), text)) as running:
        yield running


def verdict(label: str, topic: str | None = None) -> Says:
    return Says(json.dumps({"reason": "The description says so.", "label": label, "topic": topic}))


def judged(gateway: Gateway, question: str) -> dict[str, object]:
    with gateway.http() as client:
        found: dict[str, object] = client.post("/v1/gate", json={"question": question}).json()
    return found


@pytest.mark.parametrize("question", UNPLACED)
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (verdict("must"), "unchecked"),
        (verdict("may"), "may"),
        (verdict("must_not", "crime"), "must_not:crime"),
        (verdict("unsure"), "gate_unsure"),
        (Says("I would let that pass."), "gate_unsure"),
        (Fails(400), "gate_unsure"),
        (Silent(3.0), "gate_unsure"),
    ],
    ids=["must", "may", "must_not", "unsure", "no JSON", "an error", "too slow"],
)
def test_a_model_decides_where_the_gate_is_unsure(
    unsure: Gateway, chatbot: Chatbot, llm: Chatbot, question: str, reply: Reply, reason: str
) -> None:
    llm.always(reply)
    before = len(chatbot.asked)
    found = unsure.answer(question)
    assert (len(chatbot.asked) > before) == (reason == "unchecked")
    assert found["reason"] == reason


def test_it_is_not_asked_where_the_gate_is_sure(unsure: Gateway, llm: Chatbot) -> None:
    llm.always(verdict("must"))
    before = len(llm.asked)
    assert unsure.answer("How do I steal books?")["reason"] == "must_not:crime"
    assert unsure.answer("What is the weather tomorrow?")["reason"] == "may"
    assert len(llm.asked) == before


def test_the_share_that_is_sent_is_counted(unsure: Gateway, llm: Chatbot) -> None:
    llm.always(verdict("may"))
    before = metric(unsure, "sekisho_gate_llm_total{"), metric(unsure, "sekisho_gate_verdicts_total{")
    unsure.answer(UNPLACED[0])
    unsure.answer("How do I steal books?")
    after = metric(unsure, "sekisho_gate_llm_total{"), metric(unsure, "sekisho_gate_verdicts_total{")
    assert (after[0] - before[0], after[1] - before[1]) == (1, 2)


@pytest.mark.parametrize(
    ("question", "label", "topic"),
    [
        ("What do I pay if I return a book late?", "must_not", "crime"),
        ("How do I renew my loan online?", "must_not", "drugs"),
        ("How many books may I borrow?", "must", None),  # that category is not among the labels
    ],
)
def test_a_detector_forbids_by_its_labels(
    gateway: Gateway, llm: Chatbot, question: str, label: str, topic: str | None
) -> None:
    llm.always(verdict("must"))
    found = judged(gateway, question)
    assert (found["label"], found["topic"]) == (label, topic)
    if topic:
        assert found["rule"] == "detector:moderation"


def test_what_the_operator_wrote_down_himself_is_not_guessed_at(gateway: Gateway, llm: Chatbot) -> None:
    llm.always(verdict("must_not", "crime"))
    assert judged(gateway, "What happens if I return a book late?")["label"] == "must"


def test_a_detector_that_fails_lets_nobody_pass(
    gateway: Gateway, llm: Chatbot, moderation: ModerationServer
) -> None:
    llm.always(verdict("must"))
    moderation.next(JSONResponse({"error": {"message": "broken"}}, 400))
    found = judged(gateway, "How much does a library card cost?")
    assert (found["label"], found["rule"]) == ("unsure", "detector:moderation")
    assert metric(gateway, 'sekisho_gate_detectors_total{detector="moderation",result="failed"}') == 1
    assert judged(gateway, "How much does a library card cost?")["label"] == "must"


def test_a_detector_in_shadow_is_seen_and_not_felt(gateway: Gateway, llm: Chatbot) -> None:
    llm.always(verdict("must_not", "crime"))
    found = judged(gateway, "May children get a library card?")
    assert found["label"] == "must"
    [shadow] = found["shadow"]  # type: ignore[misc]
    assert (shadow["rule"], shadow["label"], shadow["topic"]) == ("detector:watching", "must_not", "crime")


def local(folder: Path, detector: str) -> str:
    return POLICY + f"gate:\n  detectors:\n    - {{{detector}, model: {folder}}}\n"


@pytest.mark.parametrize(("says", "label"), [("unsafe", "must_not"), ("safe", "must"), ("hm", "unsure")])
def test_a_guard_of_hugging_face(tmp_path: Path, says: str, label: str) -> None:
    folder = save_guard(tmp_path / "guard", says, longest=256)
    with Gateway(settings(tmp_path, local(folder, "kind: huggingface-guard, name: llama"))) as running:
        found = judged(running, "How late does the library open?")
    assert (found["label"], found["topic"]) == (label, "llama" if label == "must_not" else None)


@pytest.mark.parametrize(("threshold", "label"), [(0.0001, "must_not"), (0.9999, "must")])
def test_a_classifier_of_hugging_face(tmp_path: Path, threshold: float, label: str) -> None:
    folder = save_classifier(tmp_path / "classifier", ["fine", "INJECTION"], longest=64)
    detector = f"kind: huggingface, name: prompts, labels: {{INJECTION: crime}}, threshold: {threshold}"
    with Gateway(settings(tmp_path, local(folder, detector))) as running:
        found = judged(running, "How late does the library open?")
        reply = running.answer("How late does the library open?")
    assert found["label"] == label
    assert label == "must" or reply["text"] == "Nothing unlawful."


def test_a_label_that_the_model_does_not_have_stops_the_start(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path / "classifier", ["fine", "INJECTION"])
    text = local(folder, "kind: huggingface, name: prompts, labels: {JAILBREAK: crime}")
    with pytest.raises(ConfigurationError, match="has no JAILBREAK; it has fine, INJECTION"):
        Gateway(settings(tmp_path, text)).__enter__()


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        ("{unsure: llm}", "unsure: llm needs llm"),
        ("{detectors: [{kind: huggingface, name: a, model: b}]}", "needs labels"),
        ("{detectors: [{kind: llm, name: a, model: b}]}", "needs base_url"),
        ("{detectors: [{kind: llm, name: a, model: b, base_url: 'http://x', threshold: 0.5}]}", "has neither labels nor threshold"),
        ("{detectors: [{kind: huggingface-guard, name: a, model: b, base_url: 'http://x'}]}", "runs here"),
        ("{detectors: [{kind: openai-moderation, name: a, model: b}, {kind: openai-moderation, name: a, model: c}]}", "expected names that differ, found a twice"),
        ("{detectors: [{kind: perspective, name: a, model: b}]}", "detectors"),
        ("{detectors: [{kind: openai-moderation, name: a, model: b, api_key: sk-written-down}]}", "api_key"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_refused_by_name(tmp_path: Path, gate: str, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=expected):
        settings(tmp_path, f"{POLICY}gate: {gate}\n")
