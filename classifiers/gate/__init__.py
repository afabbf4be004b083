"""Whether a question is ours to answer: must, may, must not, or unsure.

a gate     is         `examples`    the first of its `rules` that has something to say decides
           compares   `material`    the operator's words and the shipped ones, on two shelves (`contrast`)
           reads      `lists`       of the operator; then what stands under a `disguise`, too
           forbids    `forbidden`   what is near an attack, or so said by the `detector`, with some `leeway`
           lets in    `scope`       by `evidence` of examples, entries and `passages`: `leaning`, `combiner`
           hears      `complaints`  to the reader, which a person should see whatever they name
           is fitted  `fitting`     or found again by `kept`; `thinness` says where not to trust it
           cuts       `promise`     no more must-questions are refused than was promised
reads      behind it  `documented`  what a passage answers is ours; `named`: somebody else's product is not
judges     beside it  `detectors`   and `criteria` for a language model, where it is unsure
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from encoders import Encoded

__all__ = [
    "ClassPolicy",
    "Gate",
    "GateLabel",
    "GateVerdict",
    "Neighbour",
    "Policy",
    "ScopeSource",
    "ShadowVerdict",
    "Topic",
]

GateLabel = Literal["must", "may", "must_not", "unsure"]


@dataclass(frozen=True, slots=True)
class ClassPolicy:
    """What the operator says of one class."""

    description: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A forbidden topic, named so that replies and figures can tell topics apart."""

    name: str
    description: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """Which questions are ours (must), harmless but not ours (may), and forbidden (must not)."""

    must: ClassPolicy = ClassPolicy()
    may: ClassPolicy = ClassPolicy()
    must_not: ClassPolicy = ClassPolicy()
    topics: tuple[Topic, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What was found near a question: an example, a verified entry, a passage or a description."""

    kind: Literal["example", "entry", "passage", "description"]
    text: str
    # Cosine of the dense vectors, -1..1; of a passage that was read, how surely it answers, 0..1.
    similarity: float
    lexical: float  # share of the question's character n-grams and words found in `text`, 0..1
    label: GateLabel
    source: str = ""  # topic, entry id or document


class ScopeSource(Protocol):
    """Where proof of scope can be found besides the policy: verified entries, documents."""

    async def near(self, question: Encoded, /, *, tenant: str, group: str = "") -> Sequence[Neighbour]:
        """Entries and passages close to the question that the asker may read; none is a fact too.

        Raises:
            ClassifierError: if the source cannot be asked. Any other error is taken for the same.
        """
        ...


@dataclass(frozen=True, slots=True)
class ShadowVerdict:
    """What a rule in shadow mode would have said, had it been enforced."""

    rule: str
    label: GateLabel
    reason: str
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """The gate's verdict on one question."""

    label: GateLabel
    score: float  # how sure the gate is that the question is ours and allowed, 0..1; ranks questions
    reason: str  # one sentence for the reviewer
    nearest: Neighbour | None  # what decided
    nearest_ours: Neighbour | None = None  # of what is not ours: the nearest thing that is
    topic: str | None = None  # the forbidden topic, if one decided
    judge: str  # who judged, with version: "examples@2"
    # Which of the gate's rules decided: deny, allow, example, pattern, forbidden, entry, scope, document …
    rule: str = ""
    scope: float | None = None  # the axis of scope by itself, 0..1; None if it was not read
    forbidden: float | None = None  # the axis of what is forbidden by itself, 0..1
    shadow: tuple[ShadowVerdict, ...] = ()  # in the order in which the rules were asked

    @property
    def suspected(self) -> bool:
        """Whether something in the question is like what is forbidden, too little to forbid it."""
        return self.scope is not None and self.score < self.scope

    def as_shadow(self) -> ShadowVerdict:
        """The verdict as one that is told, but not enforced."""
        return ShadowVerdict(self.rule, self.label, self.reason, self.topic)


class Gate(Protocol):
    """Judges one self-contained question, by what an asker of this tenant and group may read.

    Raises:
        ClassifierError: when the gate cannot judge. No verdict is not a pass.
    """

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict: ...
