"""Who answers a new question is the operator's choice, by topics that he can check by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.checking.modes import TopicModes
from gateway.domain import Draft, Passage
from gateway.errors import ConfigurationError
from gateway.gatekeeping.words import word_cut
from gateway.settings.people import ReviewSettings
from gateway.stages import Chosen
from tests.chatbot import Chatbot, Says
from tests.delivery.conftest import CONFIG, SECRET
from tests.gateway.running import Gateway, settings
from tests.receiver import Receiver
from tests.review.asking import question

MODES = ReviewSettings.model_validate(
    {
        "modes": [
            {"topic": "taxes", "documents": ["taxes/*", "fees.md"], "word": ["tax", "税金"], "mode": "human_first"},
            {"topic": "pets", "word": "dog", "mode": "answer_then_review", "sample": 0.25},
            {"topic": "rooms", "pattern": "room [0-9]+", "mode": "automatic"},
        ],
        "mode": "answer_then_review",
        "sample": 0.5,
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "source", "chosen"),
    [
        ("Where do I pay?", "taxes/city.md", Chosen("human_first", "taxes")),
        ("Where do I pay?", "fees.md", Chosen("human_first", "taxes")),
        ("Where do I pay?", "taxes.md", Chosen("answer_then_review", "", True)),
        ("How much tax is due?", "", Chosen("human_first", "taxes")),
        ("How do I call a taxi?", "", Chosen("answer_then_review", "", True)),
        ("税金はどこで払えますか", "", Chosen("human_first", "taxes")),
        ("May my dog come to room 12?", "", Chosen("answer_then_review", "pets", False)),
        ("Is room 12 free?", "", Chosen("automatic", "rooms")),
        ("Is the TAX on my dog due?", "", Chosen("human_first", "taxes")),
    ],
)
def test_a_topic_is_known_by_its_documents_and_words(asked: str, source: str, chosen: Chosen) -> None:
    draft = Draft(
        text="…", contexts=(Passage(text="…", source="x.md"), Passage(text="…", source=source)), model="m"
    )
    assert TopicModes(MODES, word_cut("ja"), draw=lambda: 0.4).choose(question(asked), draft) == chosen


def test_a_follow_up_is_of_the_topic_that_it_leans_on() -> None:
    asked = replace(question("And when is it due?"), leans_on=("How much is the city tax?",))
    draft = Draft(text="…", contexts=(), model="m")
    assert TopicModes(MODES, word_cut("ja")).choose(asked, draft) == Chosen("human_first", "taxes")


def test_the_sample_is_the_share_that_was_asked_for() -> None:
    modes = TopicModes(MODES, word_cut("ja"))
    draft = Draft(text="…", contexts=(), model="m")
    drawn = sum(modes.choose(question("May my dog come?"), draft).reviewed for _ in range(2_000))
    assert 400 < drawn < 600  # 500 expected; five standard deviations are 97


GATEWAY = """
review:
  modes:
    - {topic: taxes, word: [tax, 税金, 税], mode: human_first}
    - {topic: pets, word: [dog], mode: answer_then_review}
"""


@pytest.fixture(scope="module")
def chatbot() -> Iterator[Chatbot]:
    with Chatbot() as bot:
        yield bot


@pytest.fixture(scope="module")
def gateway(chatbot: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with Receiver() as receiver:
        text = CONFIG.format(chatbot=chatbot.base_url, receiver=receiver.url) + GATEWAY
        with Gateway(settings(tmp_path_factory.mktemp("modes"), text, SIGNING_SECRET=SECRET)) as running:
            yield running


def test_people_first_keeps_the_draft_for_the_reviewer(gateway: Gateway, chatbot: Chatbot) -> None:
    chatbot.when("tax", Says("The tax is due in June.", contexts=["The city tax is due in June."]))
    told = gateway.answer("When is the tax due?")
    assert (told["outcome"], told["reason"]) == ("escalated", "human_first")
    assert "June" not in told["text"]
    with gateway.http("reviewer") as reviewer:
        ticket = reviewer.get(f"/v1/tickets/{told['ticket']}").json()
        [draft] = [step["found"] for step in ticket["steps"] if step["stage"] == "rag"]
        assert draft["text"] == "The tax is due in June."
        published = reviewer.post(
            f"/v1/tickets/{told['ticket']}/answer",
            json={"answer": draft["text"], "publish": True, "faithful": True},
        )
        assert published.status_code == 200, published.text
    again = gateway.answer("When is the tax due?")
    assert again["outcome"] == "ground_truth", "what a person verified needs nobody first"


def test_an_answer_may_be_read_after_it_was_given(gateway: Gateway, chatbot: Chatbot) -> None:
    chatbot.when("dog", Says("A dog costs 3,000 yen a year.", contexts=["A dog costs 3,000 yen a year."]))
    told = gateway.answer("What does a dog cost?", user="u-9")
    assert told["outcome"] == "rag"
    assert "ticket" not in told, "the asker has his answer"
    with gateway.http("reviewer") as reviewer:
        waiting = reviewer.get("/v1/tickets", params={"state": "open"}).json()["tickets"]
        [ticket] = [one for one in waiting if one["question"] == "What does a dog cost?"]
        assert (ticket["outcome"], ticket["reason"], ticket["asker"]) == (
            "answered",
            "answer_then_review",
            "u-9",
        )
    chatbot.when("cat", Says("A cat costs nothing.", contexts=["A cat costs nothing."]))
    gateway.answer("What does a cat cost?")
    with gateway.http("reviewer") as reviewer:
        waiting = reviewer.get("/v1/tickets", params={"state": "open"}).json()["tickets"]
    assert "What does a cat cost?" not in [one["question"] for one in waiting]


def test_a_topic_that_says_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="needs documents, word or pattern"):
        settings(tmp_path, "review: {modes: [{topic: all, mode: human_first}]}")
