"""Fixtures that every part shares: real stores, made new for each test."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NoReturn

import httpcore2
import pytest
import structlog
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings
from qdrant_client import AsyncQdrantClient

from classifiers.gate.kept import KeptFits
from encoders import EncoderIdentity, Vector, runtime
from encoders.runtime import OnnxModel, Tokens
from gateway.gatekeeping import opening
from gateway.people import passwords
from gateway.recording.logs import HANDLER
from gateway.settings import Settings
from gateway.stores import Stores
from storage import quick, sqlite
from storage.arrays import ArrayFolder
from storage.edge import EdgeIndex
from storage.qdrant import QdrantIndex
from storage.sql import Database
from storage.testing import MemoryIndex
from storage.vectors import VectorIndex
from tests.known_rows import KnownRows
from tests.postgres import PostgresServer
from tests.prepared import PreparedDatabases

os.environ["COLUMNS"] = "160"  # tables are as wide wherever the tests run
os.environ["OMP_NUM_THREADS"] = "1"  # the workers share the cores: torch's second thread waits by spinning
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")  # how long an example takes depends on what else the machine does
quick.READING_S = quick.WRITING_S = 60.0  # and so does how long a database takes

LONG = {
    "cache/test_traps.py",
    "classifiers/faithfulness/test_probes.py",
    "classifiers/gate/test_attacks.py",
    "console/test_tickets.py",
    "durability/test_kill.py",
    "durability/test_shutdown.py",
    "evaluation/answers/test_runs.py",
    "examples/test_simulated_week.py",
    "gateway/test_beside.py",
    "gateway/test_tour.py",
}
OpenIndex = Callable[[EncoderIdentity], Awaitable[VectorIndex]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """How often the gateway is killed in tests/durability."""
    parser.addoption("--kills", type=int, default=5)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take minutes begin first: whoever got one of them last left the other worker idle."""
    tests = Path(__file__).parent
    items.sort(key=lambda item: item.path.relative_to(tests).as_posix() not in LONG)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: to look through it for garbage again and again took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


class RealModels:
    """What `_models_are_shared` puts something else in the place of."""

    rows, session, tokenizer = OnnxModel.rows, runtime._session, runtime._tokenizer


@pytest.fixture(scope="session", autouse=True)
def _models_are_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Gateways that start in one process load the same models, and all of a run read the same texts with them once.

    The vectors are the models' own. tests/encoders loads and asks the models each time.
    """
    known = KnownRows(of_all_workers(tmp_path_factory) / "rows.db")

    async def rows(model: OnnxModel, sequences: Sequence[Tokens]) -> Vector:
        return await known.of(model.card.digest, sequences, partial(RealModels.rows, model))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OnnxModel, "rows", rows)
        patch.setattr(runtime, "_session", cache(RealModels.session))
        patch.setattr(runtime, "_tokenizer", cache(RealModels.tokenizer))
        yield
    known.close()


@pytest.fixture(scope="session", autouse=True)
def _databases_are_prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each test's databases are new, their schema is made once. tests/storage makes it each time."""
    prepared = PreparedDatabases(tmp_path_factory.mktemp("prepared") / "sekisho.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "connect", prepared.connect)
        yield


@pytest.fixture(scope="session", autouse=True)
def _fits_are_kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A gate over stores with nothing in them is fitted once, as by a gateway that starts again.

    What a fit depends on is in its key, except for which entries there are. tests/classifiers fits each time.
    """
    own, together = opening.kept_fits, ArrayFolder(of_all_workers(tmp_path_factory) / "fits", most=1_000)

    async def kept_fits(settings: Settings, stores: Stores, tenant: str) -> KeptFits:
        kept = await own(settings, stores, tenant)
        return kept if await stores.entries.questions(tenant, limit=1) else replace(kept, folder=together)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "kept_fits", kept_fits)
        yield


def of_all_workers(factory: pytest.TempPathFactory) -> Path:
    """A folder of this run alone."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session", autouse=True)
def _what_is_dear_on_purpose_is_cheap() -> Iterator[None]:
    """A password takes 0.1 s to check, a client 0.02 s to read the machine's certificates, which nobody shows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            passwords, "PasswordHasher", partial(PasswordHasher, memory_cost=8, time_cost=1, parallelism=1)
        )
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        yield


@pytest.fixture(autouse=True)
def _no_log_outlives_its_test() -> Iterator[None]:
    """A gateway logs to the standard error of its test, which is closed when the next one begins."""
    yield
    root = logging.getLogger()
    root.handlers[:] = [one for one in root.handlers if one.name != HANDLER]
    logging.captureWarnings(False)
    structlog.reset_defaults()
    structlog.configure(processors=[_dropped])  # those that tests share live on


def _dropped(logger: object, method: str, event: object) -> NoReturn:
    raise structlog.DropEvent


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server, started by the first test that asks for it."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(params=["SQLite", "PostgreSQL"])
async def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """The address of an empty database, once of each kind."""
    if request.param == "SQLite":
        yield f"sqlite:///{tmp_path / 'store' / 'sekisho.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = await server.lend_database()
    yield server.url(name)
    await server.take_back(name)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An open database with the present schema, once of each kind."""
    opened = await Database.open(database_url)
    yield opened
    await opened.close()


@pytest.fixture
def identity() -> EncoderIdentity:
    """An encoder small enough to write its vectors by hand. A test module may say otherwise."""
    return EncoderIdentity(name="by-hand", dimensions=4, digest="0" * 64, languages=("en", "ja", "zh"))


@pytest.fixture(params=["Qdrant Edge", "Qdrant client"])
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> OpenIndex:
    """Opens the same stored index again and again; close one before the next."""

    async def open_edge(identity: EncoderIdentity) -> VectorIndex:
        return await EdgeIndex.open(tmp_path / "index", identity=identity)

    async def open_client(identity: EncoderIdentity) -> VectorIndex:
        client = AsyncQdrantClient(path=str(tmp_path / "qdrant"))
        return await QdrantIndex.open(client, "entries", identity=identity)

    return open_edge if request.param == "Qdrant Edge" else open_client


@pytest.fixture(params=["Qdrant Edge", "Qdrant client", "memory"])
async def index(
    request: pytest.FixtureRequest, tmp_path: Path, identity: EncoderIdentity
) -> AsyncIterator[VectorIndex]:
    """An empty index, once of each kind."""
    opened: VectorIndex
    if request.param == "Qdrant Edge":
        opened = await EdgeIndex.open(tmp_path / "index", identity=identity)
    elif request.param == "Qdrant client":
        client = AsyncQdrantClient(location=":memory:")
        opened = await QdrantIndex.open(client, "entries", identity=identity)
    else:
        opened = MemoryIndex(identity)
    yield opened
    await opened.close()
