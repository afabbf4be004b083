"""The contract over HTTP, asked through the official client where there is one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import openai
import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from cache.store import Incoming
from cache.store.content import Content
from gateway.cli import app
from gateway.errors import NotAuthenticated
from tests.chatbot import Chatbot, Context, Fails, Half, HangsUp, Raw, Reply, Says, Silent
from tests.gateway.conftest import UPSTREAM
from tests.gateway.running import KEYS, OTHER_TENANT, Gateway, settings

LATE = "A fine of 10 yen per book and day is charged for late returns."
LATE_QUESTION = "What happens if I return a book late?"
INVENTED = "Late returns cost 5,000 yen and your card is cancelled for life by the mayor."


@pytest.fixture(autouse=True)
def script(chatbot: Chatbot) -> Iterator[None]:
    chatbot.reset()
    chatbot.says(LATE, [LATE])
    yield
    chatbot.reset()


def ask(
    gateway: Gateway, question: str, *, stream: bool = False, **options: Any
) -> tuple[dict[str, str], str, str]:
    """Headers, text and finish reason of a chat completion."""
    with gateway.openai() as client:
        raw = client.chat.completions.with_raw_response.create(
            model="sekisho", messages=[{"role": "user", "content": question}], stream=stream, **options
        )
        headers = dict(raw.headers)
        if not stream:
            choice = raw.parse().choices[0]
            return headers, choice.message.content or "", choice.finish_reason
        chunks = [chunk.choices[0] for chunk in raw.parse()]
        return headers, "".join(chunk.delta.content or "" for chunk in chunks), chunks[-1].finish_reason or ""


@pytest.mark.parametrize(
    ("key", "says"), [([], "asks for an API key"), (["--key", "sk-made-up"], "does not know")]
)
def test_the_command_line_says_which_key_is_missing(gateway: Gateway, key: list[str], says: str) -> None:
    result = CliRunner().invoke(app, ["ask", "Hello!", "--url", gateway.url, *key])
    assert isinstance(result.exception, NotAuthenticated)
    assert says in str(result.exception)


@pytest.mark.parametrize("below", ["", "/", "/v1", "/v1/"])
def test_the_command_line_takes_an_address_with_the_version_or_without(gateway: Gateway, below: str) -> None:
    key = KEYS["client"]
    result = CliRunner().invoke(app, ["ask", "Hello!", "--url", gateway.url + below, "--key", key])
    assert result.exit_code == 0, result.exception


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("question", "reply", "outcome", "reason", "finish", "text"),
    [
        pytest.param("When does the library open?", None, "ground_truth", "verified_exact", "stop", "The library opens at 9:00 and closes at 19:00.", id="exact hit"),
        pytest.param("ｗｈｅｎ does the LIBRARY open", None, "ground_truth", "verified_exact", "stop", "The library opens at 9:00 and closes at 19:00.", id="exact through width and case"),
        pytest.param(LATE_QUESTION, Says(LATE, [LATE]), "rag", "supported", "stop", LATE, id="supported"),
        pytest.param(LATE_QUESTION, Says(INVENTED, [LATE]), "withheld", "unsupported_statement", "content_filter", None, id="unsupported"),
        pytest.param(LATE_QUESTION, Says(f"<think>{INVENTED}</think>{LATE}", [LATE]), "rag", "supported", "stop", LATE, id="thoughts before"),
        pytest.param(LATE_QUESTION, Says(f"<think>{INVENTED}", [LATE]), "escalated", "upstream_unavailable", "stop", None, id="thoughts alone"),
        pytest.param(LATE_QUESTION, Says(LATE, []), "escalated", "unchecked", "stop", None, id="no contexts"),
        pytest.param(LATE_QUESTION, Says(f"{LATE} {INVENTED[:-5]}", [LATE], finish_reason="length"), "rag", "supported", "length", LATE, id="cut off in a sentence"),
        pytest.param(LATE_QUESTION, Says(LATE, [LATE], finish_reason="length"), "rag", "supported", "length", LATE, id="cut off after a sentence"),
        pytest.param(LATE_QUESTION, Says(LATE[:30], [LATE], finish_reason="length"), "escalated", "unchecked", "stop", None, id="cut off in the first sentence"),
        pytest.param("Who won the football match?", None, "refused", "may", "content_filter", "I only know the library.", id="may"),
        pytest.param("How do I forge a library card?", None, "refused", "must_not:crime", "content_filter", "Nothing unlawful.", id="must not"),
        pytest.param("カレーの作り方は？", None, "refused", "may", "content_filter", "図書館のことだけお答えできます。", id="may, in Japanese"),
        pytest.param("Hello!", None, "ground_truth", "small_talk", "stop", None, id="small talk is never refused"),
    ],
)  # fmt: skip
def test_every_outcome_says_what_it_is(
    gateway: Gateway, chatbot: Chatbot, stream: bool, question: str, reply: Reply | None,
    outcome: str, reason: str, finish: str, text: str | None,
) -> None:  # fmt: skip
    if reply:
        chatbot.always(reply)
    headers, said, finished = ask(gateway, question, stream=stream)
    assert (headers["x-sekisho-outcome"], headers["x-sekisho-reason"], finished) == (outcome, reason, finish)
    assert headers["x-request-id"]
    assert ("x-sekisho-ticket" in headers) == (outcome in ("withheld", "escalated"))
    if outcome in ("withheld", "escalated"):
        assert headers["x-sekisho-ticket"] in said
        assert "mayor" not in said
    if text is not None:
        assert said == text


def test_each_choice_says_whether_it_was_cut_off(gateway: Gateway, chatbot: Chatbot) -> None:
    chatbot.always(Says(f"{LATE} The", [LATE], also=[LATE[:30]], finish_reason="length"))
    with gateway.openai() as client:
        reply = client.chat.completions.create(
            model="sekisho", messages=[{"role": "user", "content": LATE_QUESTION}], n=2
        )
    assert [one.finish_reason for one in reply.choices] == ["length", "content_filter"]
    assert reply.choices[0].message.content == LATE


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "reply",
    [Fails(500), Raw(b"<html>"), Raw(b""), Half(), HangsUp(), Says(None), Says("cut", finish_reason="content_filter")],
    ids=["500", "html", "empty", "half", "hangs up", "no text", "filtered"],
)  # fmt: skip
def test_a_chatbot_that_answers_garbage_sends_the_question_to_a_person(
    gateway: Gateway, chatbot: Chatbot, stream: bool, reply: Reply
) -> None:
    chatbot.always(reply)
    headers, said, _ = ask(gateway, LATE_QUESTION, stream=stream)
    assert (headers["x-sekisho-outcome"], headers["x-sekisho-reason"]) == (
        "escalated",
        "upstream_unavailable",
    )
    assert headers["x-sekisho-ticket"] in said


@pytest.mark.parametrize(
    ("reply", "cause", "counted"),
    [(Fails(401), "http_401", "http_401"), (Fails(418), "http_418", "other"), (Raw(b"<html>"), "unreadable", "unreadable")],
    ids=["401", "418", "html"],
)  # fmt: skip
def test_why_the_chatbot_failed_is_told_by_step_ticket_metric_and_log(
    gateway: Gateway, chatbot: Chatbot, reply: Reply, cause: str, counted: str
) -> None:
    series = f'sekisho_stage_failures_total{{cause="{counted}",error="UpstreamUnavailable"}}'
    before = metric(gateway, series)
    chatbot.always(reply)
    with capture_logs() as logged:
        body = gateway.answer(LATE_QUESTION)
    with gateway.http("reviewer") as client:
        ticket = client.get(f"/v1/tickets/{body['ticket']}").json()
    for steps in (body["questions"][0]["steps"], ticket["steps"]):
        assert (steps[-1]["stage"], steps[-1]["found"]["type"], steps[-1]["found"]["cause"]) == (
            "rag",
            "failed",
            cause,
        )
    assert metric(gateway, series) == before + 1
    [line] = [one for one in logged if one["event"] == "stage failed" and one["log_level"] == "error"]
    assert (line["error"], line["cause"]) == ("UpstreamUnavailable", cause)
    assert LATE_QUESTION not in str(line)


def metric(gateway: Gateway, series: str) -> float:
    with gateway.http() as client:
        lines = client.get("/metrics").text.splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(series))


def test_answers_tells_each_stage_with_its_evidence(gateway: Gateway) -> None:
    body = gateway.answer(LATE_QUESTION)
    only = body["questions"][0]
    assert (body["outcome"], body["faithfulness"], only["outcome"]) == ("rag", 1.0, "rag")
    assert [step["stage"] for step in only["steps"]] == ["gate", "cache", "rag", "faithfulness"]
    assert only["steps"][0]["found"]["label"] == "must"
    assert only["steps"][2]["found"]["contexts"][0]["text"] == LATE
    assert only["steps"][3]["found"]["statements"][0]["supported"] is True


def test_two_questions_in_one_message_are_answered_each(gateway: Gateway) -> None:
    body = gateway.answer("When does the library open? And what happens if I return a book late?")
    assert [one["outcome"] for one in body["questions"]] == ["ground_truth", "rag"]
    assert body["outcome"] == "rag"


def test_the_chatbot_gets_the_conversation_and_the_sampling_options(
    gateway: Gateway, chatbot: Chatbot
) -> None:
    with gateway.openai() as client:
        client.chat.completions.create(
            model="sekisho",
            messages=[
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "How many books can I borrow?"},
                {"role": "assistant", "content": "Ten."},
                {"role": "user", "content": LATE_QUESTION},
            ],
            temperature=0.1,
        )
    assert chatbot.asked[-1].body["temperature"] == 0.1
    assert [message["role"] for message in chatbot.asked[-1].messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert chatbot.asked[-1].body["model"] == "chatbot"


def test_a_question_of_several_lines_reaches_the_chatbot_as_it_was_written(
    gateway: Gateway, chatbot: Chatbot
) -> None:
    message = "What happens if I return these late?\n- a book\n- a DVD"
    found = gateway.answer(message)
    assert chatbot.asked[-1].question == message
    assert [one["question"] for one in found["questions"]] == [
        "What happens if I return these late? a book a DVD"
    ]


def test_a_silent_stream_is_kept_alive_and_verified_before_a_word_leaves(
    gateway: Gateway, chatbot: Chatbot
) -> None:
    chatbot.always(Says(LATE, [LATE], delay_s=3.5))
    body = {"messages": [{"role": "user", "content": LATE_QUESTION}], "stream": True}
    with gateway.http() as client, client.stream("POST", "/v1/chat/completions", json=body) as stream:
        lines = [line for line in stream.iter_lines() if line]
    words = [place for place, line in enumerate(lines) if line.startswith("data:")]
    comments = [place for place, line in enumerate(lines) if line.startswith(":")]
    assert comments
    assert comments[0] < words[0]
    assert lines[-1] == "data: [DONE]"
    assert json.loads(lines[-2].removeprefix("data: "))["sekisho"]["outcome"] == "rag"


def test_a_ticket_is_answered_published_and_served_to_the_next_asker(
    gateway: Gateway, chatbot: Chatbot
) -> None:
    question = "Can I renew a loan online?"
    chatbot.says("A loan can be renewed 7 times.", ["Loans are for two weeks."])
    ticket = gateway.answer(question)["ticket"]
    with gateway.http("reviewer") as reviewer, gateway.http() as asker:
        assert asker.get(f"/v1/tickets/{ticket}").json()["state"] == "open"
        assert reviewer.post(f"/v1/tickets/{ticket}/claim").json()["state"] == "claimed"
        answer = {
            "answer": "Yes, once, on the page My Library.",
            "publish": True,
            "phrasings": ["May I extend my loan on the web?"],
        }
        answered = reviewer.post(f"/v1/tickets/{ticket}/answer", json=answer)
        assert answered.status_code == 200, answered.text
        polled = asker.get(f"/v1/tickets/{ticket}").json()
    assert (polled["state"], polled["answer"]) == ("answered", "Yes, once, on the page My Library.")
    again = gateway.answer("can i renew a loan online")
    assert (again["outcome"], again["text"]) == ("ground_truth", "Yes, once, on the page My Library.")


def test_tenants_never_see_each_others_entries_and_tickets(gateway: Gateway, chatbot: Chatbot) -> None:
    chatbot.says(INVENTED, [LATE])
    ticket = gateway.answer(LATE_QUESTION)["ticket"]
    with gateway.http(key=OTHER_TENANT) as other:
        assert other.get(f"/v1/tickets/{ticket}").status_code == 404
        found = other.post("/v1/cache/lookup", json={"question": "When does the library open?"}).json()
    assert found["type"] == "miss"


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/v1/gate", {"question": "How many books can I borrow?"}, {"label": "must"}),
        ("/v1/gate", {"question": "How do I forge a library card?"}, {"label": "must_not", "topic": "crime"}),
        ("/v1/cache/lookup", {"question": "When does the library open?"}, {"type": "hit", "tier": "exact"}),
        ("/v1/faithfulness", {"answer": LATE, "contexts": [LATE]}, {"type": "checked", "passed": True, "faithfulness": 1.0}),
        ("/v1/faithfulness", {"answer": INVENTED, "contexts": [LATE]}, {"type": "checked", "passed": False}),
        ("/v1/faithfulness", {"answer": LATE, "contexts": []}, {"type": "unchecked"}),
    ],
)  # fmt: skip
def test_each_stage_can_be_asked_alone(
    gateway: Gateway, path: str, body: dict[str, Any], expected: dict[str, Any]
) -> None:
    with gateway.http() as client:
        found = client.post(path, json=body).json()
    assert {name: found[name] for name in expected} == expected


CHAT = "/v1/chat/completions"
ASK = {"role": "user", "content": LATE_QUESTION}


@pytest.mark.parametrize(
    ("body", "status", "param", "said"),
    [
        pytest.param({"messages": []}, 400, "messages", "at least 1", id="no messages"),
        pytest.param({}, 400, "messages", "required", id="nothing"),
        pytest.param({"messages": [{"role": "king", "content": "x"}]}, 400, "messages.0.role", "Input should be", id="wrong role"),
        pytest.param({"messages": [{"role": "assistant", "content": "x"}]}, 400, "messages[0].role", "role: user", id="not the asker's turn"),
        pytest.param({"messages": [{"role": "user", "content": "  "}]}, 400, "messages[0].content", "empty", id="empty question"),
        pytest.param({"messages": [{"role": "user", "content": "x" * 9000}]}, 400, "messages[0].content", "8000", id="endless question"),
        pytest.param({"messages": [{"role": "user", "content": "㌖" * 8000}]}, 400, "messages[0].content", "not 48000", id="question of wide signs"),
        pytest.param({"messages": [{"role": "user", "content": "e" + "\u0301\u0323" * 3000}]}, 400, "messages[0].content", "30 combining marks", id="marks upon marks"),
        pytest.param({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, 400, "messages[0].content[0]", "type text", id="an image"),
        pytest.param({"messages": [{"role": "user", "content": 5}]}, 400, "messages.0.content", "messages.0.content: Input should be a valid string", id="a number for a text"),
        pytest.param({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, 400, "messages.0.content.0.type", "Field required", id="a part without a type"),
        pytest.param({"messages": [ASK], "stop": 5}, 400, "stop", "stop: Input should be a valid string", id="a number for a stop"),
        pytest.param({"messages": [ASK], "stop": [5], "n": 0, "seed": "x"}, 400, "n", "(and 2 more)", id="several wrong fields"),
        pytest.param({"messages": [ASK, {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "text": "[image]"}]}]}, 400, "messages[1].content[1]", "type text", id="an image beside a text"),
        pytest.param({"messages": [{"role": "tool", "content": "x"}, ASK]}, 400, "messages[0].role", "tool", id="tool result"),
        pytest.param({"messages": [ASK], "seed": 2**63}, 400, "seed", "less than", id="endless number"),
        pytest.param({"messages": [ASK], "n": 9}, 400, "n", "less than or equal to 8", id="too many choices"),
        pytest.param({"messages": [ASK], "tools": [{"type": "function"}]}, 400, "tools", "not supported", id="tools"),
        pytest.param({"messages": [{"role": "user", "content": "How many books can I borrow? " * 200}]}, 400, None, "at most", id="200 questions"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_request_that_cannot_be_used_names_the_field(
    gateway: Gateway, stream: bool, body: dict[str, Any], status: int, param: str | None, said: str
) -> None:
    with gateway.http() as client:
        reply = client.post(CHAT, json={**body, "stream": stream})
    error = reply.json()["error"]
    assert reply.status_code == status
    assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str)
    assert said in error["message"]
    assert param in (None, error["param"])
    assert reply.headers["x-sekisho-outcome"] == "error"


CHAT_BEFORE = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How many books can I borrow?"},
    {"role": "assistant", "content": "Ten."},
]


@pytest.mark.parametrize(
    ("before", "reads"),
    [
        pytest.param([{"role": "user", "content": "x" * 9000 + "z"}], ["x" * 7999 + "z"], id="endless question"),
        pytest.param([{"role": "assistant", "content": "x" * 40_000}], ["x" * 32_000], id="endless reply"),
        pytest.param([{"role": "user", "content": "㌖" * 9000}], ["㌖" * 1333], id="question of wide signs"),
        pytest.param([{"role": "user", "content": "e" + "\u0323" * 3000}], ["e" + "\u0323" * 30], id="marks upon marks"),
        pytest.param([{"role": "user", "content": [{"type": "text", "text": "This card?"}, {"type": "image_url", "image_url": {"url": "x"}}]}], ["This card?\n[image]"], id="an image"),
        pytest.param([{"role": "user", "content": [{"type": "input_audio"}]}], ["[attachment]"], id="a sound"),
        pytest.param([{"role": "assistant", "content": ""}, {"role": "assistant", "content": None}], [], id="a reply without text"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_earlier_turn_that_does_not_fit_is_read_as_far_as_it_does(
    gateway: Gateway, chatbot: Chatbot, stream: bool, before: list[Any], reads: list[str]
) -> None:
    with gateway.http() as client:
        reply = client.post(CHAT, json={"messages": [*CHAT_BEFORE, *before, ASK], "stream": stream})
    assert reply.status_code == 200, reply.text
    told = [turn["content"] for turn in chatbot.asked[-1].messages]
    assert told == [*(turn["content"] for turn in CHAT_BEFORE), *reads, LATE_QUESTION]


def test_of_a_chat_that_is_too_long_the_newest_turns_and_the_client_s_own_are_read(
    gateway: Gateway, chatbot: Chatbot
) -> None:
    turns = [{"role": ("user", "assistant")[n % 2], "content": f"Book number {n}."} for n in range(400)]
    with gateway.http() as client:
        reply = client.post(CHAT, json={"messages": [CHAT_BEFORE[0], *turns, ASK]})
    assert reply.status_code == 200, reply.text
    told = chatbot.asked[-1].messages
    assert len(told) == 200
    assert [told[0], told[1]["content"], told[-1]] == [CHAT_BEFORE[0], "Book number 202.", ASK]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/gate", {"question": "㌖" * 8000}),
        ("/v1/cache/lookup", {"question": "㌖" * 8000}),
        ("/v1/faithfulness", {"answer": "㌖" * 10_000, "contexts": []}),
        ("/v1/faithfulness", {"answer": "x", "contexts": ["e" + "\u0301\u0323" * 40_000]}),
        ("/v1/faithfulness", {"answer": "x", "contexts": [], "question": "x" * 9000}),
    ],
)
def test_a_check_reads_no_text_that_would_hold_up_everybody(
    gateway: Gateway, path: str, body: dict[str, Any]
) -> None:
    with gateway.http() as client:
        assert client.post(path, json=body).status_code == 400


@pytest.mark.parametrize(
    "more",
    [
        '"temperature": NaN',
        '"top_p": 1e999',
        r'"stop": "\ud800"',
        r'"stop": ["\ud800"]',
        r'"model": "\ud800"',
        r'"user": "\ud800"',
    ],
)
def test_what_no_json_can_hold_is_refused_before_the_chatbot_is_blamed(
    gateway: Gateway, chatbot: Chatbot, more: str
) -> None:
    content = '{"messages": [{"role": "user", "content": "' + LATE_QUESTION + '"}], ' + more + "}"
    with gateway.http() as client:
        reply = client.post(CHAT, content=content, headers={"content-type": "application/json"})
    assert (reply.status_code, chatbot.asked) == (400, [])


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_halves_of_surrogate_pairs_in_earlier_turns_reach_the_chatbot_as_signs(
    gateway: Gateway, chatbot: Chatbot, role: str
) -> None:
    turns = [{"role": role, "content": "Late books\ud800\0"}, {"role": "user", "content": LATE_QUESTION}]
    with gateway.http() as client:
        reply = client.post(
            CHAT, content=json.dumps({"messages": turns}), headers={"content-type": "application/json"}
        )
    assert reply.headers["x-sekisho-outcome"] == "rag"
    assert "Late books?\ufffd" in [turn["content"] for turn in chatbot.asked[-1].messages]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_halves_of_surrogate_pairs_from_the_chatbot_reach_the_asker_as_signs(
    gateway: Gateway, chatbot: Chatbot, stream: bool
) -> None:
    cut = Context(text=f"{LATE} \ud83d", title="Fees\ud83d", source="fees\ud83d.md")
    chatbot.says(f"{LATE} \ude00", [cut])
    headers, text, finish = ask(gateway, LATE_QUESTION, stream=stream)
    assert (headers["x-sekisho-outcome"], text, finish) == ("rag", f"{LATE} \ufffd", "stop")
    chatbot.says(f"{INVENTED} \ude00", [cut])
    headers, _, _ = ask(gateway, LATE_QUESTION, stream=stream)
    assert headers["x-sekisho-outcome"] == "withheld"
    with gateway.http("reviewer") as client:
        ticket = client.get(f"/v1/tickets/{headers['x-sekisho-ticket']}").json()
    drafts = [step["found"] for step in ticket["steps"] if step["found"]["type"] == "draft"]
    assert [draft["text"] for draft in drafts] == [f"{INVENTED} \ufffd"]


def test_an_id_of_an_entry_that_no_header_can_hold_is_percent_encoded_there(gateway: Gateway) -> None:
    asked = {
        "料金表-1": "Where are the picture scrolls shown?",
        "50%,scrolls": "Where is the reading garden?",
        "fees/7-b": "Where do I find the map room?",
    }
    for entry_id, phrasing in asked.items():
        content = Content(kind="ground_truth", language="en", phrasings=(phrasing,), answer="On floor 3.")
        come = Incoming(content=content, id=entry_id)
        gateway.do(gateway.services.stores.entries.put("default", [come], by="Sato"))
    question = " ".join(asked.values())
    with gateway.http() as client:
        ours = client.post("/v1/answers", json={"question": question})
    assert ours.json()["entry"] == ",".join(asked)
    assert [one["entry"] for one in ours.json()["questions"]] == list(asked)
    for headers in (ours.headers, ask(gateway, question)[0], ask(gateway, question, stream=True)[0]):
        written = headers["x-sekisho-entry"]
        assert written == "%E6%96%99%E9%87%91%E8%A1%A8-1,50%25%2Cscrolls,fees/7-b"
        assert [unquote(one) for one in written.split(",")] == list(asked)


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        pytest.param(b"", 400, "", id="empty"),
        pytest.param(b"{", 400, "not JSON", id="half a JSON"),
        pytest.param(b"\x00\x01\x02\xff" * 100, 400, "", id="binary"),
        pytest.param(b'{"messages": [{"role": "user", "content": "\xff\xfe"}]}', 400, "", id="invalid UTF-8"),
        pytest.param(b"[]", 400, "expected a JSON object", id="a list"),
        pytest.param(b'{"messages": [{"role": "user", "content": "' + b"x" * 1_000_000 + b'"}]}', 413, "too large", id="1 MB"),
    ],
)  # fmt: skip
def test_a_body_that_is_no_request_is_refused_without_a_traceback(
    gateway: Gateway, content: bytes, status: int, said: str
) -> None:
    with gateway.http() as client:
        reply = client.post(CHAT, content=content, headers={"content-type": "application/json"})
    assert reply.status_code == status, reply.text
    assert said in reply.json()["error"]["message"]
    assert reply.headers["x-sekisho-outcome"] == "error"
    assert "Traceback" not in reply.text


def test_a_body_of_another_content_type_is_told_which_one_is_due(gateway: Gateway) -> None:
    with gateway.http() as client:
        reply = client.post(CHAT, content=b'{"messages": []}', headers={"content-type": "text/plain"})
    assert reply.status_code == 400
    assert "Content-Type: application/json" in reply.json()["error"]["message"]


def test_who_asks_elsewhere_is_told_where_chats_go(gateway: Gateway) -> None:
    with gateway.http("client") as client:
        error = client.post("/v1/responses", json={"model": "sekisho", "input": "hi"}).json()["error"]
    assert error["code"] == "not_found"
    assert error["message"] == "POST /v1/responses is not served here; chats go to POST /v1/chat/completions"


@pytest.mark.parametrize(
    ("role", "key", "path", "status"),
    [
        (None, None, "/v1/models", 401),
        (None, "sk-wrong", "/v1/models", 401),
        ("client", None, "/v1/models", 200),
        ("client", None, "/v1/models/sekisho", 200),
        ("client", None, "/v1/models/gpt-4o", 404),
        ("client", None, "/v1/tickets", 403),
        ("client", None, "/v1/entries", 403),
        ("reviewer", None, "/v1/tickets", 200),
        ("admin", None, "/v1/entries", 200),
        ("reviewer", None, f"/v1/entries?offset={2**63}", 400),
        ("reviewer", None, f"/v1/suggestions?offset={2**63}", 400),
        ("reviewer", None, f"/v1/gate/examples?offset={2**63}", 400),
        ("reviewer", None, f"/v1/figures/questions?after={2**63}", 400),
        (None, None, "/livez", 200),
        (None, None, "/readyz", 200),
        (None, None, "/metrics", 200),
        (None, None, "/", 200),
        (None, None, "/no/such/place", 404),
    ],
)
def test_a_key_opens_what_its_role_may_see(
    gateway: Gateway, role: str | None, key: str | None, path: str, status: int
) -> None:
    with gateway.http(role, key=key) as client:
        reply = client.get(path)
    assert reply.status_code == status
    if status >= 400:
        assert isinstance(reply.json()["error"]["message"], str)


def test_the_official_client_raises_its_own_errors(gateway: Gateway) -> None:
    stranger = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="sk-wrong", max_retries=0)
    with stranger as client, pytest.raises(openai.AuthenticationError):
        client.models.list()
    with gateway.openai() as client, pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="sekisho", messages=[{"role": "user", "content": ""}])
    assert refused.value.param == "messages[0].content"


@pytest.mark.parametrize("text", ["", "x" * 9000], ids=["empty", "endless"])
@pytest.mark.parametrize("given", ["question", "messages"])
def test_what_is_refused_of_a_question_is_named_as_it_was_given(
    gateway: Gateway, given: str, text: str
) -> None:
    body: dict[str, Any] = {"question": text, "messages": [{"role": "user", "content": text}]}
    with gateway.http() as client:
        refused = client.post("/v1/answers", json={given: body[given]})
    param = {"question": "question", "messages": "messages[0].content"}[given]
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)


def test_a_request_id_of_the_client_is_kept_if_it_is_fit_for_a_log(gateway: Gateway) -> None:
    with gateway.http() as client:
        kept = client.get("/livez", headers={"x-request-id": "trace-1.a"}).headers["x-request-id"]
        made = client.get("/livez", headers={"x-request-id": "two words"}).headers["x-request-id"]
    assert kept == "trace-1.a"
    assert made != "two words"


def test_metrics_count_outcomes_lookups_and_open_tickets(gateway: Gateway, chatbot: Chatbot) -> None:
    def value(name: str, text: str) -> float:
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))

    with gateway.http() as client:
        before = client.get("/metrics").text
        gateway.answer("When does the library open?")
        chatbot.says(INVENTED, [LATE])
        gateway.answer(LATE_QUESTION)
        after = client.get("/metrics").text
    for name, more in {
        'sekisho_outcomes_total{language="en",outcome="ground_truth"': 1,
        'sekisho_outcomes_total{language="en",outcome="withheld"': 1,
        'sekisho_cache_lookups_total{result="exact"': 1,
        "sekisho_open_tickets": 1,
        "sekisho_faithfulness_count": 1,
    }.items():
        assert value(name, after) - value(name, before) == more, name


def test_outcomes_are_recorded_without_texts(gateway: Gateway) -> None:
    import sqlite3

    request_id = gateway.answer("When does the library open?")["id"]
    gateway.write()
    file = gateway.services.settings.path(gateway.services.settings.storage.folder) / "sekisho.db"
    with sqlite3.connect(file) as connection:
        rows = connection.execute(
            "SELECT outcome, tier, question, length(question_hash) FROM outcomes WHERE request_id = ?",
            [request_id],
        ).fetchall()
    connection.close()
    assert rows == [("ground_truth", "exact", None, 64)]


@pytest.mark.parametrize(
    ("question", "extra", "took"),
    [
        pytest.param(LATE_QUESTION, {"usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}}, (10, 20, 30), id="as the chatbot says"),
        pytest.param(LATE_QUESTION, {"usage": None}, None, id="the chatbot does not count"),
        pytest.param("When does the library open?", {}, (0, 0, 0), id="no model was asked"),
        pytest.param("Hello!", {}, (0, 0, 0), id="small talk"),
    ],
)  # fmt: skip
def test_what_the_chatbot_took_is_passed_on(
    gateway: Gateway, chatbot: Chatbot, question: str, extra: dict[str, Any], took: tuple[int, ...] | None
) -> None:
    chatbot.says(LATE, [LATE], extra=extra)
    messages: Any = [{"role": "user", "content": question}]
    with gateway.openai() as client:
        whole = client.chat.completions.create(model="sekisho", messages=messages)
        asked = client.chat.completions.create(
            model="sekisho", messages=messages, stream=True, stream_options={"include_usage": True}
        )
        streamed = list(asked)
        plain = list(client.chat.completions.create(model="sekisho", messages=messages, stream=True))
    for usage in (whole.usage, streamed[-1].usage):
        told = usage and (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)
        assert told == took
    assert (streamed[-1].choices == []) == (took is not None)
    assert all(chunk.usage is None for chunk in (*streamed[:-1], *plain))


def test_what_may_be_null_in_the_contract_is_as_if_it_were_not_said(gateway: Gateway) -> None:
    nothing = dict.fromkeys(["stream", "stream_options", "n", "tools", "stop", "user", "seed", "temperature"])
    with gateway.http() as client:
        reply = client.post(CHAT, json={"messages": [ASK], **nothing})
    assert reply.json()["choices"][0]["message"]["content"] == LATE


def test_another_method_is_told_which_are_allowed(gateway: Gateway) -> None:
    with gateway.http() as client:
        reply = client.get(CHAT)
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
    assert isinstance(reply.json()["error"]["message"], str)


def test_a_path_that_is_none_is_not_found(gateway: Gateway) -> None:
    with gateway.http() as client:
        reply = client.get("/v1/nothing")
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")


def test_feedback_on_an_answer_is_kept(gateway: Gateway) -> None:
    request_id = gateway.answer("When does the library open?")["id"]
    with gateway.http() as client:
        given = client.post(
            "/v1/feedback", json={"request_id": request_id, "verdict": "down", "comment": "closed today"}
        )
        wrong = client.post("/v1/feedback", json={"request_id": request_id, "verdict": "sideways"})
    assert given.status_code < 300, given.text
    assert wrong.status_code == 400
    assert "verdict" in wrong.json()["error"]["message"]


def test_a_chatbot_that_is_too_slow_sends_the_question_to_a_person(
    gateway: Gateway, chatbot: Chatbot
) -> None:
    chatbot.always(Silent(for_s=20))
    assert gateway.answer(LATE_QUESTION)["reason"] == "upstream_unavailable"


def test_with_every_check_off_an_answer_passes_marked_and_nothing_is_encoded(
    chatbot: Chatbot, tmp_path: Path
) -> None:
    off = (
        'gate: {enabled: false}\ncache: {enabled: false}\nfaithfulness: {judge: "off", on_unchecked: deliver}'
    )
    chatbot.says(INVENTED, [LATE])
    with Gateway(settings(tmp_path, off + UPSTREAM.format(url=chatbot.base_url))) as passing:
        body = passing.answer(LATE_QUESTION)
        assert passing.services.pipeline._encoder.identity.dimensions == 0
    assert (body["outcome"], body["reason"], body["faithfulness"]) == ("rag", "unchecked", "unchecked")
    assert body["text"] == INVENTED


def test_metrics_tell_of_the_process_and_its_version_and_not_when_each_series_began(gateway: Gateway) -> None:
    with gateway.http(None) as client:
        shown = client.get("/metrics").text
    names = {re.split(r"[{ ]", line)[0] for line in shown.splitlines() if not line.startswith("#")}
    assert {"process_resident_memory_bytes", "process_open_fds", "python_info"} <= names
    assert f'sekisho_build_info{{version="{version("sekisho")}"}} 1.0' in shown
    assert [name for name in names if name.endswith("_created")] == []
