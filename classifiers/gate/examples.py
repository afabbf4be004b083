"""The gate that learns from the policy's examples, its documents and its verified entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from classifiers.gate import GateLabel, GateVerdict, Neighbour, Policy, ScopeSource
from classifiers.gate.contrast import Sample
from classifiers.gate.fitting import Fitting, ask
from classifiers.gate.forbidden import Forbidden, ForbiddenReading
from classifiers.gate.material import gather
from classifiers.gate.promise import CutsInForce, GateCuts
from classifiers.gate.scope import Scope
from classifiers.gate.shipped import Attacks, shipped_attacks, shipped_everyday
from classifiers.text import has_words, normalise, only_words
from encoders import Encoded, Encoder

__all__ = ["ExampleGate"]

JUDGE = "examples@1"
LONGEST_QUESTION = 2_000  # characters; a longer text hides more than it asks, and encoders read the beginning
_NO_SCOPE = ("policy.must says nothing and there are no documents: everything that is not forbidden passes",)
_REMEMBERED = 4_096  # readings of recent questions
_SAME_MEANING, _SAME_WORDS = 0.93, 0.85  # both: a verified entry this near asks about the same thing


class ExampleGate:
    """Judges by what lies near a question. Made with `fit`."""

    def __init__(
        self,
        *,
        scope: Scope | None,
        forbidden: Forbidden,
        attacks: Attacks,
        stated: Mapping[str, Sample],
        sources: Sequence[ScopeSource],
        in_force: CutsInForce | None = None,
    ) -> None:
        self._in_force = in_force or CutsInForce()
        self._scope = scope
        self._forbidden = forbidden
        self._readings: dict[str, ForbiddenReading] = {}
        self._attacks = attacks
        self._stated = stated
        self._sources = tuple(sources)

    @classmethod
    async def fit(
        cls,
        policy: Policy,
        encoder: Encoder,
        sources: Sequence[ScopeSource] = (),
        *,
        max_false_refusal: float = 0.02,
        tenant: str = "default",
        attacks: Attacks | None = None,
        everyday: Sequence[str] | None = None,
        verified: Sequence[str] = (),
        in_force: CutsInForce | None = None,
    ) -> ExampleGate:
        """Encode the policy once and fit both axes.

        Args:
            max_false_refusal: share of must-questions that may be kept from RAG; the cut is chosen for it.
            tenant: whose entries the sources show while fitting.
            attacks: in place of the shipped list.
            everyday: questions that no helpdesk is for, in place of the shipped list.
            verified: questions that people answered; what resembles them is not forbidden for its words.
            in_force: calibrated cuts, which may change while the gate serves; without any, the fit's hold.

        Raises:
            ClassifierError: if the examples cannot be encoded or a source cannot be asked.
            ValueError: if `max_false_refusal` is not between 0 and 0.5.
        """
        if not 0 < max_false_refusal < 0.5:
            raise ValueError(
                f"max_false_refusal: expected a share between 0 and 0.5, got {max_false_refusal}"
            )
        attacks = shipped_attacks() if attacks is None else attacks
        everyday = shipped_everyday() if everyday is None else everyday
        material = await gather(policy, attacks, everyday, verified, encoder)
        fitting = Fitting(material, tuple(sources), tenant, max_false_refusal, encoder.identity.languages)
        scope = await fitting.scope()
        return cls(
            scope=scope,
            forbidden=await fitting.forbidden(),
            attacks=attacks,
            stated=material.stated(),
            sources=sources,
            in_force=in_force,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the operator should know of this fit: which classes are too thin to trust."""
        return _NO_SCOPE if self._scope is None else self._scope.notes

    @property
    def cuts(self) -> GateCuts:
        """Where this gate cuts now."""
        return self._in_force.present or self.fitted_cuts

    @property
    def fitted_cuts(self) -> GateCuts:
        """Where it would cut without calibration; without a scope nothing is too far from it."""
        return GateCuts(
            scope=self._scope.cut if self._scope else 0.0, suspicious_from=self._forbidden.suspicious_from
        )

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """Forbidden first, then scope: the first rule that has something to say decides.

        Raises:
            ClassifierError: if a source of evidence cannot be asked.
        """
        normalised = normalise(question.text)
        if not has_words(normalised):
            return _ruling("empty", "unsure", "there is nothing to judge: no letter and no digit")
        # A few milliseconds of numpy: handing it to a thread would cost more than it frees.
        asked = _Asked(question, normalised, self._read(question, normalised))
        found: Sequence[Neighbour] = ()
        verdict = self._stated_or_attack(asked)
        if verdict is None:
            found = await ask(
                self._sources, question, tenant, group=group, enough=partial(_proof, normalised)
            )
            verdict = self._forbids(asked, found) or self._places(asked, found)
        return replace(verdict, forbidden=asked.forbidden.score)

    def _read(self, question: Encoded, normalised: str) -> ForbiddenReading:
        """The reading of a text depends on nothing but the fit, and helpdesk traffic repeats itself."""
        reading = self._readings.get(normalised)
        if reading is None:
            reading = self._readings[normalised] = self._forbidden.read(question, normalised)
            if len(self._readings) > _REMEMBERED:
                self._readings.pop(next(iter(self._readings)))
        return reading

    def _stated_or_attack(self, asked: _Asked) -> GateVerdict | None:
        """What needs no evidence: what the operator wrote down, and known attacks."""
        stated = self._stated.get(only_words(asked.normalised))
        if stated is not None:
            score = 1.0 if stated.label == "must" else 0.0
            reason = f"it is an example of {_words(stated.source or stated.label)}"
            near, topic = stated.neighbour(1.0, 1.0), stated.source or None
            return _ruling("example", stated.label, reason, score, near, topic)
        pattern = self._attacks.matching(asked.normalised)
        if pattern is not None:
            reason = f"its wording is a known attack ({_words(pattern.topic)})"
            return _ruling("pattern", "must_not", reason, 0.0, asked.forbidden.nearest, pattern.topic)
        return None

    def _forbids(self, asked: _Asked, found: Sequence[Neighbour]) -> GateVerdict | None:
        forbidden = asked.forbidden
        cut = max(self._forbidden.cut, self.cuts.suspicious_from)
        if forbidden.score < cut or _same_words(asked.normalised, found) is not None:
            return None
        looks = f"it looks forbidden ({_topic(forbidden)}, {forbidden.score:.2f}){_near(forbidden.nearest)}"
        return _ruling("forbidden", "must_not", looks, 0.0, forbidden.nearest, forbidden.topic)

    def _places(self, asked: _Asked, found: Sequence[Neighbour]) -> GateVerdict:
        forbidden = asked.forbidden
        proof = _proof(asked.normalised, found)
        if proof is not None:
            return _ruling("entry", "must", "a verified entry asks the same", 1.0 - forbidden.score, proof)
        verdict = self._by_evidence(asked, found, 1.0 - forbidden.score)
        if verdict.label != "must":
            return verdict
        length = len(asked.normalised)
        if length > LONGEST_QUESTION:
            reason = f"too long for one question: {length} characters, {LONGEST_QUESTION} at most"
            return replace(verdict, rule="length", label="unsure", reason=reason)
        if forbidden.score >= self.cuts.suspicious_from:
            reason = f"it may be forbidden ({_topic(forbidden)}, {forbidden.score:.2f})"
            stopped = replace(verdict, rule="forbidden", label="unsure", reason=reason)
            return replace(stopped, nearest=forbidden.nearest, topic=forbidden.topic)
        return verdict

    def _by_evidence(self, asked: _Asked, found: Sequence[Neighbour], allowed: float) -> GateVerdict:
        scope = self._scope
        if scope is None:
            return _ruling("default", "must", "no scope is defined and nothing forbids it", allowed)
        reading = scope.read(asked.question, asked.normalised, found)
        cut = self.cuts.scope
        measured = f"{reading.score:.2f} of the {cut:.2f} asked"
        score, nearest = reading.score * allowed, reading.nearest
        label: GateLabel = "must"
        if reading.score >= cut:
            reason = f"it looks ours, {measured}"
        elif reading.score >= cut * scope.unsure_from / scope.cut:
            label, reason = "unsure", f"not enough shows that it is ours, {measured}"
        else:
            label, reason = "may", f"little shows that it is ours, {measured}"
            nearest = reading.against or reading.nearest
        verdict = _ruling("scope", label, reason + _near(nearest), score, nearest)
        return replace(verdict, scope=reading.score)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question as the rules see it."""

    question: Encoded
    normalised: str
    forbidden: ForbiddenReading


def _proof(normalised: str, found: Sequence[Neighbour]) -> Neighbour | None:
    """A verified entry that asks the same: exactly, or near in meaning and in words."""
    entries = (neighbour for neighbour in found if neighbour.kind == "entry")
    near = (n for n in entries if n.similarity >= _SAME_MEANING and n.lexical >= _SAME_WORDS)
    return _same_words(normalised, found) or next(near, None)


def _same_words(normalised: str, found: Sequence[Neighbour]) -> Neighbour | None:
    """A verified entry in these very words: a person decided, where a judge would only guess."""
    words = only_words(normalised)
    entries = (neighbour for neighbour in found if neighbour.kind == "entry")
    return next((entry for entry in entries if only_words(normalise(entry.text)) == words), None)


def _ruling(
    rule: str,
    label: GateLabel,
    reason: str,
    score: float = 0.0,
    nearest: Neighbour | None = None,
    topic: str | None = None,
) -> GateVerdict:
    return GateVerdict(
        label=label, score=score, reason=reason, nearest=nearest, topic=topic, judge=JUDGE, rule=rule
    )


def _near(neighbour: Neighbour | None) -> str:
    if neighbour is None:
        return ""
    text = neighbour.text if len(neighbour.text) <= 80 else neighbour.text[:79] + "…"
    return f"; nearest {neighbour.kind}: “{' '.join(text.split())}”"


def _topic(forbidden: ForbiddenReading) -> str:
    return _words(forbidden.topic or "must_not")


def _words(name: str) -> str:
    return name.replace("_", " ")
