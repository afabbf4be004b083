"""English words for things and their qualities, and which may stand for each other, by WordNet 3.1."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

__all__ = ["are_different_things"]

ALIKE = 4  # letters at the beginning that a slip of the pen leaves as they are: "complement", "compliment"


def are_different_things(one: str, other: str) -> bool:
    """Whether two stems surely name different things or qualities: both are known, and unrelated."""
    known = _related_words()
    if one not in known or other not in known or one[:ALIKE] == other[:ALIKE]:
        return False
    return other not in known[one].split() and one not in known[other].split()


@cache
def _related_words() -> Mapping[str, str]:
    """Stems with those that may stand for them, as training/relate_words.py wrote them."""
    packed = files(__package__).joinpath("related_words.txt.gz").read_bytes()
    lines = (line.partition(" ") for line in gzip.decompress(packed).decode().splitlines())
    return {word: related for word, _, related in lines}
