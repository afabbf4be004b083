"""Whether the verified answers vouch for a question in doubt: an entry is found for it, and its subject is
named in a question that is not likely complete anyway.

"Is a referral needed?" does not say the physiotherapy of the entry that is close to it.
"""

from __future__ import annotations

from collections import Counter

from cache.entries import Entry
from cache.matching import Hit
from encoders import Encoder, EncoderError, encode_one
from gateway.domain import Conversation
from gateway.stages import Cache
from gateway.understanding.rarity import rarity
from languages.words import word_reader
from storage.sql import DatabaseUnavailable

__all__ = ["Vouching", "names_subject_of"]

_SAYS_SOMETHING = 0.45  # rarity; the hundred most frequent words say nothing
_MOST = 0.5  # of an entry's phrasings; what so many of them share is what it is about


class Vouching:
    """Looks a question up that does not show clearly whether it is complete. English only."""

    def __init__(self, cache: Cache, encoder: Encoder) -> None:
        self._cache = cache
        self._encoder = encoder

    async def vouches(self, text: str, conversation: Conversation, *, likely: bool) -> bool:
        """Whether a verified entry answers just this question. What can't be looked up is not vouched for.

        Of a question that is not `likely` complete the entry must say no more than the question names.
        """
        try:
            found = await self._cache.find(
                await encode_one(self._encoder, text),
                tenant=conversation.tenant,
                language="en",
                group=conversation.group,
            )
        except (EncoderError, DatabaseUnavailable):
            return False
        return isinstance(found, Hit) and (likely or names_subject_of(found.entry, text))


def names_subject_of(entry: Entry, question: str) -> bool:
    """Whether a question has the words that half of an entry's phrasings share; one alone shares them all."""
    phrasings = [_words(phrasing) for phrasing in entry.phrasings]
    shared = Counter(word for words in phrasings for word in words)
    subject = {word for word, count in shared.items() if count >= _MOST * len(phrasings)}
    return bool(subject) and subject <= _words(question)


def _words(text: str) -> set[str]:
    return {
        word.base
        for word in word_reader()(text, "en")
        if word.kind != "mark" and len(word.surface) > 1 and rarity(word.surface) > _SAYS_SOMETHING
    }
