from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from classifiers import ClassifierError
from classifiers.gate.passages import PassageScope
from classifiers.retrieval import PassageEvidence, RelevanceVerdict
from encoders import Encoded, encode_one
from encoders.testing import HashingEncoder
from gateway.documents.ingestion import Documents
from gateway.documents.passages import PassageSearch, fused
from gateway.domain import Draft, NothingRelevant
from gateway.errors import UpstreamUnavailable
from gateway.rag.knowledge import KnowledgeRag
from gateway.review.entries.rereview import follow_renamed, outdate_and_ask
from storage.edge import EdgeIndex
from storage.sql import Database
from storage.vectors import Found
from tests.rag.asking import ByWords, question, quoting

DOCUMENTS = {
    "library.md": "# Library\n\n## Loan\n\nYou can borrow ten books for two weeks.\n\n## Hours\n\nFrom nine.",
    "bicycles.md": "# Bicycle parking\n\nRemoved bicycles are kept here. Getting one back costs 2,500 yen.",
    "図書館.md": "# 図書館\n\n## 貸出\n\n本は1人10冊まで借りられます。\n\n## 休館日\n\n月曜日は休館です。",
    "停车.md": "# 自行车停车场\n\n被移走的自行车保管60天。取回费用为2500日元。",
}


class Broken:
    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        raise ClassifierError("no verdict")


@pytest.fixture
async def search(
    database: Database, index: EdgeIndex, encoder: HashingEncoder, tmp_path: Path
) -> PassageSearch:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    await Documents(database, index, encoder, on_changed=outdate_and_ask, on_renamed=follow_renamed).ingest(
        [folder]
    )
    return PassageSearch(database, index, encoder.identity)


ANSWERS = {
    "English": (
        "en",
        "How many books can I borrow?",
        "library.md",
        "You can borrow ten books for two weeks.",
    ),
    "English, another document": (
        "en",
        "What does it cost to get removed bicycles back?",
        "bicycles.md",
        "Getting one back costs 2,500 yen.",
    ),
    "Japanese": (
        "ja",
        "図書館の本は何冊まで借りられますか",
        "図書館.md",
        "本は1人10冊まで借りられます。",
    ),
    "Chinese": ("zh", "取回自行车的费用是多少？", "停车.md", "取回费用为2500日元。"),
}


@pytest.mark.parametrize(("language", "text", "source", "quoted"), ANSWERS.values(), ids=ANSWERS)
async def test_a_question_is_answered_from_the_documents(
    search: PassageSearch, encoder: HashingEncoder, language: str, text: str, source: str, quoted: str
) -> None:
    rag = KnowledgeRag(search, ByWords(), quoting())
    draft = await rag.ask(question(text, language=language), await encode_one(encoder, text))
    assert isinstance(draft, Draft)
    assert quoted in draft.text
    assert draft.contexts[0].source == source
    assert any(quoted in context.text for context in draft.contexts)
    assert draft.model == "extractive@4"


async def test_nothing_relevant_is_said_with_the_judges_reason(
    search: PassageSearch, encoder: HashingEncoder
) -> None:
    text = "Zzyzx qwertyuiop?"
    found = await KnowledgeRag(search, ByWords(), quoting()).ask(
        question(text), await encode_one(encoder, text)
    )
    assert isinstance(found, NothingRelevant)
    assert found.reason == "no word in common"


async def test_without_documents_nothing_is_relevant(
    database: Database, index: EdgeIndex, encoder: HashingEncoder
) -> None:
    rag = KnowledgeRag(PassageSearch(database, index, encoder.identity), ByWords(), quoting())
    found = await rag.ask(question("Hello?"), await encode_one(encoder, "Hello?"))
    assert isinstance(found, NothingRelevant)
    assert found.reason == "the documents hold no passage like it"


async def test_a_judge_that_cannot_judge_is_not_passed_over(
    search: PassageSearch, encoder: HashingEncoder
) -> None:
    with pytest.raises(ClassifierError):
        await KnowledgeRag(search, Broken(), quoting()).ask(
            question("books"), await encode_one(encoder, "books")
        )


@pytest.mark.parametrize("dead", ["index", "database"])
async def test_a_dead_store_is_a_dead_chatbot(
    search: PassageSearch, database: Database, index: EdgeIndex, encoder: HashingEncoder, dead: str
) -> None:
    encoded = await encode_one(encoder, "books")
    if dead == "index":
        await index.close()
    else:
        async with database.begin() as connection:
            await connection.exec_driver_sql("DROP TABLE passages")
    with pytest.raises(UpstreamUnavailable, match="can't be searched"):
        await KnowledgeRag(search, ByWords(), quoting()).ask(question("books"), encoded)


async def test_a_point_without_a_passage_is_not_shown(
    search: PassageSearch, database: Database, encoder: HashingEncoder
) -> None:
    async with database.begin() as connection:
        await connection.exec_driver_sql("DELETE FROM documents WHERE path = 'library.md'")
    found = await search.find(await encode_one(encoder, "borrow ten books"), language="en", limit=5)
    assert found
    assert all(passage.path != "library.md" for passage in found)


async def test_passages_tell_the_gate_that_a_question_is_ours(
    search: PassageSearch, index: EdgeIndex, encoder: HashingEncoder
) -> None:
    near = await PassageScope(index, source_key="path").near(
        await encode_one(encoder, "図書館の休館日は？"), tenant="default"
    )
    by_words = max(near, key=lambda neighbour: neighbour.lexical)
    assert (by_words.kind, by_words.label, by_words.source) == ("passage", "must", "図書館.md")
    assert by_words.lexical > 0.5


def found(*ids: str) -> list[Found]:
    return [Found(id_, 1.0, "", {}) for id_ in ids]


@pytest.mark.parametrize(
    ("near", "matching", "weight", "best"),
    [
        (["a", "b"], ["b", "c"], 1.0, "b"),
        (["a", "b"], ["c", "d"], 0.1, "c"),
        ([], ["c"], 1.0, "c"),
        (["a"], [], 0.1, "a"),
    ],
    ids=["both rankings agree", "words win in a foreign language", "words only", "meaning only"],
)
def test_rankings_are_fused(near: list[str], matching: list[str], weight: float, best: str) -> None:
    scores = fused([(found(*near), weight), (found(*matching), 1.0)])
    assert max(scores, key=lambda id_: scores[id_]) == best
