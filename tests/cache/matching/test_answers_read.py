"""What the shipped model of answers makes of an entry that evidence and pair model would nearly serve."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cache.matching import NEAR
from cache.matching.evidence import Weights
from cache.matching.scoring import told
from encoders.pairs import OnnxPairModel
from encoders.shipped import load_shipped_answering

NEARLY_SURE = 0.92
ENTRIES = {
    "en": (
        "How do I return a parcel?",
        "Print the label under “My orders” and hand the parcel in at any shop.",
    ),
    "ja": ("証明書の発行手数料はいくらですか", "1通300円です。コンビニ交付なら200円です。"),
    "zh": ("健身卡怎么停卡", "在小程序“我的卡”里提交，至少提前1天，每次最短7天。"),
}
ASKED = [
    ("en", "how can I send a parcel back", True),
    ("en", "How long until the money for a returned parcel arrives?", False),
    ("ja", "証明書 料金", True),
    ("ja", "証明書は何時まで発行してもらえますか", False),
    ("zh", "想暂停健身卡怎么弄", True),
    ("zh", "健身卡停卡期间丢了怎么办", False),
]


@cache
def model() -> OnnxPairModel:
    return load_shipped_answering()


@pytest.mark.parametrize(("language", "question", "answers"), ASKED)
async def test_a_doubtful_entry_whose_answer_says_something_else_is_not_even_near(
    language: str, question: str, answers: bool
) -> None:
    weights = Weights.load()
    assert weights.answering is not None
    logits = await model().scores([(question, told(*ENTRIES[language]))])
    (score,) = weights.answering.probability(np.array([NEARLY_SURE]), logits)
    cut = weights.rereadings["meaning" if language == "en" else "words"].default_cut
    assert score > 0.7 if answers else score < NEAR * cut
