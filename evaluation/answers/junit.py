"""A comparison as JUnit XML, for the page that CI shows: every threshold and every case that got worse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from junitparser import Failure, JUnitXml, TestCase, TestSuite

from evaluation.answers.comparison import Comparison, Moved
from evaluation.answers.thresholds import Check
from gateway.errors import InvalidRequest

__all__ = ["write_junit"]


def write_junit(file: Path, found: Comparison, checks: Sequence[Check]) -> None:
    """Write the file. A case fails that lost its good answer, a threshold that is not kept.

    Raises:
        InvalidRequest: if it can't be written.
    """
    xml = JUnitXml("sekisho evaluate compare")
    xml.add_testsuite(_suite("thresholds", [_case(one.name, one.told, fails=not one.kept) for one in checks]))
    lost = [one for one in found.worse if one.good[0] is True and one.good[1] is not True]
    passed = TestCase(f"{found.n - len(lost)} of {found.n} cases kept or won their good answer", "cases")
    xml.add_testsuite(_suite("cases", [passed, *(_case(one.id, _told(one), fails=True) for one in lost)]))
    try:
        xml.write(str(file), pretty=True)
    except OSError as exc:
        raise InvalidRequest(f"--junit: {file} can't be written: {exc.strerror}") from exc


def _suite(name: str, cases: list[TestCase]) -> TestSuite:
    suite = TestSuite(name)
    suite.add_testcases(cases)
    return suite


def _case(name: str, told: str, *, fails: bool) -> TestCase:
    case = TestCase(name, "sekisho.evaluate")
    if fails:
        case.result = [Failure(told)]
    return case


def _told(one: Moved) -> str:
    scores = ", ".join(f"{name} {delta:+.3f}" for name, delta in one.deltas.items() if delta)
    return f"lost its good answer: {one.outcomes[0]} → {one.outcomes[1]}; {scores or 'no score changed'}"
