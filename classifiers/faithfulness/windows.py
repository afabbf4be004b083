"""What a model reads beside a statement: the sentences of the contexts that share its words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.said import Said

__all__ = ["LONGEST_WINDOW", "window_for"]

LONGEST_WINDOW: Final = {"en": 500, "ja": 220, "zh": 170}  # characters; of answers of RAG the mean is 175
LEAST_GAIN: Final = 0.06  # of what a statement says; .02 to .1 differ by .005 AUROC on RAGTruth


def window_for(said: Said, lines: Sequence[Line]) -> str:
    """The line that covers most of what is said, then what covers most of the rest, in their own order.

    Where no line shares a word with it, single characters and light words are compared.
    """
    chosen = _gathered(said, said.content, [line.content for line in lines], lines)
    if not chosen:
        alike = dict.fromkeys(said.line.terms.units, 1.0)
        chosen = _gathered(said, alike, [line.vocabulary for line in lines], lines)
    join = " " if said.line.language == "en" else ""
    return join.join(" ".join(lines[at].text.split()) for at in chosen)


def _gathered(
    said: Said, weights: Mapping[str, float], known: Sequence[Collection[str]], lines: Sequence[Line]
) -> list[int]:
    left = dict(weights)
    least = LEAST_GAIN * sum(left.values())
    room = LONGEST_WINDOW[said.line.language]
    chosen: list[int] = []
    while left:
        gains = [
            (sum(weight for term, weight in left.items() if term in words), -at)
            for at, words in enumerate(known)
            if at not in chosen and (not chosen or len(lines[at].text) <= room)
        ]
        gain, at = max(gains, default=(0.0, 0))
        if not gain or (chosen and gain < least):
            break
        chosen.append(-at)
        room -= len(lines[-at].text)
        left = {term: weight for term, weight in left.items() if term not in known[-at]}
    return sorted(chosen)
