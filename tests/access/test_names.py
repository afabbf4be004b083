"""Who did something is told by his name, so no two of a tenant have one."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from gateway.cli import app
from gateway.configuration.loading import load_settings
from gateway.errors import ConfigurationError, NameTaken
from gateway.people import Users
from gateway.people.access import Keys
from gateway.people.names import check_names
from gateway.settings import AuthSettings
from storage.schema import api_keys
from storage.sql import Database

NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)
PASSWORD = "correct horse battery"


def auth(*keys: tuple[str, str]) -> AuthSettings:
    """Settings with a key for each role and label."""
    given = [
        {"key": f"sk-of-the-settings-{place:04}", "role": role, "label": label, "tenant": "acme"}
        for place, (role, label) in enumerate(keys)
    ]
    return AuthSettings.model_validate({"keys": given})


async def test_keys_of_the_settings_without_a_label_are_told_apart(database: Database) -> None:
    settings = auth(("reviewer", ""), ("admin", ""), ("reviewer", "Sato"), ("reviewer", ""))
    keys = Keys.of(settings, database)
    told = [(await keys.caller(key.key.get_secret_value())).label for key in settings.keys]
    assert told == ["reviewer of the settings", "admin of the settings", "Sato", "reviewer of the settings 2"]


def test_two_keys_of_one_label_in_the_settings_are_refused_by_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "sekisho.yaml"
    keys = [f"    - {{key: '${{KEY_{place}}}', role: reviewer, label: Sato}}" for place in range(2)]
    file.write_text("policy: {must: {description: Papers.}}\nauth:\n  keys:\n" + "\n".join(keys), "utf-8")
    for place in range(2):
        monkeypatch.setenv(f"KEY_{place}", f"sk-of-the-settings-{place}")
    with pytest.raises(ConfigurationError, match=r"auth: .*keys\[1\]\.label: expected one that no other key"):
        load_settings(file)
    auth(("reviewer", "Sato"), ("reviewer", "Tanaka"))


async def test_a_key_is_not_made_under_a_name_that_is_taken(database: Database) -> None:
    keys = Keys.of(auth(("reviewer", "Suzuki")), database)
    await Users(database).add("Sato", tenant="acme", role="reviewer", password=PASSWORD)
    await keys.create("acme", "reviewer", "Tanaka")
    for taken in ("Sato", "Tanaka", "Suzuki"):
        with pytest.raises(NameTaken, match="label: expected a name that nobody else in acme has") as refused:
            await keys.create("acme", "client", taken)
        assert refused.value.param == "label"
        await keys.create("globex", "client", taken)
    [tanaka] = [one for one in await keys.list(tenant="acme") if one.label == "Tanaka"]
    await keys.revoke(tanaka.id)
    await keys.create("acme", "reviewer", "Tanaka")  # his next key


async def test_of_two_keys_made_at_once_under_one_name_one_is(database: Database) -> None:
    made = [Keys(database).create("acme", "reviewer", "Sato") for _ in range(4)]
    done = await asyncio.gather(*made, return_exceptions=True)
    assert sorted(type(one).__name__ for one in done) == ["NameTaken", "NameTaken", "NameTaken", "str"]


async def test_a_user_is_not_made_under_the_label_of_a_key(database: Database) -> None:
    settings = auth(("reviewer", "Suzuki"))
    users = Users(database, reserved=settings.names)
    await Keys.of(settings, database).create("acme", "reviewer", "Sato")
    for taken in ("Sato", "Suzuki"):
        with pytest.raises(NameTaken, match="name: expected a name that nobody else in acme has"):
            await users.add(taken, tenant="acme", role="reviewer", password=PASSWORD)
        with pytest.raises(NameTaken, match="nobody else in acme"):
            await users.welcome(f"https://idp.example#{taken}", taken, tenant="acme", role="viewer")
        assert await users.find(taken) is None
        await users.add(taken, tenant="globex", role="reviewer", password=PASSWORD)
        with pytest.raises(NameTaken, match="nobody else in acme"):
            await users.add(taken, tenant="acme", role="reviewer")


async def test_who_is_there_already_keeps_his_name_and_his_role_can_change(database: Database) -> None:
    users = Users(database)
    await users.add("Sato", tenant="acme", role="reviewer", password=PASSWORD)
    async with database.begin() as connection:  # as an earlier release let it be made
        key = {"id": "k-1", "tenant": "acme", "role": "reviewer", "group": "", "label": "Sato", "hash": "0"}
        await connection.execute(api_keys.insert().values(**key, created_at=NOON))
    await users.add("Sato", tenant="acme", role="admin")
    with capture_logs() as logs:
        await check_names(database, auth())
    assert [(one["event"], one["tenant"], one["name"]) for one in logs] == [("name shared", "acme", "Sato")]


async def test_a_label_of_the_settings_that_a_user_has_stops_the_start(database: Database) -> None:
    await Users(database).add("Sato", tenant="acme", role="reviewer", password=PASSWORD)
    await check_names(database, auth(("reviewer", "Tanaka")))
    with pytest.raises(ConfigurationError, match=r"auth\.keys\[1\]\.label: expected one .* a user of the"):
        await check_names(database, auth(("reviewer", ""), ("reviewer", "Sato")))


def test_the_command_knows_the_keys_of_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "sekisho.yaml"
    keys = "auth: {keys: [{key: '${THE_KEY}', role: reviewer, label: Sato}]}"
    file.write_text(f"policy: {{must: {{description: Papers.}}}}\n{keys}\n", "utf-8")
    words = ["--config", str(file)]
    environment = {"THE_KEY": "sk-of-the-settings-1", "CONSOLE_PASSWORD": PASSWORD}
    made = CliRunner().invoke(app, ["key", "--role", "reviewer", "--label", "Sato", *words], env=environment)
    assert isinstance(made.exception, NameTaken)
    user = CliRunner().invoke(app, ["users", "add", "Sato", *words], env=environment)
    assert isinstance(user.exception, NameTaken)
