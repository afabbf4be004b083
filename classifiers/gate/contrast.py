"""Two shelves of texts and how a question lies between them: the evidence of both axes of the gate.

A question is compared with the texts that speak for a class and with those that speak against it, once by
meaning (dense vectors) and once by wording (character n-grams). The same comparison, each text left out of
its own shelf in turn, gives honest evidence to fit on: nothing is ever judged by itself. Evidence that cannot
be had is NaN: a shelf with nothing on it, or meaning in a language the encoder never learnt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from classifiers.gate import GateLabel, Neighbour
from classifiers.text import mostly_cjk, normalise
from encoders import Encoded, Vector

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

__all__ = ["CONTRAST_FEATURES", "Contrast", "Nearest", "Sample", "Similarities"]

Floats = NDArray[np.float64]

CONTRAST_FEATURES = tuple(
    f"{view}_{side}_{statistic}"
    for view in ("meaning", "wording")
    for side in ("for", "against")
    for statistic in ("nearest", "nearest_three", "density")
)
_MEANING = np.array([name.startswith("meaning") for name in CONTRAST_FEATURES])
_BANDWIDTH = {
    "meaning": 0.1,
    "wording": 0.07,
}  # of the kernel density; cosines of n-grams lie closer together
_LONGEST = 1_000  # characters compared by wording: the head and the tail of a longer text
_ROWS_AT_ONCE = 256
_DESCRIPTION_LIFT = 0.2  # "cards and payments" is never as near to a question as another question is
_BELONGS = 0.6  # cosine; different questions on one subject lie below


@dataclass(frozen=True, slots=True)
class Sample:
    """A text that speaks for a class: an example, or the description of the class."""

    text: str
    label: GateLabel
    vector: Vector
    kind: Literal["example", "description"] = "example"
    source: str = ""  # the topic, or which shipped list
    ours: bool = True  # written by the operator, not shipped

    def neighbour(self, similarity: float, lexical: float) -> Neighbour:
        """The sample as something found near a question."""
        return Neighbour(self.kind, self.text, similarity, lexical, self.label, self.source)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The sample nearest to a question on one side."""

    sample: Sample
    similarity: float


@dataclass(frozen=True, slots=True)
class Similarities:
    """Cosines of texts with samples, a row for each text."""

    meaning: Floats
    wording: Floats


class Contrast:
    """Samples for and against, ready to be compared with questions."""

    def __init__(
        self,
        speaking_for: Sequence[Sample],
        speaking_against: Sequence[Sample],
        languages: tuple[str, ...] = (),
    ) -> None:
        """`languages` are those that the encoder was trained on; none given means all."""
        self._reads_cjk = not languages or not {"ja", "zh"}.isdisjoint(languages)
        self.samples = (*speaking_for, *speaking_against)
        self.border = len(speaking_for)
        self._normalised = np.array([normalise(sample.text) for sample in self.samples], dtype=object)

    @cached_property
    def _vectors(self) -> Vector:
        return np.stack([sample.vector for sample in self.samples]).astype(np.float32)

    @cached_property
    def _vectorizer(self) -> TfidfVectorizer:
        # Imported only where a gate reads: it takes a second and a half.
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, dtype=np.float32, max_features=100_000
        )
        return vectorizer.fit([_ends(text) for text in self._normalised])

    @cached_property
    def _wordings(self) -> csr_matrix:
        rows = self._vectorizer.transform([_ends(text) for text in self._normalised])
        return csr_matrix(rows.T)  # by n-gram: a question touches only the rows of its own n-grams

    def warm(self) -> Contrast:
        """Compute what the first question would otherwise wait for."""
        _ = self._vectors, self._wordings, self._grams
        return self

    def evidence(self, question: Encoded, normalised: str) -> tuple[Floats, Nearest | None, Nearest | None]:
        """The features of a question, and the nearest sample for and against."""
        return self.weighed(self.compared(question.vector[None, :], [normalised]), normalised)

    def compared(self, vectors: Vector, normalised: Sequence[str]) -> Similarities:
        """How near texts are to every sample, themselves included."""
        if not self.samples:
            return Similarities(np.zeros((len(normalised), 0)), np.zeros((len(normalised), 0)))
        return Similarities((vectors @ self._vectors.T).astype(np.float64), self._wording_of(normalised))

    def weighed(self, near: Similarities, normalised: str) -> tuple[Floats, Nearest | None, Nearest | None]:
        """What one row of similarities says: its features, and the nearest sample for and against."""
        if not self.samples:
            return np.full(len(CONTRAST_FEATURES), np.nan), None, None
        combined = (near.meaning * self.trusts(normalised) + near.wording)[0]
        features = self._features(near.meaning, near.wording, [normalised])[0]
        return features, *self._nearest(combined, near.meaning[0])

    def claims(self, sample: Sample) -> bool:
        """Whether a sample for is so near in meaning that the text belongs to it."""
        if not self.border:
            return False
        return bool((self._vectors[: self.border] @ sample.vector).max() >= _BELONGS)

    def left_out(self, samples: Sequence[Sample]) -> Floats:
        """The features of these samples, each compared with all but itself and its doubles."""
        blocks = [
            self._left_out_block(samples[start : start + _ROWS_AT_ONCE])
            for start in range(0, len(samples), _ROWS_AT_ONCE)
        ]
        return np.concatenate([np.zeros((0, len(CONTRAST_FEATURES))), *blocks])

    def _left_out_block(self, samples: Sequence[Sample]) -> Floats:
        if not self.samples:
            return np.full((len(samples), len(CONTRAST_FEATURES)), np.nan)
        texts = [normalise(sample.text) for sample in samples]
        meaning = (np.stack([sample.vector for sample in samples]) @ self._vectors.T).astype(np.float64)
        wording = self._wording_of(texts)
        doubles = np.array(texts, dtype=object)[:, None] == self._normalised[None, :]
        meaning[doubles], wording[doubles] = -np.inf, -np.inf
        return self._features(meaning, wording, texts)

    def _wording_of(self, normalised: Sequence[str]) -> Floats:
        """What `transform` of the vectorizer gives, without its checks: they took most of a judgement."""
        known, idf, grams_of = self._grams
        found = [Counter(known[g] for g in grams_of(_ends(text)) if g in known) for text in normalised]
        indices = np.array([index for counts in found for index in counts], dtype=np.int32)
        counts = np.array([count for counts in found for count in counts.values()], dtype=np.float32)
        starts = np.cumsum([0, *map(len, found)])
        values = (1 + np.log(counts)) * idf[indices]
        rows = csr_matrix((values, indices, starts), shape=(len(normalised), len(idf)))
        norms = np.sqrt(np.add.reduceat(np.append(values**2, 0.0), starts[:-1])) * (np.diff(starts) > 0)
        products = np.asarray((rows @ self._wordings).toarray(), dtype=np.float64)
        return products / np.where(norms > 0, norms, 1.0)[:, None]

    @cached_property
    def _grams(self) -> tuple[dict[str, int], NDArray[np.float32], Callable[[str], list[str]]]:
        return self._vectorizer.vocabulary_, self._vectorizer.idf_, self._vectorizer.build_analyzer()

    def _features(self, meaning: Floats, wording: Floats, texts: Sequence[str]) -> Floats:
        features = np.column_stack(
            [
                statistic
                for view, similarities in (("meaning", meaning + self._lift), ("wording", wording))
                for side in (similarities[:, : self.border], similarities[:, self.border :])
                for statistic in _statistics(side, _BANDWIDTH[view])
            ]
        )
        unread = np.array([not self.trusts(text) for text in texts])
        features[np.ix_(unread, _MEANING)] = np.nan
        return features

    def trusts(self, text: str) -> bool:
        """Whether vectors say anything about a text in this script."""
        return self._reads_cjk or not mostly_cjk(text)

    @cached_property
    def _lift(self) -> Floats:
        return np.array([_DESCRIPTION_LIFT if s.kind == "description" else 0.0 for s in self.samples])

    def _nearest(self, combined: Floats, meaning: Floats) -> tuple[Nearest | None, Nearest | None]:
        def best(start: int, stop: int) -> Nearest | None:
            if start == stop:
                return None
            index = start + int(np.argmax(combined[start:stop]))
            return Nearest(self.samples[index], float(meaning[index]))

        return best(0, self.border), best(self.border, len(self.samples))


def _statistics(similarities: Floats, bandwidth: float) -> tuple[Floats, Floats, Floats]:
    """The nearest, the mean of the nearest three, and the soft mean of all; NaN where there is nothing."""
    rows, columns = similarities.shape
    if not columns:
        nothing = np.full(rows, np.nan)
        return nothing, nothing, nothing
    top = min(3, columns)
    best = np.partition(similarities, columns - top, axis=1)[:, -top:]
    best = np.where(np.isfinite(best), best, np.nan)  # a left-out text is at minus infinity
    seen = np.isfinite(best).sum(axis=1)
    three = np.where(seen, np.nansum(best, axis=1) / np.maximum(seen, 1), np.nan)
    nearest = np.where(seen, np.max(np.nan_to_num(best, nan=-1.0), axis=1), np.nan)
    density = bandwidth * np.log(np.exp(similarities / bandwidth).mean(axis=1) + 1e-12)
    return nearest, three, np.where(seen, density, np.nan)


def _ends(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST // 2] + " " + text[-_LONGEST // 2 :]
