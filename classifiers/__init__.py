"""Judges. A verdict says its score, its reason, who judged and in which version."""

from __future__ import annotations

__all__ = ["ClassifierError"]


class ClassifierError(Exception):
    """A judge could not judge. No verdict is not a pass."""
