"""What is quoted word for word passes the check: a row or list of the example helpdesks under its own headings."""

from __future__ import annotations

import pytest

from classifiers.faithfulness import Unchecked
from classifiers.faithfulness.local import LocalJudge
from encoders.shipped import load_shipped_support
from gateway.demo import HELPDESK
from gateway.rag.passages import RetrievedPassage
from gateway.rag.pieces import pieces
from gateway.rag.reading import SourceDocument, read_documents


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_every_piece_of_a_document_is_supported_by_it(language: str) -> None:
    judge = LocalJudge(load_shipped_support())
    held = []
    for document in read_documents([HELPDESK / language / "documents"]):
        assert isinstance(document, SourceDocument)
        for chunk in document.chunks:
            passage = RetrievedPassage(
                id="1", path=document.path, heading=chunk.heading, text=chunk.text,
                language=language, similarity=1.0, bm25=1.0, score=1.0,
            )  # fmt: skip
            for piece in pieces(passage):
                verdict = await judge.judge(piece.text, [passage.shown])
                if not isinstance(verdict, Unchecked) and not verdict.passed:
                    held.append((piece.text, verdict.reason))
    assert held == []
