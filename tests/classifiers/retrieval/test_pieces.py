"""What of a passage can answer by itself, and is read with a question."""

from __future__ import annotations

import pytest

from classifiers.retrieval.pieces import GOES_ON, Piece, pieces

FEES = "- 点数: 1点; 手数料: 500円\n- 点数: 2点; 手数料: 900円"
CASES: dict[str, tuple[str, list[Piece]]] = {
    "sentences": (
        "The library stands next to the station. You can borrow ten books.",
        [Piece("The library stands next to the station."), Piece("You can borrow ten books.")],
    ),
    "with what a pronoun points back to": (
        "A kiosk stands in the lobby. It is open until 22:00.",
        [
            Piece("A kiosk stands in the lobby."),
            Piece("A kiosk stands in the lobby. It is open until 22:00."),
        ],
    ),
    "a list with what announces it, whole and item by item": (
        "To get a certificate, send these:\n1. Form C-1,\n2. a stamp.\nIt takes 10 days.",
        [
            Piece("To get a certificate, send these:\n1. Form C-1,\n2. a stamp."),
            Piece("To get a certificate, send these:\nForm C-1,", item_of=1),
            Piece("To get a certificate, send these:\na stamp.", item_of=1),
            Piece("It takes 10 days."),
        ],
    ),
    "a table": (
        FEES,
        [
            Piece(f"{FEES}"),
            Piece("点数: 1点; 手数料: 500円", item_of=0),
            Piece("点数: 2点; 手数料: 900円", item_of=0),
        ],
    ),
    "no table as a whole that goes on in another passage": (
        f"{FEES}\n{GOES_ON}",
        [
            Piece("点数: 1点; 手数料: 500円", item_of=0),
            Piece("点数: 2点; 手数料: 900円", item_of=0),
        ],
    ),
    "an item of several sentences": (
        "1. 電話で申し込みます。オンラインでも受け付けます。\n2. シールを買います。",
        [
            Piece("1. 電話で申し込みます。オンラインでも受け付けます。\n2. シールを買います。"),
            Piece("電話で申し込みます。オンラインでも受け付けます。", item_of=0),
            Piece("シールを買います。", item_of=0),
        ],
    ),
    "nothing that only heads or asks": (
        "■ 紛失\n本をなくしたら？\n弁償していただきます。",
        [Piece("弁償していただきます。")],
    ),
}


@pytest.mark.parametrize(("text", "found"), CASES.values(), ids=CASES)
def test_a_passage_falls_into_pieces(text: str, found: list[Piece]) -> None:
    assert list(pieces(text)) == found
