"""Whether a question needs the turns before it. Taking one for self-contained may replay a wrong answer;
holding one back only costs a look into the cache. So a question has to show that it names its subject.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from encoders import EncoderError
from encoders.pairs import PairModel
from gateway.understanding.leaning import as_read, plain, points_back, shown, taken_up
from gateway.understanding.naming import naming_words
from gateway.understanding.weighing import Caution, read_weights, signs
from gateway.understanding.wording import Wording

__all__ = ["FollowUps", "Leaning"]


@dataclass(frozen=True, slots=True)
class Leaning:
    """Whether a question leans on the turns before it."""

    why: str | None  # None if it does not, as cautiously as the operator wants it
    likely: bool = False  # that it is complete all the same: `lenient` would say so
    vague: bool = False  # no rule says that it does


class FollowUps:
    """Weighs what a question shows and what a model says that reads it with the turns before."""

    def __init__(self, model: PairModel, caution: Caution = "strict") -> None:
        self._model = model
        self._caution: Caution = caution

    async def read(self, text: str, earlier: Sequence[str], wording: Wording) -> Leaning:
        """How a question stands to the asker's turns before it.

        Without any, only a question that names nothing at all leans. What could not be read leans.
        """
        if not earlier:
            said = plain(text)
            return Leaning(None if naming_words(said, wording) else points_back(said, wording))
        if letter := taken_up(text, earlier):
            return Leaning(f"refers to “{letter}”")
        try:
            [read] = await self._model.scores([as_read(earlier, text)])
        except EncoderError:
            return Leaning("could not be read with the turns before it")
        by_rule, weights = shown(text, wording), read_weights()[wording.language]
        found = signs(text, wording, earlier=earlier, by_rule=by_rule, read=float(read))
        why = by_rule.why if by_rule else "names too little"
        return Leaning(
            why if weights.hold_back(found, self._caution) else None,
            likely=not weights.hold_back(found, "lenient"),
            vague=by_rule is None,
        )
