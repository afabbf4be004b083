"""What stands in a stage's place when the operator switched it off. It says so in its verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cache.matching import Miss
from classifiers.faithfulness import Unchecked
from classifiers.gate import GateVerdict
from encoders import Encoded, EncoderIdentity, Vector

__all__ = ["NoCache", "NoEncoder", "NoGate", "NoJudge"]


class NoEncoder:
    """For a gateway in which no stage looks at vectors."""

    identity = EncoderIdentity("none", 0, "none", ())

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors without dimensions."""
        return np.zeros((len(texts), 0), dtype=np.float32)


class NoGate:
    """Every question is ours."""

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """*Must*, by the operator's word."""
        return GateVerdict(
            label="must", score=1.0, reason="the gate is switched off", nearest=None, judge="off", rule="off"
        )


class NoCache:
    """No verified answers are served."""

    async def find(self, question: Encoded, /, *, tenant: str, language: str, group: str = "") -> Miss:
        """Always a miss."""
        return Miss(reason="the cache is switched off")


class NoJudge:
    """Nothing is checked, and nothing claims to be."""

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> Unchecked:
        """Always unchecked: what happens then is `faithfulness.on_unchecked`."""
        return Unchecked(reason="judge_off", judge="off")
