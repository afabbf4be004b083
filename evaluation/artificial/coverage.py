"""How much of what is really asked the artificial questions cover, and what nobody thought of.

The coverage of a real question is its *largest* cosine with an artificial one of its language: one that asks
the same is enough, however many ask something else. It counts as covered from the similarity within which
questions are taken for one in the queue (`gateway.review.queue.clustering`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from encoders import Encoder, Vector
from gateway.review.queue.clustering import WIDEST, WIDEST_OF_OTHERS, clustered

__all__ = ["Cluster", "Coverage", "Covered", "coverage"]

AT_ONCE = 2_048  # real questions compared at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """A real question, and the artificial one nearest to it."""

    question: str
    language: str
    nearest: str  # "" where there is none in its language
    similarity: float
    covered: bool


@dataclass(frozen=True, slots=True)
class Cluster:
    """Real questions that ask much the same and that nothing covers; the most typical one first."""

    language: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Every real question with its coverage, and the gaps, the largest first."""

    questions: tuple[Covered, ...]
    gaps: tuple[Cluster, ...]

    def of(self, language: str | None = None) -> tuple[int, int]:
        """Covered, and all."""
        these = [one for one in self.questions if language in (None, one.language)]
        return sum(one.covered for one in these), len(these)

    @property
    def languages(self) -> tuple[str, ...]:
        """In which something was asked."""
        return tuple(sorted({one.language for one in self.questions}))


async def coverage(
    real: Sequence[tuple[str, str]], artificial: Sequence[tuple[str, str]], encoder: Encoder
) -> Coverage:
    """Compare real questions with artificial ones; both as (text, language)."""
    found: dict[int, Covered] = {}
    gaps: list[Cluster] = []
    for language in {lang for _, lang in real}:
        places = [n for n, (_, lang) in enumerate(real) if lang == language]
        texts = [real[n][0] for n in places]
        made = [text for text, lang in artificial if lang == language]
        vectors = await encoder.encode(texts)
        nearest, similarity = _nearest(vectors, await encoder.encode(made) if made else None)
        enough = 1 - WIDEST.get(language, WIDEST_OF_OTHERS)
        for place, text, one, score in zip(places, texts, nearest, similarity, strict=True):
            best = made[one] if made else ""
            found[place] = Covered(
                question=text, language=language, nearest=best, similarity=float(score),
                covered=bool(score >= enough),
            )  # fmt: skip
        open_ = np.flatnonzero(similarity < enough)
        gaps += _clusters([texts[n] for n in open_], vectors[open_], language)
    gaps.sort(key=lambda one: -len(one.questions))
    return Coverage(tuple(found[n] for n in range(len(real))), tuple(gaps))


def _nearest(vectors: Vector, made: Vector | None) -> tuple[Vector, Vector]:
    if made is None:
        return np.zeros(len(vectors), dtype=np.intp), np.zeros(len(vectors), dtype=np.float32)
    best, scores = [], []
    for start in range(0, len(vectors), AT_ONCE):
        cosines = vectors[start : start + AT_ONCE] @ made.T
        best.append(cosines.argmax(axis=1))
        scores.append(cosines.max(axis=1))
    return np.concatenate(best), np.concatenate(scores)


def _clusters(texts: Sequence[str], vectors: Vector, language: str) -> list[Cluster]:
    if not texts:
        return []
    numbers = np.array(clustered(vectors, language))
    made = []
    for number in np.unique(numbers):
        here = np.flatnonzero(numbers == number)
        typical = np.argsort(-(vectors[here] @ vectors[here].mean(axis=0)), kind="stable")
        made.append(Cluster(language, tuple(dict.fromkeys(texts[here[n]] for n in typical))))
    return made
