"""What was measured, as one HTML file that needs nothing else: no script, no outside address."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gateway.errors import InvalidRequest

__all__ = ["check_drawing", "write_page"]


def check_drawing() -> None:
    """Whether curves can be drawn, to be asked before there is work to lose.

    Raises:
        InvalidRequest: naming the extra that is missing.
    """
    if find_spec("matplotlib") is None:
        raise InvalidRequest(
            "--report draws with matplotlib: expected the extra \"report\" (pip install '.[report]')"
        )


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
