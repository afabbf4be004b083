"""Every word of the interface, in each language. `t("queue.title")` looks one up and fills it in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

import yaml

__all__ = ["LANGUAGES", "Texts", "UiLanguage", "preferred", "texts_of"]

UiLanguage = Literal["en", "ja", "zh"]
LANGUAGES: tuple[UiLanguage, ...] = get_args(UiLanguage)


class Texts:
    """The words of one language."""

    def __init__(self, language: UiLanguage, words: Mapping[str, str]) -> None:
        self.language = language
        self._words = words

    def __call__(self, key: str, /, **values: object) -> str:
        """The text of a key, with its {places} filled in."""
        return self._words[key].format(**values) if values else self._words[key]

    def or_else(self, key: str, fallback: str) -> str:
        """The text of a key that may be missing, as names from elsewhere (reasons, topics) may have none."""
        return self._words.get(key, fallback)

    @property
    def keys(self) -> frozenset[str]:
        """All keys."""
        return frozenset(self._words)


@cache
def texts_of(language: UiLanguage) -> Texts:
    """The words of a language, read once."""
    text = files("gateway.console").joinpath(f"texts/{language}.yaml").read_text("utf-8")
    return Texts(language, dict(_flat(yaml.safe_load(text))))


def preferred(accept_language: str) -> UiLanguage:
    """The language that a browser asks for, among ours; English if it asks for none of them."""
    wishes = []
    for place, wish in enumerate(accept_language.split(",")):
        tag, _, quality = wish.strip().partition(";q=")
        wishes.append((-_number(quality), place, tag[:2].lower()))
    return next((one for _, _, tag in sorted(wishes) for one in LANGUAGES if one == tag), "en")


def _number(quality: str) -> float:
    try:
        return float(quality or 1)
    except ValueError:
        return 0.0


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, inner in tree.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(inner)
