"""Baseline: how likely a model finds the answer, token by token. GPTScore (Fu et al. 2023).

Definition: the mean log-probability of the answer's tokens after a prompt that holds contexts and question;
score = exp(mean), the geometric mean of the tokens' probabilities. It can be had only from an endpoint that
gives log-probabilities of the *prompt* (`/completions` with `echo` and `logprobs`: vLLM, llama.cpp), since
the answer was not written by that model.

Edge cases: an endpoint without such a path, without log-probabilities or without those of the prompt:
undetermined. The first token of a prompt has none, and is never part of the answer.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, Protocol

from openai import AsyncOpenAI, OpenAIError

from classifiers import ClassifierError
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import PROMPTS, Steps, determined, lacking, prompt_of

__all__ = ["EchoedTokens", "TokenLikelihood", "TokenScorer"]


class TokenScorer(Protocol):
    """Says how likely a text is after another. Raises `ClassifierError` when it can't."""

    @property
    def model(self) -> str: ...

    async def log_probabilities(self, prompt: str, text: str, /) -> Sequence[float]:
        """One for each token of `text`."""
        ...


class EchoedTokens:
    """An OpenAI-compatible endpoint that echoes a prompt with its log-probabilities."""

    def __init__(
        self, *, base_url: str, model: str, api_key: str | None = None, timeout_s: float = 60.0
    ) -> None:
        self.model = model
        self._timeout_s = timeout_s
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s)

    async def log_probabilities(self, prompt: str, text: str, /) -> Sequence[float]:
        """Those of the tokens that begin where the prompt ends, or later."""
        try:
            async with asyncio.timeout(self._timeout_s):
                found = await self._client.completions.create(
                    model=self.model, prompt=prompt + text, max_tokens=1, echo=True, logprobs=0, temperature=0
                )
        except (TimeoutError, OpenAIError) as exc:
            raise ClassifierError(f"{self.model} gave no log-probabilities ({type(exc).__name__})") from exc
        told = found.choices[0].logprobs if found.choices else None
        if not told or not told.text_offset or not told.token_logprobs:
            raise ClassifierError(f"{self.model} gave no log-probabilities")
        end = len(prompt) + len(text)  # what it wrote itself stands behind
        pairs = zip(told.text_offset, told.token_logprobs, strict=False)
        likely = [value for at, value in pairs if len(prompt) <= at < end]
        if not likely or any(value is None for value in likely):
            raise ClassifierError(f"{self.model} gave no log-probabilities of the prompt")
        return likely

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


class TokenLikelihood:
    """The geometric mean probability of the answer's tokens."""

    name = "token_likelihood"

    def __init__(self, scorer: TokenScorer) -> None:
        self._scorer = scorer
        self.version = f"1:{PROMPTS}:{scorer.model}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """exp of the mean log-probability; its steps hold the mean and the least likely token's."""
        steps: dict[str, Any] = {}
        return lacking(case, "answer") or await determined(self._measured(case, steps), steps)

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        contexts = "\n".join(context.text for context in case.contexts)
        prompt = (
            prompt_of("likelihood", case.case.lang)
            .replace("{contexts}", contexts)
            .replace("{question}", case.case.question)
        )
        likely = await self._scorer.log_probabilities(prompt, case.answer)
        mean = sum(likely) / len(likely)
        steps |= {"mean": mean, "least": min(likely), "tokens": len(likely)}
        return Score(min(1.0, math.exp(mean)), steps)
