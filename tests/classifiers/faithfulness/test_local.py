"""The default judge: words and a reading together; `test_probes` holds its level."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.faithfulness_quality import LANGUAGES, read_probes
from classifiers import ClassifierError
from classifiers.faithfulness import Checked, Unchecked
from classifiers.faithfulness.local import SHIPPED, LocalJudge
from encoders import EncoderError
from encoders.pairs import PairModel
from encoders.shipped import load_shipped_support

CONTEXTS = [
    "The annual pass costs 120 EUR. Refunds are possible within 14 days. Visitors may bring dogs.",
    "Ms. Keller handles group bookings. The desk is open from 9:00 to 17:30.",
]
REWORDED = "Group reservations are dealt with by Ms. Keller [2]."


class Reader:
    """Says the same of every pair, or nothing at all; remembers what it read."""

    languages = ("en", "ja", "zh")
    digest = "reader"

    def __init__(self, says: float | EncoderError) -> None:
        self._says = says
        self.read: list[tuple[str, str]] = []

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        self.read += pairs
        if isinstance(self._says, EncoderError):
            raise self._says
        return np.full(len(pairs), self._says)


@pytest.fixture(scope="module")
def shipped() -> PairModel:
    return load_shipped_support()


@pytest.mark.parametrize(("says", "passed"), [(4.0, True), (-4.0, False)])
async def test_of_a_statement_in_other_words_the_reading_decides(says: float, passed: bool) -> None:
    reader = Reader(says)
    verdict = await LocalJudge(reader).judge(REWORDED, CONTEXTS)
    assert isinstance(verdict, Checked)
    assert verdict.passed is passed
    assert verdict.statements[0].passage == 1
    assert reader.read == [
        ("Ms. Keller handles group bookings.", "Group reservations are dealt with by Ms. Keller.")
    ]


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        pytest.param(
            "The annual pass costs 130 EUR.", False, id="a contradiction, which no reading overrules"
        ),
        pytest.param("Visitors may bring dogs.", True, id="a quotation"),
    ],
)
async def test_nothing_is_read_where_it_would_not_change_the_verdict(answer: str, passed: bool) -> None:
    for reader in (Reader(4.0), Reader(-4.0)):
        verdict = await LocalJudge(reader).judge(answer, CONTEXTS)
        assert isinstance(verdict, Checked)
        assert (verdict.passed, reader.read) == (passed, [])


async def test_what_has_no_word_in_common_is_not_read_and_does_not_pass() -> None:
    reader = Reader(4.0)
    verdict = await LocalJudge(reader).judge("Trained falcons circled overhead.", CONTEXTS)
    assert isinstance(verdict, Checked)
    assert (verdict.passed, reader.read) == (False, [])


async def test_an_invention_does_not_pass(shipped: PairModel) -> None:
    verdict = await LocalJudge(shipped).judge("Trained falcons patrol the 17 towers nightly.", CONTEXTS)
    assert isinstance(verdict, Checked)
    assert not verdict.passed
    assert "17" in verdict.reason


async def test_the_operator_sets_the_cut() -> None:
    verdict = await LocalJudge(Reader(-4.0), cut=0.0).judge(REWORDED, CONTEXTS)
    assert isinstance(verdict, Checked)
    assert verdict.passed


def test_a_cut_that_is_no_probability_is_refused() -> None:
    with pytest.raises(ClassifierError, match="cut: expected a probability from 0 to 1, not 3"):
        LocalJudge(Reader(0.0), cut=3)


@pytest.mark.parametrize(
    ("answer", "contexts", "reason"),
    [
        ("", CONTEXTS, "nothing_to_check"),
        ("The documents don't say.", CONTEXTS, "nothing_to_check"),
        ("The pass costs 120 EUR.", [], "no_contexts"),
        ("年間パスは百二十ユーロです。", CONTEXTS, "other_language"),
    ],
)
async def test_where_there_is_nothing_to_weigh_nothing_is_read_and_nothing_passes(
    answer: str, contexts: list[str], reason: str
) -> None:
    reader = Reader(4.0)
    verdict = await LocalJudge(reader).judge(answer, contexts)
    assert isinstance(verdict, Unchecked)
    assert (verdict.reason, reader.read) == (reason, [])


async def test_a_model_that_cannot_be_run_is_no_pass() -> None:
    with pytest.raises(ClassifierError, match="inference failed"):
        await LocalJudge(Reader(EncoderError("inference failed"))).judge(REWORDED, CONTEXTS)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
async def test_any_answer_gets_a_verdict(answer: str, contexts: list[str]) -> None:
    match await LocalJudge(Reader(0.5)).judge(answer, contexts):
        case Checked(statements=statements, score=score, faithfulness=share):
            assert statements
            assert 0 <= score <= 1
            assert 0 <= share <= 1
        case Unchecked(reason=reason):
            assert reason


@pytest.mark.parametrize(
    ("context", "true", "false"),
    [
        (
            "Loans last three weeks. Each late day costs 25p, and children never pay.",
            "You can keep a book for twenty-one days.",
            "Children are charged 25p for each late day.",
        ),
        (
            "貸出期間は2週間です。延滞料は1日10円で、小学生以下は無料です。",
            "本は14日間借りられます。",
            "小学生にも1日10円の延滞料がかかります。",
        ),
        (
            "借期为三周。逾期每天收费一元，儿童免费。",
            "书可以借二十一天。",
            "儿童逾期每天也要付一元。",
        ),
    ],
)
async def test_the_model_that_ships_reads_three_languages(
    shipped: PairModel, context: str, true: str, false: str
) -> None:
    right, wrong = await shipped.scores([(context, true), (context, false)])
    assert right > wrong


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_answer_copied_from_its_context_passes(shipped: PairModel, language: str) -> None:
    judge = LocalJudge(shipped)
    held = []
    for context in {context for probe in read_probes(language) for context in probe.contexts}:
        verdict = await judge.judge(context, [context])
        if not (isinstance(verdict, Checked) and verdict.passed):
            held.append(context)
    assert held == []


def test_the_shipped_weights_say_on_what_their_cuts_rest() -> None:
    models = json.loads(SHIPPED.read_text("utf-8"))["models"]
    assert all("held out" in text for model in models.values() for text in model["cuts_from"].values())
    assert all(weight <= 0 for model in models.values() for weight in model["weights"].values())
    assert all(model["weights"]["reading"] < 0 for model in models.values())


@pytest.mark.parametrize(
    ("answer", "context", "passes"),
    [
        ("The trial needs a credit card.", "The trial lasts 30 days and needs no credit card.", False),
        (
            "Yes, attachments are included as well.",
            "You can export a project. Attachments are not part of it.",
            False,
        ),
        (
            "Guests can create tasks.",
            "Guests can comment and upload files, but they cannot create tasks.",
            False,
        ),
        (
            "Guests can upload files.",
            "Guests can comment and upload files, but they cannot create tasks.",
            True,
        ),
    ],
)
async def test_words_that_stand_there_are_not_enough(
    shipped: PairModel, answer: str, context: str, passes: bool
) -> None:
    verdict = await LocalJudge(shipped).judge(answer, [context])
    assert isinstance(verdict, Checked)
    assert verdict.passed is passes, verdict.reason


BARE = [
    ("お試し期間のあとに返金できますか", "はい。お試し期間は30日です。", "いいえ。お試し期間は30日です。", "お試し期間は30日です。お試し期間のあとは返金できません。"),
    ("试用期以后可以退款吗？", "没问题。", "不可以。", "试用期为30天。试用期以后不可以退款。"),
    ("Is the pool open on Mondays?", "Yes. It opens at 9:00.", "No.", "The pool opens at 9:00. It is closed on Mondays: the pool is not open."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "wrong", "right", "context"), BARE)
async def test_a_bare_yes_or_no_is_judged_by_what_was_asked(
    shipped: PairModel, question: str, wrong: str, right: str, context: str
) -> None:
    judge = LocalJudge(shipped)
    assert not (await judge.judge(wrong, [context], question=question)).passed
    assert (await judge.judge(right, [context], question=question)).passed


async def test_a_yes_to_what_no_yes_answers_is_nothing_to_check(shipped: PairModel) -> None:
    verdict = await LocalJudge(shipped).judge("Yes.", CONTEXTS, question="Who handles group bookings?")
    assert isinstance(verdict, Unchecked)
    assert verdict.reason == "nothing_to_check"
