"""Detectors of attacks that were fitted without one source, so that this source can be judged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from classifiers.gate.detector import Detector, Script, head_of, shipped_detector
from training.attack_texts import collected
from training.fit_attacks import fitted, material

__all__ = ["detectors_without"]


async def detectors_without(data: Path, sources: Sequence[str]) -> AsyncIterator[tuple[str, Detector]]:
    """One detector for each source, made as `training.fit_attacks` makes the shipped one."""
    if not sources:
        return
    texts = collected(data)
    seen: dict[Script, Any] = {script: await material(texts, script) for script in get_args(Script)}
    shipped = shipped_detector()
    for source in sources:
        heads = dict(shipped.heads)
        for script, of_script in seen.items():
            others = np.array([one.source != source for one in of_script.texts])
            if not others.all():
                heads[script] = head_of(fitted(of_script.some(others)))
        yield source, Detector(heads, shipped.encoder)
