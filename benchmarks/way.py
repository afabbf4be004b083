"""What the way itself costs: the gateway on one core, an instant chatbot and the load on the other.

    python -m benchmarks.way [--seconds 10]

Each row is one kind of question. Open loop at 50 to 400 requests a second: time from when a request was due;
closed loop: 16 connections as fast as they can. The first row is the floor: the load generator asks the
instant chatbot itself. "adds" is the row's p50 less the floor's at the same rate.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

import uvloop
from rich.console import Console
from rich.table import Table

from benchmarks.load import closed_loop, open_loop, request
from training.command import rows

ROOT = Path(__file__).parent.parent
RATES = (50, 100, 200, 400)
GATEWAY_CORE, LOAD_CORE = 0, max(os.sched_getaffinity(0))

PASS_THROUGH = """
gate: {{enabled: false}}
cache: {{enabled: false}}
faithfulness: {{judge: "off", on_unchecked: deliver}}
upstream:
  kind: openai
  base_url: "http://127.0.0.1:{upstream}/v1"
  model: instant
  contexts: azure-on-your-data
logging: {{level: warning}}
auth: {{keys: [{{key: "${{BENCH_KEY}}", role: admin}}]}}
"""


class Row(NamedTuple):
    """A kind of question, and how to ask it."""

    name: str
    port: int
    requests: list[bytes]


def main() -> None:
    """Start everything, load it, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rows", default="", help="comma-separated parts of row names")
    args = parser.parse_args()
    os.sched_setaffinity(0, {LOAD_CORE})
    key = "bench-" + secrets.token_hex(16)
    with (
        tempfile.TemporaryDirectory() as folder,
        _upstream() as upstream,
        _pass_through(Path(folder), upstream, key) as passing,
        _helpdesk(Path(folder), key) as helpdesk,
    ):
        chosen = [row for row in _rows(upstream, passing, helpdesk, key) if _wanted(row, args.rows)]
        table = uvloop.run(_measure(chosen, args.seconds))
    Console(width=140).print(table)


def _rows(upstream: int, passing: int, helpdesk: int, key: str) -> Iterator[Row]:
    def chat(question: str, **more: object) -> bytes:
        body = {"model": "sekisho", "messages": [{"role": "user", "content": question}], **more}
        return request("/v1/chat/completions", json.dumps(body).encode(), key)

    entries = rows(ROOT / "examples/helpdesk/en/entries.jsonl")

    def answered(questions: Iterable[str], reason: str) -> list[str]:
        return [question for question in questions if _outcome(helpdesk, question, key).startswith(reason)]

    stored = [entry["question"] for entry in entries]
    may = (ROOT / "examples/helpdesk/en/may.txt").read_text("utf-8").splitlines()
    exact = answered(stored, "verified_exact")  # one that goes to RAG takes ten times as long: the tail, then
    near = answered(_near_duplicates(stored), "verified_vector")
    refused = answered(may, "may")
    yield Row("floor: load generator to chatbot", upstream, [chat("What are your hours?")])
    yield Row("passed through, checks off", passing, [chat("What are your hours?")])
    yield Row("passed through, streamed", passing, [chat("What are your hours?", stream=True)])
    yield Row(f"exact hit ({len(exact)} questions)", helpdesk, [chat(question) for question in exact])
    yield Row(f"vector hit ({len(near)} questions)", helpdesk, [chat(question) for question in near])
    yield Row(f"refused ({len(refused)} questions)", helpdesk, [chat(question) for question in refused])
    yield Row("exact hit, streamed", helpdesk, [chat(question, stream=True) for question in exact])


def _near_duplicates(questions: list[str]) -> Iterator[str]:
    for question in questions:
        bare = question[0].lower() + question[1:].rstrip("?")
        yield f"Can you tell me {bare}"
        yield f"{bare} exactly"
        yield f"I would like to know {bare}"


def _outcome(port: int, question: str, key: str) -> str:
    body = json.dumps({"question": question}).encode()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    with urlopen(Request(f"http://127.0.0.1:{port}/v1/answers", body, headers)) as reply:
        return str(json.load(reply)["reason"])


async def _measure(rows: list[Row], seconds: float) -> Table:
    table = Table(
        "",
        *(f"{rate}/s p50 / p99 ms" for rate in RATES),
        "adds p50 at 100/s",
        "closed loop, 16",
        title="The way itself",
    )
    floor = 0.0
    for place, row in enumerate(rows):
        await closed_loop(row.port, row.requests, seconds=1)  # warm
        opened = {rate: await open_loop(row.port, row.requests, rate=rate, seconds=seconds) for rate in RATES}
        closed = await closed_loop(row.port, row.requests, seconds=seconds)
        at_100 = opened[100].percentile(50)
        floor = floor if place else at_100
        cells = [f"{load.percentile(50):.2f} / {load.percentile(99):.2f}" for load in opened.values()]
        failed = sum(load.failed for load in [*opened.values(), closed])
        told = f"{closed.per_second:,.0f}/s" + (f" ({failed} failed)" if failed else "")
        table.add_row(row.name, *cells, f"{at_100 - floor:.2f}", told)
    return table


def _wanted(row: Row, parts: str) -> bool:
    return not parts or row.name.startswith("floor") or any(part in row.name for part in parts.split(","))


@contextmanager
def _upstream() -> Iterator[int]:
    port = _free_port()
    with _process([sys.executable, str(ROOT / "benchmarks/instant_upstream.py"), str(port)], LOAD_CORE, port):
        yield port


@contextmanager
def _pass_through(folder: Path, upstream: int, key: str) -> Iterator[int]:
    port, config = _free_port(), folder / "pass.yaml"
    config.write_text(PASS_THROUGH.format(upstream=upstream))
    command = [sys.executable, "-m", "gateway", "serve", "--config", str(config), "--port", str(port)]
    with _process(command, GATEWAY_CORE, port, BENCH_KEY=key, SEKISHO_STORAGE__FOLDER=str(folder / "pass")):
        yield port


@contextmanager
def _helpdesk(folder: Path, key: str) -> Iterator[int]:
    """The example helpdesk as `sekisho demo` serves it; no vector is remembered: each question is encoded."""
    port = _free_port()
    keys = json.dumps([{"key": key, "role": "admin"}])
    command = [sys.executable, "-m", "gateway", "demo", "--port", str(port), "--folder", str(folder / "demo")]
    with _process(
        command,
        GATEWAY_CORE,
        port,
        SEKISHO_AUTH__KEYS=keys,
        SEKISHO_LOGGING__LEVEL="warning",
        SEKISHO_ENCODER__REMEMBERED="0",
    ):
        yield port


@contextmanager
def _process(command: list[str], core: int, port: int, **environment: str) -> Iterator[None]:
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    try:
        deadline = time.monotonic() + 120
        while not _ready(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{' '.join(command)} did not start")
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(20)


def _ready(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


if __name__ == "__main__":
    main()
