"""Documents as proof of scope, over a real index."""

from __future__ import annotations

from uuid import uuid4

import anyio
import pytest

from classifiers import ClassifierError
from classifiers.gate import Policy
from classifiers.gate.examples import ExampleGate
from classifiers.gate.lexical import Rarity
from classifiers.gate.passages import PassageScope
from encoders import Encoder, encode_one
from encoders.shipped import load_shipped
from encoders.testing import HashingEncoder
from storage.testing import MemoryIndex
from storage.vectors import Point

PASSAGES = (
    (
        "出張規程",
        "出張旅費は、事前に出張申請書を提出し、所属長の承認を得た場合に支給する。日当は一日3,000円とする。",
    ),
    ("休暇規程", "年次有給休暇は、入社後六か月を経過した職員に十日を与える。半日単位で取得できる。"),
    ("图书馆规则", "读者可以凭借书证借阅图书，每次最多借五本，借期为三十天，可以续借一次。"),
    (
        "Parking rules",
        "Visitors may park in the north lot. A permit costs 20 euros a month and is issued by reception.",
    ),
)


async def filled(encoder: Encoder) -> MemoryIndex:
    index = MemoryIndex(encoder.identity)
    vectors = await encoder.encode([text for _, text in PASSAGES])
    await index.upsert(
        [
            Point(str(uuid4()), vector, text, {"source": source})
            for (source, text), vector in zip(PASSAGES, vectors, strict=True)
        ]
    )
    return index


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_shipped()


@pytest.fixture(scope="module")
def gate(encoder: Encoder) -> ExampleGate:
    async def fit() -> ExampleGate:
        scope = PassageScope(await filled(encoder), Rarity.fitted([text for _, text in PASSAGES]))
        return await ExampleGate.fit(Policy(), encoder, [scope])

    return anyio.run(fit)


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("出張の日当はいくらですか", "出張規程"),
        ("年次有給休暇は半日単位で取得できますか", "休暇規程"),
        ("读者每次最多借几本？", "图书馆规则"),
        ("What does a parking permit cost?", "Parking rules"),
    ],
)
async def test_a_question_about_a_document_we_hold_is_ours(
    gate: ExampleGate, encoder: Encoder, question: str, source: str
) -> None:
    verdict = await gate.judge(await encode_one(encoder, question), tenant="t")
    assert verdict.label == "must", verdict.reason
    assert verdict.nearest is not None
    assert (verdict.nearest.kind, verdict.nearest.source) == ("passage", source)


@pytest.mark.parametrize(
    "question", ["Who won the cup final in 1966?", "宇宙の年齢は？", "恐龙为什么灭绝了？"]
)
async def test_a_question_about_no_document_is_not(
    gate: ExampleGate, encoder: Encoder, question: str
) -> None:
    verdict = await gate.judge(await encode_one(encoder, question), tenant="t")
    assert verdict.label in ("may", "unsure"), verdict.reason


async def test_a_dead_index_is_no_verdict() -> None:
    encoder = HashingEncoder()
    index = await filled(encoder)
    gate = await ExampleGate.fit(Policy(), encoder, [PassageScope(index)])
    index.fail("no disk")
    with pytest.raises(ClassifierError, match="no disk"):
        await gate.judge(await encode_one(encoder, "Where may I park?"), tenant="t")
