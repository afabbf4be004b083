"""The model of answers that ships: what speaks of the matter is no answer yet."""

from __future__ import annotations

import pytest

from encoders.pairs import PairModel
from encoders.shipped import load_shipped_answering


@pytest.fixture(scope="module")
def reader() -> PairModel:
    return load_shipped_answering()


@pytest.mark.parametrize(
    ("question", "heading", "answers", "speaks_of_it"),
    [
        (
            "How long can I keep a book?",
            "Library › Lending",
            "Books are lent for three weeks.",
            "Books cannot be lent without a library card.",
        ),
        (
            "I lost my library card, what does a new one cost?",
            "Library › Cards",
            "A lost card is replaced for 5 euros.",
            "Bring your library card whenever you borrow films.",
        ),
        (
            "VPNは何時まで使えますか",
            "ITガイド › VPN",
            "利用時間は5:00から23:00までです。",
            "VPNは「リモート接続申請」を出し、課長の承認を受けた人が使えます。",
        ),
        (
            "粗大ごみの手数料はいくらですか",
            "ごみの出し方 › 粗大ごみ",
            "手数料は1点につき500円です。",
            "粗大ごみは収集日の朝8時までに出してください。",
        ),
        (
            "身份证丢了怎么补办",
            "户籍窗口 › 身份证",
            "身份证遗失的，本人持户口簿到派出所申请补领。",
            "办理居住证须携带身份证原件。",
        ),
        (
            "图书馆几点关门",
            "图书馆 › 开放时间",
            "图书馆每天22:00闭馆。",
            "图书馆自习座位可提前一天预约。",
        ),
    ],
)
async def test_an_answer_is_told_from_what_only_speaks_of_the_matter(
    reader: PairModel, question: str, heading: str, answers: str, speaks_of_it: str
) -> None:
    pairs = [(question, f"{heading}\n{text}") for text in (answers, speaks_of_it)]
    right, wrong = await reader.scores(pairs)
    assert right >= 1.5 > wrong
