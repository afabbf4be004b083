from __future__ import annotations

from typing import Any

import pytest

from gateway.domain import Passage
from gateway.errors import ConfigurationError, UpstreamUnavailable
from gateway.rag.contexts import PRESETS, read_contexts

OPEN = "We open at nine."
FOUND: dict[str, tuple[str, dict[str, Any], tuple[Passage, ...]]] = {
    "azure on your data": (
        "azure-on-your-data",
        {
            "choices": [
                {"message": {"context": {"citations": [{"content": OPEN, "title": "Hours", "url": "h.md"}]}}}
            ]
        },
        (Passage(text=OPEN, title="Hours", source="h.md"),),
    ),
    "azure with a file path and no title": (
        "azure-on-your-data",
        {
            "choices": [
                {
                    "message": {
                        "context": {"citations": [{"content": OPEN, "title": None, "filepath": "h.md"}]}
                    }
                }
            ]
        },
        (Passage(text=OPEN, source="h.md"),),
    ),
    "dify": (
        "dify",
        {"metadata": {"retriever_resources": [{"content": OPEN, "document_name": "Hours", "score": 0.9}]}},
        (Passage(text=OPEN, title="Hours", score=0.9),),
    ),
    "langserve": (
        "langserve",
        {"output": {"answer": "9", "context": [{"page_content": OPEN, "metadata": {"source": "h.md"}}]}},
        (Passage(text=OPEN, source="h.md"),),
    ),
    "llama-index": (
        "llama-index",
        {"source_nodes": [{"node": {"text": OPEN, "metadata": {"file_name": "h.md"}}, "score": 1}]},
        (Passage(text=OPEN, source="h.md", score=1.0),),
    ),
    "openai responses": (
        "openai-responses",
        {
            "output": [
                {"type": "file_search_call", "results": [{"text": OPEN, "filename": "h.md", "score": 0.3}]},
                {"type": "message", "content": [{"type": "output_text", "text": "9"}]},
            ]
        },
        (Passage(text=OPEN, title="h.md", source="h.md", score=0.3),),
    ),
    "responses without the results it was asked for": (
        "openai-responses",
        {"output": [{"type": "file_search_call", "results": None}]},
        (),
    ),
    "top level, texts": ("contexts", {"contexts": [OPEN, " "]}, (Passage(text=OPEN),)),
    "top level, links are no passages": ("contexts", {"citations": ["https://example.com/h"]}, ()),
    "top level, objects": (
        "contexts",
        {"citations": [{"content": OPEN, "url": "h.md", "title": "Hours"}]},
        (Passage(text=OPEN, title="Hours", source="h.md"),),
    ),
    "JMESPath to texts": (
        "data.hits[?rank < `2`].body",
        {"data": {"hits": [{"rank": 1, "body": OPEN}]}},
        (Passage(text=OPEN),),
    ),
    "JMESPath to one text": ("data.body", {"data": {"body": OPEN}}, (Passage(text=OPEN),)),
    "JMESPath to objects": (
        "hits[].{text: body, source: path}",
        {"hits": [{"body": OPEN, "path": "h.md"}]},
        (Passage(text=OPEN, source="h.md"),),
    ),
    "JMESPath to nothing": ("hits", {}, ()),
}


@pytest.mark.parametrize(("place", "reply", "passages"), FOUND.values(), ids=FOUND)
def test_passages_are_read_from_their_place(
    place: str, reply: dict[str, Any], passages: tuple[Passage, ...]
) -> None:
    assert read_contexts(place)(reply) == passages


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": "x", "metadata": [], "output": 3, "source_nodes": None, "contexts": {}},
        {"choices": [None, {"message": {"context": {"citations": [None, 7, {"content": 8}]}}}]},
        {
            "metadata": {"retriever_resources": [[]]},
            "output": [[{"context": 1}]],
            "source_nodes": [{"node": 1}],
        },
    ],
    ids=["empty", "wrong types", "wrong items", "wrong nesting"],
)
def test_a_place_that_holds_something_else_gives_no_passages(preset: str, reply: dict[str, Any]) -> None:
    assert read_contexts(preset)(reply) == ()


def test_no_place_gives_no_passages() -> None:
    assert read_contexts(None)({"contexts": [OPEN]}) == ()


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("hits[", "JMESPath"),
        ("", "JMESPath"),
        ("azure-on-my-data", "there is no preset 'azure-on-my-data'"),
        ("no_such_function(", "JMESPath"),
        ("difi", "there is no preset 'difi'; did you mean dify? (known: azure-on-your-data, dify, "),
        ("difi", "a key of the reply is written '@.difi'"),
        ("Dify", "did you mean dify?"),
        ("dfiy", "did you mean dify?"),
        ("lang-serve", "did you mean langserve?"),
        ("llama_index", "did you mean llama-index?"),
        ("llamaindex", "did you mean llama-index?"),
        ("openai_responses", "did you mean openai-responses?"),
        ("azure", "did you mean azure-on-your-data?"),
        ("contxts", "did you mean contexts?"),
    ],
)
def test_a_bad_expression_stops_the_start_up_and_names_the_setting(place: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=r"upstream\.contexts") as caught:
        read_contexts(place)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "key", ["context", "documents", "passages", "texts", "results", "sources", "@.difi", "difi.hits"]
)
def test_a_word_that_is_no_presets_is_a_key_of_the_reply(key: str) -> None:
    *outer, inner = key.removeprefix("@.").split(".")
    reply: dict[str, Any] = {inner: ["We open at nine."]}
    for name in reversed(outer):
        reply = {name: reply}
    assert [one.text for one in read_contexts(key)(reply)] == ["We open at nine."]


def test_an_expression_that_does_not_fit_the_reply_is_not_taken_for_no_passages() -> None:
    with pytest.raises(UpstreamUnavailable, match=r"upstream\.contexts"):
        read_contexts("sort(hits)")({"hits": 3})
