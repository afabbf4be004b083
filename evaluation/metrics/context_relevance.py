"""Context relevance: how much of what was retrieved has to do with the question. Three forms.

- `ExtractedSentences` (Es et al. 2023): a model copies the sentences that are needed for an answer; score =
  extracted sentences / sentences of the contexts. Sentences are cut by our own segmentation, which knows
  Japanese and Chinese. What the model copied must stand in the contexts; nothing copied is 0 (ragas, until
  it removed the metric, gave 1/N for "Insufficient Information" without a full stop).
- `RatedContexts` (ragas' NVIDIA form): two prompts rate the contexts 0, 1 or 2; score = mean of rating / 2.
  If one prompt gets no rating the other decides; if neither, it is undetermined. A question that contains
  the contexts, or no contexts at all: 0, and nothing is asked. A rating is a number of its own: "0 out of
  2" is none.
- `ContextSimilarity`, without a model: the mean cosine of the question to the contexts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel

from classifiers import ClassifierError
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.text import normalise
from encoders import Encoder
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import Examiner, Steps, determined, lacking

__all__ = ["ContextSimilarity", "ExtractedSentences", "RatedContexts"]

MOST = 2  # the highest rating


class _Sentences(BaseModel):
    sentences: list[str]


class _Rating(BaseModel):
    rating: Literal[0, 1, 2]


class ExtractedSentences:
    """The share of the contexts' sentences that a model takes for needed."""

    name = "context_relevance_extracted"

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self.version = f"1:{examiner.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """Extracted sentences out of all; its steps name them."""
        steps: dict[str, Any] = {}
        return lacking(case, "contexts") or await determined(self._measured(case, steps), steps)

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        contexts = [context.text for context in case.contexts]
        given = {"question": case.case.question, "contexts": contexts}
        language = case.case.lang
        read = await self._examiner.ask(
            "context_sentences", _Sentences, given, language=language, steps=steps
        )
        all_sentences = [each.text for context in contexts for each in sentences(context)]
        copied = [normalise(each) for each in read.sentences if each.strip()]
        taken = [each for each in all_sentences if _is_in(normalise(each), copied)]
        if copied and not taken:
            raise ClassifierError("the model extracted sentences that stand in no context")
        steps |= {"extracted": taken, "sentences": len(all_sentences)}
        return Score(len(taken) / len(all_sentences) if all_sentences else 0.0, steps)


class RatedContexts:
    """Two prompts rate the contexts from 0 to 2; the mean of both, from 0 to 1."""

    name = "context_relevance"

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self.version = f"1:{examiner.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """The mean rating; its steps hold both, and why one is missing."""
        steps: dict[str, Any] = {}
        contexts = "\n".join(context.text for context in case.contexts).strip()
        if not contexts or contexts in case.case.question.strip():
            return Score(0.0, {"reason": "the contexts hold nothing that the question does not"})
        return await determined(self._measured(case, contexts, steps), steps)

    async def _measured(self, case: AnsweredCase, contexts: str, steps: Steps) -> Score:
        given = {"user_input": case.case.question, "context": contexts}
        ratings = []
        for prompt in ("context_rating", "context_rating_again"):
            try:
                read = await self._examiner.ask(prompt, _Rating, given, language=case.case.lang, steps=steps)
                ratings.append(read.rating)
            except ClassifierError as exc:
                steps[prompt] = str(exc)
        if not ratings:
            raise ClassifierError("neither prompt got a rating of 0, 1 or 2")
        steps["ratings"] = ratings
        return Score(sum(ratings) / (MOST * len(ratings)), steps)


class ContextSimilarity:
    """The mean cosine of the question to its contexts, each at least 0: on the subject, not of use."""

    name = "context_similarity"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.version = f"cosine@{encoder.identity.name}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """The mean; its steps hold the cosine of each context."""
        return lacking(case, "contexts") or await determined(self._measured(case), {})

    def texts(self, case: AnsweredCase, /) -> Sequence[str]:
        """The question and its contexts."""
        if lacking(case, "contexts"):
            return ()
        return (case.case.question, *(context.text for context in case.contexts))

    async def _measured(self, case: AnsweredCase) -> Score:
        question, *contexts = await self._encoder.encode(self.texts(case))
        near = [min(1.0, max(0.0, float(question @ context))) for context in contexts]
        return Score(sum(near) / len(near), {"cosines": [round(each, 4) for each in near]})


def _is_in(sentence: str, copied: list[str]) -> bool:
    """Whether a sentence was copied, by itself or within a longer copy; its final mark may be missing."""
    bare = sentence.rstrip(".。!！?？ ")
    return bool(bare) and any(bare in each for each in copied)
