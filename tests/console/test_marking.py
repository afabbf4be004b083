"""Where a draft is marked: cut at its statements, by the worst that was taken from each place."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.console.pages.ticket_parts import _pieces, _state
from gateway.review.judgements import Drafted

TEXT = "Open at nine. It is free."


def said(start: int, end: int, state: str | None, *, supported: bool = False) -> dict[str, Any]:
    found = {"start": start, "end": end, "supported": supported or state == "supported"}
    return found if state is None else {**found, "state": state}


@pytest.mark.parametrize(
    ("statements", "marked"),
    [
        pytest.param([said(0, 13, "supported"), said(14, 25, "unsupported")], ["supported", None, "unsupported"], id="one each"),
        pytest.param([said(0, 13, "supported"), said(0, 13, "unsupported"), said(0, 13, "unchecked")], ["unsupported", None], id="several of one sentence"),
        pytest.param([said(0, 0, "unsupported"), said(14, 25, "unchecked")], [None, "unchecked"], id="one that stands nowhere"),
        pytest.param([said(0, 13, None, supported=True), said(14, 25, None)], ["supported", None, "unsupported"], id="a ticket from before"),
    ],
)  # fmt: skip
def test_the_worst_statement_marks_its_place(
    statements: list[dict[str, Any]], marked: list[str | None]
) -> None:
    pieces = list(_pieces(Drafted(text=TEXT, contexts=(), statements=tuple(statements))))
    assert "".join(text for text, _ in pieces) == TEXT
    assert [one and _state(one) for _, one in pieces] == marked
