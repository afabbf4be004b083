"""What keeps the code readable is held by tests: budgets, exports, no state, no swallowed exceptions."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("gateway", "classifiers", "cache", "encoders", "storage", "evaluation")
PROGRAMS = (*PACKAGES, "benchmarks", "training", "examples", "docs")
MODULES = [
    path.relative_to(ROOT)
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if "migrations" not in path.parts
]

LARGEST_MODULE = 400  # lines
LONGEST_FUNCTION = 50  # lines, docstring included
DEEPEST_NESTING = 3
BROAD_HANDLERS = 5  # each is a boundary that turns what broke into a value

Function = ast.FunctionDef | ast.AsyncFunctionDef
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)


def _tree(module: Path) -> ast.Module:
    return ast.parse((ROOT / module).read_text("utf-8"))


def _functions(module: Path) -> Iterator[Function]:
    return (node for node in ast.walk(_tree(module)) if isinstance(node, Function))


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_fits_the_budget(module: Path) -> None:
    assert len((ROOT / module).read_text("utf-8").splitlines()) <= LARGEST_MODULE


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_functions_fit_the_budget(module: Path) -> None:
    for function in _functions(module):
        lines = (function.end_lineno or 0) - function.lineno + 1
        assert lines <= LONGEST_FUNCTION, f"{function.name} has {lines} lines"
        assert _depth(function) <= DEEPEST_NESTING, f"{function.name} nests {_depth(function)} deep"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_no_module_has_state_that_functions_rebind(module: Path) -> None:
    assert not [node for node in ast.walk(_tree(module)) if isinstance(node, ast.Global)]


# What a router or the command line calls is registered where it is defined, and imported by nobody.
REGISTERED = {"routes", "commands", "cli.py", "__main__.py"}
# Who marks a method with another decorator may be the one who calls it.
CALLED_BY_NAME = {"property", "classmethod", "staticmethod", "cached_property"}


@pytest.mark.parametrize("module", [m for m in MODULES if not REGISTERED & {*m.parts}], ids=str)
def test_public_names_are_listed_and_exist(module: Path) -> None:
    tree = _tree(module)
    listed = next(
        (
            [ast.literal_eval(item) for item in node.value.elts]
            for node in tree.body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
            and isinstance(node.value, ast.List)
        ),
        None,
    )  # fmt: skip
    defined = [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_")
    ]
    if listed is None:
        assert not defined, f"{defined} are public, but there is no __all__"
        return
    assert set(defined) <= set(listed), f"{set(defined) - set(listed)} are public, but not in __all__"
    imported = import_module(".".join(module.with_suffix("").parts).removesuffix(".__init__"))
    assert all(hasattr(imported, name) for name in listed)


@pytest.mark.parametrize("module", [m for m in MODULES if not REGISTERED & {*m.parts}], ids=str)
def test_public_functions_are_used_by_another_module(module: Path) -> None:
    public = {
        node.name
        for node in _tree(module).body
        if isinstance(node, Function) and not node.name.startswith("_") and not node.decorator_list
    }
    unused = {name for name in public if len(_mentions()[name] - {module}) == 0}
    assert not unused, f"{unused} are public, but only {module} uses them"


@cache
def _mentions() -> dict[str, set[Path]]:
    """In which modules, tests, benchmarks and scripts each word stands."""
    found: dict[str, set[Path]] = defaultdict(set)
    for folder in (*PACKAGES, "tests", "benchmarks", "training", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            for word in set(re.findall(r"\w+", path.read_text("utf-8"))):
                found[word].add(path.relative_to(ROOT))
    return found


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_methods_are_called_by_more_than_tests(module: Path) -> None:
    for node in _tree(module).body:
        if not isinstance(node, ast.ClassDef):
            continue
        unused = {
            one.name
            for one in node.body
            if isinstance(one, Function) and not one.name.startswith("__") and one.name not in _used()
            and {getattr(mark, "id", "?") for mark in one.decorator_list} <= CALLED_BY_NAME
        }  # fmt: skip
        if unused:  # a framework calls those that it declares
            imported = import_module(".".join(module.with_suffix("").parts).removesuffix(".__init__"))
            unused -= {name for base in getattr(imported, node.name).__mro__[1:] for name in vars(base)}
        assert not unused, f"nothing but tests calls {unused} of {node.name}"


@pytest.mark.parametrize("module", [m for m in MODULES if not REGISTERED & {*m.parts}], ids=str)
def test_what_may_be_said_by_name_is_said_by_somebody(module: Path) -> None:
    for function in _functions(module):
        of_name = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        unsaid = {one.arg for one, default in of_name if default and one.arg not in _given()}
        assert not unsaid or function.decorator_list, f"nobody gives {function.name} its {unsaid}"


@cache
def _used() -> set[str]:
    """The names that programs use, and their texts: some may be of a name."""
    found = set[str]()
    for node in _nodes(*PROGRAMS):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)):
                found.add(name)
    return found


@cache
def _given() -> set[str]:
    """The names by which programs and tests give arguments, and their texts."""
    found = set[str]()
    for node in _nodes(*PROGRAMS, "tests"):
        match node:
            case ast.keyword(arg=str(name)) | ast.Constant(value=str(name)):
                found.add(name)
    return found


def _nodes(*folders: str) -> Iterator[ast.AST]:
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            yield from ast.walk(ast.parse(path.read_text("utf-8")))


def test_broad_handlers_are_few_and_say_why() -> None:
    found = []
    for module in MODULES:
        lines = (ROOT / module).read_text("utf-8").splitlines()
        for node in ast.walk(_tree(module)):
            if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _reraises(node):
                found.append(f"{module}:{node.lineno}")
                assert "noqa: BLE001 - " in lines[node.lineno - 1], (
                    f"{found[-1]} does not say why it is broad"
                )
    assert len(found) <= BROAD_HANDLERS, found


def _depth(node: ast.AST) -> int:
    below = [
        _depth(child) for child in ast.iter_child_nodes(node) if not isinstance(child, Function | ast.Lambda)
    ]
    return max(below, default=0) + isinstance(node, BLOCKS) - _is_elif(node)


def _is_elif(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or getattr(handler.type, "id", "") in {"Exception", "BaseException"}


def _reraises(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) for node in ast.walk(handler))
