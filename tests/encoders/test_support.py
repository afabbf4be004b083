"""The support model that ships."""

from __future__ import annotations

import numpy as np
import pytest

from encoders.support import ENGLISH, OnnxSupportModel

LOANS = (
    "Registered readers may borrow up to 12 items at a time for three weeks. "
    "Reference works and newspapers cannot be taken out of the building."
)
TRUE = "Registered readers can borrow at most 12 items at a time."
TWINS = [
    (TRUE, "Registered readers can borrow at most 20 items at a time."),
    ("You may keep items for three weeks.", "You may keep items for three months."),
    ("Reference works cannot be taken out.", "Reference works can be taken out."),
    ("Newspapers cannot be taken out of the building.", "Novels cannot be taken out of the building."),
    ("Registered readers may borrow items.", "Unregistered readers may borrow items."),
]
ELSEWHERE = "A late return costs a fee, which is charged to the reader's account every Friday."


@pytest.fixture(scope="module")
def model() -> OnnxSupportModel:
    return OnnxSupportModel.load(ENGLISH)


@pytest.mark.parametrize(("true", "false"), TWINS)
async def test_one_wrong_word_makes_a_statement_less_supported(
    model: OnnxSupportModel, true: str, false: str
) -> None:
    right, wrong = (await model.readings([(LOANS, true), (LOANS, false)]))[:, 1]
    assert right > wrong + 0.5


async def test_what_the_window_does_not_speak_of_has_the_least_share(model: OnnxSupportModel) -> None:
    said = [text for twins in TWINS for text in twins]
    shares = (await model.readings([(LOANS, text) for text in (*said, ELSEWHERE)]))[:, 0]
    assert shares.argmin() == len(said)


async def test_the_same_statement_is_judged_by_its_window(model: OnnxSupportModel) -> None:
    """A model that read the statement alone would not move."""
    here, there = await model.readings([(LOANS, TRUE), (LOANS.replace("12", "20"), TRUE)])
    assert (here > there).all()


async def test_readings_do_not_depend_on_their_company(model: OnnxSupportModel) -> None:
    pairs = [(LOANS, TRUE), ("", ""), (LOANS * 200, TRUE * 200), ("カード", "\ud83d x")]
    together = await model.readings(pairs)
    alone = np.concatenate([await model.readings([pair]) for pair in pairs])
    assert np.isfinite(together).all()
    assert np.allclose(together, alone, atol=0.1)
    assert (await model.readings([])).shape == (0, 2)


def test_the_model_is_light_and_says_whose_work_it_is(model: OnnxSupportModel) -> None:
    assert (ENGLISH / "model.onnx").stat().st_size <= 25_000_000
    assert "Apache License" in (ENGLISH / "LICENSE").read_text("utf-8")
    notice = (ENGLISH / "NOTICE").read_text("utf-8")
    for name in ("SQuAD", "FactCG", "RAGTruth", "BEGIN", "RAGChecker", "HaluEval", "WordNet"):
        assert name in notice
    assert model.languages == ("en",)
