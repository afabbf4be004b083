"""Where chatbots put the passages they answered from: presets, or the operator's own JMESPath."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne

from gateway.domain import Passage
from gateway.errors import ConfigurationError, UpstreamUnavailable

__all__ = ["PRESETS", "ReadContexts", "read_contexts"]

ReadContexts = Callable[[Mapping[str, Any]], tuple[Passage, ...]]
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Preset:
    """A place in a reply. Lists on the way are walked through; of several names the first one counts."""

    items: tuple[Path, ...]
    text: tuple[Path, ...]
    title: tuple[Path, ...] = ()
    source: tuple[Path, ...] = ()
    score: tuple[Path, ...] = ()


_ANY_ITEM: dict[str, tuple[Path, ...]] = {
    "text": (("text",), ("content",), ("page_content",), ("snippet",), ("node", "text"), ("document",)),
    "title": (("title",), ("metadata", "title"), ("document_name",), ("name",)),
    "source": (
        ("source",),
        ("url",),
        ("uri",),
        ("filepath",),
        ("filename",),
        ("metadata", "source"),
        ("metadata", "file_name"),
        ("id",),
    ),
    "score": (("score",), ("relevance_score",), ("similarity",)),
}

PRESETS: Mapping[str, _Preset] = {
    "azure-on-your-data": _Preset(
        items=(("choices", "message", "context", "citations"),),
        text=(("content",),),
        title=(("title",),),
        source=(("url",), ("filepath",)),
        score=(("rerank_score",), ("original_search_score",)),
    ),
    "dify": _Preset(
        items=(("metadata", "retriever_resources"),),
        text=(("content",),),
        title=(("document_name",),),
        source=(("document_id",), ("dataset_name",)),
        score=(("score",),),
    ),
    "langserve": _Preset(
        items=(("output", "context"),),
        text=(("page_content",),),
        title=(("metadata", "title"),),
        source=(("metadata", "source"),),
        score=(("metadata", "score"), ("metadata", "relevance_score")),
    ),
    "llama-index": _Preset(
        items=(("source_nodes",),),
        text=(("node", "text"), ("text",)),
        title=(("node", "metadata", "title"), ("node", "metadata", "document_title")),
        source=(
            ("node", "metadata", "file_path"),
            ("node", "metadata", "file_name"),
            ("node", "id_"),
        ),
        score=(("score",),),
    ),
    "openai-responses": _Preset(
        items=(("output", "results"),),  # only items of type file_search_call have results
        text=(("text",),),
        title=(("attributes", "title"), ("filename",)),
        source=(("filename",), ("file_id",)),
        score=(("score",),),
    ),
    "contexts": _Preset(
        items=(
            ("contexts",),
            ("context",),
            ("citations",),
            ("source_documents",),
            ("documents",),
            ("search_results",),
        ),
        **_ANY_ITEM,
    ),
}
_NAME = re.compile(r"[a-z]+(-[a-z]+)+")  # looks like a preset's name; JMESPath would have to quote it
_WORD = re.compile(r"[\w-]+")
_NEAR = 0.75  # one letter in four may be wrong: difi
_OWN = _Preset(items=(), **_ANY_ITEM)
_URL = re.compile(r"https?://\S+")


def read_contexts(contexts: str | None) -> ReadContexts:
    """The function that takes the passages out of a reply. Without a place, there are none.

    Raises:
        ConfigurationError: neither a preset nor a valid JMESPath, or a word that is nearly a preset.
    """
    if contexts is None:
        return _none
    if preset := PRESETS.get(contexts):
        return lambda reply: tuple(_passages(_items(reply, preset), preset))
    return _by_expression(contexts)


def _none(_: Mapping[str, Any]) -> tuple[Passage, ...]:
    return ()


def _by_expression(expression: str) -> ReadContexts:
    known = ", ".join(PRESETS)
    if meant := _meant(expression):
        key = f"; a key of the reply is written '@.{expression}'" if "-" not in expression else ""
        hint = f"did you mean {meant}? (known: {known}{key})"
        raise ConfigurationError(f"upstream.contexts: there is no preset {expression!r}; {hint}")
    if _NAME.fullmatch(expression):
        raise ConfigurationError(f"upstream.contexts: there is no preset {expression!r} (known: {known})")
    try:
        compiled = jmespath.compile(expression)
    except JMESPathError as exc:
        reason = " ".join(str(exc).split())
        raise ConfigurationError(
            f"upstream.contexts: {expression!r} is neither a preset ({known}) nor a JMESPath: {reason}"
        ) from exc

    def read(reply: Mapping[str, Any]) -> tuple[Passage, ...]:
        try:
            found = compiled.search(reply)
        except JMESPathError as exc:
            raise UpstreamUnavailable(
                f"upstream.contexts: {expression!r} does not fit the chatbot's reply ({type(exc).__name__})",
                cause="contexts",
            ) from exc
        return tuple(_passages(found if isinstance(found, list) else [found], _OWN))

    return read


def _meant(expression: str) -> str | None:
    """The preset that a bare word nearly is or begins like, unless it is a key that `contexts` reads."""
    if not _WORD.fullmatch(expression) or (expression,) in PRESETS["contexts"].items:
        return None
    word = expression.lower().replace("_", "-")
    if begun := next((name for name in PRESETS if name.startswith(f"{word}-")), None):
        return begun
    near = extractOne(word, list(PRESETS), scorer=OSA.normalized_similarity, score_cutoff=_NEAR)
    return near[0] if near else None


def _items(reply: Mapping[str, Any], preset: _Preset) -> Iterable[Any]:
    for path in preset.items:
        if found := list(_walk(reply, path)):
            return found
    return ()


def _walk(value: Any, path: Path) -> Iterator[Any]:
    """Everything at the end of a path; lists on the way, and at its end, are walked through."""
    if isinstance(value, list):
        for item in value:
            yield from _walk(item, path)
    elif not path:
        yield value
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _walk(value[path[0]], path[1:])


def _passages(items: Iterable[Any], preset: _Preset) -> Iterator[Passage]:
    for item in items:
        text = item if isinstance(item, str) else _text(item, preset.text)
        if not text.strip() or _URL.fullmatch(text.strip()):
            continue  # a bare link is where a passage is, not what it says
        yield Passage(
            text=text.strip(),
            title=_text(item, preset.title),
            source=_text(item, preset.source),
            score=_number(item, preset.score),
        )


def _text(item: Any, paths: tuple[Path, ...]) -> str:
    return next((value for value in _values(item, paths) if isinstance(value, str) and value), "")


def _number(item: Any, paths: tuple[Path, ...]) -> float | None:
    values = _values(item, paths)
    return next((float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)), None)


def _values(item: Any, paths: tuple[Path, ...]) -> Iterator[Any]:
    for path in paths:
        yield from _walk(item, path)
