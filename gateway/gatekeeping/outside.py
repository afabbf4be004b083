"""The judges that an operator adds to the gate: detectors beside it, a language model where it is unsure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import assert_never

from anyio import to_thread

from classifiers.gate import Policy
from classifiers.gate.criteria import CriteriaDetector, CriteriaJudge, SecondOpinion
from classifiers.gate.detectors import Detector, LabelDetector, Panel, Seat
from classifiers.gate.rules import Rules
from encoders.guards import ClassificationModel, GuardModel
from encoders.moderation import ModerationEndpoint
from gateway.errors import ConfigurationError
from gateway.gatekeeping.metrics import GateMetrics
from gateway.models.asked import AskedModel
from gateway.models.completions import ChatModel
from gateway.settings import GateSettings
from gateway.settings.models import DetectorSettings, LlmSettings
from gateway.stages import Gate

__all__ = ["add_llm", "open_detectors"]

LONGEST_REPLY = 300  # tokens
THRESHOLD = 0.5

AddDetectors = Callable[[Gate], Gate]


async def open_detectors(
    settings: GateSettings, policy: Policy, metrics: GateMetrics, stack: AsyncExitStack
) -> AddDetectors:
    """What puts the configured detectors beside a gate; nothing, where there are none.

    Raises:
        ConfigurationError, EncoderError: naming the detector and what is missing.
    """
    if not settings.detectors:
        return lambda gate: gate
    seats = [
        Seat(
            name=chosen.name,
            detector=await _detector(chosen, policy, stack),
            timeout_s=chosen.timeout_s,
            shadow=chosen.shadow,
        )
        for chosen in settings.detectors
    ]
    return partial(
        Panel,
        seats=seats,
        rules=_shadow(settings),
        told=lambda name, result: metrics.detectors.labels(name, result).inc(),
    )


def add_llm(
    gate: Gate, settings: GateSettings, policy: Policy, metrics: GateMetrics, stack: AsyncExitStack
) -> Gate:
    """The gate with a language model where it is unsure; as it is, where people decide that."""
    if settings.unsure != "llm" or settings.llm is None:
        return gate
    judge = _criteria(settings.llm, policy, stack, name="the gate's language model")
    return SecondOpinion(
        gate, judge, rules=_shadow(settings), told=lambda result: metrics.llm.labels(result).inc()
    )


def _shadow(settings: GateSettings) -> Rules:
    """What is not enforced; the lists are the gate's own."""
    return Rules(shadow=frozenset(settings.shadow))


async def _detector(chosen: DetectorSettings, policy: Policy, stack: AsyncExitStack) -> Detector:
    match chosen.kind:
        case "huggingface":
            model = await to_thread.run_sync(partial(ClassificationModel.load, chosen.model))
            _check_labels(chosen, model.labels)
            return LabelDetector(model, chosen.labels, threshold=chosen.threshold or THRESHOLD)
        case "huggingface-guard":
            guard = await to_thread.run_sync(partial(GuardModel.load, chosen.model))
            return LabelDetector(guard, {"unsafe": chosen.name})
        case "openai-moderation":
            endpoint = ModerationEndpoint(
                model=chosen.model,
                base_url=chosen.base_url,
                api_key=chosen.api_key.get_secret_value() if chosen.api_key else None,
                timeout_s=chosen.timeout_s,
                by_score=chosen.threshold is not None,
            )
            stack.push_async_callback(endpoint.close)
            topics = chosen.labels or {"flagged": chosen.name}
            return LabelDetector(endpoint, topics, threshold=chosen.threshold or THRESHOLD)
        case "llm":
            model_settings = LlmSettings(
                base_url=chosen.base_url or "",
                model=chosen.model,
                api_key=chosen.api_key,
                timeout_s=chosen.timeout_s,
            )
            return CriteriaDetector(
                _criteria(model_settings, policy, stack, name=chosen.name), topic=chosen.name
            )
        case _:
            assert_never(chosen.kind)


def _check_labels(chosen: DetectorSettings, known: tuple[str, ...]) -> None:
    if unknown := sorted(chosen.labels.keys() - set(known)):
        raise ConfigurationError(
            f"gate.detectors, {chosen.name}, labels: {chosen.model} has no {', '.join(unknown)}; "
            f"it has {', '.join(known)}"
        )


def _criteria(settings: LlmSettings, policy: Policy, stack: AsyncExitStack, *, name: str) -> CriteriaJudge:
    model = ChatModel.of(settings, name=name)
    stack.push_async_callback(model.close)
    return CriteriaJudge(AskedModel(model, most_tokens=LONGEST_REPLY), policy, timeout_s=settings.timeout_s)
