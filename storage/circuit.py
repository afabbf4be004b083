"""A circuit around what may hang: after some failures it is left alone, then one tries for all."""

from __future__ import annotations

from time import monotonic
from typing import Any

from circuitbreaker import CircuitBreaker

__all__ = ["Circuit"]


class Circuit(CircuitBreaker):  # type: ignore[misc]  # it ships no types
    """Opens after failures in a row; when its rest is over, the first who asks tries for all.

    A try is told of by `with circuit:`. One that is never told of, as its asker left, is made again after
    another rest.
    """

    def __init__(self, *, first_rest_s: float | None = None, recovery_timeout: float, **options: Any) -> None:
        """`first_rest_s` may be shorter than `recovery_timeout`, the rest after a try that failed as well."""
        self._first_rest_s = first_rest_s or recovery_timeout
        self._later_rest_s = recovery_timeout
        super().__init__(recovery_timeout=self._first_rest_s, **options)

    def lets_try(self) -> bool:
        """Whether the caller may try now."""
        if self.opened:
            return False
        if not self.closed:
            self._recovery_timeout = self._later_rest_s
            self._opened = monotonic()  # another rest for the others
        return True

    def reset(self) -> None:
        """Close, as it answers."""
        super().reset()
        self._recovery_timeout = self._first_rest_s
