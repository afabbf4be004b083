from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from pydantic import SecretStr

from gateway.domain import Draft, Passage, Turn
from gateway.errors import ConfigurationError, UpstreamUnavailable
from gateway.rag.upstream import UpstreamRag
from gateway.settings import UpstreamSettings
from tests.chatbot import CallsTool, Chatbot, Context, Fails, Half, HangsUp, Place, Raw, Reply, Says, Silent
from tests.rag.asking import encoded, question

KEY = "sk-secret-0123456789"
HOURS = "When do you open?"
OPEN = "We open at nine."


@pytest.fixture(scope="module")
def server() -> Iterator[Chatbot]:
    with Chatbot() as running:
        yield running


@pytest.fixture
def bot(server: Chatbot) -> Chatbot:
    server.reset()
    return server


def settings(bot: Chatbot, **changes: object) -> UpstreamSettings:
    return UpstreamSettings.model_validate(
        {
            "kind": "openai",
            "base_url": bot.base_url,
            "model": "rag-1",
            "api_key": SecretStr(KEY),
            "contexts": "azure-on-your-data",
            "timeout_s": 5.0,
            "max_retries": 0,
            **changes,
        }
    )


@pytest.fixture
async def rag(bot: Chatbot) -> AsyncIterator[UpstreamRag]:
    asked = UpstreamRag.of(settings(bot))
    yield asked
    await asked.close()


async def ask(rag: UpstreamRag, text: str = HOURS) -> Draft:
    draft = await rag.ask(question(text), encoded(text))
    assert isinstance(draft, Draft)
    return draft


@pytest.mark.parametrize(
    "place", ["azure-on-your-data", "dify", "langserve", "llama-index", "openai-responses", "contexts"]
)
async def test_the_answer_comes_with_its_contexts_from_every_kind_of_chatbot(
    bot: Chatbot, place: Place
) -> None:
    bot.says(OPEN, [Context(text="Opening hours: 9 to 17.", source="hours.md")], place=place)
    rag = UpstreamRag.of(settings(bot, contexts=place))
    draft = await ask(rag)
    await rag.close()
    assert (draft.text, draft.model) == (OPEN, "chatbot-1")
    assert [(p.text, p.source) for p in draft.contexts] == [("Opening hours: 9 to 17.", "hours.md")]


async def test_the_conversation_goes_along_and_the_question_stands_for_the_message(
    bot: Chatbot, rag: UpstreamRag
) -> None:
    earlier = (Turn("system", "Be brief."), Turn("user", "Hi"), Turn("assistant", "Hello, how can I help?"))
    await rag.ask(question(HOURS, *earlier, temperature=0.2, max_tokens=99), encoded(HOURS))
    body = bot.asked[-1].body
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello, how can I help?"},
        {"role": "user", "content": HOURS},
    ]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("rag-1", 0.2, 99)
    assert bot.asked[-1].headers["authorization"] == f"Bearer {KEY}"


async def test_an_asker_cannot_choose_the_model_the_words_or_tools(bot: Chatbot, rag: UpstreamRag) -> None:
    options = {"model": "gpt-x", "messages": [], "stream": True, "n": 5, "tools": [{}], "tool_choice": "auto"}
    await rag.ask(question(HOURS, **options), encoded(HOURS))
    assert set(bot.asked[-1].body) == {"model", "messages"}
    assert bot.asked[-1].body["model"] == "rag-1"


async def test_what_the_operator_adds_to_the_body_wins(bot: Chatbot) -> None:
    sources = [{"type": "azure_search", "parameters": {"index_name": "manuals"}}]
    rag = UpstreamRag.of(settings(bot), extra_body={"data_sources": sources, "temperature": 0})
    await rag.ask(question(HOURS, temperature=2, data_sources=[]), encoded(HOURS))
    await rag.close()
    assert bot.asked[-1].body["data_sources"] == sources
    assert bot.asked[-1].body["temperature"] == 0


async def test_an_option_that_the_chatbot_refuses_is_left_out(bot: Chatbot) -> None:
    rag = UpstreamRag.of(settings(bot), extra_body={"temperature": None, "stream_options": None})
    await rag.ask(question(HOURS, temperature=2, top_p=0.5), encoded(HOURS))
    assert set(bot.asked[-1].body) == {"model", "messages", "top_p"}
    await rag.ask(question(HOURS, temperature=2, top_p=0.5), encoded(HOURS), lambda draft: None)
    assert set(bot.asked[-1].body) == {"model", "messages", "top_p", "stream"}
    await rag.close()


async def test_the_responses_api_is_asked_for_its_search_results(bot: Chatbot) -> None:
    rag = UpstreamRag.of(settings(bot, contexts="openai-responses"))
    await rag.ask(question(HOURS, max_tokens=50, stop="x"), encoded(HOURS))
    await rag.close()
    asked = bot.asked[-1]
    assert asked.path == "/v1/responses"
    assert asked.body == {
        "model": "rag-1",
        "input": [{"role": "user", "content": HOURS}],
        "include": ["file_search_call.results"],
        "max_output_tokens": 50,
    }


async def test_an_answer_in_parts_is_one_text(bot: Chatbot, rag: UpstreamRag) -> None:
    parts = [
        {"type": "text", "text": "We open "},
        {"type": "image_url"},
        {"type": "text", "text": "at nine."},
    ]
    choices = [{"message": {"role": "assistant", "content": parts}, "finish_reason": "stop"}]
    bot.next(Raw(json.dumps({"choices": choices}).encode()))
    assert (await ask(rag)) == Draft(text=OPEN, contexts=(), model="rag-1")


@pytest.mark.parametrize("place", ["azure-on-your-data", "openai-responses", "contexts", "@.contexts"])
async def test_half_a_character_is_a_sign_in_the_answer_and_in_its_contexts(bot: Chatbot, place: str) -> None:
    context = Context(text="Bring \ude00 a photo\ud83d.", title="\ud83d", source="photo\ud83d.md")
    where: Any = place.removeprefix("@.")
    bot.says("A photo\ud83d", [context], place=where, model="chat\ud83d", also=["And \ude00 more."])
    rag = UpstreamRag.of(settings(bot, contexts=place))
    asked = question(HOURS)
    asked = replace(asked, conversation=replace(asked.conversation, choices=2))
    draft = await rag.ask(asked, encoded(HOURS))
    await rag.close()
    assert isinstance(draft, Draft)
    assert (draft.text, draft.model) == ("A photo\ufffd", "chat\ufffd")
    assert [one.text for one in draft.others] in ([], ["And \ufffd more."])  # /responses knows no choices
    assert [(p.text, p.source) for p in draft.contexts] == [("Bring \ufffd a photo\ufffd.", "photo\ufffd.md")]


FAILURES: dict[str, tuple[Reply, str, str]] = {
    "500": (Fails(500), "answered 500", "http_500"),
    "401": (Fails(401, f"Incorrect API key provided: {KEY}"), "answered 401 (the key was not accepted)", "http_401"),
    "404": (Fails(404), "answered 404 (no such model or path)", "http_404"),
    "429": (Fails(429), "answered 429 (too many requests)", "http_429"),
    "400": (Fails(400, f"bad {KEY}"), "answered 400", "http_400"),
    "too late": (Silent(3.0), "did not answer within 0.3 s", "timeout"),
    "hangs up": (HangsUp(), "could not be reached", "unreachable"),
    "half a reply": (Half(), "broke off its answer", "broke_off"),
    "no JSON": (Raw(b"<html>Bad gateway</html>", "text/html"), "answered what is not JSON", "unreadable"),
    "JSON cut short": (Raw(b'{"choices": [{"mess'), "answered what is not JSON", "unreadable"),
    "invalid UTF-8": (Raw(b'{"choices": "\xff\xfe"}'), "not UTF-8", "unreadable"),
    "binary": (Raw(bytes(range(256))), "answered what is not JSON", "unreadable"),
    "nested to death": (Raw(b"[" * 100_000), "not JSON (nested too deeply)", "unreadable"),
    "nested too deeply to walk through": (Raw(b'{"x": ' + b"[" * 300 + b"]" * 300 + b"}"), "not JSON (nested too deeply)", "unreadable"),
    "empty body": (Raw(b""), "an empty body", "unreadable"),
    "a list": (Raw(b"[]"), "a JSON list, not an object", "unreadable"),
    "endless": (Says("word " * 1_000_000), "answered more than 4 MB", "unreadable"),
    "no choices": (Raw(b'{"choices": []}'), "without choices", "unreadable"),
    "choices of another kind": (Raw(b'{"choices": {"a": 1}}'), "without choices", "unreadable"),
    "no message": (Raw(b'{"choices": [{"text": "x"}]}'), "without a message", "unreadable"),
    "no text": (Says(None), "without text", "no_text"),
    "blank text": (Says("  \n "), "without text", "no_text"),
    "a number for a text": (Raw(b'{"choices": [{"message": {"content": 9}}]}'), "without text", "no_text"),
    "filtered": (Says("x", finish_reason="content_filter"), "withheld its own answer", "filtered"),
    "refusal": (Raw(b'{"choices": [{"message": {"content": null, "refusal": "no"}}]}'), "refused to answer", "no_text"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "says", "cause"), FAILURES.values(), ids=FAILURES)
async def test_whatever_goes_wrong_is_named_and_no_secret_is_told(
    bot: Chatbot, reply: Reply, says: str, cause: str
) -> None:
    bot.always(reply)
    rag = UpstreamRag.of(settings(bot, timeout_s=0.3 if isinstance(reply, Silent) else 5.0))
    with pytest.raises(UpstreamUnavailable) as caught:
        await ask(rag)
    await rag.close()
    assert says in str(caught.value)
    assert caught.value.cause == cause
    assert KEY not in repr(caught.value) + repr(caught.value.__cause__)
    assert "127.0.0.1" not in str(caught.value)


@pytest.mark.parametrize("reply", [Says(None), Says("x", finish_reason="content_filter"), Raw(b"{}")])
async def test_the_responses_api_fails_as_clearly(bot: Chatbot, reply: Reply) -> None:
    bot.always(reply)
    rag = UpstreamRag.of(settings(bot, contexts="openai-responses"))
    with pytest.raises(UpstreamUnavailable, match="the chatbot"):
        await ask(rag)
    await rag.close()


@pytest.mark.parametrize("contexts", ["azure-on-your-data", "openai-responses"])
async def test_a_tool_call_is_a_draft_without_a_text_that_could_be_checked(
    bot: Chatbot, contexts: str
) -> None:
    bot.always(CallsTool())
    rag = UpstreamRag.of(settings(bot, contexts=contexts))
    draft = await ask(rag)
    await rag.close()
    assert (draft.text, draft.unreadable) == ("", "tool_call")


async def test_several_choices_come_each_with_its_own_contexts(bot: Chatbot, rag: UpstreamRag) -> None:
    messages: list[dict[str, Any]] = [
        {"content": "One.", "context": {"citations": [{"content": "First."}]}},
        {"content": "Two.", "context": {"citations": [{"content": "Second."}]}},
        {"content": None, "tool_calls": [{"id": "1"}]},
        {"content": "Too many."},
    ]
    choices = [{"message": message, "finish_reason": "stop"} for message in messages]
    bot.next(Raw(json.dumps({"choices": choices}).encode()))
    asked = question(HOURS)
    asked = replace(asked, conversation=replace(asked.conversation, choices=3))
    draft = await rag.ask(asked, encoded(HOURS))
    assert isinstance(draft, Draft)
    assert [(one.text, [c.text for c in one.contexts], one.unreadable) for one in draft.choices] == [
        ("One.", ["First."], ""),
        ("Two.", ["Second."], ""),
        ("", [], "tool_call"),
    ]
    assert bot.asked[-1].body["n"] == 3


async def test_no_choice_that_can_be_read_is_no_answer(bot: Chatbot, rag: UpstreamRag) -> None:
    bot.next(Says(None))
    asked = question(HOURS)
    asked = replace(asked, conversation=replace(asked.conversation, choices=2))
    with pytest.raises(UpstreamUnavailable, match="without text"):
        await rag.ask(asked, encoded(HOURS))


async def test_a_refused_connection_is_named(bot: Chatbot) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    rag = UpstreamRag.of(settings(bot, base_url=f"http://127.0.0.1:{port}/v1"))
    with pytest.raises(UpstreamUnavailable, match=r"could not be reached \(ConnectionRefusedError\)"):
        await ask(rag)
    await rag.close()


async def test_a_name_that_nobody_knows_is_named(bot: Chatbot, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*asked: object, **options: object) -> NoReturn:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    rag = UpstreamRag.of(settings(bot, base_url="http://chatbot.invalid/v1"))
    with pytest.raises(UpstreamUnavailable, match=r"could not be reached \(gaierror\)") as failed:
        await ask(rag)
    assert failed.value.cause == "unreachable"
    await rag.close()


async def test_who_waits_for_a_name_waits_no_longer_than_for_an_answer_and_then_nobody(
    bot: Chatbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **options: told.wait(60) and [])
    rag = UpstreamRag.of(
        settings(bot, base_url="http://chatbot.invalid/v1", timeout_s=0.3, breaker_failures=30)
    )
    try:
        failed = await asyncio.gather(*(ask(rag) for _ in range(30)), return_exceptions=True)
        assert {getattr(one, "cause", one) for one in failed} == {"timeout"}
        with pytest.raises(UpstreamUnavailable) as left:
            await ask(rag)
        assert left.value.cause == "left_alone"
    finally:
        told.set()  # a thread that waits for a name can't be told to stop
        await rag.close()


@pytest.mark.parametrize("first", [Fails(500), Fails(503), Fails(429), HangsUp()], ids=str)
async def test_a_passing_failure_is_tried_again(bot: Chatbot, first: Reply) -> None:
    bot.next(first)
    bot.says(OPEN)
    rag = UpstreamRag.of(settings(bot, max_retries=2))
    assert (await ask(rag)).text == OPEN
    assert len(bot.asked) == 2
    await rag.close()


async def test_a_request_that_is_wrong_is_not_tried_again(bot: Chatbot) -> None:
    bot.always(Fails(400))
    rag = UpstreamRag.of(settings(bot, max_retries=2))
    with pytest.raises(UpstreamUnavailable):
        await ask(rag)
    await rag.close()
    assert len(bot.asked) == 1


async def test_who_asks_for_more_patience_than_askers_have_is_left_at_once(bot: Chatbot) -> None:
    bot.always(Fails(429, retry_after_s=10))
    rag = UpstreamRag.of(settings(bot, max_retries=2, timeout_s=20))
    with pytest.raises(UpstreamUnavailable, match="429") as left:
        await ask(rag)
    await rag.close()
    assert (left.value.cause, len(bot.asked)) == ("http_429", 1)


async def test_the_time_limit_covers_all_tries(bot: Chatbot) -> None:
    bot.always(Fails(503, retry_after_ms=400))
    rag = UpstreamRag.of(settings(bot, max_retries=10, timeout_s=0.6))
    started = asyncio.get_running_loop().time()
    with pytest.raises(UpstreamUnavailable, match=r"within 0\.6 s"):
        await ask(rag)
    assert asyncio.get_running_loop().time() - started < 2
    await rag.close()


async def test_the_circuit_opens_after_failures_and_closes_when_the_chatbot_is_back(bot: Chatbot) -> None:
    rag = UpstreamRag.of(settings(bot, breaker_failures=3, breaker_reset_s=0.3))
    bot.always(Fails(500))
    for _ in range(3):
        with pytest.raises(UpstreamUnavailable, match="answered 500"):
            await ask(rag)
    with pytest.raises(
        UpstreamUnavailable, match=r"failed 3 times in a row.*the chatbot answered 500"
    ) as left:
        await ask(rag)
    assert left.value.cause == "left_alone"
    assert len(bot.asked) == 3
    bot.says(OPEN)
    await asyncio.sleep(0.4)
    assert (await ask(rag)).text == OPEN
    bot.next(Fails(500))
    with pytest.raises(UpstreamUnavailable, match="answered 500"):
        await ask(rag)
    assert (await ask(rag)).text == OPEN  # one failure does not open it again
    await rag.close()


async def test_when_its_rest_is_over_one_asker_tries_for_all(bot: Chatbot) -> None:
    rag = UpstreamRag.of(settings(bot, breaker_failures=1, breaker_reset_s=0.3, timeout_s=0.5))
    bot.always(Fails(500))
    with pytest.raises(UpstreamUnavailable, match="answered 500"):
        await ask(rag)
    bot.always(Silent(5))
    await asyncio.sleep(0.4)
    asked = await asyncio.gather(*(ask(rag) for _ in range(5)), return_exceptions=True)
    causes = [one.cause for one in asked if isinstance(one, UpstreamUnavailable)]
    assert sorted(causes) == ["left_alone"] * 4 + ["timeout"]
    assert len(bot.asked) == 2
    await rag.close()


async def test_a_try_whose_asker_leaves_is_made_by_the_next(bot: Chatbot) -> None:
    rag = UpstreamRag.of(settings(bot, breaker_failures=1, breaker_reset_s=2.0))
    bot.next(Fails(500), Silent(5), Silent(5))
    assert not rag.failing
    with pytest.raises(UpstreamUnavailable, match="answered 500"):
        await ask(rag)
    await asyncio.sleep(2.1)
    bot.says(OPEN)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask(rag), 0.1)
    assert rag.failing
    assert (await ask(rag)).text == OPEN
    assert not rag.failing
    await rag.close()


async def test_a_chatbot_that_reads_what_it_is_sent_is_back(bot: Chatbot) -> None:
    rag = UpstreamRag.of(settings(bot, breaker_failures=1, breaker_reset_s=0.3))
    bot.next(Fails(500), Fails(400))
    with pytest.raises(UpstreamUnavailable, match="answered 500"):
        await ask(rag)
    await asyncio.sleep(0.4)
    with pytest.raises(UpstreamUnavailable, match="answered 400"):
        await ask(rag)
    bot.says(OPEN)
    assert (await ask(rag)).text == OPEN
    await rag.close()


@pytest.mark.parametrize(
    "reply",
    [Fails(400), Says("x", finish_reason="content_filter")],
    ids=["400", "filtered"],
)
async def test_what_an_asker_can_cause_does_not_open_the_circuit(bot: Chatbot, reply: Reply) -> None:
    rag = UpstreamRag.of(settings(bot, breaker_failures=2))
    bot.next(*[reply] * 4)
    for _ in range(4):
        with pytest.raises(UpstreamUnavailable):
            await ask(rag)
    bot.says(OPEN)
    assert (await ask(rag)).text == OPEN
    await rag.close()


async def test_askers_who_leave_neither_open_the_circuit_nor_hide_that_it_should_open(bot: Chatbot) -> None:
    rag = UpstreamRag.of(settings(bot, breaker_failures=2, breaker_reset_s=60))
    bot.next(Silent(5), Silent(5), Silent(5), Fails(500), Silent(5), Fails(500))
    for failing in (False, False, False, True, False, True):
        if failing:
            with pytest.raises(UpstreamUnavailable, match="answered 500"):
                await ask(rag)
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(ask(rag), 0.1)
    with pytest.raises(UpstreamUnavailable, match="failed 2 times"):
        await ask(rag)
    await rag.close()


async def test_a_hundred_questions_at_once_get_their_own_answers(bot: Chatbot, rag: UpstreamRag) -> None:
    for number in range(100):
        bot.when(f"number {number:03}", Says(f"answer {number:03}", [f"context {number:03}"]))
    drafts = await asyncio.gather(*(ask(rag, f"number {number:03}") for number in range(100)))
    assert [d.text for d in drafts] == [f"answer {n:03}" for n in range(100)]
    assert [d.contexts for d in drafts] == [
        (Passage(text=f"context {n:03}", title="Handbook", source="handbook.md"),) for n in range(100)
    ]


def test_a_chatbot_without_an_address_stops_the_start_up() -> None:
    with pytest.raises(ConfigurationError, match="base_url and model"):
        UpstreamRag.of(UpstreamSettings())
