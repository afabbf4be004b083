"""An admin exports what was asked and has an asker forgotten, over HTTP and by the command; the whole storage folder is looked through."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli import app
from tests.gateway.running import Gateway, settings

MARK = "xyzzyplugh"
POLICY = """
policy: {must: {description: Questions about the library., examples: [When does the library open?]}}
gate: {enabled: false}
logging: {texts: true}
"""


def files_with(folder: Path, mark: str) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and mark.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("key", ["", "5c" * 64], ids=["plain", "sealed"])
def test_an_admin_exports_tickets_and_has_an_asker_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    text = POLICY.replace("logging: {texts: true}\n", "")
    secret = {"SEKISHO_STORAGE__ENCRYPTION_KEY": key} if key else {}
    for name, value in secret.items():
        monkeypatch.setenv(name, value)
    with Gateway(settings(tmp_path, text, SEKISHO_LOGGING__TEXTS="true")) as gateway:
        asked = gateway.answer(f"Who is {MARK}?", user=f"staff/{MARK}@example.org")
        ticket = asked["ticket"]
        with gateway.http() as client:
            assert client.delete("/v1/askers/somebody").status_code == 403
            assert client.get(f"/v1/tickets/{ticket}").status_code == 200
            assert bool(files_with(tmp_path, MARK)) == (not key)
            assert client.get("/v1/export/tickets").status_code == 403
            with gateway.http("admin") as admin:
                exported = admin.get("/v1/export/tickets", params={"form": "csv"})
                assert exported.headers["content-type"] == "text/csv; charset=utf-8"
                assert MARK in exported.text
                assert admin.get("/v1/export/api_keys").status_code == 400
                erased = admin.delete(f"/v1/askers/staff/{MARK}@example.org").json()
                assert (erased["kind"], erased["counts"]["tickets"], erased["counts"]["outcomes"]) == (
                    "asker", 1, 1,
                )  # fmt: skip
                assert [one["id"] for one in admin.get("/v1/erasures").json()["erasures"]] == [erased["id"]]
            assert client.get(f"/v1/tickets/{ticket}").status_code == 404
        assert files_with(tmp_path, MARK) == []
    monkeypatch.chdir(tmp_path)
    for role in ("CLIENT", "REVIEWER", "ADMIN", "OTHER"):
        monkeypatch.setenv(f"TEST_KEY_{role}", "k" * 20 + role)
    told = CliRunner().invoke(app, ["forget", "--asker", "nobody"])
    assert told.exit_code == 0, told.output
    assert "Rows deleted, or left without texts: none" in told.output
    told = CliRunner().invoke(app, ["forget", "--older-than", "1"])
    assert "There was nothing to delete." in told.output
    told = CliRunner().invoke(app, ["forget", "--older-than", "100000"])
    assert (told.exit_code, "36500" in told.output) == (2, True)
