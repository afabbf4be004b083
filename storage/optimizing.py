"""Builds the search graph of a shard: `python -P optimizing.py FOLDER`, in a process of its own.

Qdrant Edge keeps Python's interpreter lock for as long as it optimises, which is a minute for 30,000 points.
Inside the gateway nobody would be answered meanwhile.
"""

from __future__ import annotations

import os
import sys

from qdrant_edge import EdgeShard

__all__ = ["main"]


def main(folder: str) -> None:
    """Optimise the shard in the folder, which nobody else has open."""
    if hasattr(os, "nice"):
        os.nice(10)  # people who ask come first
    shard = EdgeShard.load(folder)
    shard.optimize()
    shard.flush()
    shard.close()


if __name__ == "__main__":
    main(sys.argv[1])
