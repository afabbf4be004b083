"""From settings to the judge between RAG and the asker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import assert_never

from anyio import to_thread
from prometheus_client import CollectorRegistry

from classifiers.faithfulness.cascade import CascadeJudge
from classifiers.faithfulness.cross_encoder import CrossEncoderJudge
from classifiers.faithfulness.llm import LlmJudge
from classifiers.faithfulness.local import LocalJudge
from classifiers.faithfulness.promise import CalibratedJudge
from classifiers.faithfulness.ruling import VerdictPolicy
from encoders import Encoder
from encoders.consistency import ConsistencyModel
from encoders.shipped import load_shipped_support
from gateway.background import Background
from gateway.checking.metrics import CheckMetrics
from gateway.checking.promises import FaithfulnessPromises, MadeFor, can_be_cut
from gateway.errors import ConfigurationError
from gateway.models.asked import AskedModel
from gateway.models.completions import ChatModel
from gateway.settings import FaithfulnessSettings, Settings
from gateway.stages import Judge
from gateway.stores import open_encoder, open_pair_model
from gateway.switched_off import NoJudge
from storage.sql import Database

__all__ = ["judge_apart", "open_checking", "open_judge", "verdict_policy"]

READ_BEFORE = 1_024  # statements; a streamed answer is judged by its sentences, and then as a whole
HURRY = 0.8  # of an asker's patience: if the model is too slow, what the local judge found is not lost


async def open_judge(
    settings: FaithfulnessSettings, encoder: Encoder, metrics: CheckMetrics, stack: AsyncExitStack
) -> Judge:
    """The configured judge; what it must close is on the stack.

    Raises:
        ConfigurationError, EncoderError: naming what is missing.
    """
    match settings.judge:
        case "off":
            return NoJudge()
        case "local":
            return await _local(settings)
        case "llm":
            return _llm(settings, metrics, stack)
        case "cross-encoder":
            return await _cross_encoder(settings, encoder)
        case "cascade":
            return CascadeJudge(
                await _local(settings),
                _llm(settings, metrics, stack),
                supported_from=settings.cascade.supported_from,
                unsupported_below=settings.cascade.unsupported_below,
                on_decided=metrics.decided,
            )
        case _:
            assert_never(settings.judge)


@asynccontextmanager
async def open_checking(
    settings: FaithfulnessSettings,
    database: Database,
    encoder: Encoder,
    metrics: CheckMetrics,
    background: Background,
) -> AsyncIterator[Judge]:
    """The judge that serves, at the cuts that were calibrated for it; it follows them while it is open."""
    async with AsyncExitStack() as stack:
        judge = await open_judge(settings, encoder, metrics, stack)
        if not can_be_cut(settings):
            yield judge
            return
        promises = FaithfulnessPromises(database, MadeFor.of(settings, encoder.identity))
        await promises.refresh()
        await stack.enter_async_context(background.running("faithfulness_cuts", promises.run))
        yield CalibratedJudge(judge, promises.cuts)


@asynccontextmanager
async def judge_apart(settings: Settings) -> AsyncIterator[Judge]:
    """The same judge for whoever needs nothing else of a gateway."""
    async with AsyncExitStack() as stack:
        metrics = CheckMetrics(CollectorRegistry())
        encoder = await stack.enter_async_context(open_encoder(settings))
        yield await open_judge(settings.faithfulness, encoder, metrics, stack)


def verdict_policy(settings: FaithfulnessSettings) -> VerdictPolicy:
    """What becomes of a verdict."""
    return VerdictPolicy(
        block=settings.block, mean=settings.mean, repair=settings.repair, on_unchecked=settings.on_unchecked
    )


async def _local(settings: FaithfulnessSettings) -> LocalJudge:
    reader = await open_pair_model(load_shipped_support, remembered=READ_BEFORE)
    return LocalJudge(reader, cut=settings.cut)


async def _cross_encoder(settings: FaithfulnessSettings, encoder: Encoder) -> CrossEncoderJudge:
    if settings.model is None:
        raise ConfigurationError("faithfulness.judge: cross-encoder needs faithfulness.model")
    load = partial(ConsistencyModel.load, settings.model, supported_label=settings.supported_label)
    cut = {} if settings.cut is None else {"cut": settings.cut}
    return CrossEncoderJudge(await to_thread.run_sync(load), encoder, **cut)


def _llm(settings: FaithfulnessSettings, metrics: CheckMetrics, stack: AsyncExitStack) -> LlmJudge:
    if settings.llm is None:
        raise ConfigurationError(f"faithfulness.judge: {settings.judge} needs faithfulness.llm")
    model = ChatModel.of(settings.llm, name="the language model that checks faithfulness")
    stack.push_async_callback(model.close)
    on_call = partial(metrics.asked, settings.llm.price)
    return LlmJudge(
        AskedModel(model, most_tokens=settings.llm.most_tokens, on_call=on_call),
        statements=settings.llm.statements,
        longest_contexts=settings.llm.longest_contexts,
        timeout_s=min(settings.llm.timeout_s, HURRY * settings.patience_s),
    )
