"""Users, their sessions, and how often one may guess."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY
from sqlalchemy import insert, select, update

from gateway.errors import InvalidRequest, NotAllowed, NotFound, TooManyAttempts
from gateway.people import Attempts, Membership, People, Sessions, Users, passwords
from gateway.people.attempts import MOST_PER_ADDRESS, MOST_PER_NAME
from gateway.people.sessions import console_secret
from storage.schema import sessions, sign_in_failures, users
from storage.sql import Database

PASSWORD = "correct horse battery"


@pytest.fixture
async def people(database: Database) -> People:
    made = People(Users(database), Sessions(database, secret="s" * 32, hours=1), Attempts(database))
    await made.users.add("sato", tenant="acme", role="reviewer", password=PASSWORD)
    return made


async def _signed_in(people: People) -> str:
    cookie = await people.sign_in("sato", PASSWORD, address="192.0.2.1")
    assert cookie is not None
    return cookie


async def test_the_right_password_opens_a_session_with_the_role(people: People) -> None:
    person = await people.sessions.find(await _signed_in(people))
    assert person is not None
    assert (person.name, person.tenant, person.role) == ("sato", "acme", "reviewer")
    assert person.may("viewer")
    assert not person.may("admin")


async def test_only_a_hash_of_the_password_is_kept(people: People, database: Database) -> None:
    async with database.connect() as connection:
        kept = await connection.scalar(select(users.c.password))
    assert kept.startswith("$argon2id$")
    assert PASSWORD not in kept


async def test_to_guess_a_password_from_its_hash_costs_what_the_rfc_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passwords, "PasswordHasher", PasswordHasher)  # as served; cheap in the other tests
    assert extract_parameters(await passwords.hashed(PASSWORD)) == RFC_9106_LOW_MEMORY


@pytest.mark.parametrize("name", ["sato", "nobody", "sato\x00", "sato\ud800", "\x00"])
async def test_a_wrong_password_and_an_unknown_name_are_refused_alike(people: People, name: str) -> None:
    assert await people.sign_in(name, "a wrong password", address="192.0.2.1") is None


async def test_a_name_that_fails_too_often_is_refused_even_with_the_right_password(people: People) -> None:
    for _ in range(MOST_PER_NAME):
        assert await people.sign_in("Sato ", "a wrong password", address="192.0.2.1") is None
    with pytest.raises(TooManyAttempts):
        await people.sign_in("sato", PASSWORD, address="198.51.100.7")


async def test_guesses_that_come_at_once_are_counted_like_those_one_by_one(people: People) -> None:
    guesses = [people.sign_in("sato", f"a guess {n}", address="192.0.2.1") for n in range(4 * MOST_PER_NAME)]
    said = await asyncio.gather(*guesses, return_exceptions=True)
    assert said.count(None) == MOST_PER_NAME, "only so many were compared with the password"
    assert {type(one) for one in said if one is not None} == {TooManyAttempts}


async def test_an_address_that_fails_too_often_is_refused_whatever_the_name(
    people: People, database: Database
) -> None:
    row = {"at": datetime.now(UTC), "name_hash": "x", "address": "192.0.2.1"}
    async with database.begin() as connection:
        await connection.execute(insert(sign_in_failures), [row] * MOST_PER_ADDRESS)
    with pytest.raises(TooManyAttempts):
        await people.sign_in("sato", PASSWORD, address="192.0.2.1")
    assert await people.sign_in("sato", PASSWORD, address="192.0.2.2")


@pytest.mark.parametrize("ago", [timedelta(minutes=16), timedelta(days=-365)], ids=["old", "clock set back"])
async def test_failures_are_forgotten_after_a_while(
    people: People, database: Database, ago: timedelta
) -> None:
    for _ in range(MOST_PER_NAME):
        await people.sign_in("sato", "a wrong password", address="192.0.2.1")
    async with database.begin() as connection:
        await connection.execute(update(sign_in_failures).values(at=datetime.now(UTC) - ago))
    await _signed_in(people)


async def test_a_cookie_that_was_changed_or_signed_elsewhere_is_worth_nothing(
    people: People, database: Database
) -> None:
    cookie = await _signed_in(people)
    assert await people.sessions.find("x" + cookie) is None
    assert await Sessions(database, secret="t" * 32, hours=1).find(cookie) is None
    assert await people.sessions.find(None) is None


async def test_signing_out_ends_the_session_everywhere(people: People) -> None:
    cookie = await _signed_in(people)
    await people.sessions.close(cookie)
    await people.sessions.close(cookie)
    assert await people.sessions.find(cookie) is None


async def test_a_session_ends_when_its_time_is_up(people: People, database: Database) -> None:
    cookie = await _signed_in(people)
    async with database.begin() as connection:
        await connection.execute(update(sessions).values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    assert await people.sessions.find(cookie) is None


async def test_a_disabled_user_is_out_at_once_and_a_new_password_lets_him_in_again(people: People) -> None:
    cookie = await _signed_in(people)
    await people.users.disable("sato")
    assert await people.sessions.find(cookie) is None
    assert await people.sign_in("sato", PASSWORD, address="192.0.2.1") is None
    await people.users.set_password("sato", "another password")
    assert await people.sign_in("sato", "another password", address="192.0.2.1")


async def test_a_user_has_a_role_in_each_of_his_tenants(people: People) -> None:
    await people.users.add("sato", tenant="globex", role="viewer")
    cookie = await _signed_in(people)
    await people.sessions.turn_to(cookie, "globex")
    person = await people.sessions.find(cookie)
    assert person is not None
    assert (person.tenant, person.role) == ("globex", "viewer")
    assert person.memberships == (Membership("acme", "reviewer"), Membership("globex", "viewer"))
    with pytest.raises(NotAllowed):
        await people.sessions.turn_to(cookie, "a stranger's")


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"name": " ", "role": "viewer", "password": PASSWORD}, "name"),
        ({"name": "x\x00", "role": "viewer", "password": PASSWORD}, "name"),
        ({"name": "x", "role": "viewer", "password": PASSWORD, "tenant": "a\x00"}, "tenant"),
        ({"name": "x", "role": "owner", "password": PASSWORD}, "role"),
        ({"name": "x", "role": "viewer", "password": "short"}, "password"),
        ({"name": "x", "role": "viewer"}, "password"),
    ],
    ids=[
        "no name",
        "a name with NUL",
        "a tenant with NUL",
        "no such role",
        "a short password",
        "no password",
    ],
)
async def test_what_cannot_be_a_user_is_refused_by_field(
    people: People, given: dict[str, str], param: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await people.users.add(**{"tenant": "acme"} | given)  # type: ignore[arg-type]
    assert refused.value.param == param


async def test_nobody_can_be_disabled_who_is_not_there(people: People) -> None:
    with pytest.raises(NotFound):
        await people.users.disable("nobody")


async def test_the_identity_providers_user_keeps_his_account_when_his_role_changes(people: People) -> None:
    first = await people.users.welcome("https://idp.example#1", "tanaka", tenant="acme", role="viewer")
    again = await people.users.welcome("https://idp.example#1", "tanaka", tenant="acme", role="admin")
    assert first == again
    person = await people.sessions.find(await people.sessions.open(first, "acme"))
    assert person is not None
    assert person.role == "admin"
    assert await people.sign_in("tanaka", "", address="192.0.2.1") is None


async def test_who_has_no_name_or_number_that_a_database_takes_is_not_welcome(people: People) -> None:
    for subject, name, param in (
        ("https://idp.example#1", "a\x00b", "name"),
        ("#1\x00", "tanaka", "subject"),
    ):
        with pytest.raises(InvalidRequest) as refused:
            await people.users.welcome(subject, name, tenant="acme", role="viewer")
        assert refused.value.param == param


async def test_all_gateways_on_a_database_sign_with_one_secret(database: Database) -> None:
    first = await console_secret(database)
    assert len(first) >= 32
    assert await console_secret(database) == first
