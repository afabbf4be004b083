"""What an import has to know of this gateway: in which languages it is asked."""

from __future__ import annotations

from typing import Final

from cache.transfer import Languages
from gateway.language import LANGUAGES

__all__ = ["ASKED_IN"]

ASKED_IN: Final = Languages(LANGUAGES)
