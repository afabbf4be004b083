"""Passages into an answer: the one that answers, quoted whole under its headings.

Quoting needs no language model and can't invent anything. A section is quoted, not the sentence in it that
answers, since its conditions and exceptions stand beside.
"""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.retrieval import RelevanceJudge
from encoders import Encoded, Encoder, EncoderError, encode_one
from gateway.documents.passages import RetrievedPassage
from gateway.domain import Question
from gateway.errors import UpstreamUnavailable
from gateway.rag.answering import evidence
from gateway.rag.writer import OnText
from gateway.rag.written import Written

__all__ = ["ExtractiveWriter"]


class ExtractiveWriter:
    """Quotes what a judge takes for an answer, to each thing that a question asks."""

    name = "extractive@4"
    failing = False  # nobody outside is asked

    def __init__(self, encoder: Encoder, judge: RelevanceJudge, *, quotes_ambiguous: bool = False) -> None:
        self._encoder = encoder
        self._judge = judge
        self._quoted = {"correct", "ambiguous"} if quotes_ambiguous else {"correct"}

    async def write(
        self,
        question: Question,
        asked: Encoded,
        passages: Sequence[RetrievedPassage],
        on_text: OnText | None = None,
        /,
    ) -> Written | None:
        """The quotation in one piece, or None where nothing answers the question, or a part of it.

        Raises:
            ClassifierError: the passages could not be judged.
            UpstreamUnavailable: a part of the question could not be encoded.
        """
        quotations = [await self._quotation(part, passages) for part in await self._parts(question, asked)]
        return Written("\n\n".join(dict.fromkeys(filter(None, quotations)))) if all(quotations) else None

    async def close(self) -> None:
        """Nothing to close."""

    async def _parts(self, question: Question, asked: Encoded) -> list[Encoded]:
        if not question.parts:
            return [asked]
        try:
            return [await encode_one(self._encoder, part) for part in question.parts]
        except EncoderError as exc:
            raise UpstreamUnavailable("the question can't be read at present", cause="encoder") from exc

    async def _quotation(self, part: Encoded, passages: Sequence[RetrievedPassage]) -> str | None:
        verdict = await self._judge.judge(part, evidence(passages))
        if verdict.label not in self._quoted:
            return None
        return passages[verdict.best].shown
