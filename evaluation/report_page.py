"""What was measured, as one HTML file that needs nothing else."""

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


def write_page(file: Path, template: str, **values: Any) -> None:
    """Write a page.

    Raises:
        InvalidRequest: if the file can't be written.
    """
    pages = Environment(loader=PackageLoader("evaluation", ""), autoescape=True, undefined=StrictUndefined)
    try:
        file.write_text(pages.get_template(template).render(**values), encoding="utf-8")
    except OSError as exc:
        raise InvalidRequest(f"--report: {file} can't be written: {exc.strerror}") from exc
