"""Whether what was found answers: the judge that ships, in three languages, and what it does with its models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from classifiers import ClassifierError
from classifiers.retrieval import PassageEvidence
from classifiers.retrieval.pieces import pieces
from classifiers.retrieval.reading import READ, PassageReader, ReadingJudge, ReadingModel
from encoders import Encoded, EncoderError, EncoderIdentity, Vector, encode_one
from encoders.shipped import load_shipped, load_shipped_answering
from encoders.testing import HashingEncoder

FEES = PassageEvidence(
    "A certificate of residence costs 300 yen at the counter and 200 yen at the machine in the station.",
    "Certificates › Fees",
)
POOL = PassageEvidence("The pool is closed in winter. Caps must be worn.", "Swimming pool › Opening")
FEES_JA = PassageEvidence("住民票の写しは、窓口では300円、駅の証明書交付機では200円です。", "証明書 › 手数料")
POOL_JA = PassageEvidence("市民プールは冬季は休業します。水泳帽を着用してください。", "市民プール › 休業日")
SEALS_JA = PassageEvidence("印鑑登録は市民課で申請してください。登録手数料は300円です。", "印鑑登録")
FEES_ZH = PassageEvidence("居住证明在窗口办理收费300元，在车站的自助机办理收费200元。", "证明 › 收费")
POOL_ZH = PassageEvidence("市民游泳池冬季关闭，请佩戴泳帽。", "游泳池 › 开放时间")


@cache
def judge() -> ReadingJudge:
    return ReadingJudge(load_shipped(), load_shipped_answering())


async def asked(text: str) -> Encoded:
    return await encode_one(load_shipped(), text)


@pytest.mark.parametrize(
    ("question", "passages", "answers"),
    [
        ("How much is a certificate of residence at the counter?", [FEES, POOL], 0),
        ("certificate of residence price", [POOL, FEES], 1),
        ("When is the swimming pool closed?", [FEES, POOL], 1),
        ("住民票の写しは窓口でいくらですか", [FEES_JA, POOL_JA, SEALS_JA], 0),
        ("印鑑登録の手数料は", [SEALS_JA, FEES_JA, POOL_JA], 0),
        ("居住证明在窗口办理多少钱？", [FEES_ZH, POOL_ZH], 0),
        ("游泳池什么时候关闭", [POOL_ZH, FEES_ZH], 0),
    ],
)
async def test_the_passage_that_answers_is_found(
    question: str, passages: list[PassageEvidence], answers: int
) -> None:
    verdict = await judge().judge(await asked(question), passages)
    assert verdict.label == "correct", verdict
    assert int(np.argmax(verdict.scores)) == answers
    assert len(verdict.scores) == len(passages)


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("How much is a certificate of residence at the counter?", [POOL]),
        ("Who won the football match in Manchester yesterday?", [FEES, POOL]),
        ("住民票の写しは窓口でいくらですか", [POOL_JA]),
        ("昨日の野球の試合はどちらが勝ちましたか", [FEES_JA, POOL_JA]),
        ("居住证明在窗口办理多少钱？", [POOL_ZH]),
        ("昨天的足球比赛谁赢了？", [FEES_ZH, POOL_ZH]),
    ],
)
async def test_what_answers_something_else_is_incorrect(
    question: str, passages: list[PassageEvidence]
) -> None:
    assert (await judge().judge(await asked(question), passages)).label == "incorrect"


@pytest.mark.parametrize("question", ["犬の登録手数料はいくらですか", "パスポートの登録手数料は"])
async def test_the_fee_of_something_else_is_no_answer(question: str) -> None:
    assert (await judge().judge(await asked(question), [SEALS_JA, FEES_JA])).label != "correct"


async def test_no_passages_are_nothing_relevant() -> None:
    verdict = await judge().judge(await asked("When do you open?"), [])
    assert (verdict.label, verdict.scores, verdict.reason) == ("incorrect", (), "no passage was found")


async def test_a_question_without_words_of_its_own_is_not_turned_away() -> None:
    assert (await judge().judge(await asked("How does it do that?"), [POOL])).label == "ambiguous"


async def test_the_reason_names_the_likeliest_passage_and_what_is_asked_of_it() -> None:
    verdict = await judge().judge(await asked("Who won the football match?"), [POOL])
    assert "(“Opening”) answers it with 0.0" in verdict.reason


async def test_what_the_model_doubts_is_never_correct() -> None:
    class Doubts(Answers):
        async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
            return np.full(len(pairs), 0.9)

    question = await asked("When is the swimming pool closed?")
    verdict = await ReadingJudge(load_shipped(), Doubts(), correct_from=0.2).judge(question, [POOL])
    assert verdict.label == "ambiguous"
    assert verdict.reason.endswith("of the 0.20 asked, but no sentence of it does by itself")


async def test_the_operators_cuts_hold() -> None:
    question = await asked("How much is a certificate of residence at the counter?")
    strict = ReadingJudge(load_shipped(), load_shipped_answering(), correct_from=1.0, incorrect_below=0.0)
    assert (await strict.judge(question, [FEES])).label == "ambiguous"


class Meaning:
    """An encoder for which everything about the depot means the same."""

    identity = EncoderIdentity("meaning", 2, "0", ("en",))

    def __init__(self, *, works: bool = True) -> None:
        self.works = works
        self.read: list[str] = []

    async def encode(self, texts: Sequence[str], /) -> Vector:
        if not self.works:
            raise EncoderError("gone")
        self.read += texts
        return np.array([[1, 0] if "depot" in text else [0, 1] for text in texts], dtype=np.float32)


class Answers:
    """A model of answers that remembers what it was given."""

    languages = ("en", "ja", "zh")
    digest = "answers"

    def __init__(self, *, works: bool = True) -> None:
        self.works = works
        self.read: list[tuple[str, str]] = []

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        if not self.works:
            raise EncoderError("gone")
        self.read += pairs
        return np.full(len(pairs), 2.0)


PARKING = PassageEvidence(
    "Bicycles may be left for a day. Leave the key with us. What was taken away is kept at the depot.",
    "Bicycles › Parking",
)
WHERE = Encoded("Where is my removed bicycle?", np.array([1, 0], dtype=np.float32))


async def test_what_says_it_in_other_words_is_read_first_under_its_headings() -> None:
    answers = Answers()
    await PassageReader(Meaning(), answers).signals(WHERE, [PARKING])
    assert answers.read[0][1].startswith("Bicycles › Parking\nWhat was taken away")


async def test_of_every_passage_something_is_read_and_of_all_a_dozen() -> None:
    long = [PassageEvidence(" ".join(f"Shelf {n} holds {i} books." for n in range(9))) for i in range(5)]
    answers = Answers()
    signals = await PassageReader(HashingEncoder(), answers).signals(
        await encode_one(HashingEncoder(), "How many books are there?"), [*long, PARKING]
    )
    assert len(answers.read) == READ
    assert all(signals)
    assert any("depot" in read or "Bicycles" in read for _, read in answers.read)


async def test_an_encoder_is_not_asked_about_a_language_it_was_not_trained_on() -> None:
    encoder = Meaning()
    question = Encoded("自転車はどこですか", np.array([1, 0], dtype=np.float32))
    signals = await PassageReader(encoder, Answers()).signals(
        question, [PassageEvidence("自転車は駅前です。")]
    )
    assert (encoder.read, [one.cosine for one in signals if one]) == ([], [0.0])


@pytest.mark.parametrize("encoder", [True, False])
async def test_a_model_that_fails_is_a_judge_that_cannot_judge(encoder: bool) -> None:
    broken = ReadingJudge(Meaning(works=not encoder), Answers(works=encoder), ReadingModel.load())
    with pytest.raises(ClassifierError, match="could not be read: gone"):
        await broken.judge(WHERE, [PARKING])


async def test_a_cosine_of_another_encoder_says_nothing() -> None:
    scores = set()
    for vector in ([1, 0], [0, 1]):
        judged = ReadingJudge(Meaning(), Answers())
        question = Encoded(WHERE.text, np.array(vector, dtype=np.float32))
        scores.add((await judged.judge(question, [PARKING])).scores)
    assert len(scores) == 1
    assert not ReadingModel.load(encoder="meaning").reads_meaning


@given(st.text(max_size=80), st.text(max_size=200), st.text(max_size=30))
async def test_any_question_and_passage_get_signals_of_a_known_scale(
    question: str, text: str, heading: str
) -> None:
    encoded = await encode_one(HashingEncoder(), question)
    reader = PassageReader(HashingEncoder(), Answers())
    (found,) = await reader.signals(encoded, [PassageEvidence(text, heading)])
    assert (found is None) == (not pieces(text))
    if found:
        shares = (found.first, found.piece_words, found.passage_words, found.heading_words)
        assert all(-1e-9 <= share <= 1 + 1e-9 for share in shares)


def test_broken_weights_are_refused_with_the_file_and_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ClassifierError, match=r"weights\.json: expected the weights"):
        ReadingModel.load(tmp_path / "weights.json")
