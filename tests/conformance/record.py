"""What ragas makes of the recorded replies: `python -m tests.conformance.record [FILE]`, where ragas is installed.

C is the path `ragas.metrics.collections`, L the older `ragas.metrics`. A model and an encoder of our own stand for
the endpoints; the replies come from replies.json, by the form that ragas asks for. NaN is written as "nan", an
exception by its name.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import sys
import warnings
from pathlib import Path
from typing import Any

from encoders.testing import HashingEncoder

HERE = Path(__file__).parent
FORMS = {
    "StatementGeneratorOutput": "statements",
    "NLIStatementOutput": "verdicts",
    "StatementFaithfulnessOutput": "verdicts",
    "ClassificationWithReason": "correctness",
    "AnswerRelevanceOutput": "question",
    "ResponseRelevanceOutput": "question",
    "ContextRecallOutput": "attribution",
    "ContextRecallClassifications": "attribution",
    "ContextPrecisionOutput": "usefulness",
    "Verification": "usefulness",
}
RATINGS = ("context_rating", "context_rating_again")
_encoder = HashingEncoder()


def vectors(texts: list[str]) -> list[list[float]]:
    """What the encoder of the tests makes of texts; it awaits nothing."""
    try:
        _encoder.encode(texts).send(None)
    except StopIteration as done:
        return [[float(value) for value in row] for row in done.value]
    raise RuntimeError("the encoder of the tests waits for something")


class Replies:
    """The replies of a case by form, in order; the last one again and again."""

    def __init__(self, recorded: dict[str, list[Any]]) -> None:
        self._left = {form: list(replies) for form, replies in recorded.items()}
        self._raters: list[str] = []

    def next(self, form: str) -> str:
        left = self._left[form]
        reply = left.pop(0) if len(left) > 1 else left[0]
        return reply if isinstance(reply, str) else json.dumps(reply)

    def rating(self, prompt: str) -> str:
        """Of the first or the second judge: each repeats its own prompt when it tries again."""
        if prompt not in self._raters:
            self._raters.append(prompt)
        return self.next(RATINGS[self._raters.index(prompt)])


def _fakes() -> tuple[type, type, type, type]:
    """Classes that ragas accepts: it asks for subclasses of its own."""
    from langchain_core.outputs import Generation, LLMResult
    from ragas.embeddings.base import BaseRagasEmbedding, BaseRagasEmbeddings
    from ragas.llms.base import BaseRagasLLM, InstructorBaseRagasLLM
    from ragas.run_config import RunConfig

    class Model(InstructorBaseRagasLLM):
        def __init__(self, replies: Replies) -> None:
            self._replies = replies

        def generate(self, prompt: str, response_model: Any) -> Any:
            name = response_model.__name__
            said = (
                self._replies.rating(prompt)
                if name == "ContextRelevanceOutput"
                else self._replies.next(FORMS[name])
            )
            return response_model.model_validate_json(said)

        async def agenerate(self, prompt: str, response_model: Any) -> Any:
            return self.generate(prompt, response_model)

    class OldModel(BaseRagasLLM):
        def __init__(self, replies: Replies) -> None:
            super().__init__(run_config=RunConfig(max_retries=1))
            self._replies = replies

        def generate_text(self, prompt: Any, n: int = 1, **_: Any) -> LLMResult:
            text = prompt.to_string()
            names = [name for name in re.findall(r'"title": "(\w+)"', text) if name in FORMS]
            if names:
                said = [self._replies.next(FORMS[names[-1]]) for _ in range(n)]
            else:
                said = [self._replies.rating(text)]
            return LLMResult(generations=[[Generation(text=each) for each in said]])

        async def agenerate_text(self, prompt: Any, n: int = 1, **how: Any) -> LLMResult:
            return self.generate_text(prompt, n, **how)

        def is_finished(self, response: LLMResult) -> bool:
            return True

    class Encoder(BaseRagasEmbedding):
        def embed_text(self, text: str, **_: Any) -> list[float]:
            return vectors([text])[0]

        async def aembed_text(self, text: str, **_: Any) -> list[float]:
            return vectors([text])[0]

    class OldEncoder(BaseRagasEmbeddings):
        def __init__(self) -> None:
            super().__init__()
            self.run_config = RunConfig(max_retries=1)

        def embed_query(self, text: str) -> list[float]:
            return vectors([text])[0]

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return vectors(texts)

        async def aembed_query(self, text: str) -> list[float]:
            return vectors([text])[0]

        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            return vectors(texts)

    return Model, OldModel, Encoder, OldEncoder


def _collections(case: dict[str, Any], fakes: tuple[type, ...]) -> Any:
    from ragas.metrics import collections as c

    model, encoder = fakes[0](Replies(case["replies"])), fakes[2]()
    how = case.get("options", {})
    asked, answer = {"user_input": case["question"]}, {"response": case["answer"]}
    contexts, truth = {"retrieved_contexts": case["contexts"]}, {"reference": case["truth"]}
    match case["metric"]:
        case "faithfulness":
            return c.Faithfulness(model).ascore(**asked, **answer, **contexts)
        case "answer_relevance":
            return c.AnswerRelevancy(model, encoder).ascore(**asked, **answer)
        case "context_relevance":
            return c.ContextRelevance(model).ascore(**asked, **contexts)
        case "answer_correctness":
            return c.AnswerCorrectness(model, encoder, **how).ascore(**asked, **answer, **truth)
        case "context_recall_llm":
            return c.ContextRecall(model).ascore(**asked, **contexts, **truth)
        case "context_precision_llm":
            return c.ContextPrecision(model).ascore(**asked, **contexts, **truth)
        case "noise_robustness":
            return c.NoiseSensitivity(model, **how).ascore(**asked, **answer, **contexts, **truth)
        case "semantic_similarity":
            return c.SemanticSimilarity(encoder).ascore(**answer, **truth)
    raise KeyError(case["metric"])


def _legacy(case: dict[str, Any], fakes: tuple[type, ...]) -> Any:
    from ragas import metrics as m
    from ragas.dataset_schema import SingleTurnSample
    from ragas.metrics._nv_metrics import ContextRelevance

    model, encoder = fakes[1](Replies(case["replies"])), fakes[3]()
    how = case.get("options", {})
    made = {
        "faithfulness": lambda: m.Faithfulness(llm=model),
        "answer_relevance": lambda: m.ResponseRelevancy(llm=model, embeddings=encoder),
        "context_relevance": lambda: ContextRelevance(llm=model),
        "answer_correctness": lambda: m.AnswerCorrectness(
            llm=model, embeddings=encoder, answer_similarity=m.SemanticSimilarity(embeddings=encoder), **how
        ),
        "context_recall_llm": lambda: m.LLMContextRecall(llm=model),
        "context_precision_llm": lambda: m.LLMContextPrecisionWithReference(llm=model),
        "noise_robustness": lambda: m.NoiseSensitivity(llm=model, **how),
        "context_recall_id": m.IDBasedContextRecall,
        "context_precision_id": m.IDBasedContextPrecision,
        "context_recall_distance": m.NonLLMContextRecall,
        "context_precision_distance": m.NonLLMContextPrecisionWithReference,
        "semantic_similarity": lambda: m.SemanticSimilarity(embeddings=encoder),
    }
    metric = made[case["metric"]]()
    shown, ground = case["contexts"], case.get("ground", [])
    if case["metric"].endswith("_id"):
        sample = SingleTurnSample(
            retrieved_context_ids=[one["id"] for one in shown],
            reference_context_ids=[one["id"] for one in ground],
        )
    else:
        sample = SingleTurnSample(
            user_input=case["question"], response=case["answer"], reference=case["truth"],
            retrieved_contexts=shown, reference_contexts=ground or None,
        )  # fmt: skip
    return metric.single_turn_ascore(sample)


def _value(found: Any) -> float | str:
    value = float(getattr(found, "value", found))
    return "nan" if math.isnan(value) else round(value, 9)


async def recorded() -> dict[str, Any]:
    """Every case through both paths."""
    from ragas import __version__

    logging.disable(logging.ERROR)
    fakes, found = _fakes(), {}
    for case in json.loads((HERE / "replies.json").read_text("utf-8")):
        values = {}
        for path in case["paths"]:
            try:
                values[path] = _value(await (_collections if path == "C" else _legacy)(case, fakes))
            except Exception as exc:  # noqa: BLE001 - whatever ragas raises is what is recorded
                values[path] = type(exc).__name__
        found[f"{case['metric']}: {case['name']}"] = values
    return {"ragas": __version__, "values": found}


def main() -> None:
    """Write the values to a file, or print them."""
    warnings.simplefilter("ignore")
    lines = json.dumps(asyncio.run(recorded()), indent=1)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(lines + "\n", encoding="utf-8")
    else:
        sys.stdout.write(lines)


if __name__ == "__main__":
    main()
