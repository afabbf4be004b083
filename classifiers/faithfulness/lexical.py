"""A judge of words alone: the evidence for each statement, weighed; a contradiction rules by itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import anyio.to_thread

from classifiers.faithfulness import FaithfulnessVerdict, StatementVerdict, Unchecked, verdict_of
from classifiers.faithfulness.evidence import Contexts, Features
from classifiers.faithfulness.examination import Examined, examine
from classifiers.faithfulness.weighing import EvidenceModel, weighed

__all__ = ["SHIPPED", "LexicalJudge", "shipped_weights"]

SHIPPED: Final = Path(__file__).with_name("lexical_weights.json")


def shipped_weights() -> EvidenceModel:
    """The weights of words alone."""
    return EvidenceModel.load(SHIPPED, Features.names())


class LexicalJudge:
    """A `FaithfulnessJudge` without a model: words, characters, numbers, names, negation."""

    def __init__(self, model: EvidenceModel | None = None, *, cut: float | None = None) -> None:
        self._model = (model or shipped_weights()).at(cut)

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """Judge each statement alone; the worst one decides."""
        return await anyio.to_thread.run_sync(partial(self.judge_now, answer, contexts, question=question))

    def judge_now(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """The same, for callers outside an event loop."""
        judge = self._model.judge
        examined = examine(answer, Contexts(contexts), question, judge=judge)
        if isinstance(examined, Unchecked):
            return examined
        return verdict_of([self._verdict(one) for one in examined], judge=judge)

    def _verdict(self, one: Examined) -> StatementVerdict:
        features = one.evidence.features
        return weighed(one, features.values(), self._model, contradicted=features.contradicted)
