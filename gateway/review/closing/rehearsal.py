"""Which reviews may meet: those that touch the same are rehearsed together, all others at another time."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping

import numpy as np

from cache.reading.text import normalise
from cache.store.content import Content
from classifiers.text import normalise as as_the_gate
from classifiers.text import only_words
from gateway.review.closing.promotion import entry_id_of
from gateway.review.tickets import Ticket

__all__ = ["together", "touched"]


def touched(ticket: Ticket, content: Content | None, *, teaches: bool) -> frozenset[Hashable]:
    """What closing a ticket may change or be refused for, if its entry is to be this.

    Args:
        teaches: whether its question is proposed to the gate.
    """
    parts = {("ticket", ticket.id)}
    if content is not None:
        parts.add(("entry", entry_id_of(ticket)))
        parts |= {("phrasing", normalise(phrasing)) for phrasing in content.phrasings}
    if teaches:
        parts.add(("example", only_words(as_the_gate(ticket.question))))
    return frozenset(parts)


def together(parts: Mapping[int, Collection[Hashable]], size: int) -> Iterator[list[int]]:
    """Those with a part in common, also through others, in one list and in their order.

    A list is of at most `size`, or of more that all belong together.
    """
    from scipy.sparse import coo_array  # it costs a start 0.03 s
    from scipy.sparse.csgraph import connected_components

    first: dict[Hashable, int] = {}
    pairs = [(at, first.setdefault(part, at)) for at, own in enumerate(parts.values()) for part in own]
    ends = np.array(pairs, int).reshape(-1, 2).T
    meeting = coo_array((np.ones(len(pairs)), ends), (len(parts), len(parts)))
    groups: dict[int, list[int]] = {}
    for one, group in zip(parts, connected_components(meeting, directed=False)[1], strict=True):
        groups.setdefault(group, []).append(one)
    some: list[int] = []
    for group in groups.values():
        if some and len(some) + len(group) > size:
            yield some
            some = []
        some += group
    if some:
        yield some
