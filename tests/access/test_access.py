"""Keys, tenants and roles, on real stores and over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from sqlalchemy import delete, select

from gateway.errors import ConfigurationError, InvalidRequest, NotAuthenticated, NotFound, SekishoError
from gateway.people.access import AdminDep, BootstrapKey, Caller, ClientDep, Keys, ReviewerDep, Role
from gateway.routes.envelope import envelope
from storage.schema import api_keys
from storage.sql import Database

OPERATORS = BootstrapKey("sk-of-the-settings-0001", "acme", "admin", "operators")


class _SlowKeys(Keys):
    """Takes a while between reading a key and remembering it."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.read, self.go_on = asyncio.Event(), asyncio.Event()

    async def _look_up(self, digest: str) -> Caller | None:
        found = await super()._look_up(digest)
        self.read.set()
        await self.go_on.wait()
        return found


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_key_says_who_holds_it(database: Database) -> None:
    keys = Keys(database)
    key = await keys.create("acme", "reviewer", "Sato")
    assert key.startswith("sk-sekisho-")
    assert await keys.caller(key) == Caller("acme", "reviewer", "Sato")


async def test_a_key_says_whose_entries_its_holder_reads(database: Database) -> None:
    keys = Keys(
        database, bootstrap=[BootstrapKey("sk-of-the-settings-0002", "acme", "client", "web", "board")]
    )
    key = await keys.create("acme", "client", "intranet", group="staff")
    assert await keys.caller(key) == Caller("acme", "client", "intranet", "staff")
    assert (await keys.caller("sk-of-the-settings-0002")).group == "board"
    assert [record.group for record in await keys.list()] == ["staff"]
    assert (await Keys(database, required=False).caller(None)).group == ""


@pytest.mark.parametrize("group", ["Staff", "sales team", "*", "x" * 41, "staff\n"])
async def test_a_key_for_a_group_without_a_plain_name_is_refused(database: Database, group: str) -> None:
    with pytest.raises(InvalidRequest, match="a letter first") as refused:
        await Keys(database).create("acme", "client", group=group)
    assert refused.value.param == "group"


async def test_only_a_hash_is_stored(database: Database) -> None:
    key = await Keys(database).create("acme", "client", "web")
    async with database.connect() as connection:
        row = (await connection.execute(select(api_keys))).one()
    assert key not in str(row)
    assert len({await Keys(database).create("acme", "client") for _ in range(5)}) == 5


async def test_a_key_without_a_label_is_still_told_apart_in_the_history(database: Database) -> None:
    keys = Keys(database)
    first, second = [await keys.caller(await keys.create("acme", "reviewer")) for _ in range(2)]
    assert first.label.startswith("key ")
    assert first.label != second.label


@pytest.mark.parametrize("key", [None, "", "sk-sekisho-made-up", "日本語", "\ud800", "x" * 100_000])
async def test_an_unknown_key_is_nobody(database: Database, key: str | None) -> None:
    with pytest.raises(NotAuthenticated):
        await Keys(database).caller(key)


async def test_a_key_that_is_revoked_while_it_is_looked_up_is_not_remembered(database: Database) -> None:
    keys = _SlowKeys(database)
    key = await keys.create("acme", "client", "web")
    [record] = await keys.list()
    asking = asyncio.create_task(keys.caller(key))
    await keys.read.wait()
    await keys.revoke(record.id)
    keys.go_on.set()
    await asking  # it was valid when it came
    with pytest.raises(NotAuthenticated):
        await keys.caller(key)


async def test_a_revoked_key_stops_at_once_here_and_within_seconds_elsewhere(database: Database) -> None:
    clock = _Clock()
    here, elsewhere = Keys(database, clock=clock), Keys(database, clock=clock)
    key = await here.create("acme", "client", "web")
    assert await here.caller(key) == await elsewhere.caller(key)
    [record] = await here.list(tenant="acme")
    await here.revoke(record.id)
    await here.revoke(record.id)
    with pytest.raises(NotAuthenticated, match="revoked"):
        await here.caller(key)
    clock.now += 5.1
    with pytest.raises(NotAuthenticated):
        await elsewhere.caller(key)
    [record] = await here.list()
    assert record.revoked_at is not None
    assert record.revoked_at.tzinfo is not None


async def test_revoking_what_is_not_there_is_said(database: Database) -> None:
    for key_id, told in (("nine", "nine"), ("ni\x00e", "ni\ufffde"), ("ni\ud800e", "ni.e")):
        with pytest.raises(NotFound, match=f"no key {told}"):
            await Keys(database).revoke(key_id)


async def test_a_key_of_the_settings_needs_no_store(database: Database) -> None:
    keys = Keys(database, bootstrap=[OPERATORS])
    assert await keys.caller(OPERATORS.key) == Caller("acme", "admin", "operators")
    assert await keys.list() == []
    assert OPERATORS.key not in repr(OPERATORS)


async def test_a_guessable_key_in_the_settings_stops_the_start(database: Database) -> None:
    with pytest.raises(ConfigurationError, match="16 characters"):
        Keys(database, bootstrap=[BootstrapKey("secret", "acme", "admin", "operators")])


async def test_without_authentication_everybody_is_a_client_and_reviewers_still_need_a_key(
    database: Database,
) -> None:
    keys = Keys(database, required=False)
    reviewer = await keys.create("acme", "reviewer", "Sato")
    assert (
        await keys.caller(None) == await keys.caller("anything") == Caller("default", "client", "anonymous")
    )
    assert (await keys.caller(reviewer)).role == "reviewer"


async def test_a_flood_of_made_up_keys_does_not_fill_the_memory(database: Database) -> None:
    keys = Keys(database, required=False)
    for number in range(5_000):
        keys._remembered[str(number)] = (1e12, None)
    await keys.caller("one more")
    assert len(keys._remembered) == 1


async def test_a_known_key_asks_no_database(database: Database) -> None:
    keys = Keys(database)
    key = await keys.create("acme", "client", "web")
    known = await keys.caller(key)
    async with database.begin() as connection:
        await connection.execute(delete(api_keys))
    assert await keys.caller(key) == known


@pytest.mark.parametrize(
    ("tenant", "role", "label", "field"),
    [
        ("", "client", "", "tenant"),
        ("t" * 65, "client", "", "tenant"),
        ("acme", "boss", "", "role"),
        ("acme", "client", "l" * 201, "label"),
        ("t\x00", "client", "", "tenant"),
        ("t\ud800", "client", "", "tenant"),
        ("acme", "client", "l\x00", "label"),
        ("acme", "client", "l\ud800", "label"),
    ],
)
async def test_a_key_for_nobody_is_refused(
    database: Database, tenant: str, role: Role, label: str, field: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await Keys(database).create(tenant, role, label)
    assert refused.value.param == field


@dataclass
class _Services:
    keys: Keys


@pytest.fixture
async def http(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    app = FastAPI()
    app.state.services = _Services(Keys(database, bootstrap=[OPERATORS]))

    @app.get("/client")
    async def client(caller: ClientDep) -> str:
        return caller.tenant

    @app.get("/reviewer")
    async def reviewer(caller: ReviewerDep) -> str:
        return caller.tenant

    @app.get("/admin")
    async def admin(caller: AdminDep) -> str:
        return caller.tenant

    @app.exception_handler(SekishoError)
    async def named(_: Request, exc: SekishoError) -> JSONResponse:
        return JSONResponse(envelope(exc), exc.status)

    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app), base_url="http://gateway"
    ) as client_:
        yield client_


@pytest.mark.parametrize(
    ("role", "statuses"),
    [("client", (200, 403, 403)), ("reviewer", (200, 200, 403)), ("admin", (200, 200, 200))],
)
async def test_a_role_may_do_what_the_lower_ones_may(
    http: httpx2.AsyncClient, database: Database, role: Role, statuses: tuple[int, ...]
) -> None:
    key = await Keys(database).create("acme", role, "somebody")
    replies = [
        await http.get(path, headers={"Authorization": f"Bearer {key}"})
        for path in ("/client", "/reviewer", "/admin")
    ]
    assert tuple(reply.status_code for reply in replies) == statuses
    assert replies[0].json() == "acme"


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic YWxhZGRpbg==", "sk-of-the-settings-0001"]
)
async def test_a_header_without_a_bearer_key_is_no_key(http: httpx2.AsyncClient, header: str | None) -> None:
    reply = await http.get("/client", headers={} if header is None else {"Authorization": header})
    assert reply.status_code == 401
    assert "Authorization: Bearer" in reply.json()["error"]["message"]


async def test_the_scheme_is_read_in_any_case(http: httpx2.AsyncClient) -> None:
    reply = await http.get("/admin", headers={"Authorization": f"bearer  {OPERATORS.key} "})
    assert reply.status_code == 200
