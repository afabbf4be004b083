"""What the shipped judge was fitted on: no figure about it may come from there."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files

__all__ = ["fitted_on"]


@lru_cache(maxsize=1)
def fitted_on() -> dict[str, str]:
    """The data sets by the name that their rows have as `source`, with what each was used for."""
    rows = json.loads((files("classifiers.faithfulness") / "fitted_on.json").read_text("utf-8"))
    return {row["source"]: row["what"] for row in rows}
