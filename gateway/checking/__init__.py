"""The check between RAG and the asker: which judge the configuration wants, and what it costs."""

from __future__ import annotations

__all__: list[str] = []
