"""What a start need not do again: vectors of the gate's texts, fits of both axes, counts of words.

A fit is found again only by the digest of all that it depends on: the encoder, the policy and the shipped
lists, what the operator's documents were, and the code that fitted. Anything that differs, or doesn't fit
together, means a new fit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from classifiers.gate.combiner import Combiner
from classifiers.gate.contrast import Contrast, Sample
from classifiers.gate.evidence import SCOPE_FEATURES, Grounds
from classifiers.gate.forbidden import Forbidden
from classifiers.gate.leaning import Leaning
from classifiers.gate.lexical import Rarity
from classifiers.gate.scope import Reading, Scope
from encoders import Encoder, EncoderIdentity, Vector
from storage.arrays import ArrayFolder

__all__ = ["KeptFits", "KeptVectors", "fit_key"]

_MOST_VECTORS = 20_000  # texts; 30 MB of vectors of 384 numbers
_DIGEST = 16  # bytes
_LIBRARIES = ("numpy", "scipy", "scikit-learn")  # a vocabulary or a fit of another version is another one

ContrastOf = Callable[[NDArray[np.bool_]], Contrast]  # by which everyday questions are left in


@dataclass(frozen=True, slots=True)
class KeptFits:
    """Where fits and vectors are kept, and the state of the sources that they were made over."""

    folder: ArrayFolder
    sources: str = ""  # differs when the documents do

    def remembering(self, encoder: Encoder) -> Encoder:
        """The encoder, which need not encode again what it encoded before the last stop."""
        return KeptVectors(encoder, self.folder)

    async def scope(self, key: str, contrast_of: ContrastOf) -> Scope | None:
        """The fit made for this key, or None if there is none that holds together."""

        def read() -> Scope | None:
            stored = self.folder.read("scope", key)
            return _scope(stored, contrast_of) if stored is not None else None

        return await to_thread.run_sync(read)

    async def rarity(self, passages: Callable[[], Awaitable[Sequence[str]]]) -> Rarity:
        """How telling words are in the documents; `passages` is asked only if that isn't known yet."""
        key = _digest([_code(), self.sources])
        stored = await to_thread.run_sync(self.folder.read, "rarity", key)
        if stored is None or (rarity := _rarity(stored)) is None:
            rarity = await to_thread.run_sync(Rarity.fitted, await passages())
            arrays = {
                "passages": np.array(rarity.passages),
                "pieces": np.array(list(rarity.frequency), dtype="U"),
                "counts": np.array(list(rarity.frequency.values()), np.int_),
            }
            await to_thread.run_sync(self.folder.write, "rarity", key, arrays)
        return rarity

    async def keep(self, key: str, scope: Scope, everyday: NDArray[np.bool_]) -> None:
        """Keep a fit, and which everyday questions it left in."""
        await to_thread.run_sync(self.folder.write, "scope", key, _arrays(scope, everyday))

    async def forbidden(self, key: str, unfitted: Callable[[], Forbidden]) -> Forbidden | None:
        """As of the scope; the texts are compared with anew, the weights and cuts are not found again."""

        def read() -> Forbidden | None:
            stored = self.folder.read("forbidden", key)
            return _forbidden(stored, unfitted) if stored is not None else None

        return await to_thread.run_sync(read)

    async def keep_forbidden(self, key: str, axis: Forbidden) -> None:
        """Keep a fit."""
        cuts = [axis.combiner.bias, axis.similar_from, axis.raised, axis.suspicious_from, axis.leeway.logits]
        arrays = {
            "weights": axis.combiner.weights,
            "centre": axis.combiner.centre,
            "cuts": np.array(cuts, np.float64),
        }
        await to_thread.run_sync(self.folder.write, "forbidden", key, arrays)


class KeptVectors:
    """An encoder whose vectors outlive the process."""

    def __init__(self, inner: Encoder, folder: ArrayFolder) -> None:
        self._inner = inner
        self._folder = folder

    @property
    def identity(self) -> EncoderIdentity:
        """Which model made the vectors: that of the inner encoder."""
        return self._inner.identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), dimensions), L2-normalised."""
        known = await to_thread.run_sync(self._read)
        keys = [
            blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest() for text in texts
        ]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = await self._inner.encode([*missing.values()])
            known = {**dict(zip(missing, made, strict=True)), **known}
            await to_thread.run_sync(self._write, known, keys)
        return np.stack([known[key] for key in keys]) if keys else await self._inner.encode(texts)

    def _read(self) -> dict[bytes, Vector]:
        stored = self._folder.read("vectors", self._key)
        if stored is None:
            return {}
        keys, vectors = stored.get("keys"), stored.get("vectors")
        if keys is None or keys.ndim != 2 or keys.shape[1] != _DIGEST or keys.dtype != np.uint8:
            return {}
        if vectors is None or vectors.shape != (len(keys), self.identity.dimensions):
            return {}
        return {key.tobytes(): vector for key, vector in zip(keys, vectors.astype(np.float32), strict=True)}

    def _write(self, known: dict[bytes, Vector], used: Sequence[bytes]) -> None:
        """Those used now come first; of the others as many as there is room for."""
        kept = list(dict.fromkeys([*used, *known]))[: max(_MOST_VECTORS, len(used))]
        keys = np.frombuffer(b"".join(kept), np.uint8).reshape(-1, _DIGEST)
        vectors = np.stack([known[key] for key in kept])
        self._folder.write("vectors", self._key, {"keys": keys, "vectors": vectors})

    @property
    def _key(self) -> str:
        return _digest([self.identity.digest, self.identity.name, self.identity.dimensions])


def fit_key(
    samples: Iterable[Sample],
    identity: EncoderIdentity,
    *,
    sources: str,
    tenant: str,
    max_false_refusal: float,
) -> str:
    """The digest of all that a fit depends on."""
    written = [(s.text, s.label, s.kind, s.source, s.ours) for s in samples]
    made_by = [identity.name, identity.dimensions, identity.digest, *identity.languages]
    return _digest([_code(), made_by, written, sources, tenant, max_false_refusal])


def _digest(parts: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()[:32]


@lru_cache(maxsize=1)
def _code() -> str:
    """The digest of the code that fits and of its weights, and the versions of what it counts with."""
    found = hashlib.sha256()
    folder = files("classifiers.gate")
    modules = [file for file in folder.iterdir() if file.name.endswith((".py", ".npz"))]
    for module in [*sorted(modules, key=lambda file: file.name), files("classifiers") / "text.py"]:
        found.update(module.read_bytes())
    return " ".join([found.hexdigest(), *map(version, _LIBRARIES)])


def _arrays(scope: Scope, everyday: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    leaning = scope.leaning
    return {
        "everyday": everyday,
        "near": _flat(scope.near),
        "far": _flat(scope.far),
        "supported": _flat(scope.supported) if scope.supported else np.zeros(0),
        "cut": np.array(scope.cut),
        "kinds": np.array(sorted(scope.grounds.kinds), dtype="U16"),
        "few": np.array(scope.grounds.few),
        "covered": np.array(scope.grounds.covered),
        "notes": np.array(scope.notes, dtype="U"),
        "anchors": leaning.anchors if leaning else np.zeros(0, np.int_),
        "weights": leaning.weights if leaning else np.zeros((2, 0)),
    }


def _rarity(stored: dict[str, NDArray[Any]]) -> Rarity | None:
    try:
        counted = zip(stored["pieces"].tolist(), stored["counts"].tolist(), strict=True)
        return Rarity(int(stored["passages"]), {str(piece): int(count) for piece, count in counted})
    except (KeyError, ValueError, TypeError):
        return None


def _flat(reading: Reading) -> NDArray[np.float64]:
    combiner = reading.combiner
    return np.array([*combiner.weights, *combiner.centre, combiner.bias, reading.low, reading.middle])


def _scope(stored: dict[str, NDArray[Any]], contrast_of: ContrastOf) -> Scope | None:
    """The scope that arrays speak of; None if they do not fit together."""
    try:
        contrast = contrast_of(stored["everyday"].astype(bool))
        anchors, weights = stored["anchors"].astype(np.int_), stored["weights"].astype(np.float64)
        if weights.shape != (2, len(anchors)) or (anchors >= len(contrast.samples)).any():
            return None
        return Scope(
            contrast=contrast,
            leaning=Leaning(anchors, weights) if len(anchors) else None,
            near=_reading(stored["near"]),
            far=_reading(stored["far"]),
            supported=_reading(stored["supported"]) if stored["supported"].size else None,
            cut=float(stored["cut"]),
            grounds=Grounds(
                frozenset(map(str, stored["kinds"])),
                few=bool(stored["few"]),
                covered=float(stored["covered"]),
            ),
            notes=tuple(map(str, stored["notes"])),
        )
    except (KeyError, ValueError, TypeError, IndexError):
        return None


def _forbidden(stored: dict[str, NDArray[Any]], unfitted: Callable[[], Forbidden]) -> Forbidden | None:
    """The axis that arrays speak of; None if they do not fit together."""
    try:
        weights, centre = stored["weights"].astype(np.float64), stored["centre"].astype(np.float64)
        bias, similar_from, raised, suspicious_from, leeway = map(float, stored["cuts"])
    except (KeyError, ValueError, TypeError):
        return None
    axis = unfitted()
    if not weights.shape == centre.shape == axis.combiner.weights.shape:
        return None
    axis.contrast.warm()
    return replace(
        axis,
        combiner=Combiner(weights, centre, bias),
        similar_from=similar_from,
        raised=raised,
        suspicious_from=suspicious_from,
        leeway=replace(axis.leeway, logits=leeway),
    )


def _reading(numbers: NDArray[Any]) -> Reading:
    size = len(SCOPE_FEATURES)
    if numbers.shape != (2 * size + 3,):
        raise ValueError(f"expected {2 * size + 3} numbers, found {numbers.shape}")
    weights, centre, (bias, low, middle) = numbers[:size], numbers[size : 2 * size], numbers[2 * size :]
    return Reading(Combiner(weights, centre, float(bias)), float(low), float(middle))
