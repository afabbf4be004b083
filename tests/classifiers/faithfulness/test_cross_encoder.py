"""The check by a model that reads pairs: what it is given to read, and what its scores become."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from classifiers import ClassifierError
from classifiers.faithfulness import Checked, Unchecked
from classifiers.faithfulness.cross_encoder import CrossEncoderJudge
from encoders import EncoderError
from encoders.consistency import ConsistencyModel
from encoders.testing import HashingEncoder
from tests.tiny_models import save_reader

FILLER = " ".join(f"Room {number} has a window to the garden and a lamp." for number in range(40))
CONTEXTS = [f"{FILLER} The pass costs 120 euros. {FILLER}", "Dogs may come along. Ms. Keller sells the pass."]


class Reader:
    """Supports a statement that stands in the text word for word; remembers what it read."""

    name = "reader@1"

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []

    async def supported(self, pairs: Sequence[tuple[str, str]], /) -> list[float]:
        self.read += pairs
        return [0.9 if statement in text else 0.2 for text, statement in pairs]


@pytest.mark.parametrize("encoder", [None, HashingEncoder()])
async def test_the_window_that_supports_a_statement_most_decides(encoder: HashingEncoder | None) -> None:
    reader = Reader()
    verdict = await CrossEncoderJudge(reader, encoder).judge(
        "The pass costs 120 euros [1]. Cats may come along.", CONTEXTS
    )
    assert isinstance(verdict, Checked)
    assert [(one.state, one.score) for one in verdict.statements] == [
        ("supported", 0.9),
        ("unsupported", 0.2),
    ]
    assert verdict.statements[0].evidence == "The pass costs 120 euros."
    span = verdict.statements[0].span
    assert span
    assert CONTEXTS[span.passage][span.start : span.end] == span.text
    assert verdict.judge == "reader@1"
    assert max(len(text) for text, _ in reader.read) < 400  # a window, not the passage
    assert len(reader.read) <= 2 * 5


async def test_the_operator_sets_the_cut() -> None:
    verdict = await CrossEncoderJudge(Reader(), cut=0.2).judge("Cats may come along.", CONTEXTS)
    assert isinstance(verdict, Checked)
    assert verdict.passed


@pytest.mark.parametrize(
    ("answer", "contexts", "reason"),
    [
        ("Hello! How can I help you?", CONTEXTS, "nothing_to_check"),
        ("The pass costs 120 euros.", [], "no_contexts"),
        ("The pass costs 120 euros.", [" "], "no_contexts"),
        ("x" * 50_001, CONTEXTS, "answer_too_long"),
        (" ".join(f"It costs {n} euros." for n in range(300)), CONTEXTS, "too_many_statements"),
    ],
)
async def test_what_can_not_be_read_is_unchecked(answer: str, contexts: list[str], reason: str) -> None:
    verdict = await CrossEncoderJudge(Reader()).judge(answer, contexts)
    assert isinstance(verdict, Unchecked)
    assert reason in verdict.reason


async def test_a_model_that_fails_is_a_judge_that_fails() -> None:
    class Broken(Reader):
        async def supported(self, pairs: Sequence[tuple[str, str]], /) -> list[float]:
            raise EncoderError("broken")

    with pytest.raises(ClassifierError, match="broken"):
        await CrossEncoderJudge(Broken()).judge("The pass costs 120 euros.", CONTEXTS)


async def test_a_real_model_judges_what_it_has_learnt(tmp_path: Path) -> None:
    text = "The pass costs 120 euros."
    true, false = [(text, text)], [(text, "The pass costs 150 euros."), (text, "The pass costs 90 euros.")]
    judge = CrossEncoderJudge(
        ConsistencyModel.load(str(save_reader(tmp_path, ["entailment", "neutral"], true, false)))
    )
    passed = await judge.judge("The pass costs 120 euros.", [text])
    failed = await judge.judge("The pass costs 150 euros.", [text])
    assert isinstance(passed, Checked)
    assert isinstance(failed, Checked)
    assert (passed.passed, failed.passed) == (True, False)
