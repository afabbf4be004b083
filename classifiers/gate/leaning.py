"""To which side a question leans: kernel ridge regression over the examples of both.

The nearest examples say what a question resembles. This says what it resembles after the sides were told
apart: an example that stands among those of the other side weighs more than one among its own. The same
similarities serve, so a question costs one more product of two vectors. What a regression would have said of
each of its own examples, had it not seen it, has a closed form (Rasmussen and Williams, Gaussian Processes
for Machine Learning, 5.12), so its evidence on them is as honest as on a new question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from classifiers.gate.contrast import Contrast, Similarities
from classifiers.text import normalise

__all__ = ["LEANING_FEATURES", "Leaning", "fit_leaning"]

Floats = NDArray[np.float64]

LEANING_FEATURES = ("meaning_leaning", "wording_leaning")
# exp(sharpness · (cosine - 1)). Chosen on half of the English, Japanese and Chinese development questions.
SHARPNESS = {"meaning": 6.0, "wording": 2.0}
NOISE = 0.1  # of the labels
MOST = 1_000  # examples of a side: the fit takes their number cubed


@dataclass(frozen=True, slots=True)
class Leaning:
    """The regression by each view, over some of the samples of a contrast."""

    anchors: NDArray[np.int_]  # which samples
    weights: Floats  # (2, anchors): by meaning and by wording

    def of(self, near: Similarities) -> Floats:
        """Two numbers for each text compared with all samples: 1 leans to ours, -1 to the others."""
        views = zip(_views(near), SHARPNESS.values(), self.weights, strict=True)
        return np.column_stack(
            [_kernel(view[:, self.anchors], sharpness) @ weight for view, sharpness, weight in views]
        )


def fit_leaning(contrast: Contrast) -> tuple[Leaning, dict[str, Floats]] | None:
    """A regression on the examples of a contrast, and what it would have said of each without it.

    Both sides count alike, however many examples each has. None where one side has none.
    """
    texts, anchors = _anchors(contrast)
    ours = anchors < contrast.border
    if ours.all() or not ours.any():
        return None
    vectors = np.stack([contrast.samples[index].vector for index in anchors])
    near = contrast.compared(vectors, texts)
    target = np.where(ours, 1.0, -1.0)
    noise = NOISE * 2 * np.where(ours, ours.mean(), 1 - ours.mean())
    weights, left_out = [], []
    for view, sharpness in zip(_views(near), SHARPNESS.values(), strict=True):
        inverse = np.linalg.inv(_kernel(view[:, anchors], sharpness) + np.diag(noise))
        weights.append(inverse @ target)
        left_out.append(target - weights[-1] / np.diag(inverse))
    rows = dict(zip(texts, np.column_stack(left_out), strict=True))
    return Leaning(anchors, np.stack(weights)), rows


def _anchors(contrast: Contrast) -> tuple[list[str], NDArray[np.int_]]:
    """The normalised texts of both sides and where they stand, each text once and of each side a part."""
    first: dict[str, int] = {}
    for index, sample in enumerate(contrast.samples):
        if sample.kind == "example":
            first.setdefault(normalise(sample.text), index)
    chosen = []
    for side in (
        [(text, index) for text, index in first.items() if index < contrast.border],
        [(text, index) for text, index in first.items() if index >= contrast.border],
    ):
        order = np.random.default_rng(0).permutation(len(side))[:MOST]
        chosen += [side[position] for position in sorted(order)]
    return [text for text, _ in chosen], np.array([index for _, index in chosen], dtype=np.int_)


def _views(near: Similarities) -> tuple[Floats, Floats]:
    return near.meaning, near.wording


def _kernel(cosines: Floats, sharpness: float) -> Floats:
    return np.asarray(np.exp(sharpness * (cosines - 1)), dtype=np.float64)
