"""Whether what was found can answer: three languages, one passage or many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers import ClassifierError
from classifiers.retrieval import PassageEvidence, RelevanceJudge
from classifiers.retrieval.evidence import EvidenceJudge, EvidenceModel, signals
from encoders import Encoded

FEES = PassageEvidence(
    "A certificate of residence costs 300 yen at the counter and 200 yen at the machine in the station.",
    0.74,
    9.0,
)
POOL = PassageEvidence("The swimming pool is closed in winter. Caps must be worn.", 0.12, 0.0)
WEAK = PassageEvidence(FEES.text, 0.1, 0.0)
FEES_JA = PassageEvidence("住民票の写しは、窓口では300円、駅の証明書交付機では200円です。", 0.3, 14.0)
POOL_JA = PassageEvidence("市民プールは冬季は休業します。水泳帽を着用してください。", 0.3, 0.4)
FEES_ZH = PassageEvidence("居住证明在窗口办理收费300元，在车站的自助机办理收费200元。", 0.3, 14.0)
POOL_ZH = PassageEvidence("市民游泳池冬季关闭，请佩戴泳帽。", 0.3, 0.4)


def _asked(text: str) -> Encoded:
    return Encoded(text, np.zeros(3, np.float32))


@pytest.fixture(scope="module")
def judge() -> EvidenceJudge:
    return EvidenceJudge()


@pytest.mark.parametrize(
    ("question", "passages", "label"),
    [
        ("How much is a certificate of residence at the counter?", [FEES], "correct"),
        ("How much is a certificate of residence at the counter?", [POOL, FEES, POOL], "correct"),
        ("How much is a certificate of residence at the counter?", [POOL], "incorrect"),
        ("Who won the football match in Manchester yesterday?", [WEAK, POOL], "incorrect"),
        ("住民票の写しは窓口でいくらですか", [POOL_JA, FEES_JA], "correct"),
        ("住民票の写しは窓口でいくらですか", [POOL_JA], "incorrect"),
        ("昨日の野球の試合はどちらが勝ちましたか", [FEES_JA, POOL_JA], "incorrect"),
        ("居住证明在窗口办理多少钱？", [POOL_ZH, FEES_ZH], "correct"),
        ("居住证明在窗口办理多少钱？", [POOL_ZH], "incorrect"),
        ("昨天的足球比赛谁赢了？", [FEES_ZH, POOL_ZH], "incorrect"),
    ],
)
async def test_the_best_passage_decides(
    judge: RelevanceJudge, question: str, passages: list[PassageEvidence], label: str
) -> None:
    verdict = await judge.judge(_asked(question), passages)
    assert verdict.label == label, verdict
    assert len(verdict.scores) == len(passages)
    assert verdict.judge == "evidence@2"


async def test_scores_stand_in_the_order_of_the_passages(judge: EvidenceJudge) -> None:
    question = _asked("How much is a certificate of residence at the counter?")
    verdict = await judge.judge(question, [POOL, FEES])
    assert verdict.scores[1] > verdict.scores[0]


async def test_no_passages_are_nothing_relevant(judge: EvidenceJudge) -> None:
    verdict = await judge.judge(_asked("When do you open?"), [])
    assert verdict.label == "incorrect"
    assert verdict.scores == ()
    assert verdict.reason == "no passage was found"


async def test_a_question_without_words_of_its_own_is_not_turned_away(judge: EvidenceJudge) -> None:
    assert (await judge.judge(_asked("How does it do that?"), [POOL])).label == "ambiguous"


async def test_the_reason_names_the_words_that_no_passage_holds(judge: EvidenceJudge) -> None:
    verdict = await judge.judge(_asked("Who won the football match in Manchester?"), [POOL])
    assert "holds 0 of 4 words" in verdict.reason
    assert "manchest" in verdict.reason


@given(st.text(max_size=80), st.text(max_size=200), st.floats(-1, 1), st.floats(0, 1e6))
def test_any_question_and_passage_get_signals_of_a_known_scale(
    question: str, text: str, similarity: float, bm25: float
) -> None:
    found = signals(question, PassageEvidence(text, similarity, bm25))
    shares = (found.covered, found.covered_nearby, found.covered_characters)
    assert all(-1e-9 <= share <= 1 + 1e-9 for share in shares)
    assert found.covered >= found.covered_nearby - 1e-9
    assert found.bm25 >= 0


@pytest.mark.parametrize("question", ["When does the library open?", "図書館は何時に開きますか"])
def test_a_cosine_of_another_encoder_says_nothing(question: str) -> None:
    def scores(encoder: str | None) -> set[float]:
        judge = EvidenceJudge(EvidenceModel.load(encoder=encoder))
        found = [PassageEvidence("The museum. 図書館の分館。", cosine, 1.0) for cosine in (0.1, 0.9)]
        return set(judge.judge_now(question, found).scores)

    assert (len(scores("some-other-encoder")), len(scores(None))) == (1, 2)


def test_broken_weights_are_refused_with_the_file_and_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ClassifierError, match=r"weights\.json: expected the weights"):
        EvidenceModel.load(tmp_path / "weights.json")
