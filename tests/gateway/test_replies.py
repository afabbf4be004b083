"""The words of a reply: whose come first, what can be filled into them, and what is refused at start."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from classifiers.gate import GateLabel, GateVerdict, Neighbour
from gateway.domain import Conversation, Question, SmallTalk, Turn, Understood
from gateway.errors import ConfigurationError
from gateway.replies import Replies
from gateway.settings import PolicySettings, ReplySettings
from tests.gateway.running import settings

POLICY = PolicySettings.model_validate(
    {
        "may": {"reply": {"en": "Not ours. Perhaps: {nearest}", "ja": "対象外です。"}},
        "must_not": {
            "reply": {"en": "I won't help with {topic}.", "zh": "不行：{question}"},
            "topics": [{"name": "card_fraud", "reply": {"ja": "{topic}はお答えできません。"}}],
        },
    }
)
OWN = ReplySettings.model_validate(
    {
        "small_talk": {"en": "Welcome to Minamo!"},
        "thanks": {"ja": "こちらこそ、ありがとうございます。"},
        "escalated": {"en": "Somebody will call you ({ticket})."},
        "reasons": {"upstream_unavailable": {"en": "We are offline: {ticket}", "zh": "系统维护中：{ticket}"}},
    }
)
NEAR = Neighbour("example", "When are you open?", 0.5, 0.2, "must")
PASSAGE = Neighbour("passage", "We are open from nine to five.", 0.5, 0.2, "must", "hours.md")


def question(language: str, text: str = "What is it?") -> Question:
    asked = Conversation(turns=(Turn("user", text),), tenant="default", request_id="r")
    return Question(text=text, language=language, conversation=asked)


def verdict(label: GateLabel, **told: Any) -> GateVerdict:
    return GateVerdict(label=label, score=0.0, reason="", nearest=None, judge="test", **told)


@pytest.mark.parametrize(
    ("gate", "language", "text"),
    [
        pytest.param(verdict("may", nearest_ours=NEAR), "en", "Not ours. Perhaps: When are you open?", id="a field is filled"),
        pytest.param(verdict("may"), "en", "I'm afraid I can't help with that here. I can only answer questions about our own services.", id="an unknown field passes the text over"),
        pytest.param(verdict("may", nearest_ours=PASSAGE), "en", "I'm afraid I can't help with that here. I can only answer questions about our own services.", id="a passage is no question to offer"),
        pytest.param(verdict("may"), "ja", "対象外です。", id="the class, in Japanese"),
        pytest.param(verdict("may"), "zh", "抱歉，这个问题不在本服务的范围内，我只能回答与我们业务有关的问题。", id="ours, where the operator has none in Chinese"),
        pytest.param(verdict("must_not", topic="card_fraud"), "ja", "card fraudはお答えできません。", id="the topic before the class"),
        pytest.param(verdict("must_not", topic="card_fraud"), "en", "I won't help with card fraud.", id="the class where the topic has no such language"),
        pytest.param(verdict("must_not"), "zh", "不行：What is it?", id="the question itself"),
        pytest.param(verdict("must_not", topic="card_fraud", rule="deny:1"), "en", "Denied.", id="the item before the topic"),
        pytest.param(verdict("must_not", topic="card_fraud", rule="deny:2"), "en", "I won't help with card fraud.", id="another item"),
    ],
)  # fmt: skip
def test_a_refusal_is_said_in_the_most_particular_words(gate: GateVerdict, language: str, text: str) -> None:
    replies = Replies(POLICY, OWN, by_rule={"deny:1": {"en": "Denied."}})
    assert replies.refusal(gate, question(language)) == text


@pytest.mark.parametrize(
    ("reason", "language", "text"),
    [
        ("upstream_unavailable", "en", "We are offline: T-1"),
        ("upstream_unavailable", "zh", "系统维护中：T-1"),
        ("gate_unsure", "en", "Somebody will call you (T-1)."),
    ],
)
def test_who_waits_is_told_why_in_the_operator_s_words(reason: str, language: str, text: str) -> None:
    assert Replies(POLICY, OWN).waiting("escalated", question(language), "T-1", reason) == text


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
@pytest.mark.parametrize("outcome", ["withheld", "escalated"])
def test_without_words_of_his_own_the_asker_still_gets_his_number(
    outcome: Literal["withheld", "escalated"], language: str
) -> None:
    assert "T-1" in Replies(PolicySettings()).waiting(outcome, question(language), "T-1", "gate_unsure")


def test_no_space_stands_between_japanese_sentences() -> None:
    said = Replies(PolicySettings()).waiting("withheld", question("ja"), "T-1", "unchecked")
    assert "回答を控えました。担当者が" in said


@pytest.mark.parametrize(
    ("language", "text"), [("en", "Welcome to Minamo!"), ("ja", "こんにちは。どのようなご用件でしょうか。")]
)
def test_small_talk_is_answered_in_the_asker_s_language(language: str, text: str) -> None:
    assert Replies(POLICY, OWN).reply(Understood((), language), []).text == text


@pytest.mark.parametrize(
    ("kind", "language", "text"),
    [
        ("thanks", "en", "You're welcome! If there is anything else, just ask."),
        ("thanks", "ja", "こちらこそ、ありがとうございます。"),
        ("goodbye", "zh", "感谢您的咨询，再见！"),
        ("noted", "ja", "承知しました。ご質問がございましたら、お気軽にお尋ねください。"),
    ],
)
def test_small_talk_that_is_no_greeting_is_answered_otherwise(
    kind: SmallTalk, language: str, text: str
) -> None:
    assert Replies(POLICY, OWN).reply(Understood((), language, kind), []).text == text


def test_what_an_asker_writes_is_never_read_as_a_template() -> None:
    asked = question("zh", "{ticket} {0.__class__}")
    assert Replies(POLICY).refusal(verdict("must_not"), asked) == "不行：{ticket} {0.__class__}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("policy:\n  may:\n    reply: {en: 'No {tikcet}.'}", "line 3, policy.may.reply.en: unknown field {tikcet} (known here: {nearest}, {question})"),
        ("policy:\n  may:\n    reply: {ja: '{topic}は対象外です'}", "line 3, policy.may.reply.ja: unknown field {topic}"),
        ("policy:\n  must_not:\n    topics:\n      - {name: x, reply: {en: '{topic!r}'}}", "topics.0.reply.en: unknown field {topic}"),
        ("policy:\n  must_not:\n    reply: {en: '{question.text}'}", "unknown field {question.text}"),
        ("policy:\n  may:\n    reply: {en: 'a { b'}", "expected fields such as {ticket}"),
        ("replies:\n  escalated: {en: Wait.}", "line 2, replies.escalated.en: expected the field {ticket}"),
        ("replies:\n  small_talk: {en: 'Hi {ticket}'}", "unknown field {ticket} (known here: none at all)"),
        ("replies:\n  reasons:\n    gate_unshure: {en: '{ticket}'}", "replies.reasons.gate_unshure"),
        ("gate:\n  deny:\n    - {word: x, reply: {en: '{nearest}'}}", "gate.deny.0.reply.en: unknown field {nearest}"),
    ],
)  # fmt: skip
def test_a_template_that_cannot_be_filled_is_refused_at_start(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        settings(tmp_path, text)
    assert told in str(refused.value), refused.value
