"""Past questions that an entry on trial would answer and that no other entry competes for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cache.matching import Miss, decide, objection
from cache.matching.evidence import agreement
from cache.reading.spelling import encode_spelt
from cache.reading.text import pieces
from cache.shelf import Shelf
from cache.store.suggestions import SuggestionSource
from cache.trial import Trial
from encoders import Encoded, Encoder, Vector

__all__ = ["Asked", "Fitting", "fitting"]

NEAREST = 20  # past questions that are tried, by meaning and again by characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A self-contained question that people asked before."""

    text: str
    times: int
    source: SuggestionSource


@dataclass(frozen=True, slots=True)
class Fitting:
    """A past question that may become a phrasing of the entry."""

    asked: Asked
    score: float  # how probable it is that the entry answers it


async def fitting(
    trial: Trial, asked: Sequence[Asked], encoder: Encoder, *, limit: int
) -> tuple[Fitting, ...]:
    """The questions that fit best, those asked most often first.

    Raises:
        IndexUnavailable, EncoderError, DatabaseUnavailable.
    """
    if not asked:
        return ()
    vectors = await encode_spelt(encoder, [one.text for one in asked], trial.entry.language)
    shelf = trial.there()
    found = []
    for row in _nearest(trial, asked, vectors):
        score = await _score(trial, shelf, Encoded(asked[row].text, vectors[row]))
        if score is not None:
            found.append(Fitting(asked[row], score))
    return tuple(sorted(found, key=lambda one: (-one.asked.times, -one.score, one.asked.text))[:limit])


def _nearest(trial: Trial, asked: Sequence[Asked], vectors: Vector) -> list[int]:
    """The few questions worth a trial: a language may be known by meaning, or only by its characters."""
    cosines = (vectors @ trial.vectors.T).max(axis=1)
    own = [pieces(phrasing).grams for phrasing in trial.entry.phrasings]
    shares = [max(agreement(pieces(one.text).grams, grams) for grams in own) for one in asked]
    by_meaning, by_characters = np.argsort(-cosines), np.argsort(-np.asarray(shares))
    return list(dict.fromkeys([*map(int, by_meaning[:NEAREST]), *map(int, by_characters[:NEAREST])]))


async def _score(trial: Trial, shelf: Shelf, question: Encoded) -> float | None:
    """How well the question fits; None if it is known, too far, objected to, or near another entry, too."""
    tenant, language, group = trial.entry.tenant, trial.entry.language, trial.entry.group
    if await shelf.exact(question, tenant=tenant, language=language, group=group) is not None:
        return None
    ranked = await shelf.neighbours(question, tenant=tenant, language=language, group=group)
    if not ranked or ranked[0].entry.id != trial.entry.id:
        return None
    cut = (await shelf.cut(tenant, language)).score
    near = [one for one in ranked if not isinstance(decide(question.text, (one,), cut=cut, guards=()), Miss)]
    if near != [ranked[0]]:
        return None
    first = near[0]
    phrasings = first.entry.phrasings
    if objection(question.text, first.phrasing, phrasings, language, shelf.guards) is not None:
        return None
    return first.score
