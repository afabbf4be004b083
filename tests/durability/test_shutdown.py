"""SIGTERM to `sekisho serve`: who waits gets his answer, what was counted is written, and the process ends by itself.

Whoever it waits for in turn has as long as a request may take.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.chatbot import Chatbot, Fails, Says
from tests.gateway.running import Gateway, settings

KEY = "sk-test-client-for-shutdown"
FULL = Path("/dev/full")  # of Linux: no byte fits
UPSTREAM = '{{kind: openai, base_url: "{url}", model: helper, contexts: azure-on-your-data}}'
CONFIG = """
gate: {{enabled: false}}
console: {{enabled: false}}
upstream: {upstream}
logging: {{level: error}}
auth: {{keys: [{{key: "${{STOP_KEY}}", role: reviewer}}]}}
server: {{keep_alive_s: 0.2}}
"""


NOTHING: Mapping[str, str] = {}
HURRIED = {
    "SEKISHO_UPSTREAM__TIMEOUT_S": "2",
    "SEKISHO_FAITHFULNESS__JUDGE": "off",
    "SEKISHO_FAITHFULNESS__ON_UNCHECKED": "deliver",
    "SEKISHO_FAITHFULNESS__TIMEOUT_S": "1",
}


@pytest.fixture
def chatbot() -> Iterator[Chatbot]:
    with Chatbot() as bot:
        yield bot


@contextmanager
def served(
    folder: Path, chatbot: Chatbot, *, output: Path | None = None, more: Mapping[str, str] = NOTHING
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    config = folder / "sekisho.yaml"
    config.write_text(CONFIG.format(upstream=UPSTREAM.format(url=chatbot.base_url)))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gateway", "serve", "--config", str(config), "--port", str(port)]
    environment = {**os.environ, "STOP_KEY": KEY, **more}
    if output is None:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    else:
        with output.open("wb") as log:
            environment["SEKISHO_LOGGING__LEVEL"] = "info"
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 120
        while not ready(url):
            assert process.poll() is None, "the gateway did not come up"
            assert time.monotonic() < deadline, "the gateway took over two minutes to come up"
            time.sleep(0.05)
        yield url, process
    finally:
        process.kill()
        process.wait()


def ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/readyz", trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False


def client(url: str) -> httpx2.Client:
    return httpx2.Client(
        base_url=url, headers={"authorization": f"Bearer {KEY}"}, timeout=60, trust_env=False
    )


def kept(folder: Path, what: str) -> int:
    with closing(sqlite3.connect(folder / ".sekisho/sekisho.db")) as database:
        found: int = database.execute(f"SELECT count(*) FROM {what}").fetchone()[0]
    return found


under_nohup = pytest.mark.skipif(
    signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, reason="whom nohup starts hears no SIGHUP"
)


@pytest.mark.parametrize("told", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=under_nohup)])
def test_an_open_stream_gets_its_answer_and_its_outcome_is_recorded(
    chatbot: Chatbot, tmp_path: Path, told: signal.Signals
) -> None:
    chatbot.says("We open at nine.", contexts=["We open at nine."], delay_s=2)
    with served(tmp_path, chatbot) as (url, process), client(url) as http:
        body = {"messages": [{"role": "user", "content": "When do you open?"}], "stream": True}
        with http.stream("POST", "/v1/chat/completions", json=body) as stream:
            lines = stream.iter_lines()
            first = next(lines)  # the question is on its way
            process.send_signal(told)
            text = "\n".join([first, *lines])
        assert process.wait(30) == 0
    assert "data: [DONE]" in text
    assert "nine" in text
    assert kept(tmp_path, "outcomes") == 1


@pytest.mark.parametrize("reads", [True, False], ids=["sends no body", "reads no stream"])
def test_a_client_that_stalls_is_waited_for_no_longer_than_a_request_may_take(
    chatbot: Chatbot, tmp_path: Path, reads: bool
) -> None:
    log = tmp_path / "log"
    chatbot.says("word " * 30_000, delay_s=0.5)
    with served(tmp_path, chatbot, output=log, more=HURRIED) as (url, process), client(url) as http:
        port = httpx2.URL(url).port
        with socket.socket() as stalled:
            stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            stalled.connect(("127.0.0.1", port))
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: sekisho\r\nAuthorization: Bearer {KEY}\r\n"
            body = b'{"stream": true, "messages": [{"role": "user", "content": "When do you open?"}]}'
            length = 500 if reads else len(body)
            head += f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
            stalled.sendall(head.encode() + body)
            time.sleep(2)
            assert http.post("/v1/answers", json={}).status_code == 400  # others are served meanwhile
            process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            assert process.wait(30) == 0
    assert 3 < time.monotonic() - began < 20
    cut = [json.loads(line) for line in log.read_text().splitlines() if "request cut off" in line]
    assert [(one["method"], one["path"]) for one in cut] == [("POST", "/v1/chat/completions")]


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
def test_a_full_disk_under_the_log_costs_nobody_an_answer(chatbot: Chatbot, tmp_path: Path) -> None:
    chatbot.next(Says("We open at nine.", contexts=["We open at nine."]), Fails(500))
    with served(tmp_path, chatbot, output=FULL) as (url, process), client(url) as http:
        for outcome in ("rag", "escalated"):
            reply = http.post("/v1/answers", json={"question": "When do you open?"})
            assert (reply.status_code, reply.json().get("outcome")) == (200, outcome)
        assert http.post("/v1/answers", json={}).status_code == 400
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert kept(tmp_path, "outcomes") == 2


def test_a_serving_that_is_cancelled_answers_who_waits_and_records_it(
    chatbot: Chatbot, tmp_path: Path
) -> None:
    chatbot.says("We open at nine.", contexts=["We open at nine."], delay_s=1)
    text = f"gate: {{enabled: false}}\nupstream: {UPSTREAM.format(url=chatbot.base_url)}"
    with ThreadPoolExecutor() as asker:
        with Gateway(settings(tmp_path, text)) as gateway:
            waiting = asker.submit(gateway.answer, "When do you open?")
            while not chatbot.asked:
                assert not waiting.done(), waiting.result()
                time.sleep(0.01)
        assert waiting.result()["outcome"] == "rag"
    assert kept(tmp_path, "outcomes") == 1


def test_no_ticket_that_was_told_is_lost_and_no_request_is_left_without_an_answer(
    chatbot: Chatbot, tmp_path: Path
) -> None:
    chatbot.says("Nobody wrote that.")  # without contexts it is unchecked, so a person gets it
    tickets: list[str] = []

    def ask(url: str) -> None:
        with client(url) as http:
            while True:
                try:
                    reply = http.post(
                        "/v1/answers", json={"question": f"Who looks after shelf {len(tickets)}?"}
                    )
                except httpx2.NetworkError:
                    return  # no new request is taken
                except httpx2.RemoteProtocolError:  # it was sent on a connection that was being closed
                    return
                assert reply.status_code == 200, reply.text
                tickets.append(reply.headers["x-sekisho-ticket"])

    with served(tmp_path, chatbot) as (url, process):
        askers = [threading.Thread(target=ask, args=[url]) for _ in range(4)]
        for asker in askers:
            asker.start()
        deadline = time.monotonic() + 60
        while len(tickets) < 20 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        for asker in askers:
            asker.join(30)
    assert len(set(tickets)) == len(tickets) >= 20
    assert kept(tmp_path, "tickets") == len(tickets)
    assert kept(tmp_path, "outcomes") == len(tickets)
