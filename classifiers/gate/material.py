"""Everything the gate compares a question with: the operator's words and the shipped lists, with vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from classifiers import ClassifierError
from classifiers.gate import GateLabel, Policy, Topic
from classifiers.gate.contrast import Sample
from classifiers.gate.shipped import Shipped
from classifiers.text import has_words, mostly_cjk, normalise, only_words
from encoders import Encoder, EncoderError

__all__ = ["ENOUGH_FOR_BACKGROUND", "Material", "gather"]

ENOUGH_FOR_BACKGROUND = 50  # must examples; with ten of them two must-questions in three were refused for it
_NO_VECTOR = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Material:
    """Samples by what they speak for."""

    must: tuple[Sample, ...]
    may: tuple[Sample, ...]
    everyday: tuple[Sample, ...]  # shipped: what people ask any chatbot
    background: tuple[Sample, ...]  # shipped: what is asked of other helpdesks; the source is their subject
    forbidden: tuple[Sample, ...]
    harmless: tuple[Sample, ...]  # shipped: looks like the forbidden
    verified: tuple[Sample, ...]  # what people answered; no evidence of scope, as entries give that live

    @property
    def generic(self) -> tuple[Sample, ...]:
        """All that is shipped to stand for "may"."""
        return (*self.everyday, *self.background)

    def stated(self) -> dict[str, Sample]:
        """What needs no judging, by its words: the operator's examples, and all that is forbidden.

        What stands in several classes belongs to the worst.
        """
        written = [s for s in (*self.must, *self.may, *self.forbidden) if s.kind == "example"]
        return {only_words(normalise(sample.text)): sample for sample in written}


async def gather(
    policy: Policy,
    shipped: Shipped,
    verified: Sequence[str],
    encoder: Encoder,
) -> Material:
    """Encode the whole material in one call, and of the background only what can be told from ours.

    Raises:
        ClassifierError: if it cannot be encoded.
    """
    plain = Material(
        must=_of_class(policy.must.description, policy.must.examples, "must"),
        may=_of_class("", policy.may.examples, "may"),  # described by what it is not: "nothing about cards"
        everyday=tuple(Sample(t, "may", _NO_VECTOR, source="everyday", ours=False) for t in shipped.everyday),
        background=_beside(policy, shipped.background),
        forbidden=(
            *_of_class(policy.must_not.description, policy.must_not.examples, "must_not"),
            *(sample for topic in policy.topics for sample in _of_topic(topic, ours=True)),
            *(sample for topic in shipped.attacks.topics for sample in _of_topic(topic, ours=False)),
        ),
        harmless=tuple(
            Sample(t, "may", _NO_VECTOR, source="harmless", ours=False) for t in shipped.attacks.harmless
        ),
        verified=tuple(Sample(text, "must", _NO_VECTOR, source="verified") for text in verified),
    )
    groups = [getattr(plain, each.name) for each in fields(plain)]
    texts = [sample.text for group in groups for sample in group]
    try:
        vectors = iter(await encoder.encode(texts) if texts else ())
    except EncoderError as exc:
        raise ClassifierError(f"the policy's examples could not be encoded: {exc}") from exc
    return Material(*(tuple(replace(sample, vector=next(vectors)) for sample in group) for group in groups))


def _beside(policy: Policy, background: Mapping[str, Sequence[str]]) -> tuple[Sample, ...]:
    """The background, if enough examples in its language show what is ours; a few would lose to it."""
    if sum(not mostly_cjk(text) for text in policy.must.examples) < ENOUGH_FOR_BACKGROUND:
        return ()
    return tuple(
        Sample(text, "may", _NO_VECTOR, source=subject, ours=False)
        for subject, texts in background.items()
        for text in texts
    )


def _of_topic(topic: Topic, *, ours: bool) -> tuple[Sample, ...]:
    return _of_class(topic.description, topic.examples, "must_not", topic.name, ours=ours)


def _of_class(
    description: str, examples: Sequence[str], label: GateLabel, source: str = "", *, ours: bool = True
) -> tuple[Sample, ...]:
    described = Sample(description, label, _NO_VECTOR, "description", source, ours)
    written = (Sample(text, label, _NO_VECTOR, "example", source, ours) for text in examples)
    return tuple(sample for sample in (described, *written) if has_words(normalise(sample.text)))
