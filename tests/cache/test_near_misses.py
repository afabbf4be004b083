"""Small helpdesks whose askers mostly want something beside the entries: what a fresh shelf tells them.

README.md beside the rows says how they were written. The limits are what was reached: a change may not fall behind.
On an EPYC without VNNI the same models serve the bank's askers one answer less than on the Xeon where that was.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli import app

SHELVES = Path(__file__).parent / "near_misses"
PROCESSOR = Path("/proc/cpuinfo")
HAS_VNNI = PROCESSOR.exists() and "vnni" in PROCESSOR.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "most_wrong", "least_right"),
    [("company_desk", 1, 26), ("hospital", 5, 22), ("bank", 0, 15 if HAS_VNNI else 14), ("saas", 0, 20)],
)
def test_few_near_misses_are_served(name: str, most_wrong: int, least_right: int, tmp_path: Path) -> None:
    entries, traffic = (SHELVES / f"{name}.{part}.jsonl" for part in ("entries", "traffic"))
    told = tmp_path / "told.json"
    files = ["--entries", str(entries), "--traffic", str(traffic), "--json", str(told)]
    result = CliRunner().invoke(app, ["evaluate", "cache", *files, "--target-error", "0.03"])
    assert result.exit_code == 0, result.output
    found = json.loads(told.read_text("utf-8"))
    asked = len(traffic.read_text("utf-8").splitlines())
    assert round(found["wrong_per_request"] * asked) <= most_wrong
    assert round(found["served_correct_rate"] * found["in_scope"]) >= least_right
