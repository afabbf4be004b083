"""How long askers wait for a database that hangs: PostgreSQL behind a link that goes dead.

    python -m benchmarks.hanging_database [--askers 40]

One gateway in this process, and askers who all ask at once after the link has died; then four more, one after
the other. Every second question is in the cache.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console

from tests.chatbot import Chatbot
from tests.dead_link import DeadLink
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import Gateway, settings
from tests.postgres import PostgresServer

KNOWN = "When does the library open?"
PATIENCE_S = 300.0


def main() -> None:
    """Ask, and print the slowest of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--askers", type=int, default=40)
    askers = parser.parse_args().askers
    with _gateway() as (gateway, link):
        gateway.answer(KNOWN)
        link.die()
        with ThreadPoolExecutor(askers) as pool:
            at_once = list(pool.map(partial(_waited_s, gateway), range(askers)))
        after = [_waited_s(gateway, number) for number in range(4)]
        link.revive()
    _print(f"{askers} at once", at_once)
    _print("then, one after the other", after)


@contextmanager
def _gateway() -> Iterator[tuple[Gateway, DeadLink]]:
    postgres = PostgresServer()
    postgres.start()
    try:
        name = asyncio.run(postgres.create_database())
        with (
            DeadLink(f"{postgres.folder}/.s.PGSQL.5432") as link,
            Chatbot() as bot,
            tempfile.TemporaryDirectory() as folder,
        ):
            text = POLICY + UPSTREAM.format(url=bot.base_url) + "\nstorage: {url: '${DATABASE}'}\n"
            url = f"postgresql://postgres@127.0.0.1:{link.port}/{name}"
            with Gateway(settings(Path(folder), text, DATABASE=url)) as gateway:
                with gateway.http("reviewer") as reviewer:
                    entry = {"kind": "ground_truth", "language": "en", "phrasings": [KNOWN]}
                    reviewer.post("/v1/entries", json=entry | {"answer": "At nine.", "state": "active"})
                yield gateway, link
    finally:
        postgres.stop()


def _waited_s(gateway: Gateway, number: int) -> float:
    question = f"How do I renew loan {number} online?" if number % 2 else KNOWN
    started = time.monotonic()
    with gateway.http() as client:
        client.post("/v1/answers", json={"question": question}, timeout=PATIENCE_S)
    return time.monotonic() - started


def _print(who: str, waited_s: Sequence[float]) -> None:
    ordered = sorted(waited_s)
    Console().print(f"{who}: median {ordered[len(ordered) // 2]:.1f} s, slowest {ordered[-1]:.1f} s")


if __name__ == "__main__":
    main()
