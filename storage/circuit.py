"""A circuit around what may hang: after some failures it is left alone, then one tries for all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from circuitbreaker import CircuitBreaker

__all__ = ["Circuit"]


class Circuit(CircuitBreaker):  # type: ignore[misc]  # it ships no types
    """Opens after failures in a row; when its rest is over, the first who asks tries for all.

    A try is made inside `with circuit.trying()`, and what came of it is told by `with circuit:`. One that is
    cancelled, as its asker left, says nothing: the next who asks tries.
    """

    _opened: float
    _recovery_timeout: float

    def __init__(self, *, first_rest_s: float | None = None, recovery_timeout: float, **options: Any) -> None:
        """`first_rest_s` may be shorter than `recovery_timeout`, the rest after a try that failed as well."""
        self._first_rest_s = first_rest_s or recovery_timeout
        self._later_rest_s = recovery_timeout
        super().__init__(recovery_timeout=self._first_rest_s, **options)

    @contextmanager
    def trying(self) -> Iterator[bool]:
        """Whether the caller may try now; if so, inside."""
        if self.opened or self.closed:
            yield self.closed
            return
        before = self._opened, self._recovery_timeout
        self._recovery_timeout = self._later_rest_s
        began = self._opened = monotonic()  # another rest for the others
        try:
            yield True
        except asyncio.CancelledError:
            if self._opened == began:  # nobody was told anything since
                self._opened, self._recovery_timeout = before
            raise

    def reset(self) -> None:
        """Close, as it answers."""
        super().reset()
        self._recovery_timeout = self._first_rest_s
