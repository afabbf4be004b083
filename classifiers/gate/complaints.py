"""Does a text complain, or cry for help, to whom it is sent? Then a person should see it, whatever it names.

Who is let down asks nothing and names nothing that a policy knows ("charged twice again, useless!"), so scope
finds no evidence. But who complains and names nobody else means the place he writes to. Two logistic
regressions on hashed n-grams and the shared vector, for each script: one tells complaints from all else that
is written, one those to the reader from those about the weather, the government or the boss. 0 is their cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifiers.gate.detector import Script, script_of, wording
from encoders import Encoded, Vector

__all__ = ["HEADS", "Complaints", "Voice", "shipped_complaints"]

Floats = NDArray[np.float64]

HEADS: Final = ("complains", "here")


@dataclass(frozen=True, slots=True)
class Voice:
    """Weights of one script: of each head by bucket and then by dimension, the bias last."""

    centre: Floats  # of the vectors
    heads: tuple[Floats, ...]

    def logits(self, normalised: str, script: Script, vector: Vector) -> list[float]:
        """One for each head."""
        row = wording([normalised], script)
        border = row.shape[1]
        meaning = vector - self.centre
        return [float((row @ head[:border])[0] + meaning @ head[border:-1] + head[-1]) for head in self.heads]


@dataclass(frozen=True, slots=True)
class Complaints:
    """A voice for each script, and whose vectors they know."""

    voices: dict[Script, Voice]
    encoder: str  # digest

    def addressed(self, question: Encoded, normalised: str, encoder: str) -> bool:
        """Whether it complains to the reader; never where the vector is another encoder's."""
        if encoder != self.encoder:
            return False
        script = script_of(normalised)
        return min(self.voices[script].logits(normalised, script, question.vector)) >= 0.0


@lru_cache(maxsize=1)
def shipped_complaints() -> Complaints:
    """The weights in complaints.npz, made by training/fit_complaints.py."""
    with (files("classifiers.gate") / "complaints.npz").open("rb") as file:
        stored: Any = np.load(file, allow_pickle=False)
        voices: dict[Script, Voice] = {
            script: Voice(
                stored[f"{script}.centre"].astype(np.float64),
                tuple(stored[f"{script}.{head}"].astype(np.float64) for head in HEADS),
            )
            for script in ("latin", "east_asian")
        }
        return Complaints(voices, str(stored["encoder"]))
