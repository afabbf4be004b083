"""A share that was observed, and how far the true one may be from it."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Rate"]

_Z = 1.959963984540054  # of the normal distribution, 2.5 % lie above it


@dataclass(frozen=True, slots=True)
class Rate:
    """A count out of n. `value` is None where n is 0: no rate was observed, which is not 0."""

    count: int
    n: int

    @property
    def value(self) -> float | None:
        """The observed share, 0..1."""
        return self.count / self.n if self.n else None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Wilson's score interval at 95 % (Wilson 1927)."""
        if not self.n:
            return None
        share, weight = self.count / self.n, _Z * _Z / self.n
        centre = share + weight / 2
        half = _Z * math.sqrt(share * (1 - share) / self.n + weight / (4 * self.n))
        low, high = (centre - half) / (1 + weight), (centre + half) / (1 + weight)
        return (0.0 if self.count == 0 else low), (1.0 if self.count == self.n else high)

    def __str__(self) -> str:
        if self.value is None or self.ci95 is None:
            return "– (0 cases)"
        low, high = self.ci95
        return f"{self.value:6.1%}  [{low:.1%}, {high:.1%}]"
