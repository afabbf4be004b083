"""The pair models that ship."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from encoders.memo import LARGEST_CALL
from encoders.pairs import MemoPairModel, OnnxPairModel, PairModel
from encoders.shipped import EAST_ASIAN_PAIRS, LATIN_PAIRS, load_shipped_pairs

QUESTION = "How do I activate my new card?"


@pytest.fixture(scope="module")
def model() -> OnnxPairModel:
    return OnnxPairModel.load(LATIN_PAIRS)


@pytest.fixture(scope="module")
def both() -> PairModel:
    return load_shipped_pairs()


async def test_questions_that_ask_the_same_score_higher_than_traps(model: OnnxPairModel) -> None:
    same, other, far = await model.scores(
        [
            (QUESTION, "what do i have to do to get my card activated"),
            (QUESTION, "How do I cancel my new card?"),
            (QUESTION, "Which exchange rate do you use?"),
        ]
    )
    assert same > 0 > max(other, far)


async def test_a_score_does_not_depend_on_its_company(model: OnnxPairModel) -> None:
    pairs = [(QUESTION, "card activation"), ("", ""), (QUESTION * 200, QUESTION), ("カード", "\ud83d x")]
    together = await model.scores(pairs)
    alone = [(await model.scores([pair]))[0] for pair in pairs]
    assert np.isfinite(together).all()
    assert np.allclose(together, alone, atol=0.05)
    assert (await model.scores([])).shape == (0,)


async def test_the_second_question_is_told_from_the_first(model: OnnxPairModel) -> None:
    """A model that forgot the token types would read one long question."""
    one, other = await model.scores([("a b", "c d"), ("a b c", "d")])
    assert one != other


async def test_many_callers_at_once_get_their_own_scores(model: OnnxPairModel) -> None:
    questions = [f"{QUESTION} {number}" for number in range(12)]
    alone = [(await model.scores([(text, QUESTION)]))[0] for text in questions]
    found = await asyncio.gather(*(model.scores([(text, QUESTION)]) for text in questions))
    assert np.allclose([scores[0] for scores in found], alone, atol=0.05)


class Lengths:
    """Says how long two questions are together, and notes what it is asked."""

    languages = ("en",)
    digest = "lengths"

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        self.read += pairs
        return np.array([len(one) + len(other) / 10 for one, other in pairs])


async def test_a_pair_that_was_read_is_not_read_again_and_its_turn_counts() -> None:
    inner = Lengths()
    memo = MemoPairModel(inner, size=3)
    assert (memo.languages, memo.digest) == (inner.languages, inner.digest)
    asked = [("a", "bcd"), ("abc", "d"), ("a", "bcd")]
    for _ in range(2):
        assert (await memo.scores(asked)).tolist() == [1.3, 3.1, 1.3]
    assert inner.read == [("a", "bcd"), ("abc", "d")]
    assert (await memo.scores([("bcd", "a")])).tolist() == [3.1]
    assert inner.read[-1] == ("bcd", "a")


async def test_what_was_read_longest_ago_is_forgotten_and_large_calls_are_not_kept() -> None:
    inner = Lengths()
    memo = MemoPairModel(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await memo.scores([(text, "")])
    assert [one for one, _ in inner.read] == ["a", "b", "c", "b"]
    many = [(str(number), "") for number in range(LARGEST_CALL + 1)]
    assert len(await memo.scores(many)) == len(many)
    await memo.scores(many[:1])
    assert len(inner.read) == 4 + len(many) + 1
    assert (await memo.scores([])).shape == (0,)


@pytest.mark.parametrize(("folder", "licence"), [(LATIN_PAIRS, "Apache"), (EAST_ASIAN_PAIRS, "MIT")])
def test_the_models_are_light_and_say_whose_work_they_are(folder: Path, licence: str) -> None:
    assert (folder / "model.onnx").stat().st_size <= 25_000_000
    assert f"{licence} License" in (folder / "LICENSE").read_text("utf-8")
    notice = (folder / "NOTICE").read_text("utf-8")
    assert "BANKING77" in notice
    assert "CLINC150" in notice


@pytest.mark.parametrize(
    ("question", "same", "other"),
    [
        (
            "パスワードを忘れたときはどうすればいいですか",
            "ログインの暗証が分からなくなりました",
            "パスワードを変更するにはどうすればいいですか",
        ),
        ("怎么注销银行卡", "不想用这张卡了，想销掉", "怎么激活银行卡"),
        (QUESTION, "what do i have to do to get my card activated", "How do I cancel my new card?"),
    ],
)
async def test_each_pair_is_read_by_the_model_for_its_script(
    question: str, same: str, other: str, both: PairModel, model: OnnxPairModel
) -> None:
    assert both.languages == ("en", "ja", "zh")
    mixed = [("card activation", QUESTION), (question, same), (question, other)]
    _, high, low = await both.scores(mixed)
    assert high > 0 > low
    assert (await both.scores(mixed))[0] == pytest.approx((await model.scores(mixed[:1]))[0], abs=0.05)
    assert both.digest != model.digest
