"""Detectors of attacks that were fitted without one source, so that this source can be judged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, get_args

import numpy as np

from classifiers.gate.detector import Detector, Head, Script, shipped_detector
from training.fit_attacks import collect, fitted, material, padded

__all__ = ["detectors_without"]


async def detectors_without(data: Path, sources: Sequence[str]) -> AsyncIterator[tuple[str, Detector]]:
    """One detector for each source, made as `training.fit_attacks` makes the shipped one."""
    if not sources:
        return
    texts = collect(data)
    texts.extend(padded(texts, Random(1)))
    seen: dict[Script, Any] = {script: await material(texts, script) for script in get_args(Script)}
    shipped = shipped_detector()
    for source in sources:
        heads = dict(shipped.heads)
        for script, of_script in seen.items():
            others = np.array([one.source != source for one in of_script.texts])
            if not others.all():
                heads[script] = _head(fitted(of_script.some(others)))
        yield source, Detector(heads, shipped.encoder)


def _head(arrays: dict[str, Any]) -> Head:
    return Head(
        wording=arrays["wording"].astype(np.float64),
        wording_bias=float(arrays["wording_bias"]),
        both=arrays["both"].astype(np.float64),
        both_bias=float(arrays["both_bias"]),
        centre=arrays["centre"].astype(np.float64),
        topics=arrays["topics"].astype(np.float64),
        topics_bias=arrays["topics_bias"].astype(np.float64),
    )
