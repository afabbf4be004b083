"""How the two axes are fitted: which text is evidence for what, and none for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import anyio
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from classifiers import ClassifierError
from classifiers.gate import Neighbour, ScopeSource
from classifiers.gate.contrast import Contrast, Sample
from classifiers.gate.evidence import (
    Grounds,
    covered_share,
    scope_features,
    scope_rule,
    without_document,
)
from classifiers.gate.forbidden import Forbidden, fit_forbidden, unfitted_forbidden
from classifiers.gate.kept import KeptFits, fit_key
from classifiers.gate.leaning import LEANING_FEATURES, Leaning, fit_leaning
from classifiers.gate.material import Material
from classifiers.gate.scope import FEW, LEAST_OURS, Scope, Training, fit_scope
from classifiers.gate.shipped import Attacks
from classifiers.text import normalise
from encoders import Encoded, Encoder, EncoderError, Vector

__all__ = ["Fitting", "ask"]

T = TypeVar("T")
Floats = NDArray[np.float64]
Evidence = Mapping[int, Sequence[Neighbour]]  # by id of the sample

_MOST_ROWS = 1_500  # examples of a class that weights are fitted on; all of them serve as neighbours
_MOST_ASKED = 300  # of them, if sources are asked about each: an index takes milliseconds
_CLAIMED = 0.5  # what the rule calls ours is ours: a weather office is asked for the weather
_CLAIMED_OF_SUBJECT = 0.2  # of the background, from where the whole subject is ours


async def ask(
    sources: Sequence[ScopeSource],
    question: Encoded,
    tenant: str,
    *,
    group: str = "",
    enough: Callable[[Sequence[Neighbour]], object] = lambda _: False,
) -> list[Neighbour]:
    """What the sources find near a question, all of them or as many as it takes until there is `enough`.

    Raises:
        ClassifierError: if one of them cannot be asked, whatever it raised.
    """
    found: list[Neighbour] = []
    for source in sources:
        try:
            found.extend(await source.near(question, tenant=tenant, group=group))
            if enough(found):
                break
        except ClassifierError:
            raise
        except Exception as exc:  # the door to foreign sources: without evidence there is no verdict
            raise ClassifierError(f"{type(source).__name__} could not be asked: {exc!r}") from exc
    return found


@dataclass(frozen=True, slots=True)
class Fitting:
    """One fit of both axes on one material."""

    material: Material
    sources: Sequence[ScopeSource]
    tenant: str
    max_false_refusal: float
    encoder: Encoder
    kept: KeptFits | None = None

    async def scope(self) -> Scope | None:
        """The axis of scope, kept or fitted, or None if nothing defines it."""
        if self.kept is None:
            return await self._fitted_scope()
        material = self.material
        key = fit_key(
            (*material.must, *material.may, *material.generic, *material.forbidden),
            self.encoder.identity,
            sources=self.kept.sources,
            tenant=self.tenant,
            max_false_refusal=self.max_false_refusal,
        )
        scope = await self.kept.scope(key, self._contrast)
        if scope is None and (scope := await self._fitted_scope()):
            present = {id(sample) for sample in scope.contrast.samples}  # what was not left out
            await self.kept.keep(key, scope, np.array([id(s) in present for s in material.generic], bool))
        return scope

    async def _fitted_scope(self) -> Scope | None:
        material = self.material
        most = _MOST_ASKED if self.sources else _MOST_ROWS
        groups = (material.must, material.may, material.generic, material.forbidden)
        asked = [sample for group in groups for sample in _some_examples(group, most)]
        evidence = {id(sample): await self._without_itself(sample) for sample in asked}
        kinds = frozenset(neighbour.kind for found in evidence.values() for neighbour in found)
        if not material.must and not kinds:
            return None
        grounds = Grounds(kinds)
        if "passage" in kinds:
            examples = [sample for sample in material.must if sample.kind == "example"]
            covered = covered_share(evidence[id(sample)] for sample in examples if id(sample) in evidence)
            grounds = Grounds(kinds, few=len(examples) < FEW, covered=covered)
        scope = await _in_a_thread(partial(self._fit_scope, evidence, grounds))
        if material.background and not scope.kept:  # what is ours is too much like what others are asked
            beside = {id(sample) for sample in material.background}
            evidence = {sample: found for sample, found in evidence.items() if sample not in beside}
            scope = await _in_a_thread(partial(self._fit_scope, evidence, grounds))
        return scope

    async def forbidden(self, attacks: Attacks) -> Forbidden:
        """The axis of what is forbidden, kept or fitted."""
        material = self.material
        operators = Contrast([s for s in material.forbidden if s.ours], ())
        shipped = [s for s in (*material.harmless, *material.everyday) if not operators.claims(s)]
        groups = (material.must, material.may, material.verified)
        theirs = [sample for group in groups for sample in _some_examples(group, _MOST_ROWS)]
        texts = (material.forbidden, shipped, theirs, attacks, self.encoder.identity.digest)
        if self.kept is None:
            return await _in_a_thread(partial(fit_forbidden, *texts, await self._parts(attacks, theirs)))
        written = (*material.forbidden, *shipped, *theirs)
        known = "with the detector" if attacks.detector else "by similarity alone"
        key = fit_key(
            written, self.encoder.identity, sources=known, tenant=self.tenant, max_false_refusal=0.0
        )
        axis = await self.kept.forbidden(key, partial(unfitted_forbidden, *texts))
        if axis is None:
            axis = await _in_a_thread(partial(fit_forbidden, *texts, await self._parts(attacks, theirs)))
            await self.kept.keep_forbidden(key, axis)
        return axis

    async def _parts(self, attacks: Attacks, theirs: Sequence[Sample]) -> dict[str, Vector]:
        if attacks.detector is None:
            return {}
        try:
            return await attacks.detector.parts([normalise(one.text) for one in theirs], self.encoder)
        except EncoderError as exc:
            raise ClassifierError(f"parts of the policy's examples could not be encoded: {exc}") from exc

    def _fit_scope(self, evidence: Evidence, grounds: Grounds) -> Scope:
        material = self.material
        unclaimed = self._unclaimed(evidence, grounds)
        contrast = self._contrast(unclaimed)
        ours = [s for s in material.must if id(s) in evidence]
        stripped = {id(s): without_document(evidence[id(s)]) for s in ours}
        supported = [s for s in ours if any(n.kind == "passage" for n in evidence[id(s)])]
        fitted = fit_leaning(contrast)
        rows = _Rows(contrast, grounds, *(fitted or ()))
        training = Training(
            ours=rows.of(ours, evidence),
            near=rows.of(material.may, evidence),
            unsupported=rows.of(supported, stripped),
            far=np.concatenate(
                [
                    rows.of(_chosen(material.generic, unclaimed), evidence),
                    rows.of(material.forbidden, evidence),
                ]
            ),
        )
        return fit_scope(
            contrast,
            rows.leaning,
            training,
            grounds,
            examples=[sample.text for sample in ours],
            max_false_refusal=self.max_false_refusal,
        )

    def _unclaimed(self, evidence: Evidence, grounds: Grounds) -> NDArray[np.bool_]:
        """Which generic questions the operator's own material does not call ours.

        Who is asked one question of a subject is asked others: of the background it claims subjects whole.
        """
        generic = self.material.generic
        asked = np.array([id(sample) in evidence for sample in generic], bool)
        rows = _Rows(self._contrast(np.ones(len(generic), bool)), grounds)
        claimed = np.zeros(len(generic), bool)
        claimed[asked] = scope_rule().scores(rows.of(generic, evidence)) >= _CLAIMED
        for subject in {sample.source for sample in self.material.background if id(sample) in evidence}:
            of_subject = np.array([sample.source == subject for sample in generic])
            claimed |= of_subject & (claimed[of_subject & asked].mean() > _CLAIMED_OF_SUBJECT)
        return asked & ~claimed

    def _contrast(self, unclaimed: NDArray[np.bool_]) -> Contrast:
        """The policy's examples, and these of the generic questions, ready to be compared with."""
        material = self.material
        others = (*material.may, *_chosen(material.generic, unclaimed))
        return Contrast(material.must, others, self._trusted()).warm()

    def _trusted(self) -> tuple[str, ...]:
        """In which languages the vectors are believed; none named means all.

        What they are worth elsewhere only a fit can tell, so they count for nothing until one is possible.
        """
        written = [sample for sample in self.material.must if sample.kind == "example"]
        return () if len(written) >= LEAST_OURS else self.encoder.identity.languages

    async def _without_itself(self, sample: Sample) -> Sequence[Neighbour]:
        """What the sources find near an example, but not the example itself stored as an entry."""
        found = await ask(self.sources, Encoded(sample.text, sample.vector), self.tenant)
        text = normalise(sample.text)
        return [neighbour for neighbour in found if normalise(neighbour.text) != text]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Makes rows of evidence out of samples."""

    contrast: Contrast
    grounds: Grounds
    leaning: Leaning | None = None
    left_out: Mapping[str, Floats] = field(default_factory=dict)  # what it says of its own examples

    def of(self, samples: Sequence[Sample], evidence: Evidence) -> Floats:
        """One row for each sample that there is evidence on."""
        asked = [sample for sample in samples if id(sample) in evidence]
        left_out = self.contrast.left_out(asked)
        if not asked:
            return np.zeros((0, len(scope_rule().weights)))
        return np.stack(
            [
                scope_features(row, leaning, evidence[id(sample)], self.grounds)
                for row, leaning, sample in zip(left_out, self._leanings(asked), asked, strict=True)
            ]
        )

    def _leanings(self, samples: Sequence[Sample]) -> Floats:
        if self.leaning is None:
            return np.full((len(samples), len(LEANING_FEATURES)), np.nan)
        texts = [normalise(sample.text) for sample in samples]
        vectors = np.stack([sample.vector for sample in samples])
        leanings = self.leaning.of(self.contrast.compared(vectors, texts))
        for row, text in enumerate(texts):
            leanings[row] = self.left_out.get(text, leanings[row])
        return leanings


def _chosen(samples: Sequence[Sample], which: NDArray[np.bool_]) -> list[Sample]:
    return [sample for sample, is_chosen in zip(samples, which, strict=True) if is_chosen]


def _some_examples(samples: Sequence[Sample], most: int) -> list[Sample]:
    """At most so many, drawn evenly. Descriptions are compared with, never fitted on."""
    examples = [sample for sample in samples if sample.kind == "example"]
    if len(examples) <= most:
        return examples
    chosen = np.random.default_rng(0).choice(len(examples), most, replace=False)
    return [examples[index] for index in sorted(chosen)]


async def _in_a_thread(fit: Callable[[], T]) -> T:
    def alone() -> T:
        with threadpool_limits(limits=1, user_api="blas"):  # a second thread of BLAS waits by spinning
            return fit()

    return await anyio.to_thread.run_sync(alone)
