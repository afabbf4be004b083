"""Who judges the answers of a run: local judges, and a language model where one is configured."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial

from prometheus_client import CollectorRegistry

from encoders import Encoder
from evaluation.metrics.likelihood import EchoedTokens
from evaluation.metrics.registry import Judges
from gateway.checking.metrics import CheckMetrics
from gateway.checking.opening import open_judge
from gateway.domain import Tokens
from gateway.models.asked import AskedModel
from gateway.models.completions import ChatModel, Completion
from gateway.settings import EvaluationLlmSettings, FaithfulnessSettings, Settings
from gateway.stages import Judge
from gateway.stores import open_encoder

__all__ = ["Meter", "Spent", "open_judges"]

MOST_TOKENS = 4096  # of a judge's reply; a long answer has many statements
SAMPLED_AT = 1.0  # SelfCheckGPT's temperature (Manakul et al. 2023)


@dataclass(slots=True)
class Spent:
    """What a case has cost so far in tokens of the judging model."""

    tokens: Tokens | None = None


class Meter:
    """Counts a model's tokens for the case that it is asked about, however many are under way."""

    def __init__(self) -> None:
        self._now: ContextVar[Spent | None] = ContextVar("spent", default=None)

    @contextmanager
    def counting(self) -> Iterator[Spent]:
        """What is asked inside is counted there."""
        spent = Spent()
        token = self._now.set(spent)
        try:
            yield spent
        finally:
            self._now.reset(token)

    def add(self, completion: Completion | None) -> None:
        """What a call took, where the endpoint counts."""
        spent, tokens = self._now.get(), completion.tokens if completion else None
        if spent is not None and tokens is not None:
            before = spent.tokens or Tokens(0, 0)
            spent.tokens = Tokens(before.read + tokens.read, before.written + tokens.written)


@asynccontextmanager
async def open_judges(
    settings: Settings, meter: Meter, *, encoder: Encoder | None = None
) -> AsyncIterator[Judges]:
    """The judges of a configuration; where faithfulness is switched off, the local judge stands in.

    Args:
        encoder: the configured one, where it is open already.
    """
    checking = settings.faithfulness
    if checking.judge == "off":
        checking = checking.model_copy(update={"judge": "local"})
    async with AsyncExitStack() as stack:
        if encoder is None:
            encoder = await stack.enter_async_context(open_encoder(settings))
        judge = await open_judge(checking, encoder, CheckMetrics(CollectorRegistry()), stack)
        judges = Judges(
            encoder=encoder,
            faithfulness=judge,
            faithfulness_version=await _version(checking, judge),
            beta=settings.evaluation.beta,
        )
        llm = settings.evaluation.llm
        yield _asking(judges, llm, meter, stack) if llm else judges


async def _version(settings: FaithfulnessSettings, judge: Judge) -> str:
    """What the local judge calls itself; of one that costs, all that is set of it."""
    if settings.judge == "local":
        return (await judge.judge("The fee is 10 yen.", ["The fee is 10 yen."])).judge
    told = settings.model_dump_json(exclude={"timeout_s", "streaming"})
    return f"{settings.judge}:{hashlib.sha256(told.encode()).hexdigest()[:12]}"


def _asking(judges: Judges, llm: EvaluationLlmSettings, meter: Meter, stack: AsyncExitStack) -> Judges:
    """The same judges with a language model beside them."""
    model = ChatModel.of(llm, name="the evaluation's language model")
    stack.push_async_callback(model.close)
    key = llm.api_key.get_secret_value() if llm.api_key else None
    tokens = EchoedTokens(base_url=llm.base_url, model=llm.model, api_key=key, timeout_s=llm.timeout_s)
    stack.push_async_callback(tokens.close)
    asked = partial(AskedModel, model, most_tokens=MOST_TOKENS, on_call=meter.add)
    return replace(
        judges, model=asked(), sampler=asked(temperature=SAMPLED_AT), tokens=tokens, timeout_s=llm.timeout_s
    )
