"""The log of a gateway: every line is JSON, refused requests have one, and no line holds an asker's words."""

from __future__ import annotations

import json
import logging
import resource
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gateway.recording.logs import configure_logging
from gateway.settings import LoggingSettings
from tests.gateway.running import Gateway, settings

Lines = Callable[[], list[dict[str, Any]]]
SECRET = "Can my wife see what I borrowed?"
FILLED = """
import resource, signal, sys
import structlog
from gateway.recording.logs import configure_logging
from gateway.settings import LoggingSettings

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that the disk seems full
configure_logging(LoggingSettings())
log = structlog.get_logger()
for limit in (1000, resource.RLIM_INFINITY):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    for number in range(20):
        log.info("a line", number=number, limit=limit)
"""


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    return lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def serving(folder: Path, text: str = "gate: {enabled: false}", **environment: str) -> Gateway:
    """To be started inside a test: what it logs goes to the standard error of that moment."""
    return Gateway(settings(folder, text, **{"SEKISHO_LOGGING__LEVEL": "info", **environment}))


REFUSED = {  # a request of a role: what its line says
    (None, "GET", "/v1/tickets/T-1"): {"status": 401, "code": "invalid_api_key", "path": "/v1/tickets/{ticket_id}"},
    ("client", "GET", "/v1/entries"): {"status": 403, "code": "role_not_allowed", "path": "/v1/entries", "key": "client of the settings"},
    ("client", "POST", "/v1/answers"): {"status": 400, "code": "invalid_request", "path": "/v1/answers", "key": "client of the settings"},
    ("client", "DELETE", "/v1/answers"): {"status": 405, "code": "invalid_request", "path": "/v1/answers"},
    ("client", "GET", f"/{SECRET}"): {"status": 404, "code": "not_found"},
}  # fmt: skip


def test_a_refused_request_is_logged_with_its_id_and_who_sent_it(tmp_path: Path, lines: Lines) -> None:
    expected = []
    with serving(tmp_path) as gateway:
        for number, ((role, method, path), about) in enumerate(REFUSED.items()):
            with gateway.http(role) as client:
                reply = client.request(method, path, headers={"x-request-id": f"trace-{number}"})
            assert reply.status_code == about["status"]
            same = {"event": "request refused", "level": "info", "method": method, "client": "127.0.0.1"}
            expected.append({**same, "request_id": f"trace-{number}", **about})
    said = [one for one in lines() if one["event"] == "request refused"]
    assert [{name: one[name] for name in one if name != "timestamp"} for one in said] == expected


def test_what_is_answered_or_refused_as_a_question_is_no_refused_request(
    tmp_path: Path, lines: Lines
) -> None:
    text = "policy: {must_not: {topics: [{name: crime, description: Crime., examples: [How do I forge a card?]}]}}"
    asked = {"model": "sekisho", "messages": [{"role": "user", "content": "How do I forge a card?"}]}
    with (
        serving(tmp_path, text, SEKISHO_SERVER__REFUSAL_STATUS="400") as gateway,
        gateway.http() as client,
    ):
        assert client.get("/livez").status_code == 200
        assert client.post("/v1/chat/completions", json=asked).status_code == 400
    assert [one["event"] for one in lines() if "request_id" in one] == ["outcome"]


def test_a_second_folder_is_logged_with_the_names_it_changes(tmp_path: Path, lines: Lines) -> None:
    for folder in ("docs", "manuals"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"of-{folder}.md").write_text(f"# Of {folder}\n\nOpen from nine.", "utf-8")
    modes = "review: {modes: [{topic: fees, documents: [of-docs.md], mode: human_first}]}"
    told = []
    for folders in ("[docs]", "[docs, manuals]"):
        with serving(
            tmp_path, f"gate: {{enabled: false}}\npolicy: {{must: {{documents: {folders}}}}}\n{modes}"
        ):
            pass
        told.append([line for line in lines() if "document" in line["event"]])
    assert told[0] == []
    assert [(line["event"], line.get("was"), line.get("now")) for line in told[1]] == [
        ("document renamed", "of-docs.md", "docs/of-docs.md"),
        ("review.modes, fees: no document fits of-docs.md", None, None),
    ]


def test_a_request_that_is_no_http_is_logged_as_json(
    tmp_path: Path, lines: Lines, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.NOTSET, "uvicorn.error")  # which the played chatbots of this process silence
    with serving(tmp_path) as gateway:
        address = urlsplit(gateway.url)
        with socket.create_connection((address.hostname or "", address.port or 0), timeout=10) as link:
            link.sendall(f"POST / HTTP/1.1\r\nHost: {SECRET}\r\nContent-Length: -5\r\n\r\n".encode())
            assert link.recv(100).startswith(b"HTTP/1.1 400")
    [logged] = [one for one in lines() if one.get("logger") == "uvicorn.error"]
    assert (logged["event"], logged["level"]) == ("Invalid HTTP request received.", "warning")


def say_everything() -> None:
    log = logging.getLogger("some.library")
    log.info("nobody asked for this")
    log.warning("can't read %s", SECRET)
    try:
        int(SECRET)
    except ValueError:
        log.exception("future: %r", SECRET)
    warnings.warn(SECRET, UserWarning, stacklevel=1)


def test_what_libraries_say_is_named_without_its_words(lines: Lines) -> None:
    configure_logging(LoggingSettings())
    configure_logging(LoggingSettings())  # a second gateway of this process takes over
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        say_everything()
    said = lines()
    assert SECRET not in json.dumps(said)
    assert [(one["level"], one["logger"], one.get("error")) for one in said] == [
        ("warning", "some.library", None),
        ("error", "some.library", "ValueError"),
        ("warning", "py.warnings", "UserWarning"),
    ]
    assert all("test_logs.py" in one["at"][-1] for one in said)


@pytest.mark.parametrize("chosen", [{"level": "debug"}, {"texts": True}], ids=str)
def test_where_texts_may_be_logged_libraries_say_them(lines: Lines, chosen: Mapping[str, Any]) -> None:
    configure_logging(LoggingSettings.model_validate(chosen))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        say_everything()
    said = lines()
    assert len(said) == 3
    assert all(SECRET in one["event"] for one in said)
    assert SECRET in said[1]["exception"]


def test_who_wants_errors_only_gets_no_warnings_of_libraries(lines: Lines) -> None:
    configure_logging(LoggingSettings(level="error"))
    logging.getLogger("some.library").warning("a warning")
    assert lines() == []


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "PYTHONUNBUFFERED"])
def test_a_line_that_a_full_disk_took_half_of_spoils_no_other(tmp_path: Path, unbuffered: str) -> None:
    file = tmp_path / "log"
    with file.open("wb") as log:
        environment = {"PYTHONUNBUFFERED": unbuffered, "PYTHONPATH": str(Path(__file__).parents[2])}
        subprocess.run([sys.executable, "-c", FILLED], stderr=log, env=environment, check=True)
    found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [one["number"] for one in found if one["limit"] == resource.RLIM_INFINITY] == [*range(20)]
