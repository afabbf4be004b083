"""Further judges of what is forbidden, beside the gate's own: each may forbid, and none may allow."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from classifiers import ClassifierError
from classifiers.gate import Gate, GateVerdict
from classifiers.gate.rules import EVERY_RULE, Rules
from classifiers.text import normalise, only_words
from encoders import Encoded, EncoderError
from encoders.labels import Labeller
from languages.remembering import text_key

__all__ = ["Clear", "Detection", "Detector", "Failed", "Flagged", "LabelDetector", "Panel", "Seat"]

REMEMBERED = 4_096  # recent texts of each detector
_BY_WORD = ("example", "entry", "allow")  # a person decided on these very words, where a detector would guess
Told = Callable[[str, Literal["clear", "flagged", "failed"]], object]  # which detector said what


@dataclass(frozen=True, slots=True)
class Clear:
    """Nothing was found."""


@dataclass(frozen=True, slots=True)
class Flagged:
    """The text is forbidden."""

    topic: str
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It could not be judged. No verdict is not a pass."""

    reason: str


Detection = Clear | Flagged | Failed


class Detector(Protocol):
    """Says whether a text is forbidden."""

    @property
    def judge(self) -> str:
        """Who judges, with version."""
        ...

    async def detect(self, text: str, /) -> Clear | Flagged:
        """The finding.

        Raises:
            ClassifierError, EncoderError: when it cannot judge.
        """
        ...


class LabelDetector:
    """Any model that labels texts: some of its labels are topics that are forbidden."""

    def __init__(self, labeller: Labeller, topics: Mapping[str, str], *, threshold: float = 0.5) -> None:
        """`topics` says for each label that counts which topic it is."""
        self._labeller = labeller
        self._topics = dict(topics)
        self._threshold = threshold

    @property
    def judge(self) -> str:
        """The model with its version."""
        return self._labeller.name

    async def detect(self, text: str, /) -> Clear | Flagged:
        """Flagged by the label with the highest score, if it reaches the threshold."""
        scores = await self._labeller.label(text)
        if missing := self._topics.keys() - scores.keys():
            raise ClassifierError(f"{self.judge} said nothing of {', '.join(sorted(missing))}")
        if any(math.isnan(scores[label]) for label in self._topics):
            raise ClassifierError(f"{self.judge} gave a score that is not a number")
        label = max(self._topics, key=scores.__getitem__)
        if scores[label] < self._threshold:
            return Clear()
        return Flagged(self._topics[label], f"{label} {scores[label]:.2f}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A detector in the panel."""

    name: str
    detector: Detector
    timeout_s: float = 5.0
    shadow: bool = False  # asked and recorded, not enforced


class Panel:
    """A gate, and detectors that are asked about whatever it would let on."""

    def __init__(
        self,
        gate: Gate,
        seats: Sequence[Seat],
        *,
        rules: Rules = EVERY_RULE,
        told: Told = lambda name, result: None,
    ) -> None:
        self._gate = gate
        self._rules = rules
        self._seats = tuple(seats)
        self._told = told
        self._remembered: dict[tuple[str, bytes], Clear | Flagged] = {}

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """The gate's verdict, or *must not* if a detector flags it; one that fails makes it *unsure*."""
        verdict = await self._gate.judge(question, tenant=tenant, group=group)
        if verdict.label not in ("must", "unsure") or _decided_by_word(verdict, question.text):
            return verdict
        found = await asyncio.gather(*(self._detect(seat, question.text) for seat in self._seats))
        enforced: list[GateVerdict] = []
        shadow = list(verdict.shadow)
        for seat, one in zip(self._seats, found, strict=True):
            if isinstance(one, Clear):
                continue
            said = _said(verdict, seat, one)
            if seat.shadow or (isinstance(one, Flagged) and self._rules.in_shadow(said)):
                shadow.append(said.as_shadow())
            else:
                enforced.append(said)
        forbidding = (said for said in enforced if said.label == "must_not")
        worst = next(forbidding, None) or next(iter(enforced), verdict)
        return replace(worst, shadow=tuple(shadow))

    async def _detect(self, seat: Seat, text: str) -> Detection:
        key = (seat.name, text_key(text))
        known = self._remembered.get(key)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(seat.timeout_s):
                found = await seat.detector.detect(text)
        except TimeoutError:
            self._told(seat.name, "failed")
            return Failed(f"did not answer within {seat.timeout_s:g} s")
        except (ClassifierError, EncoderError) as exc:
            self._told(seat.name, "failed")
            return Failed(str(exc))
        self._told(seat.name, "clear" if isinstance(found, Clear) else "flagged")
        self._remembered[key] = found
        if len(self._remembered) > REMEMBERED * len(self._seats):
            self._remembered.pop(next(iter(self._remembered)))
        return found


def _said(verdict: GateVerdict, seat: Seat, found: Flagged | Failed) -> GateVerdict:
    """The verdict as one detector changes it."""
    rule = f"detector:{seat.name}"
    if isinstance(found, Failed):
        return replace(
            verdict, label="unsure", rule=rule, reason=f"{seat.name} could not judge it: {found.reason}"
        )
    return replace(
        verdict,
        label="must_not",
        score=0.0,
        topic=found.topic,
        rule=rule,
        reason=f"{seat.name} flags it: {found.reason}",
        judge=f"{verdict.judge} {seat.detector.judge}",
    )


def _decided_by_word(verdict: GateVerdict, text: str) -> bool:
    if verdict.label != "must" or verdict.rule.partition(":")[0] not in _BY_WORD or verdict.nearest is None:
        return False
    return only_words(normalise(verdict.nearest.text)) == only_words(normalise(text))
