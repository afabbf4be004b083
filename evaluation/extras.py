"""What only reports need, and is not installed with the gateway."""

from __future__ import annotations

from importlib.util import find_spec

from gateway.errors import InvalidRequest

__all__ = ["check_installed"]


def check_installed(package: str, why: str) -> None:
    """Ask for a package of the extra "report" before there is work to lose.

    Raises:
        InvalidRequest: naming the extra, if it is missing.
    """
    if find_spec(package) is None:
        raise InvalidRequest(f"{why}: expected the extra \"report\" (pip install '.[report]')")
