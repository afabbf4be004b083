"""The gate that learns from the policy's examples, its documents and its verified entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from classifiers import ClassifierError
from classifiers.gate import GateLabel, GateVerdict, Neighbour, Policy, ScopeSource, ShadowVerdict
from classifiers.gate.complaints import shipped_complaints
from classifiers.gate.contrast import Sample
from classifiers.gate.disguise import hidden_forms
from classifiers.gate.fitting import Fitting, ask
from classifiers.gate.forbidden import Forbidden, ForbiddenReading
from classifiers.gate.kept import KeptFits
from classifiers.gate.material import gather
from classifiers.gate.promise import CutsInForce, GateCuts
from classifiers.gate.rules import EVERY_RULE, TORN, Default, Rules, first_enforced
from classifiers.gate.scope import UNSURE, Scope
from classifiers.gate.shipped import Shipped
from classifiers.gate.thinness import thin_notes
from classifiers.text import has_kana, has_words, kana_alone, mostly_cjk, normalise, only_words
from encoders import Encoded, Encoder, EncoderError, Vector, encode_one
from languages.remembering import text_key
from languages.words import simplified

__all__ = ["JUDGE", "ExampleGate"]

JUDGE = "examples@2"
LONGEST_QUESTION = 2_000  # characters; a longer text hides more than it asks, and encoders read the beginning
_NO_SCOPE = ("policy.must says nothing and there are no documents: everything that is not forbidden passes",)
_DIRECTIONS: dict[Default, GateLabel] = {"refuse": "may", "escalate": "unsure", "pass": "must"}
_PLAINLY_OURS, _MERELY = 0.95, 0.5  # from .8 on, an order to forge what a helpdesk issues would pass, too
_REMEMBERED = 4_096  # readings of recent questions
_SAME_MEANING, _SAME_WORDS = 0.93, 0.85  # both: a verified entry this near asks about the same thing


class ExampleGate:
    """Judges by what lies near a question. Made with `fit`."""

    def __init__(
        self,
        *,
        scope: Scope | None,
        forbidden: Forbidden,
        encoder: Encoder,
        stated: Mapping[str, Sample],
        sources: Sequence[ScopeSource],
        in_force: CutsInForce | None = None,
        rules: Rules = EVERY_RULE,
        thin: Sequence[str] = (),
    ) -> None:
        self._in_force = in_force or CutsInForce()
        self._scope = scope
        self._forbidden = forbidden
        self._complaints = shipped_complaints()
        self._encoder = encoder
        self._readings: dict[bytes, ForbiddenReading] = {}
        self._stated = stated
        self._written_in = {mostly_cjk(text) for text, one in stated.items() if one.label == "must"}
        self._thin = tuple(thin)
        self._sources = tuple(sources)
        self._rules = rules

    @classmethod
    async def fit(
        cls,
        policy: Policy,
        encoder: Encoder,
        sources: Sequence[ScopeSource] = (),
        *,
        max_false_refusal: float = 0.02,
        tenant: str = "default",
        shipped: Shipped | None = None,
        verified: Sequence[str] = (),
        in_force: CutsInForce | None = None,
        rules: Rules = EVERY_RULE,
        kept: KeptFits | None = None,
    ) -> ExampleGate:
        """Encode the policy once and fit both axes.

        Args:
            max_false_refusal: share of must-questions that may be kept from RAG; the cut is chosen for it.
            tenant: whose entries the sources show while fitting.
            shipped: questions that no helpdesk is for, and those to other helpdesks; by default all.
            verified: questions that people answered; what resembles them is not forbidden for its words.
            in_force: calibrated cuts, which may change while the gate serves; without any, the fit's hold.
            rules: the operator's lists, what is judged but not enforced, and where to without evidence.
            kept: where a fit is looked for before it is made; without it every start fits anew.

        Raises:
            ClassifierError: if the examples cannot be encoded or a source cannot be asked.
            ValueError: if `max_false_refusal` is not between 0 and 0.5.
        """
        if not 0 < (share := max_false_refusal) < 0.5:
            raise ValueError(f"max_false_refusal: expected a share between 0 and 0.5, got {share}")
        shipped = shipped or Shipped()
        reader = kept.remembering(encoder) if kept else encoder
        material = await gather(policy, shipped, verified, reader)
        fitting = Fitting(material, tuple(sources), tenant, max_false_refusal, reader, kept)
        return cls(
            scope=await fitting.scope(),
            forbidden=await fitting.forbidden(shipped.attacks),
            encoder=encoder,
            stated=material.stated(),
            sources=sources,
            in_force=in_force,
            rules=rules,
            thin=thin_notes(policy, max_false_refusal=max_false_refusal),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the operator should know of this fit: which classes are too thin to trust, what is missing."""
        if self._scope is None:
            return (*_NO_SCOPE, *self._thin)
        return (*self._thin, *self._scope.notes, *self._scope.grounds.gaps)

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

    @property
    def _forbidden_from(self) -> float:
        return max(self._forbidden.cut, self.cuts.suspicious_from)

    def _allowed(self, forbidden: ForbiddenReading) -> float:
        """What is left of a score: all of it below suspicion, where the axis only adds noise to the order."""
        suspicious_from = min(self.cuts.suspicious_from, 0.99)
        return 1.0 - max(0.0, forbidden.score - suspicious_from) / (1.0 - suspicious_from)

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """The first rule that has something to say decides: lists, what is forbidden, then scope.

        Raises:
            ClassifierError: if a source of evidence, or the encoder for a hidden form, cannot be asked.
        """
        normalised = normalise(question.text)
        if not has_words(normalised):
            return _ruling("empty", "unsure", "there is nothing to judge: no letter and no digit")
        # A few milliseconds of numpy: handing it to a thread would cost more than it frees.
        forbidden = await self._read(question, normalised)
        asked = _Asked(question, normalised, forbidden, await self._simplified(question.text))
        shadow: list[ShadowVerdict] = []
        verdict = first_enforced(self._rules, self._by_word(asked), shadow)
        if verdict is None:
            enough = partial(_proof, normalised)
            found = await ask(self._sources, question, tenant, group=group, enough=enough)
            if asked.simplified is not None:
                same = await ask(self._sources, asked.simplified, tenant, group=group)
                asked = replace(asked, found_simplified=same)
            verdict = first_enforced(self._rules, self._by_evidence(asked, found), shadow)
        if verdict is None:
            allowed = self._allowed(asked.forbidden)
            rest = _ruling("shadow", "must", "nothing that is enforced stops it", allowed)
            verdict = first_enforced(self._rules, self._held_back(asked, rest), shadow) or rest
        return replace(verdict, forbidden=asked.forbidden.score, shadow=tuple(shadow))

    async def _read(self, question: Encoded, normalised: str) -> ForbiddenReading:
        """The reading of a text depends on nothing but the fit, and helpdesk traffic repeats itself."""
        key = text_key(question.text)
        reading = self._readings.get(key)
        if reading is None:
            hidden = await self._unmasked(question.text)
            parts = await self._parts(normalised)
            reading = self._readings[key] = self._forbidden.read(question, normalised, hidden, parts)
            if len(self._readings) > _REMEMBERED:
                self._readings.pop(next(iter(self._readings)))
        return reading

    async def _simplified(self, text: str) -> Encoded | None:
        """A question in traditional characters as the mainland writes it, since encoders read them apart."""
        plain = text if has_kana(text) else simplified(text)
        if plain == text:
            return None
        try:
            return await encode_one(self._encoder, plain)
        except EncoderError as exc:
            raise ClassifierError(
                f"the question could not be encoded in simplified characters: {exc}"
            ) from exc

    async def _parts(self, normalised: str) -> dict[str, Vector]:
        """The vectors of what sounds suspicious in a longer text."""
        detector = self._forbidden.attacks.detector
        try:
            return await detector.parts([normalised], self._encoder) if detector else {}
        except EncoderError as exc:
            raise ClassifierError(f"a part of the question could not be encoded: {exc}") from exc

    async def _unmasked(self, text: str) -> list[Encoded]:
        """What a text says without its disguises, encoded too; most texts have none and cost nothing here."""
        forms = hidden_forms(text)
        if not forms:
            return []
        try:
            return [Encoded(*form) for form in zip(forms, await self._encoder.encode(forms), strict=True)]
        except EncoderError as exc:
            raise ClassifierError(f"a hidden form of the question could not be encoded: {exc}") from exc

    def _by_word(self, asked: _Asked) -> Iterator[GateVerdict]:
        """What needs no evidence: what the operator wrote down, and known attacks."""
        for denied in self._rules.denied(asked.normalised):
            yield _ruling(denied.item.rule, "must_not", denied.says, topic=denied.item.topic)
        for allowed in self._rules.allowed(asked.normalised, over_forbidden=True):
            # These very words, so that no judge from outside is asked either.
            same = Neighbour("example", asked.question.text, 1.0, 1.0, "must", allowed.item.rule)
            yield _ruling(allowed.item.rule, "must", f"{allowed.says}, whatever looks forbidden", 1.0, same)
        written = (asked.normalised, normalise(asked.simplified.text) if asked.simplified else "")
        stated = next(filter(None, (self._stated.get(only_words(text)) for text in written)), None)
        if stated is not None:
            score = 1.0 if stated.label == "must" else 0.0
            reason = f"it is an example of {_words(stated.source or stated.label)}"
            near, topic = stated.neighbour(1.0, 1.0), stated.source or None
            yield _ruling("example", stated.label, reason, score, near, topic)
        pattern = asked.forbidden.pattern
        if pattern is not None:
            reason = f"its wording is a known attack ({_words(pattern.topic)})"
            yield _ruling("pattern", "must_not", reason, 0.0, asked.forbidden.nearest, pattern.topic)

    def _by_evidence(self, asked: _Asked, found: Sequence[Neighbour]) -> Iterator[GateVerdict]:
        """What is forbidden, then what proves or disproves that the question is ours."""
        forbidden, allowed = asked.forbidden, self._allowed(asked.forbidden)
        if forbidden.score >= self._forbidden_from and _same_words(asked.normalised, found) is None:
            yield self._forbidding(asked, found)
        proof = _proof(asked.normalised, found)
        if proof is not None:
            yield _ruling("entry", "must", "a verified entry asks the same", allowed, proof)
        for placed in self._placed(asked, found, allowed):
            if placed.label == "must" and not self._rules.in_shadow(placed):
                yield from self._held_back(asked, placed)
            yield placed

    def _forbidding(self, asked: _Asked, found: Sequence[Neighbour]) -> GateVerdict:
        """Forbidden, or torn: to the detector, customers who tell a story sound like attackers."""
        forbidden = asked.forbidden
        reason = f"it looks forbidden {_looks(forbidden)}{_near(forbidden.nearest)}"
        outright = _ruling("forbidden", "must_not", reason, 0.0, forbidden.nearest, forbidden.topic)
        if not (forbidden.story or forbidden.diffuse):
            return outright
        scoped = self._scoped(asked, found, 1.0)
        if forbidden.story:
            reason = f"{reason}, but is what customers tell: {scoped.reason}"
        elif scoped.rule == "scope" and scoped.label != "may":
            reason = f"{reason}, but may be ours: {scoped.reason}"
        else:
            return outright
        if scoped.label == "may":
            return replace(scoped, rule=TORN, score=0.0, reason=reason)
        return _ruling(TORN, "unsure", reason, 0.0, forbidden.nearest, forbidden.topic)

    def _placed(self, asked: _Asked, found: Sequence[Neighbour], allowed: float) -> Iterator[GateVerdict]:
        """Whether the question is ours: by the allow list, else by the axis of scope."""
        for listed in self._rules.allowed(asked.normalised, over_forbidden=False):
            yield _ruling(listed.item.rule, "must", listed.says, allowed)
        scoped = self._scoped(asked, found, allowed)
        yield self._by_default(scoped, "pass" if scoped.rule == "default" else "escalate")

    def _held_back(self, asked: _Asked, placed: GateVerdict) -> Iterator[GateVerdict]:
        """What still keeps a question from RAG that is ours."""
        length, forbidden = len(asked.normalised), asked.forbidden
        if length > LONGEST_QUESTION:
            reason = f"too long for one question: {length} characters, {LONGEST_QUESTION} at most"
            yield replace(placed, rule="length", label="unsure", reason=reason)
        merely = placed.scope is not None and placed.scope >= _PLAINLY_OURS
        if max(self.cuts.suspicious_from, _MERELY * merely) <= forbidden.score < self._forbidden_from:
            stopped = replace(placed, nearest=forbidden.nearest, topic=forbidden.topic, rule="forbidden")
            yield replace(stopped, label="unsure", reason=f"it may be forbidden {_looks(forbidden)}")

    def _scoped(self, asked: _Asked, found: Sequence[Neighbour], allowed: float) -> GateVerdict:
        scope = self._scope
        if scope is None:
            reason = "no scope is defined and nothing forbids it"
            return _ruling("default", "must", reason, allowed)
        reading = scope.read(asked.question, asked.normalised, found)
        if asked.simplified is not None:
            text = normalise(asked.simplified.text)
            same = scope.read(asked.simplified, text, asked.found_simplified)
            reading = max(reading, same, key=lambda one: one.score)
        cut = self.cuts.scope
        measured = f"{reading.score:.2f} of the {cut:.2f} asked"
        score, nearest = reading.score * allowed, reading.nearest
        label: GateLabel = "must"
        if reading.score >= cut:
            reason = f"it looks ours, {measured}"
        elif reading.score >= cut * UNSURE:
            label, reason = "unsure", f"not enough shows that it is ours, {measured}"
        elif reading.despite_silence >= cut * UNSURE:
            gaps = f"documents speak of about {scope.grounds.covered:.0%} of what is ours"
            label, reason = "unsure", f"no document shows that it is ours, {measured}, but {gaps}"
        elif self._complaints.addressed(asked.question, asked.normalised, self._encoder.identity.digest):
            reason = f"little shows that it is ours, {measured}, but it complains and names nobody else"
            label = "unsure"
        elif kana_alone(asked.normalised):
            reason = f"little shows that it is ours, {measured}, but it is written in kana alone"
            label = "unsure"
        elif self._is_foreign(asked.normalised, found):
            reason = f"little shows that it is ours, {measured}, but nothing of ours is in its writing"
            label = "unsure"
        else:
            label, reason = "may", f"little shows that it is ours, {measured}"
            nearest = reading.against or reading.nearest
        verdict = _ruling("scope", label, reason + _near(nearest), score, nearest)
        ours = reading.nearest if label != "must" else None
        return replace(verdict, scope=reading.score, nearest_ours=ours)

    def _is_foreign(self, normalised: str, found: Sequence[Neighbour]) -> bool:
        """Whether neither an example of must nor what was found is written as the question is.

        What is Latin and what is East Asian are encoded by two models, which never find each other's texts.
        """
        here = mostly_cjk(normalised)
        known = {*self._written_in, *(mostly_cjk(one.text) for one in found)}
        return bool(self._written_in) and here not in known

    def _by_default(self, verdict: GateVerdict, without: Default) -> GateVerdict:
        """The operator's direction for what no evidence places; `without` one the verdict says it already."""
        unplaced = verdict.rule == "default" or verdict.label == "unsure"
        direction = self._rules.default
        if not unplaced or direction in (None, without):
            return verdict
        label = _DIRECTIONS[direction]
        return replace(
            verdict, rule="default", label=label, reason=f"by default {direction}: {verdict.reason}"
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question as the rules see it."""

    question: Encoded
    normalised: str
    forbidden: ForbiddenReading
    simplified: Encoded | None = None  # the same in simplified characters, where it is not in them
    found_simplified: Sequence[Neighbour] = ()


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


def _looks(forbidden: ForbiddenReading) -> str:
    return f"({_words(forbidden.topic or 'must_not')}, {forbidden.score:.2f})"


def _words(name: str) -> str:
    return name.replace("_", " ")
