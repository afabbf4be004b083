"""What the log says of an error that nobody foresaw: what and where, no words of an asker."""

from __future__ import annotations

import json

import pytest
import structlog

from classifiers.faithfulness import Unchecked
from classifiers.faithfulness.llm import LlmJudge
from gateway.checking import checked_within
from gateway.models.asked import AskedModel
from gateway.models.completions import ChatModel
from gateway.recording.failures import log_failure
from gateway.recording.logs import configure_logging
from gateway.settings import LoggingSettings
from tests.chatbot import Chatbot, Fails, Silent

QUESTION = "Can my wife see what I borrowed?"


def logged(level: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    configure_logging(LoggingSettings.model_validate({"level": level}))
    try:
        int(QUESTION)
    except ValueError as exc:
        log_failure(structlog.get_logger("sekisho"), "unforeseen error", exc, request_id="r-1")
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_an_error_is_told_by_its_name_and_place_not_by_its_message(
    capsys: pytest.CaptureFixture[str],
) -> None:
    [line] = logged("info", capsys)
    assert (line["event"], line["error"], line["request_id"]) == ("unforeseen error", "ValueError", "r-1")
    assert "test_failures.py" in str(line["at"])
    assert QUESTION not in json.dumps(line)


def test_whoever_looks_for_a_mistake_gets_the_message_too(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = logged("debug", capsys)
    assert QUESTION not in json.dumps(first)
    assert QUESTION in str(second["exception"])


@pytest.mark.parametrize(
    ("reply", "seconds", "reason", "said"),
    [
        pytest.param(Fails(401), 30, "judge_failed", "the judge answered 401 (the key was not accepted)", id="a wrong key"),
        pytest.param(Silent(), 0.1, "judge_too_slow", "0.1", id="too slow"),
    ],
)  # fmt: skip
async def test_why_a_draft_was_not_checked_is_told(
    capsys: pytest.CaptureFixture[str], reply: Fails | Silent, seconds: float, reason: str, said: str
) -> None:
    configure_logging(LoggingSettings())
    with Chatbot(reply) as bot:
        model = ChatModel(base_url=bot.base_url, model="judge-1", name="the judge")
        judge = LlmJudge(AskedModel(model, most_tokens=100))
        verdict = await checked_within(seconds, judge, QUESTION, [QUESTION], question=QUESTION)
        await model.close()
    assert verdict == Unchecked(reason=reason, judge="none")
    [line] = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert said in str(line)
    assert QUESTION not in str(line)
