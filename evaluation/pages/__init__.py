"""What was measured, as one HTML file that needs nothing else: no script, no outside address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from evaluation.extras import check_installed
from gateway.errors import InvalidRequest

__all__ = ["check_drawing", "write_page"]


def check_drawing() -> None:
    """Whether curves can be drawn, to be asked before there is work to lose.

    Raises:
        InvalidRequest: naming the extra that is missing.
    """
    check_installed("matplotlib", "--report draws with matplotlib")


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
