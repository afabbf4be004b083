"""Which metrics there are, by name, and what they need."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from classifiers.model_replies import AsksModel
from encoders import Encoder
from evaluation.metrics import Metric
from evaluation.metrics.asked_retrieval import AttributedRecall, UsefulPrecision
from evaluation.metrics.citations import CitationSupport
from evaluation.metrics.context_relevance import ContextSimilarity, ExtractedSentences, RatedContexts
from evaluation.metrics.correctness import AnswerCorrectness, AskedFactuality, LocalFactuality
from evaluation.metrics.examiner import Examiner
from evaluation.metrics.faithfulness import Faithfulness
from evaluation.metrics.gpt_ranking import GptRanking
from evaluation.metrics.gpt_score import GptScore
from evaluation.metrics.labels import LabelAccuracy
from evaluation.metrics.likelihood import TokenLikelihood, TokenScorer
from evaluation.metrics.noise import NoiseRobustness
from evaluation.metrics.nothing_found import NullContext
from evaluation.metrics.overlap import Length, RougeL
from evaluation.metrics.relevance import AnswerRelevance, QuestionAnswerSimilarity
from evaluation.metrics.retrieval import ContextPrecision, ContextRecall, RankedContextPrecision
from evaluation.metrics.self_check import AskedSelfCheck, ModelSamples, NgramSelfCheck
from evaluation.metrics.similarity import SemanticSimilarity
from evaluation.metrics.statements import AskedStatements, LocalStatements
from gateway.errors import InvalidRequest
from gateway.stages import Judge

__all__ = ["ASKED", "DEFAULT", "LOCAL", "METRICS", "Judges", "open_metrics"]

_AT = re.compile(r"(\w+)@([1-9]\d{0,3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """Who judges: local by default; a language model where the configuration names one."""

    encoder: Encoder
    faithfulness: Judge
    faithfulness_version: str
    model: AsksModel | None = None
    sampler: AsksModel | None = None  # the same with a temperature above 0, for self-checks
    tokens: TokenScorer | None = None  # an endpoint that echoes log-probabilities
    beta: float = 1.0  # of answer correctness: above 1 what is missing weighs more, below 1 what is wrong
    timeout_s: float = 60.0

    @property
    def examiner(self) -> Examiner:
        """The language model."""
        return self._asking(self.model)

    @property
    def samples(self) -> ModelSamples:
        """Answers drawn again."""
        return ModelSamples(self._asking(self.sampler))

    @property
    def token_scorer(self) -> TokenScorer:
        """The endpoint with log-probabilities."""
        if self.tokens is None:
            raise _NoModelError
        return self.tokens

    def _asking(self, model: AsksModel | None) -> Examiner:
        if model is None:
            raise _NoModelError
        return Examiner(model, timeout_s=self.timeout_s)


class _NoModelError(Exception):
    """No such model is configured."""


LOCAL: Mapping[str, Callable[[Judges], Metric]] = {
    "faithfulness": lambda judges: Faithfulness(judges.faithfulness, version=judges.faithfulness_version),
    "answer_correctness": lambda judges: AnswerCorrectness(
        LocalFactuality(LocalStatements()), judges.encoder, beta=judges.beta
    ),
    "semantic_similarity": lambda judges: SemanticSimilarity(judges.encoder),
    "question_answer_similarity": lambda judges: QuestionAnswerSimilarity(judges.encoder),
    "context_similarity": lambda judges: ContextSimilarity(judges.encoder),
    "context_recall": lambda judges: ContextRecall(),
    "context_precision": lambda judges: ContextPrecision(),
    "context_precision_ranked": lambda judges: RankedContextPrecision(),
    "null_context": lambda judges: NullContext(),
    "noise_robustness_relevant": lambda judges: NoiseRobustness(LocalStatements()),
    "noise_robustness_irrelevant": lambda judges: NoiseRobustness(LocalStatements(), mode="irrelevant"),
    "citation_recall": lambda judges: CitationSupport(LocalStatements()),
    "citation_precision": lambda judges: CitationSupport(LocalStatements(), side="precision"),
    "label_accuracy": lambda judges: LabelAccuracy(),
    "rouge_l": lambda judges: RougeL(),
    "length": lambda judges: Length(),
}
ASKED: Mapping[str, Callable[[Judges], Metric]] = {
    "answer_correctness_llm": lambda judges: AnswerCorrectness(
        AskedFactuality(judges.examiner), judges.encoder, name="answer_correctness_llm", beta=judges.beta
    ),
    "answer_relevance": lambda judges: AnswerRelevance(judges.examiner, judges.encoder),
    "context_relevance": lambda judges: RatedContexts(judges.examiner),
    "context_relevance_extracted": lambda judges: ExtractedSentences(judges.examiner),
    "context_recall_llm": lambda judges: AttributedRecall(judges.examiner),
    "context_precision_llm": lambda judges: UsefulPrecision(judges.examiner),
    "noise_robustness_relevant_llm": lambda judges: NoiseRobustness(
        AskedStatements(judges.examiner), suffix="_llm"
    ),
    "noise_robustness_irrelevant_llm": lambda judges: NoiseRobustness(
        AskedStatements(judges.examiner), mode="irrelevant", suffix="_llm"
    ),
    "citation_recall_llm": lambda judges: CitationSupport(AskedStatements(judges.examiner), suffix="_llm"),
    "citation_precision_llm": lambda judges: CitationSupport(
        AskedStatements(judges.examiner), side="precision", suffix="_llm"
    ),
    "gpt_score": lambda judges: GptScore(judges.examiner),
    "gpt_ranking": lambda judges: GptRanking(judges.examiner),
    "self_check_ngram": lambda judges: NgramSelfCheck(judges.samples),
    "self_check_llm": lambda judges: AskedSelfCheck(judges.samples, AskedStatements(judges.examiner)),
    "token_likelihood": lambda judges: TokenLikelihood(judges.token_scorer),
}
METRICS: Mapping[str, Callable[[Judges], Metric]] = {**LOCAL, **ASKED}
_AT_K: Mapping[str, Callable[[int], Metric]] = {
    "context_recall": ContextRecall,
    "context_precision": ContextPrecision,
}
DEFAULT: Sequence[str] = (
    "faithfulness",
    "answer_correctness",
    "question_answer_similarity",
    "context_recall",
    "context_precision",
    "null_context",
)


def open_metrics(names: Sequence[str], judges: Judges) -> tuple[Metric, ...]:
    """The metrics of these names, in this order; `context_recall@5` looks at the first five contexts.

    Raises:
        InvalidRequest: naming one that there is not, or that needs a language model where none is configured.
    """
    return tuple(_opened(name, judges) for name in dict.fromkeys(names))


def _opened(name: str, judges: Judges) -> Metric:
    at = _AT.fullmatch(name)
    if at and at[1] in _AT_K:
        return _AT_K[at[1]](int(at[2]))
    if name not in METRICS:
        raise InvalidRequest(f"--metrics: there is no {name}; known: {', '.join(METRICS)}")
    try:
        return METRICS[name](judges)
    except _NoModelError:
        raise InvalidRequest(f"--metrics: {name} needs a language model, and none is configured") from None
