"""What an import has to know of this gateway: in which languages it is asked, and how it tells them apart."""

from __future__ import annotations

from typing import Final

from cache.transfer import Languages
from gateway.language import LANGUAGES, language_of

__all__ = ["ASKED_IN"]

ASKED_IN: Final = Languages(LANGUAGES, lambda text, language: language_of(text, hint=language))
