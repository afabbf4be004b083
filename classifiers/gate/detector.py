"""The trained detector: does a text ask for one of the things that no helpdesk gives?

A logistic regression on hashed n-grams, and on the shared vector of the question where it comes from the
encoder that the weights were trained with. Latin and East Asian script have a model each, as they have an
encoder each. The vector reads the question as a whole; what is buried in a longer text is found by its
wording, window by window, and a window that sounds suspicious is encoded, too: wording alone can't tell a
long polite question from an order. Customers who tell what happened to them sound like attackers, so a third
head tells such stories from attacks, those told in a story among them.
Each head is shifted: 0 is its cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from encoders import Encoded, Encoder, Vector
from languages.scripts import EAST_ASIAN

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import HashingVectorizer

__all__ = [
    "NO_PARTS",
    "TOPICS",
    "Detector",
    "Head",
    "Parts",
    "Script",
    "Suspicion",
    "head_of",
    "script_of",
    "shipped_detector",
    "windows",
    "wording",
]

Script = Literal["latin", "east_asian"]
Floats = NDArray[np.float64]
Parts = Mapping[str, Vector]  # the vectors of windows

NO_PARTS: Final[Parts] = MappingProxyType({})

TOPICS: Final = ("injection", "prompt_extraction", "jailbreak", "harm")
_BUCKETS: Final = 2**15
_LONGEST: Final = 2_000  # characters, head and tail of a longer text
_MOST_WINDOWS: Final = 24
_DOUBTFUL: Final = -2.0  # logit of a window by its wording, from where it could hold a question up
# What the wording of an encoded window still counts beside its meaning, which only ever lowers its logit.
# So 8 of 44 long plain English questions were forbidden, and 14 by wording alone; held up were 13 and not
# 21, in Chinese 10 of 28 and not 12. Of 50 Chinese attacks behind such a question 48 were held up; without
# wording 46, by it alone 49. Where meaning could raise it, plain Chinese questions became forbidden.
_WORDING_COUNTS: Final = {"latin": 0.0, "east_asian": 0.5}
_WINDOW: Final = {"latin": 90, "east_asian": 20}  # characters: about a sentence
_EAST_ASIAN: Final = re.compile(f"[{EAST_ASIAN}]")
# A space between Chinese or Japanese characters ends a sentence: words are not parted there.
_SENTENCE: Final = re.compile(
    rf"(?:(?<![{EAST_ASIAN}]) |(?! )[^.!?。！？;；\n]| (?![{EAST_ASIAN}]))+[.!?。！？;； \n]*"
)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What the detector thinks of a text: `logit` is 0 at the shipped cut."""

    logit: float
    topic: str
    diffuse: bool = False  # a text of several windows, none of which is suspicious by itself
    story: bool = False  # it sounds like what customers tell, and like no attack told in it


@dataclass(frozen=True, slots=True)
class Head:
    """Weights of one script."""

    wording: Floats  # by bucket: forbidden or not, by wording alone
    wording_bias: float
    both: Floats  # by bucket and then by dimension: by wording and meaning
    both_bias: float
    told: Floats  # the same for an attack, told in a story or not, or a story
    told_bias: float
    centre: Floats  # of the vectors
    topics: Floats  # by topic and bucket
    topics_bias: Floats

    def logits(self, rows: csr_matrix, vectors: Vector | None) -> Floats:
        """By wording and meaning; without vectors by wording alone."""
        if vectors is None:
            return np.asarray(rows @ self.wording) + self.wording_bias
        return self._read(rows, vectors, self.both) + self.both_bias

    def _read(self, rows: csr_matrix, vectors: Vector, weights: Floats) -> Floats:
        border = rows.shape[1]
        return np.asarray(rows @ weights[:border]) + (vectors - self.centre) @ weights[border:]

    def of_windows(self, texts: Sequence[str], script: Script, parts: Parts) -> tuple[csr_matrix, Floats]:
        """The rows of texts, and their logits by wording, lowered by meaning where `parts` has the vector."""
        rows, share = wording(texts, script), _WORDING_COUNTS[script]
        logits = self.logits(rows, None)
        if read := [place for place, text in enumerate(texts) if text in parts]:
            both = self.logits(rows[read], np.stack([parts[texts[place]] for place in read]))
            logits[read] -= (1.0 - share) * np.maximum(logits[read] - both, 0.0)
        return rows, logits

    def worst(
        self, texts: Sequence[str], script: Script, vector: Vector | None, parts: Parts = NO_PARTS
    ) -> Suspicion:
        """The most suspicious of these texts; the vector is of the first, `parts` has those of others."""
        (rows, logits), story = self.of_windows(texts, script, parts), False
        if vector is not None:
            logits[:1] = self.logits(rows[:1], vector[None, :])
            story = float(self._read(rows[:1], vector[None, :], self.told)[0]) + self.told_bias < 0.0
        index = int(np.argmax(logits))
        by_topic = np.asarray(rows[index] @ self.topics.T)[0] + self.topics_bias
        diffuse = len(logits) > 1 and float(logits[1:].max()) < 0.0
        topic = TOPICS[int(np.argmax(by_topic))]
        return Suspicion(float(logits[index]), topic, diffuse=diffuse, story=story)


@dataclass(frozen=True, slots=True)
class Detector:
    """A head for each script, and whose vectors they know."""

    heads: dict[Script, Head]
    encoder: str  # digest

    async def parts(self, normalised: Sequence[str], encoder: Encoder) -> dict[str, Vector]:
        """The vectors of those windows of these texts that sound suspicious; most texts have none.

        Raises:
            EncoderError: if they cannot be encoded.
        """
        if encoder.identity.digest != self.encoder:
            return {}
        found = [part for text in normalised for part in self._doubtful(text)]
        return dict(zip(found, await encoder.encode(found), strict=True)) if found else {}

    def _doubtful(self, normalised: str) -> list[str]:
        found = windows(normalised)
        if not found:
            return []
        script = script_of(normalised)
        logits = self.heads[script].logits(wording(found, script), None)
        return [part for part, logit in zip(found, logits, strict=True) if logit > _DOUBTFUL]

    def logits(self, normalised: Sequence[str], vectors: Vector | None, parts: Parts = NO_PARTS) -> Floats:
        """Of many texts at once: the worst of each and its windows, as `suspicion` judges one."""
        found = np.zeros(len(normalised))
        scripts = [script_of(text) for text in normalised]
        for script, head in self.heads.items():
            index = [i for i, of_text in enumerate(scripts) if of_text == script]
            if index:
                texts = [normalised[i] for i in index]
                whole = head.logits(wording(texts, script), None if vectors is None else vectors[index])
                found[index] = np.maximum(whole, _worst_windows(head, texts, script, parts))
        return found

    def suspicion(
        self, forms: Sequence[Encoded], *, knows_vectors: bool, parts: Parts = NO_PARTS
    ) -> Suspicion:
        """The worst of the forms of a text and of their windows.

        Args:
            forms: normalised: as it stands, and without its disguises.
            knows_vectors: they come from the encoder of the weights.
            parts: of the windows, as `parts` found them.
        """
        found = []
        for form in forms:
            script = script_of(form.text)
            texts = [form.text, *windows(form.text)]
            vector = form.vector if knows_vectors else None
            found.append(self.heads[script].worst(texts, script, vector, parts))
        worst = max(found, key=lambda suspicion: suspicion.logit)
        return replace(worst, story=all(suspicion.story for suspicion in found))


def _worst_windows(head: Head, texts: Sequence[str], script: Script, parts: Parts) -> Floats:
    """The worst window of each text; minus infinity where a text has none."""
    found = [(owner, window) for owner, text in enumerate(texts) for window in windows(text)]
    worst = np.full(len(texts), -np.inf)
    if found:
        owners, pieces = zip(*found, strict=True)
        np.maximum.at(worst, list(owners), head.of_windows(pieces, script, parts)[1])
    return worst


def script_of(text: str) -> Script:
    """By which head a text is judged: the rule by which its encoder is chosen."""
    return "east_asian" if _EAST_ASIAN.search(text) else "latin"


def windows(normalised: str) -> list[str]:
    """The parts of a text that could be a request by themselves; none if it is as short as one."""
    if len(normalised) > _LONGEST:
        normalised = normalised[: _LONGEST // 2] + "\n" + normalised[-_LONGEST // 2 :]
    size = _WINDOW[script_of(normalised)]
    if len(normalised) <= size:
        return []
    parts = list(_parts(normalised, size))
    if len(parts) > _MOST_WINDOWS:  # evenly, the ends included
        parts = [parts[round(i * (len(parts) - 1) / (_MOST_WINDOWS - 1))] for i in range(_MOST_WINDOWS)]
    return parts


def _parts(text: str, size: int) -> Iterator[str]:
    """Sentences, and a longer one in overlapping pieces."""
    for sentence in _SENTENCE.findall(text):
        stripped = sentence.strip()
        if len(stripped) <= size:
            if stripped:
                yield stripped
            continue
        for start in range(0, len(stripped) - size // 2, size // 2):
            yield stripped[start : start + size]


def wording(normalised: Sequence[str], script: Script) -> csr_matrix:
    """Hashed n-grams: of characters, and of words where words are parted."""
    blocks = [vectorizer.transform(normalised).sqrt() for vectorizer in _vectorizers(script)]
    return csr_matrix(hstack(blocks))


@lru_cache(maxsize=2)
def _vectorizers(script: Script) -> tuple[HashingVectorizer, ...]:
    # Imported only where a gate reads: it takes a second and a half.
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = partial(
        HashingVectorizer,
        n_features=_BUCKETS,
        norm="l2",
        alternate_sign=False,
        lowercase=False,
        dtype=np.float32,
    )
    if script == "east_asian":
        return (hashing(analyzer="char", ngram_range=(1, 3)),)
    return (
        hashing(analyzer="char_wb", ngram_range=(2, 5)),
        hashing(analyzer="word", ngram_range=(1, 3)),
    )


@lru_cache(maxsize=1)
def shipped_detector() -> Detector:
    """The weights in detector.npz, made by training/fit_attacks.py."""
    with (files("classifiers.gate") / "detector.npz").open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        names = [field.name for field in fields(Head)]
        heads: dict[Script, Head] = {
            script: head_of({name: stored[f"{script}.{name}"] for name in names})
            for script in ("latin", "east_asian")
        }
        return Detector(heads, str(stored["encoder"]))


def head_of(arrays: Mapping[str, Any]) -> Head:
    """The head whose fields these arrays are."""
    found: dict[str, Any] = {}
    for name, array in arrays.items():
        found[name] = array.astype(np.float64) if array.ndim else float(array)
    return Head(**found)
