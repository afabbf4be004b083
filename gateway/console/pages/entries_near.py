"""Searching entries by meaning, through the shelf that serves them."""

from __future__ import annotations

from cache.matching import Candidate
from cache.store.queries import Filters
from encoders import encode_one
from gateway.stores import Stores

__all__ = ["near"]

FOUND = 10  # entries of a shelf; what is further has another meaning


async def near(stores: Stores, tenant: str, filters: Filters) -> list[Candidate]:
    """The served entries nearest to `filters.search` that pass the other filters, the nearest first.

    Raises:
        IndexUnavailable, EncoderError, DatabaseUnavailable.
    """
    text = filters.search or ""
    question = await encode_one(stores.encoder, text)
    language = filters.language or stores.language_of(text)
    choices = await stores.entries.choices(tenant)
    best: dict[str, Candidate] = {}
    for group in dict.fromkeys(("", *choices.groups)):
        found = await stores.shelf.neighbours(
            question, tenant=tenant, language=language, group=group, limit=FOUND
        )
        for one in found:
            known = best.get(one.entry.id)
            if known is None or one.score > known.score:
                best[one.entry.id] = one
    passing = [one for one in best.values() if _passes(one, filters)]
    return sorted(passing, key=lambda one: (-one.score, one.entry.id))


def _passes(found: Candidate, filters: Filters) -> bool:
    entry = found.entry
    named = filters.document is None or filters.document in [one.document for one in entry.sources]
    before = filters.review_before
    return (
        named
        and filters.state in (None, entry.state)
        and filters.group in (None, entry.group)
        and filters.owner in (None, entry.owner)
        and (before is None or (entry.review_by is not None and entry.review_by < before))
    )
