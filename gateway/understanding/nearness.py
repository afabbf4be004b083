"""How near a question is to what its asker said before, by their vectors."""

from __future__ import annotations

from collections.abc import Sequence

from encoders import Encoder
from gateway.understanding.weighing import Nearness

__all__ = ["nearness"]

_LAST = 6  # turns, beside the first: what was said longer ago is seldom meant


async def nearness(encoder: Encoder, text: str, earlier: Sequence[str]) -> Nearness:
    """Cosines of a question with its asker's turns before it, of which there has to be one.

    One call to the encoder, whose memory of recent texts mostly knows them; the question's own vector is
    needed afterwards anyway.

    Raises:
        EncoderError: if no vectors could be made.
    """
    first, *later = earlier
    vectors = await encoder.encode([text, first, *later[-_LAST:]])
    cosines = vectors[1:] @ vectors[0]
    return Nearness(first=float(cosines[0]), closest=float(cosines.max()))
