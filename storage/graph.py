"""How a large index finds the nearest vectors, in process and on a server.

A graph over copies of the vectors in 8 bits finds candidates, and the vectors themselves rank them: every
score is a cosine. Small indexes have no graph and compare all vectors (`docs/figures/verified-answers.md`,
“A large shelf”).
"""

from __future__ import annotations

from typing import Final

__all__ = ["EDGES", "OVERSAMPLING", "SCHEME", "SMALL_KB", "TRIED"]

EDGES: Final = 16  # of each vector
TRIED: Final = 200  # candidates, in building and in searching: with 100, the nearest of all is missed in 7 %
OVERSAMPLING: Final = 2.0  # candidates that are ranked again, for each that is wanted
SMALL_KB: Final = 10_000  # of vectors that meet the conditions: fewer are compared one by one
SCHEME: Final = f"int8-{EDGES}-{TRIED}"  # a graph that was built otherwise is built again
