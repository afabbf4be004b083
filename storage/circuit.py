"""A circuit around what may hang: after some failures it is left alone, then one tries for all."""

from __future__ import annotations

from time import monotonic

from circuitbreaker import CircuitBreaker

__all__ = ["Circuit"]


class Circuit(CircuitBreaker):  # type: ignore[misc]  # it ships no types
    """Opens after failures in a row; when its rest is over, the first who asks tries for all.

    A try is told of by `with circuit:`. One that is never told of, as its asker left, is made again after
    another rest.
    """

    def lets_try(self) -> bool:
        """Whether the caller may try now."""
        if self.opened:
            return False
        if not self.closed:
            self._opened = monotonic()  # another rest for the others
        return True
