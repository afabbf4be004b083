"""Each guard on questions of a helpdesk: what it must keep back, and what it must let pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cache.guards import Compared, default_guards

FOLDER = Path(__file__).parent / "guard_cases"
GUARDS = default_guards()
LANGUAGES = ("en", "ja", "zh")


class Case(NamedTuple):
    guard: str
    language: str
    vetoed: bool
    question: str
    phrasing: str


def cases() -> Iterator[Case]:
    """The rows of all files, below headings such as `ja veto`."""
    for file in sorted(FOLDER.glob("*.txt")):
        language = kind = ""
        for line in file.read_text("utf-8").splitlines():
            if " | " not in line:
                language, kind = line.split()
                continue
            question, phrasing = line.split(" | ")
            yield Case(file.stem, language, kind == "veto", question, phrasing)


CASES = tuple(cases())


def objections(case: Case) -> dict[str, str]:
    compared = Compared(case.question, case.phrasing, (case.phrasing,), case.language)
    return {guard.name: seen for guard in GUARDS if (seen := guard.veto(compared)) is not None}


@pytest.mark.parametrize("case", [case for case in CASES if case.vetoed], ids=str)
def test_a_guard_keeps_back_what_asks_something_else(case: Case) -> None:
    assert case.guard in objections(case)


@pytest.mark.parametrize("case", [case for case in CASES if not case.vetoed], ids=str)
def test_no_guard_keeps_back_the_same_question(case: Case) -> None:
    assert objections(case) == {}


def test_every_guard_has_cases_in_every_language() -> None:
    counted = Counter((case.guard, case.language) for case in CASES)
    assert {guard.name for guard in GUARDS} == {case.guard for case in CASES}
    assert all(counted[guard.name, language] >= 12 for guard in GUARDS for language in LANGUAGES)
