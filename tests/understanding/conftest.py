"""Logs as structlog writes them by default, whatever a gateway of another test configured."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def default_logs() -> Iterator[None]:
    configured = structlog.get_config()
    structlog.reset_defaults()
    yield
    structlog.configure(**configured)
