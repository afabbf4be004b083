"""A chatbot that is listened to while it writes: every stream is one reply in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.domain import Draft, NothingRelevant
from gateway.errors import UpstreamUnavailable
from gateway.models.chunks import ChatChunks, ResponseEvents
from gateway.rag.upstream import UpstreamRag
from gateway.settings import UpstreamSettings
from tests.chatbot import CallsTool, Chatbot, Context, Fails, Half, Place, Raw, Reply, Says
from tests.rag.asking import encoded, question

KEY = "sk-secret-0123456789"
HOURS = "When do you open?"
OPEN = "We open at nine. We close at five."
CONTEXT = Context(text="Opening hours: 9 to 17.", source="hours.md")


@pytest.fixture(scope="module")
def server() -> Iterator[Chatbot]:
    with Chatbot() as running:
        yield running


@pytest.fixture
def bot(server: Chatbot) -> Chatbot:
    server.reset()
    return server


def rag_of(bot: Chatbot, contexts: str = "azure-on-your-data", **changes: Any) -> UpstreamRag:
    told = {"kind": "openai", "base_url": bot.base_url, "model": "rag-1", "api_key": SecretStr(KEY)}
    more = {"contexts": contexts, "timeout_s": 5.0, "max_retries": 0, **changes}
    return UpstreamRag.of(UpstreamSettings.model_validate({**told, **more}))


@pytest.fixture
async def rag(bot: Chatbot) -> AsyncIterator[UpstreamRag]:
    opened = rag_of(bot)
    yield opened
    await opened.close()


async def listen(rag: UpstreamRag) -> tuple[Draft | NothingRelevant, list[Draft]]:
    heard: list[Draft] = []
    return await rag.ask(question(HOURS), encoded(HOURS), heard.append), heard


@pytest.mark.parametrize("contexts_in", ["first", "last"])
@pytest.mark.parametrize(
    "place", ["azure-on-your-data", "dify", "langserve", "llama-index", "openai-responses", "contexts"]
)
async def test_a_stream_is_the_same_draft_wherever_it_has_its_contexts(
    bot: Chatbot, place: Place, contexts_in: Any
) -> None:
    bot.says(OPEN, [CONTEXT], place=place, contexts_in=contexts_in)
    rag = rag_of(bot, place)
    whole = await rag.ask(question(HOURS), encoded(HOURS))
    streamed, heard = await listen(rag)
    await rag.close()
    assert isinstance(whole, Draft)
    assert isinstance(streamed, Draft)
    assert (streamed.text, streamed.contexts, streamed.model) == (whole.text, whole.contexts, whole.model)
    assert [p.source for p in streamed.contexts] == ["hours.md"]
    assert streamed.tokens == whole.tokens
    assert all(streamed.text.startswith(part.text.rstrip()) for part in heard)
    with_text = [part for part in heard if part.text]
    late = contexts_in == "last" and place != "openai-responses"  # there the search comes before the words
    assert bool(with_text[0].contexts) is not late
    assert streamed.first_s is not None
    assert 0 < streamed.first_s < 5


async def test_it_is_asked_for_a_stream_with_its_usage(bot: Chatbot, rag: UpstreamRag) -> None:
    await listen(rag)
    assert bot.asked[-1].body["stream"] is True
    assert bot.asked[-1].body["stream_options"] == {"include_usage": True}


async def test_a_chatbot_that_does_not_stream_is_heard_in_one_piece(bot: Chatbot, rag: UpstreamRag) -> None:
    bot.always(Says(OPEN, [CONTEXT], streams=False))
    draft, heard = await listen(rag)
    assert isinstance(draft, Draft)
    assert (draft.text, heard, draft.first_s) == (OPEN, [], None)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        pytest.param(Half(), "broke off its answer", id="cut"),
        pytest.param(Raw(b'data: {"choices": []}\n\n', "text/event-stream"), "broke off its answer", id="no end"),
        pytest.param(Raw(b'data: {"choices": [{"delta": {"content": "We open at "}, "finish_reason": ""}]}\n\n', "text/event-stream"), "broke off its answer", id="an empty reason is no end"),
        pytest.param(Raw(b"data: <html>\n\n", "text/event-stream"), "what is not JSON", id="no JSON"),
        pytest.param(Raw(b"data: [1]\n\n", "text/event-stream"), "a JSON list, not an object", id="a list"),
        pytest.param(Raw(b"data: " + b"[" * 100_000 + b"\n\n", "text/event-stream"), "not JSON (nested too deeply)", id="nested to death"),
        pytest.param(Raw(b'data: {"x": ' + b"[" * 300 + b"]" * 300 + b"}\n\n", "text/event-stream"), "not JSON (nested too deeply)", id="nested too deeply to walk through"),
        pytest.param(Raw(b'data: {"error": {"message": "bad ' + KEY.encode() + b'"}}\n\n', "text/event-stream"), "broke off its answer with an error", id="error"),
        pytest.param(Says("x", finish_reason="content_filter"), "withheld its own answer", id="filtered"),
        pytest.param(Says(""), "without text", id="no text"),
        pytest.param(Raw((b": " + b"x" * 100_000 + b"\n\n") * 170, "text/event-stream"), "answered more than 16 MB", id="endless"),
        pytest.param(Fails(503), "answered 503", id="503"),
    ],
)  # fmt: skip
async def test_a_stream_that_fails_is_named_and_no_secret_is_told(
    bot: Chatbot, rag: UpstreamRag, reply: Reply, says: str
) -> None:
    bot.always(reply)
    with pytest.raises(UpstreamUnavailable) as caught:
        await listen(rag)
    assert says in str(caught.value)
    assert KEY not in repr(caught.value) + repr(caught.value.__cause__)


@pytest.mark.parametrize("text", [None, "I will look that up."])
async def test_a_tool_call_in_a_stream_leaves_no_text(
    bot: Chatbot, rag: UpstreamRag, text: str | None
) -> None:
    bot.always(CallsTool(text=text))
    draft, _ = await listen(rag)
    assert isinstance(draft, Draft)
    assert (draft.text, draft.unreadable) == ("", "tool_call")


@pytest.mark.parametrize("contexts", ["azure-on-your-data", "openai-responses"])
@pytest.mark.parametrize(
    ("text", "draft", "unfinished", "unreadable"),
    [
        (f"{OPEN} The last", OPEN, " The last", ""),
        (OPEN, OPEN, "", ""),
        ("We open at", "", "We open at", "cut_off"),
    ],
)
async def test_of_a_draft_that_was_cut_off_whole_sentences_are_the_text_streamed_or_not(
    bot: Chatbot, contexts: str, text: str, draft: str, unfinished: str, unreadable: str
) -> None:
    bot.says(text, [CONTEXT], finish_reason="length")
    rag = rag_of(bot, contexts)
    whole = await rag.ask(question(HOURS), encoded(HOURS))
    streamed, _ = await listen(rag)
    await rag.close()
    for found in (whole, streamed):
        assert isinstance(found, Draft)
        assert (found.text, found.unfinished, found.unreadable) == (draft, unfinished, unreadable)
        assert (found.cut_off, found.written) == (True, text)


@pytest.mark.parametrize("contexts", ["azure-on-your-data", "openai-responses"])
@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        pytest.param(["A photo \ud83d", "\ude00."], "A photo \U0001f600.", id="two halves of one"),
        pytest.param(["A photo \ud83d", "", "\ude00"], "A photo \U0001f600", id="nothing between them"),
        pytest.param(["\ud83d", "\ude00 A photo."], "\U0001f600 A photo.", id="at the beginning"),
        pytest.param(["A photo \ud83d", "."], "A photo \ufffd.", id="a first half alone"),
        pytest.param(["A photo ", "\ude00."], "A photo \ufffd.", id="a second half alone"),
        pytest.param(["A photo.", "\ud83d"], "A photo.\ufffd", id="a half at the end"),
        pytest.param(["A \ude00\ud83d", "\ud83d", "\ude00 photo."], "A \ufffd\ufffd\U0001f600 photo.", id="mixed up"),
    ],
)  # fmt: skip
async def test_a_character_that_was_cut_in_two_is_whole_again(
    bot: Chatbot, contexts: str, pieces: list[str], text: str
) -> None:
    cut = Context(text="Bring a \ud83d\ude00 photo\ud83d.", title="\ude00", source="photo.md")
    bot.says("".join(pieces), [cut], pieces=pieces)
    rag = rag_of(bot, contexts)
    streamed, heard = await listen(rag)
    await rag.close()
    assert isinstance(streamed, Draft)
    assert streamed.text == text
    assert [one.text for one in streamed.contexts] == ["Bring a \U0001f600 photo\ufffd."]
    assert all(text.startswith(part.text.rstrip()) for part in heard)


THOUGHTS = "<think>\nThe user wants to know when. We never close.\n</think>\n\n"


@pytest.mark.parametrize("contexts", ["azure-on-your-data", "openai-responses"])
@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([THOUGHTS + OPEN], id="in one piece"),
        pytest.param([*THOUGHTS, *OPEN], id="letter by letter"),
        pytest.param(["\n <Thi", "nk>a</thi", "nk> <think>b</think>", OPEN], id="twice"),
        pytest.param(["<think></think>", OPEN[:20], OPEN[20:]], id="no thoughts"),
    ],
)
async def test_what_a_chatbot_thinks_before_it_speaks_is_never_heard(
    bot: Chatbot, contexts: str, pieces: list[str]
) -> None:
    bot.says("".join(pieces), [CONTEXT], pieces=pieces)
    rag = rag_of(bot, contexts)
    whole = await rag.ask(question(HOURS), encoded(HOURS))
    streamed, heard = await listen(rag)
    await rag.close()
    assert isinstance(whole, Draft)
    assert isinstance(streamed, Draft)
    assert (whole.text, streamed.text) == (OPEN, OPEN)
    assert all(OPEN.startswith(part.text.rstrip()) for part in heard)


@pytest.mark.parametrize("text", [THOUGHTS.replace("</think>", OPEN), THOUGHTS, "<thi"])
async def test_thoughts_alone_are_an_answer_without_text(bot: Chatbot, rag: UpstreamRag, text: str) -> None:
    for finish_reason in ("stop", "length"):
        bot.says(text, [CONTEXT], finish_reason=finish_reason)
        with pytest.raises(UpstreamUnavailable, match="without text"):
            await rag.ask(question(HOURS), encoded(HOURS))
        heard: list[Draft] = []
        with pytest.raises(UpstreamUnavailable, match="without text"):
            await rag.ask(question(HOURS), encoded(HOURS), heard.append)
        assert not any(part.text for part in heard)


async def test_a_tag_that_is_no_thought_is_part_of_the_answer(bot: Chatbot, rag: UpstreamRag) -> None:
    for text in ("<thing> is a tag.", "Write <think> and </think>.", "< 5 yen"):
        bot.says(text, [CONTEXT], pieces=[*text])
        whole = await rag.ask(question(HOURS), encoded(HOURS))
        streamed, _ = await listen(rag)
        assert isinstance(whole, Draft)
        assert isinstance(streamed, Draft)
        assert (whole.text, streamed.text) == (text, text)


async def test_who_stops_listening_hangs_up(bot: Chatbot, rag: UpstreamRag) -> None:
    bot.says(OPEN, pieces=["We ", "open ", *["…"] * 500], piece_delay_s=0.02)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(listen(rag), 0.1)
    bot.says(OPEN)
    draft, _ = await listen(rag)  # and the next one is not kept waiting
    assert isinstance(draft, Draft)


def test_what_stands_in_every_chunk_is_there_once_and_what_is_spread_over_chunks_is_all_there() -> None:
    chunks = ChatChunks()
    for number, word in enumerate(["", "One ", "two."]):
        delta = {"content": word, "context": {"citations": [{"content": f"c{number}"}]}}
        same = {"metadata": {"retriever_resources": [{"content": "m"}]}}
        chunks.add({"choices": [{"index": 0, "delta": delta}], **same})
    chunks.add({"choices": [{"index": 1, "delta": {"content": "another choice"}}]})
    chunks.add({"choices": [], "usage": {"prompt_tokens": 1}})
    message = chunks.reply["choices"][0]["message"]
    assert (chunks.text, message["content"]) == ("One two.", "One two.")
    assert message["context"]["citations"] == [{"content": "c0"}, {"content": "c1"}, {"content": "c2"}]
    assert chunks.reply["metadata"]["retriever_resources"] == [{"content": "m"}]
    assert chunks.reply["usage"] == {"prompt_tokens": 1}


@pytest.mark.parametrize(
    "event", [{}, {"choices": None}, {"choices": [1]}, {"choices": [{"delta": 7}]}, {"choices": [{"delta": {"content": [1]}}]}]
)  # fmt: skip
def test_strange_chunks_are_passed_over(event: dict[str, Any]) -> None:
    chunks = ChatChunks()
    chunks.add(event)
    assert (chunks.text, chunks.finished) == ("", False)


def test_two_messages_of_a_response_are_two_paragraphs() -> None:
    events = ResponseEvents()
    for index, delta in ((1, "One. "), (1, "Two."), (3, "Three.")):
        events.add({"type": "response.output_text.delta", "output_index": index, "delta": delta})
    assert events.text == "One. Two.\n\nThree."


def test_a_half_at_the_end_of_a_message_does_not_wait_for_the_next() -> None:
    events = ResponseEvents()
    for index, delta in ((1, "One.\ud83d"), (3, "\ude00Two.")):
        events.add({"type": "response.output_text.delta", "output_index": index, "delta": delta})
    assert events.text == "One.\ufffd\n\n\ufffdTwo."
