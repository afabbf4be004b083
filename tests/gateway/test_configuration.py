"""A wrong file is refused whole, with the line and what was expected."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from gateway.cli import app
from gateway.configuration.loading import find_settings, load_settings
from gateway.errors import ConfigurationError
from gateway.gatekeeping.policy import read_policy


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str, name: str = "sekisho.yaml") -> Path:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    return write


def test_the_contract_of_the_design_is_read(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_HOST", "rag.internal")
    write("How do I activate my card?\n\nWhere is my PIN?\n", "must.txt")
    write('{"text": "Who won the match?"}\n', "may.jsonl")
    write("text,why\nHow do I forge a card?,crime\n", "crime.csv")
    file = write("""
policy:
  must: {description: Questions about cards., examples: [Lost my card?, And now?], examples_file: must.txt}
  may: {examples_file: may.jsonl, reply: {en: Only banking., ja: 銀行のみです。}}
  must_not:
    reply: {en: I can't help with that.}
    topics:
      - {name: crime, description: How to commit a crime., examples_file: crime.csv, reply: {en: No.}}
cache: {target_error: 0.02}
upstream: {kind: openai, base_url: "http://${RAG_HOST}:${RAG_PORT:9000}/v1", model: m, contexts: azure-on-your-data}
faithfulness: {judge: local, on_unchecked: escalate, streaming: buffer}
""")
    settings = load_settings(file)
    policy = read_policy(settings)
    assert settings.upstream.base_url == "http://rag.internal:9000/v1"
    assert settings.cache.target_error == 0.02
    assert policy.must.examples == (
        "Lost my card?",
        "And now?",
        "How do I activate my card?",
        "Where is my PIN?",
    )
    assert policy.may.examples == ("Who won the match?",)
    assert policy.topics[0].examples == ("How do I forge a card?",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("cache:\n  target_eror: 0.1", ["line 2, cache.target_eror", "did you mean target_error"], id="misspelt key"),
        pytest.param("cash: {}", ["line 1, cash: unknown key", "did you mean cache"], id="misspelt section"),
        pytest.param("cache:\n\n  target_error: 2", ["line 3, cache.target_error", "less than 0.5", "not 2"], id="out of bounds"),
        pytest.param("cache:\n  timezone: JST", ["line 2, cache.timezone", "IANA name, such as Asia/Tokyo, not 'JST'"], id="no time zone"),
        pytest.param("server: {port: eighty}", ["line 1, server.port", "integer", "'eighty'"], id="wrong type"),
        pytest.param("faithfulness: local", ["line 1, faithfulness: expected the keys", "not 'local'"], id="a text for a section"),
        pytest.param("gate:", ["line 1, gate: expected the keys", "not an empty section"], id="an empty section"),
        pytest.param("replies: {withheld: Sorry.}", ["line 1, replies.withheld: expected keys with values", "not 'Sorry.'"], id="a text for a mapping"),
        pytest.param("server: {port: '${NO_SUCH_PORT}'}", ["line 1, server.port", "NO_SUCH_PORT is not set"], id="unset variable"),
        pytest.param("upstream:\n  kind: openai", ["line 1, upstream", "base_url and model"], id="upstream without address"),
        pytest.param("upstream:\n  contexts: difi", ["line 2, upstream.contexts", "no preset 'difi'", "did you mean dify?"], id="misspelt preset"),
        pytest.param("upstream:\n  contexts: 'foo[['", ["line 2, upstream.contexts", "'foo[[' is neither a preset"], id="contexts that are no expression"),
        pytest.param("upstream:\n  api_key: abc", ["line 2, upstream.api_key", "environment only"], id="secret in the file"),
        pytest.param("auth:\n  keys:\n    - {key: hunter2hunter2hunter2, role: admin}", ["line 3, auth.keys.0.key", "environment"], id="key in the file"),
        pytest.param("upstream: {api_key: '${NO_SUCH_KEY:hunter2}'}", ["line 1, upstream.api_key", "environment only"], id="secret as a default"),
        pytest.param("storage: {encryption_key: hunter2}", ["line 1, storage.encryption_key", "environment only"], id="encryption key in the file"),
        pytest.param("storage: {former_encryption_keys: [hunter2]}", ["line 1, storage.former_encryption_keys.0", "environment only"], id="former key in the file"),
        pytest.param("storage: {url: 'postgresql://sekisho:hunter2@db/sekisho'}", ["line 1, storage.url", "environment only"], id="password in the file"),
        pytest.param("storage: {url: 'mysql://db/sekisho'}", ["line 1, storage.url", "'mysql'", "expected sqlite:"], id="another database"),
        pytest.param("storage: {encryption_key: '${EMPTY}'}", ["line 1, storage", "encryption_key", "128 hexadecimal"], id="encryption key set to nothing"),
        pytest.param("auth: {keys: [{key: '${PATH_OF_NOTHING:}', role: client}]}", ["auth.keys.0.key", "at least 16 characters, not 0"], id="short key"),
        pytest.param("upstream: {timeout_s: .inf}", ["line 1, upstream.timeout_s", "finite"], id="endless"),
        pytest.param("retention: {outcomes_days: 1e9}", ["line 1, retention.outcomes_days", "36500"], id="before all dates"),
        pytest.param("policy:\n  must:\n    examples_file: no.txt", ["line 3, policy.must.examples_file", "there is no file"], id="missing examples"),
        pytest.param("policy:\n  must: {documents: nowhere/}", ["line 2, policy.must.documents", "there is no folder"], id="missing documents"),
        pytest.param("policy:\n  must_not:\n    topics:\n      - {name: 犯罪}", ["line 4, policy.must_not.topics.0.name", "of a-z, 0-9 and _", "not '犯罪'"], id="topic name"),
        pytest.param("policy:\n  may:\n    reply: {fr: Non.}", ["line 3, policy.may.reply.fr"], id="unknown language"),
        pytest.param("a: [", ["line 1", "not YAML"], id="not yaml"),
        pytest.param("- 1", ["expected sections"], id="a list"),
        pytest.param("null: 3", ["expected sections", "not None"], id="a section without a name"),
        pytest.param("a: &x {b: *x}", ["alias"], id="an alias of itself"),
        pytest.param("[" * 9999, ["nested too deeply"], id="nested too deeply"),
        pytest.param("cache: {}\nserver: {port: 1\x00}", ["line 2", "not YAML", "U+0000"], id="control characters"),
        pytest.param("auth: {keys: [{key: '${TWICE}', role: client}, {key: '${TWICE}', role: admin}]}", ["line 1, auth", "keys[1].key", "keys[0] is the same"], id="one key with two roles"),
        pytest.param("policy: {must: {examples: [Where is it?]}, may: {examples: [where is it]}}", ["line 1, policy.may.examples.0", "an example of must, too"], id="an example of two classes but for its marks"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_its_line(
    write, monkeypatch: pytest.MonkeyPatch, text: str, said: list[str]
) -> None:
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("TWICE", "hunter2hunter2hunter2")
    with pytest.raises(ConfigurationError) as refused:
        load_settings(write(text))
    for words in said:
        assert words in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_every_problem_is_told_at_once_in_the_order_of_the_file(write) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_settings(write("server: {port: x}\ncache: {y: 1}\n"))
    lines = str(refused.value).splitlines()
    assert [line.split(",")[0].strip() for line in lines[1:]] == ["line 1", "line 2"]


def test_the_environment_wins_over_the_file(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEKISHO_SERVER__PORT", "9999")
    monkeypatch.setenv("SEKISHO_UPSTREAM__API_KEY", "from-the-environment")
    settings = load_settings(write("server: {port: 1, host: 0.0.0.0}"))
    assert (settings.server.port, settings.server.host) == (9999, "0.0.0.0")
    assert settings.upstream.api_key is not None
    assert "from-the-environment" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SEKISHO_CACHE__TARGE", "1", "the environment variable SEKISHO_CACHE__TARGE (cache.targe): unknown key"),
        ("SEKISHO_CACHE__TARGE__X", "1", "the environment variable SEKISHO_CACHE__TARGE__X (cache.targe): unknown key"),
        ("SEKISHO_GATE__CANARIES__0", "How?", "the environment variable SEKISHO_GATE__CANARIES__0 (gate.canaries): "),
        ("SEKISHO_CACHE__TARGET_ERROR__X", "1", "the environment variable SEKISHO_CACHE__TARGET_ERROR__X (cache.target_error): "),
        ("SEKISHO_AUTH__KEYS", '[{"key": "short", "role": "king"}]', "the environment variable SEKISHO_AUTH__KEYS (auth.keys.0.role): "),
        ("SEKISHO_PORT", "8081", "the environment variable SEKISHO_PORT names no section"),
        ("SEKISHO_SERVER__PORT", "abc", "the environment variable SEKISHO_SERVER__PORT (server.port): "),
        ("SEKISHO_GATE__CANARIES", "How?", "SEKISHO_GATE__CANARIES: expected JSON"),
        ("SEKISHO_STORAGE__ENCRYPTION_KEY", "", "SEKISHO_STORAGE__ENCRYPTION_KEY is set to nothing"),
    ],
)  # fmt: skip
def test_a_wrong_override_is_blamed_on_its_variable(
    write, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as refused:
        load_settings(write("cache: {target_error: 0.02}\nserver: {port: 8081}\n"))
    assert said in str(refused.value)
    assert "line" not in str(refused.value)


def test_json_around_a_key_is_not_blamed_for_what_the_file_says(
    write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEKISHO_CACHE", '{"enabled": true}')
    with pytest.raises(ConfigurationError, match=r"line 1, cache\.target_error"):
        load_settings(write("cache: {target_error: x}"))


def test_every_value_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for where, value in _values(load_settings()):
        told = str(value) if isinstance(value, str | Path | ZoneInfo) else json.dumps(value, default=_plain)
        with monkeypatch.context() as changed:
            changed.setenv("SEKISHO_" + "__".join(where).upper(), told)
            assert dict(_values(load_settings()))[where] == value, where


def _values(section: BaseModel, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each value that is set by default, and where."""
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from _values(value, *path, name)
        elif value not in (None, ""):
            yield (*path, name), value


def _plain(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def test_what_kubernetes_tells_of_a_service_of_our_name_is_no_override(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "SEKISHO_SERVICE_HOST": "10.0.0.1",
        "SEKISHO_SERVICE_PORT": "80",
        "SEKISHO_SERVICE_PORT_HTTP": "80",
        "SEKISHO_PORT": "tcp://10.0.0.1:80",
        "SEKISHO_PORT_80_TCP": "tcp://10.0.0.1:80",
        "SEKISHO_PORT_80_TCP_ADDR": "10.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    assert load_settings().server.port == 8080


def test_missing_files_are_told_with_every_other_problem(write, tmp_path: Path) -> None:
    (tmp_path / "sjis.txt").write_bytes("解約したい".encode("shift_jis"))
    text = (
        "policy:\n  must: {examples_file: [gone.txt, sjis.txt], documents: nowhere/}\n"
        "upstream: {api_key: '${NOT_SET_ANYWHERE}'}\nserver: {port: abc}\n"
    )
    with pytest.raises(ConfigurationError) as refused:
        load_settings(write(text))
    _, *rows = str(refused.value).splitlines()
    assert [row.split(":")[0].strip() for row in rows] == [
        "line 2, policy.must.examples_file", "line 2, policy.must.examples_file", "line 2, policy.must.documents",
        "line 3, upstream.api_key", "line 4, server.port",
    ]  # fmt: skip
    assert "is not UTF-8 (byte 0)" in rows[1]


def test_an_override_that_hits_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEKISHO_CASH__TARGET_ERROR", "0.1")
    with pytest.raises(ConfigurationError, match="SEKISHO_CASH__TARGET_ERROR names no section"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("must.jsonl", '{"text": "fine"}\n{"txt": "not"}\n', "line 2"),
        ("must.jsonl", "not json\n", "line 1"),
        ("must.csv", "question\nwhat?\n", r"must.csv: missing columns: text \(found: question\)"),
        ("must.csv", 'text\nfine\n"open\nlost\nlost, too\n', "must.csv, line 3: unexpected end of data"),
        (
            "must.csv",
            "text\nfine\nIs this, all of it, read?\n",
            "must.csv, line 3: expected 1 cells, found 3",
        ),
        ("must.pdf", "x", ".txt, .csv or .jsonl"),
    ],
)
def test_examples_that_cannot_be_read_are_named(write, name: str, text: str, said: str) -> None:
    write(text, name)
    with pytest.raises(ConfigurationError, match=said):
        read_policy(load_settings(write(f"policy: {{must: {{examples_file: {name}}}}}")))


def test_what_stands_in_two_classes_is_refused_with_both_places(write) -> None:
    write("解約したい\n返品したい\n", "must.txt")
    text = (
        "policy:\n  must: {examples_file: must.txt}\n  may:\n    examples:\n      - 天気は？\n      - 解約したい\n"
        "  must_not:\n    topics:\n      - {name: x, examples: [爆弾]}\n      - {name: x, examples: ['天気は？']}\n"
    )
    with pytest.raises(ConfigurationError) as refused:
        load_settings(write(text))
    assert [row.strip() for row in str(refused.value).splitlines()[1:]] == [
        "line 6, policy.may.examples.1: “解約したい” is an example of must, too (policy.must.examples_file, line 2)",
        "line 10, policy.must_not.topics.1.name: there are two topics 'x' (policy.must_not.topics.0.name, line 9)",
        "line 10, policy.must_not.topics.1.examples.0: “天気は？” is an example of may, too (policy.may.examples.0, line 5)",
    ]  # fmt: skip


def test_check_config_reads_the_documents(write, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "good.md").write_text("# Hours\n\nWe open at nine.", "utf-8")
    (tmp_path / "docs" / "empty.txt").write_text("", "utf-8")
    (tmp_path / "docs" / "sjis.txt").write_bytes("九時に開きます".encode("shift_jis"))
    (tmp_path / "docs" / os.fsdecode("料金.md".encode("cp932"))).write_text("# Fees\n\n10 yen.", "utf-8")
    (tmp_path / "nothing").mkdir()
    said = {}
    for folder in ("docs", "nothing"):
        file = write(f"policy: {{must: {{examples: [a], documents: {folder}/}}}}")
        result = CliRunner().invoke(app, ["check-config", "--config", str(file)], env={"COLUMNS": "200"})
        said[folder] = result.output
    assert not [text for text in said.values() if "sound" in text], "beside a warning nothing is sound"
    assert "1 documents read, 3 can't be." in said["docs"]
    assert r"\x97\xbf\x8b\xe0.md: its name is not UTF-8" in said["docs"]
    assert "empty.txt: no text in it" in said["docs"]
    assert "sjis.txt: not UTF-8" in said["docs"]
    assert "there are none" not in said["docs"]
    assert "answers come from documents, and there are none" in said["nothing"]


@pytest.mark.parametrize(
    ("patterns", "upstream", "unfit"),
    [
        ("[fees.md, old/*]", "", ["old/*"]),
        ("[docs/fees.md]", "", ["docs/fees.md"]),
        ("['*.md']", "", []),
        ("[old/*]", "kind: openai, base_url: 'http://rag', model: m", []),
        ("[old/*]", "corrective: {evaluator: local, web: {url: 'http://search'}}", []),
    ],
)
def test_check_config_warns_of_a_topic_whose_documents_have_another_name(
    write, tmp_path: Path, patterns: str, upstream: str, unfit: list[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "fees.md").write_text("# Fees\n\n10 yen.", "utf-8")
    file = write(
        f"policy: {{must: {{examples: [a], documents: docs/}}}}\nupstream: {{{upstream}}}\n"
        f"review: {{modes: [{{topic: fees, documents: {patterns}, mode: human_first}}]}}"
    )
    told = CliRunner().invoke(app, ["check-config", "--config", str(file)], env={"COLUMNS": "200"})
    found = [line.rpartition("fits ")[2] for line in told.output.splitlines() if "no document fits" in line]
    assert (told.exit_code, found) == (0, unfit)


@pytest.mark.parametrize(("also", "warned"), [("", True), (", qdrant_url: 'http://qdrant:6333'", False)])
def test_check_config_warns_of_a_shared_database_under_an_index_that_is_not(
    write, also: str, warned: bool
) -> None:
    file = write(
        f"storage: {{url: 'postgresql://db/sekisho'{also}}}\nupstream: {{kind: openai, base_url: 'http://rag', model: m}}"
    )
    told = CliRunner().invoke(app, ["check-config", "--config", str(file)])
    assert (told.exit_code, "Only one gateway" in told.output) == (0, warned)


@pytest.mark.parametrize(("also", "warned"), [("", True), (", contexts: dify", False)])
def test_check_config_warns_of_a_chatbot_whose_answers_can_never_be_checked(
    write, also: str, warned: bool
) -> None:
    file = write(f"upstream: {{kind: openai, base_url: 'http://rag', model: m{also}}}")
    told = CliRunner().invoke(app, ["check-config", "--config", str(file)])
    assert (told.exit_code, "upstream.contexts" in told.output) == (0, warned)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "sekisho.yaml").write_bytes(b"gate: {}\ncache: \xff\xfe")
    with pytest.raises(ConfigurationError, match="line 2: not UTF-8"):
        load_settings(tmp_path / "sekisho.yaml")


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_settings(None).cache.target_error == 0.01


@pytest.mark.parametrize(
    ("written", "key"), [("${RAG_KEY}", None), ("${RAG_KEY:}", ""), ("${KEY_OF_RAG}", "sk-1")], ids=str
)
def test_a_key_that_is_set_to_nothing_is_refused_unless_that_was_meant(
    write, monkeypatch: pytest.MonkeyPatch, written: str, key: str | None
) -> None:
    monkeypatch.setenv("RAG_KEY", "")
    monkeypatch.setenv("KEY_OF_RAG", "sk-1")
    file = write(f"upstream:\n  kind: openai\n  base_url: http://rag\n  model: m\n  api_key: '{written}'\n")
    if key is not None:
        found = load_settings(file).upstream.api_key
        assert found is not None
        assert found.get_secret_value() == key
        return
    with pytest.raises(ConfigurationError) as refused:
        load_settings(file)
    _, told = str(refused.value).splitlines()
    assert told.strip() == (
        "line 5, upstream.api_key: the environment variable RAG_KEY is set to nothing; "
        "for a server that wants no key, write ${RAG_KEY:}"
    )
