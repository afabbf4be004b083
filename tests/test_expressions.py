"""No regular expression can be kept busy by what askers, chatbots and documents write."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import FrameType, ModuleType

import pytest

from languages.identification import LANGUAGES
from tests.pumping import pumped
from tests.test_architecture import MODULES

LONGEST_S = 20.0  # of processor time for one expression, which takes milliseconds; or it never ends


def _expressions(found: object) -> Iterator[re.Pattern[str]]:
    """Every expression in a value, however deep."""
    match found:
        case re.Pattern(pattern=str()):
            yield found
        case Mapping():
            for value in found.values():
                yield from _expressions(value)
        case tuple() | list() | set() | frozenset():
            for value in found:
                yield from _expressions(value)
        case _ if is_dataclass(found) and not isinstance(found, type):
            for field in fields(found):
                yield from _expressions(getattr(found, field.name))


def _read_by(module: ModuleType) -> Iterator[object]:
    """What its functions have read from tables, each once for all or once a language."""
    for function in list(vars(module).values()):
        if hasattr(function, "cache_info") and function.__module__ == module.__name__:
            takes = list(signature(function).parameters)
            if not takes:
                yield function()
            for language in LANGUAGES if takes == ["language"] else ():
                with suppress(KeyError):  # no table for it
                    yield function(language)


@contextmanager
def _ends(expression: re.Pattern[str], longest_s: float) -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail(f"never ends: {expression.pattern}")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, longest_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _pump(expression: re.Pattern[str], longest_s: float) -> None:
    with _ends(expression, longest_s):
        for text in pumped(expression):
            for reads in (expression.search, expression.fullmatch):
                reads(text)


def test_the_texts_find_an_expression_that_never_ends() -> None:
    with pytest.raises(pytest.fail.Exception, match="never ends"):
        _pump(re.compile("(?:请(?:帮我)?|帮我)*转人工"), 0.5)


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_every_expression_of_a_module_ends(path: Path) -> None:
    """Those that it has, and those that it reads from tables."""
    module = import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    for expression in _expressions([{**vars(module)}, *_read_by(module)]):
        _pump(expression, LONGEST_S)
