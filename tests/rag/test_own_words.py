"""What is quoted word for word passes the check: a section of the example helpdesks."""

from __future__ import annotations

from pathlib import Path

import pytest

from classifiers.faithfulness import Unchecked
from classifiers.faithfulness.local import LocalJudge
from encoders.shipped import load_shipped_support
from gateway.demo import HELPDESK
from gateway.documents.passages import RetrievedPassage
from gateway.documents.reading import SourceDocument, read_documents

DOCUMENTS = {
    "en": HELPDESK / "en/documents",
    "ja": HELPDESK / "ja/documents",
    "zh": Path(__file__).parents[2] / "training/desks/zh_gym/documents",
}


@pytest.mark.parametrize("language", DOCUMENTS)
async def test_every_passage_of_a_document_is_supported_by_itself(language: str) -> None:
    judge = LocalJudge(load_shipped_support())
    held = []
    for document in read_documents([DOCUMENTS[language]]):
        assert isinstance(document, SourceDocument)
        for chunk in document.chunks:
            passage = RetrievedPassage(
                id="1", path=document.path, heading=chunk.heading, text=chunk.text,
                language=language, score=1.0,
            )  # fmt: skip
            verdict = await judge.judge(passage.shown, [passage.shown])
            if isinstance(verdict, Unchecked) or not verdict.passed:
                held.append((passage.shown, verdict.reason))
    assert held == []
