"""Whether a question needs the turns before it. Taking one for self-contained may replay a wrong answer;
holding one back only costs a look into the cache. So a question has to show that it names its subject.
"""

from __future__ import annotations

from collections.abc import Sequence

from encoders import EncoderError
from encoders.pairs import PairModel
from gateway.understanding.leaning import plain, points_back, said_before, shown
from gateway.understanding.naming import naming_words
from gateway.understanding.weighing import Caution, read_weights, signs
from gateway.understanding.wording import Wording

__all__ = ["FollowUps"]

_VAGUE = "names too little"


class FollowUps:
    """Weighs what a question shows and what a model says that reads it with the turns before."""

    def __init__(self, model: PairModel, caution: Caution = "strict") -> None:
        self._model = model
        self._caution: Caution = caution

    async def why(
        self, text: str, earlier: Sequence[str], wording: Wording, *, caution: Caution | None = None
    ) -> str | None:
        """Why a question leans on earlier turns, or None if it does not.

        `earlier` are the asker's turns before it. Without any, only a question that names nothing at all
        leans. What could not be read leans.
        """
        if not earlier:
            said = plain(text)
            return None if naming_words(said, wording) else points_back(said, wording)
        try:
            [read] = await self._model.scores([(said_before(earlier), " ".join(text.split()))])
        except EncoderError:
            return "could not be read with the turns before it"
        found = signs(text, wording, earlier=earlier, read=float(read))
        if not read_weights()[wording.language].hold_back(found, caution or self._caution):
            return None
        by_rule = shown(text, wording)
        return by_rule.why if by_rule else _VAGUE
