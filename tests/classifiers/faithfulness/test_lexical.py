"""The local faithfulness judge: verdicts and reasons; `test_probes` holds its level."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.faithfulness_quality import LANGUAGES, read_probes
from classifiers import ClassifierError
from classifiers.faithfulness import Checked, FaithfulnessJudge, FaithfulnessVerdict, Unchecked
from classifiers.faithfulness.evidence import Features
from classifiers.faithfulness.lexical import SHIPPED, LexicalJudge
from classifiers.faithfulness.weighing import EvidenceModel

CONTEXTS = [
    "The annual pass costs 120 EUR. Refunds are possible within 14 days. Visitors may bring dogs.",
    "Ms. Keller handles group bookings. The desk is open from 9:00 to 17:30.",
]


@pytest.fixture(scope="module")
def judge() -> LexicalJudge:
    return LexicalJudge()


def _passes(verdict: FaithfulnessVerdict) -> bool:
    return isinstance(verdict, Checked) and verdict.passed


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("The annual pass costs 150 EUR.", "new number: 150 eur"),
        ("The annual pass costs 120 USD.", "number with another unit: 120 usd"),
        ("Refunds are not possible.", "negation differs"),
        ("Group bookings are handled by Ms. Xavier-Jones.", "new name: Xavier-Jones"),
        ("Wild elephants perform acrobatics.", "4 of 4 words not in any context"),
    ],
)
def test_a_reason_names_what_is_new(statement: str, reason: str) -> None:
    verdict = LexicalJudge().judge_now(statement, CONTEXTS)
    assert isinstance(verdict, Checked)
    assert not verdict.passed
    assert reason in verdict.statements[0].reason
    assert verdict.statements[0].reason in verdict.reason


async def test_one_unsupported_statement_fails_the_answer(judge: FaithfulnessJudge) -> None:
    answer = "The annual pass costs 120 EUR. Refunds are possible within 30 days."
    verdict = await judge.judge(answer, CONTEXTS, question="What does the pass cost?")
    assert isinstance(verdict, Checked)
    assert not verdict.passed
    assert verdict.faithfulness == 0.5
    assert [s.supported for s in verdict.statements] == [True, False]
    assert verdict.score == verdict.statements[1].score
    assert all(answer[s.start : s.end] == s.text for s in verdict.statements)


async def test_the_best_passage_and_its_sentence_are_named(judge: LexicalJudge) -> None:
    verdict = await judge.judge("Ms. Keller handles group bookings.", CONTEXTS)
    assert isinstance(verdict, Checked)
    assert verdict.passed
    assert verdict.statements[0].reason == "supported"
    assert verdict.statements[0].passage == 1
    assert verdict.statements[0].evidence == "Ms. Keller handles group bookings."


@pytest.mark.parametrize(
    ("answer", "passes"),
    [
        ("In short: 1. The annual pass costs 120 EUR. 2. Visitors may bring dogs.", True),
        ("In short: 1. The annual pass costs 120 EUR. 2. Visitors may bring 2 dogs.", False),
        ("Refunds are possible within: 1. Visitors may bring dogs.", False),
    ],
)
def test_only_the_numbers_that_mark_a_list_claim_nothing(
    judge: LexicalJudge, answer: str, passes: bool
) -> None:
    assert _passes(judge.judge_now(answer, CONTEXTS)) is passes


@pytest.mark.parametrize(
    ("answer", "contexts", "reason"),
    [
        pytest.param("", CONTEXTS, "nothing_to_check", id="an empty answer"),
        pytest.param("It is 3 EUR. " * 1_100, CONTEXTS, "too_many_statements", id="too many statements"),
        pytest.param("x" * 50_001, CONTEXTS, "answer_too_long", id="a dump"),
        pytest.param(" \n", CONTEXTS, "nothing_to_check", id="a blank answer"),
        pytest.param("Hello! How can I help you?", CONTEXTS, "nothing_to_check", id="small talk"),
        pytest.param("The documents don't say.", CONTEXTS, "nothing_to_check", id="a plain refusal"),
        pytest.param("The pass costs 120 EUR.", [], "no_contexts", id="no contexts"),
        pytest.param("The pass costs 120 EUR.", ["", "\n"], "no_contexts", id="blank contexts"),
        pytest.param(
            "年間パスは百二十ユーロです。", CONTEXTS, "other_language", id="contexts in another language"
        ),
    ],
)
async def test_what_could_not_be_checked_is_not_a_pass(
    judge: LexicalJudge, answer: str, contexts: list[str], reason: str
) -> None:
    verdict = await judge.judge(answer, contexts)
    assert isinstance(verdict, Unchecked)
    assert reason in verdict.reason
    assert verdict.judge == "lexical@11"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_any_answer_gets_a_verdict(answer: str, contexts: list[str]) -> None:
    match LexicalJudge().judge_now(answer, contexts):
        case Checked(statements=statements, score=score, faithfulness=share):
            assert statements
            assert 0 <= score <= 1
            assert 0 <= share <= 1
        case Unchecked(reason=reason):
            assert reason


def test_an_answer_copied_from_its_context_passes(judge: LexicalJudge) -> None:
    for context in {
        context for lang in LANGUAGES for probe in read_probes(lang) for context in probe.contexts
    }:
        assert _passes(judge.judge_now(context, [context])), context


@pytest.mark.parametrize(
    ("passage", "true", "false", "reason"),
    [
        pytest.param(
            "A flex desk costs 190 euros a month, a fixed desk 290 euros.",
            "A fixed desk costs 290 euros a month.",
            "A fixed desk costs 190 euros a month.",
            "told of another subject: 190 euros",
            id="a price of another desk",
        ),
        pytest.param(
            "ホテル代は一泊140ポンドまで、ロンドンでは190ポンドまで支払います。",
            "ロンドンではホテル代を190ポンドまで支払います。",
            "ロンドンではホテル代を140ポンドまで支払います。",
            "told of another subject: 140ポンド",
            id="a limit of another city, in Japanese",
        ),
        pytest.param(
            "未满16周岁的有效期为5年，16周岁以上的有效期为10年。",
            "未满16周岁的有效期为5年。",
            "未满16周岁的有效期为10年。",
            "told of another subject: 10年",
            id="a term of another age, in Chinese",
        ),
        pytest.param(
            "银卡会员：一年内满1000元，享受9.5折。金卡会员：一年内满5000元，享受9折。",
            "金卡会员享受9折。",
            "银卡会员享受9折。",
            "told of another subject: 9折",
            id="a discount of another card, whose name stands a part before, in Chinese",
        ),
        pytest.param(
            "三天以内的病假由部门经理批准，三天以上的病假由人事部批准。",
            "三天以上的病假由人事部批准。",
            "三天以上的病假由部门经理批准。",
            "stronger or weaker: 三天以上",
            id="a bound whose other side the next part has",
        ),
        pytest.param(
            "Children from the age of one to school age can attend the nursery.",
            "Children can attend the nursery from the age of one.",
            "Only children of school age can attend the nursery.",
            "stronger or weaker: only",
            id="an only that nobody said",
        ),
        pytest.param(
            "Processing takes about four weeks.",
            "Processing takes about four weeks.",
            "Processing takes exactly four weeks.",
            "stronger or weaker: exactly",
            id="an exactly that nobody said",
        ),
        pytest.param(
            "Dogs are welcome on the second floor.",
            "Dogs are welcome on the second floor.",
            "Dogs are always welcome on the second floor.",
            "stronger or weaker: always",
            id="an always that nobody said",
        ),
        pytest.param(
            "施工时间为工作日8:00至12:00，周末和节假日不得施工。",
            "周末不能施工。",
            "周末可以施工。",
            "negation differs",
            id="what is forbidden, in Chinese",
        ),
        pytest.param(
            "職員が家の中に入って運び出すことはできません。",
            "職員が家の中に入って運び出すことはできません。",
            "職員が家の中に入って運び出します。",
            "negation differs",
            id="what is not done, in Japanese",
        ),
        pytest.param(
            "已拆封的贴身用品不参加七天无理由退货。",
            "贴身用品拆封后不参加七天无理由退货。",
            "已拆封的贴身用品参加七天无理由退货。",
            "negation differs",
            id="a denial beside another one that is a word of both",
        ),
    ],
)
def test_words_of_the_passage_can_say_something_else(
    judge: LexicalJudge, passage: str, true: str, false: str, reason: str
) -> None:
    verdict = judge.judge_now(false, [passage])
    assert not _passes(verdict)
    assert reason in verdict.reason
    right = judge.judge_now(true, [passage])
    assert isinstance(right, Checked)
    assert "differs" not in right.reason
    assert "another subject" not in right.reason
    assert "stronger" not in right.reason


@pytest.mark.parametrize(
    ("passage", "answer"),
    [
        ("報告書を12月に提出しないと、支給を止めます。", "報告書を12月に提出してください。"),
        ("12月に報告書を提出しなければなりません。", "12月に報告書を提出していただきます。"),
        ("补换SIM卡收费10元，线上办理免费。", "线上办理不收费。"),
        ("6岁以下禁用。", "不能，6岁以下禁用。"),
        ("UTVs are wider than ATVs; UTV payloads run from 800 to 1350 lbs.", "ATVs are narrower than UTVs."),
    ],
)
def test_a_condition_a_short_answer_and_a_name_in_another_place_deny_nothing(
    judge: LexicalJudge, passage: str, answer: str
) -> None:
    reason = judge.judge_now(answer, [passage]).reason
    assert "negation" not in reason
    assert "another name" not in reason


def test_a_passage_seen_before_says_the_same_in_another_place(judge: LexicalJudge) -> None:
    answer = "Ms. Keller handles group bookings. The annual pass costs 130 EUR."
    first = judge.judge_now(answer, CONTEXTS)
    second = judge.judge_now(answer, ["Dogs are welcome.", *reversed(CONTEXTS)])
    assert isinstance(first, Checked)
    assert isinstance(second, Checked)
    assert [one.score for one in first.statements] == [one.score for one in second.statements]
    places = [len(CONTEXTS) - (one.passage or 0) for one in first.statements]
    assert [one.passage for one in second.statements] == places


def test_a_cut_that_is_no_probability_is_refused() -> None:
    with pytest.raises(ClassifierError, match="cut: expected a probability from 0 to 1, not 3"):
        LexicalJudge(cut=3)


@pytest.mark.parametrize("content", [None, "{", '{"judge": "x", "models": {}}', "[]"])
def test_broken_weights_are_refused_with_the_file_and_what_was_expected(
    tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "weights.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(ClassifierError, match=r"weights\.json: expected the weights"):
        EvidenceModel.load(file, Features.names())


def test_the_shipped_weights_say_on_what_their_cuts_rest() -> None:
    models = json.loads(SHIPPED.read_text("utf-8"))["models"]
    assert all("held out" in text for model in models.values() for text in model["cuts_from"].values())
    assert all(weight <= 0 for model in models.values() for weight in model["weights"].values())
