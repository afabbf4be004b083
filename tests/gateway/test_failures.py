"""What the log says of an error that nobody foresaw: what and where, no words of an asker."""

from __future__ import annotations

import json

import pytest
import structlog

from gateway.recording.failures import log_failure
from gateway.settings import LoggingSettings
from gateway.telemetry import configure_logging

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
