"""The promise on supported answers that are kept back: it holds, it is not made from little, it can fail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from classifiers.conformal import TooFew
from classifiers.faithfulness import (
    Checked,
    FaithfulnessVerdict,
    NewPart,
    StatementVerdict,
    Unchecked,
    verdict_of,
)
from classifiers.faithfulness.promise import (
    LEAST_CUT,
    CalibratedJudge,
    CutPromise,
    CutsInForce,
    at_cut,
    critical_cut,
    keep_promise,
    language_of_answer,
)
from gateway.checking.opening import judge_apart
from gateway.settings import Settings


def verdict(*scores: float | None, cut: float = 0.5) -> Checked:
    found = verdict_of(
        [
            StatementVerdict(
                text=f"{place}",
                start=0,
                end=1,
                state="supported" if score is None or score >= cut else "unsupported",
                score=score,
                reason="supported" if score is None or score >= cut else "new number: 7",
                judge="scripted@1",
            )
            for place, score in enumerate(scores)
        ],
        judge="scripted@1",
    )
    assert isinstance(found, Checked)
    return found


@pytest.mark.parametrize("error", [0.05, 0.1])
def test_the_promise_holds_on_exchangeable_answers(error: float) -> None:
    """Mean over 2,000 draws; the share outside is Beta distributed, so its mean is r / (n + 1)."""
    rng = np.random.default_rng(7)
    n, shares, over = 99, [], 0
    for _ in range(2_000):
        found = keep_promise(rng.beta(0.8, 0.4, n).tolist(), error)
        assert isinstance(found, CutPromise)
        shares.append(np.mean(rng.beta(0.8, 0.4, 400) < found.cut))
        over += shares[-1] > found.at_most
    assert np.mean(shares) <= error + 0.004
    assert np.mean(shares) >= error - 0.01  # and it is not bought by stopping nothing
    assert over / 2_000 <= 0.08  # 5 % and the noise of 400 new answers


def test_ties_never_keep_back_more_than_was_promised() -> None:
    found = keep_promise([0.2] * 30 + [0.9] * 70, 0.05)
    assert isinstance(found, CutPromise)
    assert (found.cut, found.blocked) == (0.2, 0)


@pytest.mark.parametrize(("n", "error", "needed"), [(0, 0.05, 19), (18, 0.05, 19), (40, 0.02, 49)])
def test_too_few_answers_promise_nothing(n: int, error: float, needed: int) -> None:
    assert keep_promise([0.5] * n, error) == TooFew(n, needed)


def test_a_cut_that_would_stop_nothing_is_not_taken_and_that_is_said() -> None:
    found = keep_promise([0.0] * 20 + [0.9] * 79, 0.05)
    assert isinstance(found, CutPromise)
    assert not found.kept
    assert (found.cut, found.needed, found.blocked) == (LEAST_CUT, 0.0, 20)
    assert found.on_average == pytest.approx(21 / 100)


@pytest.mark.parametrize(("share", "cut"), [(1.0, 0.1), (0.75, 0.4), (0.5, 0.6), (0.1, 0.9)])
def test_the_critical_cut_is_the_highest_that_lets_an_answer_pass(share: float, cut: float) -> None:
    found = verdict(0.1, 0.4, 0.6, 0.9)
    assert critical_cut(found, share=share) == cut
    at, above = at_cut(found, cut), at_cut(found, cut + 1e-9)
    assert isinstance(at, Checked)
    assert isinstance(above, Checked)
    assert at.faithfulness >= share > above.faithfulness


def test_an_answer_without_scores_has_no_critical_cut() -> None:
    assert critical_cut(verdict(0.4, None)) is None


def test_a_new_cut_changes_states_and_reasons_but_no_score() -> None:
    found = verdict(0.4, 0.6, 0.9)
    looser, stricter = at_cut(found, 0.3), at_cut(found, 0.7)
    assert isinstance(looser, Checked)
    assert isinstance(stricter, Checked)
    assert (looser.passed, stricter.passed, stricter.faithfulness) == (True, False, pytest.approx(1 / 3))
    assert [one.score for one in stricter.statements] == [0.4, 0.6, 0.9]
    assert [one.reason for one in looser.statements] == ["supported"] * 3
    assert stricter.statements[0].reason == "new number: 7"  # the judge's own reason stands
    assert stricter.statements[1].reason == "below_cut"


@pytest.mark.parametrize(
    "against",
    [
        NewPart("number", "7", "5"),
        NewPart("opposite", "open", "closed"),
        NewPart("name", "王医生", "李医生"),
        NewPart("relation", "450元", "心脏彩超450元"),
    ],
)
def test_what_the_contexts_have_otherwise_passes_at_no_cut(against: NewPart) -> None:
    found = verdict(0.4, 0.9)
    wrong = replace(found.statements[0], new=(against,))
    against = replace(found, statements=(wrong, found.statements[1]))
    assert critical_cut(against) == -math.inf
    assert critical_cut(against, share=0.5) == 0.9
    still = at_cut(against, 0.1)
    assert isinstance(still, Checked)
    assert not still.passed
    kept = keep_promise([-math.inf] * 10 + [0.9] * 90, 0.05)
    assert isinstance(kept, CutPromise)
    assert (kept.kept, kept.needed, kept.blocked) == (False, 0.0, 10)


@pytest.mark.parametrize(
    "new", [NewPart("name", "王医生"), NewPart("relation", "450元"), NewPart("wording", "a")]
)
def test_what_is_only_new_passes_at_a_cut_below_its_score(new: NewPart) -> None:
    found = verdict(0.4)
    unseen = replace(found, statements=(replace(found.statements[0], new=(new,)),))
    assert critical_cut(unseen) == 0.4
    passed = at_cut(unseen, 0.4)
    assert isinstance(passed, Checked)
    assert passed.passed


@pytest.mark.parametrize(
    ("passage", "right", "wrong"),
    [
        ("The small van costs £18 per hour, the large van £27.", "The large van costs £27.", "The large van costs £18."),
        ("送料は本州が600円、北海道が900円です。", "北海道の送料は900円です。", "北海道の送料は600円です。"),
        ("麻醉评估150元，心脏彩超450元。", "麻醉评估150元。", "麻醉评估450元。"),
        ("手术由李医生主刀。", "手术由李医生主刀。", "手术由王医生主刀。"),
    ],
)  # fmt: skip
async def test_no_cut_releases_a_price_or_a_name_of_another(passage: str, right: str, wrong: str) -> None:
    async with judge_apart(Settings()) as judge:
        said = [await judge.judge(text, [passage], question="") for text in (right, wrong)]
    passed = [at_cut(one, LEAST_CUT).passed for one in said]  # type: ignore[union-attr, arg-type]
    assert passed == [True, False]


class Scripted:
    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        return verdict(0.6) if contexts else Unchecked(reason="no_contexts", judge="scripted@1")


async def test_each_language_is_cut_at_its_own_cut_and_what_is_unchecked_stays_so() -> None:
    cuts = CutsInForce({"ja": 0.7})
    judge = CalibratedJudge(Scripted(), cuts)
    japanese, english = (
        await judge.judge("収集は月曜です。", ["収集"]),
        await judge.judge("On Monday.", ["It"]),
    )
    assert isinstance(japanese, Checked)
    assert isinstance(english, Checked)
    assert (japanese.passed, english.passed) == (False, True)
    cuts.present = {"ja": 0.5}  # replaced while it runs
    after = await judge.judge("収集は月曜です。", ["収集"])
    assert isinstance(after, Checked)
    assert after.passed
    assert isinstance(await judge.judge("収集は月曜です。", []), Unchecked)


def test_contexts_tell_japanese_without_kana_from_chinese() -> None:
    assert language_of_answer("月曜日。", ["収集は月曜日です。"]) == "ja"
    assert language_of_answer("星期一。", ["垃圾在星期一收集。"]) == "zh"
