"""A question about somebody else's product goes to a person, whatever our documents say of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chatbot import Chatbot
from tests.gateway.conftest import UPSTREAM
from tests.gateway.running import Gateway, settings

POLICY = """
policy:
  must:
    description: Questions about Ledgerly, ひのでアプリ and 云川通.
    examples: [How do I cancel my subscription?, パスワードを忘れました, 怎么取消预约？]
    documents: knowledge/
gate:
  allow: [{pattern: dropbox}]
"""
DOCUMENTS = {
    "en.md": "# Subscription\n\nTo cancel your subscription, open Settings and choose Cancel. We connect to QuickBooks.",
    "ja.md": "# パスワード\n\nパスワードを忘れたときは、ログイン画面で再設定してください。",
    "zh.md": "# 预约\n\n取消预约请至少提前一天，在云川通App里办理。",
}


@pytest.fixture(scope="module")
def gateway(chatbot: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("names")
    (folder / "knowledge").mkdir()
    for name, text in DOCUMENTS.items():
        (folder / "knowledge" / name).write_text(text, "utf-8")
    text = POLICY + UPSTREAM.format(url=chatbot.base_url)
    with Gateway(settings(folder, text)) as running, running.http("reviewer") as reviewer:
        entry = {"kind": "ground_truth", "answer": "Under Settings › Billing.", "state": "active"}
        phrasings = ["How do I change my plan?", "How do I change the plan of Spotify?"]
        for one in phrasings:
            assert reviewer.post("/v1/entries", json=entry | {"phrasings": [one]}).status_code == 201
        yield running


def judged(gateway: Gateway, question: str) -> tuple[str, str]:
    with gateway.http() as client:
        found = client.post("/v1/gate", json={"question": question}).json()
    return found["label"], found["rule"]


@pytest.mark.parametrize(
    "question",
    [
        "How do I cancel my Netflix subscription?",
        "Kyashのパスワードを忘れました",
        "携程怎么取消预约？",
    ],
)
def test_what_names_somebody_elses_product_goes_to_a_person(gateway: Gateway, question: str) -> None:
    assert judged(gateway, question) == ("unsure", "name")
    assert gateway.answer(question)["outcome"] == "escalated"


@pytest.mark.parametrize(
    "question",
    [
        "How do I cancel my Ledgerly subscription?",
        "How do I cancel my subscription on my iPhone?",
        "How do I cancel my QuickBooks subscription?",  # which the documents name
        "How do I cancel my Spotify subscription?",  # which an entry names
        "How do I cancel my Dropbox subscription?",  # which the allow list names
        "ひのでアプリのパスワードを忘れました",
        "云川通怎么取消预约？",
    ],
)
def test_what_names_what_we_have_written_of_passes(gateway: Gateway, question: str) -> None:
    assert judged(gateway, question)[0] == "must"


def test_an_answer_about_ours_is_not_given_for_somebody_elses(gateway: Gateway) -> None:
    assert gateway.answer("How do I change my plan?")["outcome"] == "ground_truth"
    assert gateway.answer("How do I change my Netflix plan?")["outcome"] == "escalated"


def test_without_documents_nothing_says_which_names_are_ours(tmp_path: Path, chatbot: Chatbot) -> None:
    text = POLICY.replace("    documents: knowledge/\n", "") + UPSTREAM.format(url=chatbot.base_url)
    with Gateway(settings(tmp_path, text)) as running:
        assert judged(running, "How do I cancel my Netflix subscription?")[0] == "must"
