"""Which documents are old ones under another name."""

from __future__ import annotations

import pytest

from gateway.documents import renaming
from gateway.documents.renaming import mostly_the_same, the_same

FEES = "# Fees\n\nA card is 300 yen.\n\nPay at window 5.\n"


def test_copies_follow_in_the_order_of_their_names() -> None:
    assert the_same({"b": "v", "a": "v"}, {"x/b": "v", "x/a": "v"}) == {"a": "x/a", "b": "x/b"}
    assert the_same({"a": "v", "b": "v"}, {"x/a": "v"}) == {}


def test_of_texts_that_changed_the_most_alike_is_followed_and_each_once() -> None:
    gone = {"2024.md": FEES, "2025.md": FEES.replace("300", "400")}
    came = {"new/2024.md": f"{FEES}Or by card.", "new/2025.md": f"{gone['2025.md']}Or by card."}
    assert mostly_the_same(gone, came) == {"2024.md": "new/2024.md", "2025.md": "new/2025.md"}
    assert mostly_the_same(gone, {"2025-6.md": came["new/2025.md"]}) == {"2025.md": "2025-6.md"}


def test_texts_that_share_too_little_are_others() -> None:
    assert mostly_the_same({"fees.md": FEES}, {"map.md": "# Fees\n\nNone.\n\nPay nothing.\n"}) == {}
    assert mostly_the_same({"empty.md": ""}, {"blank.md": "\n"}) == {}


def test_a_corpus_that_was_replaced_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renaming, "MOST_COMPARED", 0)
    assert mostly_the_same({"fees.md": FEES}, {"prices.md": FEES}) == {}
