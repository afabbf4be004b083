"""What was measured, as one HTML file that needs nothing else: no script, no outside address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gateway.errors import InvalidRequest

__all__ = ["drawing", "write_page"]


@contextmanager
def drawing() -> Iterator[None]:
    """To import what draws; says which extra is missing."""
    try:
        yield
    except ImportError as exc:
        raise InvalidRequest(
            '--report draws with matplotlib: expected the extra "report" to be installed'
        ) from exc


def write_page(file: Path, page: str, **told: Any) -> None:
    """Fill in one of the pages of this folder.

    Raises:
        InvalidRequest: if the file can't be written.
    """
    environment = Environment(
        loader=PackageLoader("evaluation", "pages"), autoescape=True, undefined=StrictUndefined
    )
    text = environment.get_template(page).render(**told)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as exc:
        raise InvalidRequest(f"{file} can't be written: {exc.strerror}") from exc
