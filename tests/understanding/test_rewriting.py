"""A language model may say a follow-up in full; whatever it does wrong, the rules still hold."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.domain import Turn
from gateway.errors import UpstreamUnavailable
from gateway.understanding import Understanding
from tests.understanding.asking import conversation, follow_ups

FOLLOW_UP = ("How much is a residence card?", ("assistant", "300 yen."), "And for children?")


@dataclass
class _Completion:
    text: str


@dataclass
class _Model:
    """A chat model that replies what it is told to, or fails so."""

    reply: str | Exception
    delay_s: float = 0.0
    asked: list[Sequence[Turn]] = field(default_factory=list)

    async def complete(
        self, turns: Sequence[Turn], options: Mapping[str, Any] | None = None, /
    ) -> _Completion:
        self.asked.append(turns)
        await asyncio.sleep(self.delay_s)
        if isinstance(self.reply, Exception):
            raise self.reply
        return _Completion(self.reply)


@pytest.mark.parametrize(
    "reply",
    [
        '{"question": "How much is a residence card for children?"}',
        '```json\n{"question": "How much is a residence card for children?"}\n```',
        'Sure!\n{"question": "How much is a residence card\\n for children?", "confidence": 1}',
    ],
)
async def test_a_rewritten_question_stands_alone(reply: str) -> None:
    model = _Model(reply)
    [question] = (await Understanding(follow_ups(), model).understand(conversation(*FOLLOW_UP))).questions
    assert (question.text, question.self_contained) == ("How much is a residence card for children?", True)
    given = json.loads(model.asked[0][1].text)
    assert given["question"] == "And for children?"
    assert [turn["role"] for turn in given["conversation"]] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (UpstreamUnavailable("gone"), "rewrite failed"),
        ("", "rewrite failed"),
        ("I can't do that", "rewrite failed"),
        ("{not json}", "rewrite failed"),
        ('{"question": 5}', "rewrite failed"),
        ('{"answer": "300 yen"}', "rewrite failed"),
        ('{"question": "And how much is it for them?"}', "rewrite refused"),
        ('{"question": "子供の在留カードはいくらですか"}', "rewrite refused"),
        ('{"question": "How much is a residence card for children under 15?"}', "rewrite refused"),
        (json.dumps({"question": "How much is a residence card " * 50}), "rewrite refused"),
    ],
)
async def test_a_useless_reply_falls_back_to_the_rules(
    reply: str | Exception, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    [question] = (
        await Understanding(follow_ups(), _Model(reply)).understand(conversation(*FOLLOW_UP))
    ).questions
    assert (question.text, question.self_contained) == ("And for children?", False)
    logged = capsys.readouterr().out
    assert why in logged
    assert "children" not in logged


async def test_a_model_that_does_not_know_leaves_the_question_as_it_is() -> None:
    understanding = Understanding(follow_ups(), _Model('{"question": null}'))
    [question] = (await understanding.understand(conversation(*FOLLOW_UP))).questions
    assert not question.self_contained


async def test_a_slow_model_is_not_waited_for() -> None:
    understanding = Understanding(follow_ups(), _Model("{}", delay_s=30), rewrite_timeout_s=0.05)
    async with asyncio.timeout(5):
        [question] = (await understanding.understand(conversation(*FOLLOW_UP))).questions
    assert not question.self_contained


@pytest.mark.parametrize("said", [("What are your opening hours?",), ("Hi!",), ("How much is it?",)])
async def test_nobody_is_asked_where_the_rules_suffice(said: tuple[str, ...]) -> None:
    model = _Model("{}")
    await Understanding(follow_ups(), model).understand(conversation(*said))
    assert model.asked == []
