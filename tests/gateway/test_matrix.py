"""No way leads round the check: stream × cached × endpoint × n × tools × contexts × judge × answer.

Every cell asks a real gateway over HTTP, with the official client or without, in front of a played chatbot. Two
things must hold in each: no statement leaves that is unsupported or unchecked (`observe` lets it out, and its
last event and a ticket must tell), and outcome, reason and finish_reason are the right ones.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import product
from threading import Event
from typing import Any, ClassVar, Literal
from unittest.mock import AsyncMock, patch

import pytest
from sqlalchemy import select

from classifiers import ClassifierError
from classifiers.faithfulness import FaithfulnessVerdict
from classifiers.faithfulness.local import LocalJudge
from encoders.shipped import load_shipped_support
from storage.schema import outcomes
from tests.chatbot import CallsTool, Chatbot, Says
from tests.gateway.running import Gateway, settings

CONTEXT = (
    "The library opens at 9:00 and closes at 19:00. Loans last two weeks. A late book costs 10 yen a day."
)
FIRST, LAST = "The library opens at 9:00.", "A late book costs 10 yen a day."
TRUE, FALSE = "Loans last two weeks.", "Members fly to the moon for 500 dollars."
CALLING = "I will look that up."  # said by a chatbot before it asks for a tool
VERIFIED = "Ten books at a time."
KNOWN, FRESH = "How many books can I borrow?", "When does the library open and what does a late book cost?"

CONFIGURATION = """
gate: {{enabled: false}}
faithfulness: {{streaming: {mode}, timeout_s: 30}}
upstream: {{kind: openai, base_url: "{url}", model: chatbot, contexts: azure-on-your-data, max_retries: 0, breaker_failures: 1000}}
"""  # fmt: skip

Stream = Literal["off", "buffer", "sentence", "observe"]


@dataclass(frozen=True)
class Cell:
    """One way to ask, in one state of the world."""

    stream: Stream
    known: Literal["fresh", "cached"]
    endpoint: Literal["chat", "answers"]
    n: Literal[1, 2]
    tools: Literal["none", "called"]  # by the chatbot, though nobody offered it any
    contexts: Literal["first", "last", "none"]  # event of the chatbot's stream
    judge: Literal["ok", "slow", "down"]
    answer: Literal["supported", "unsupported"]

    def __str__(self) -> str:
        return "-".join(str(getattr(self, one.name)) for one in fields(self))

    @property
    def streamed_to_us(self) -> bool:
        """Whether the gateway asks the chatbot for a stream."""
        return self.stream in ("sentence", "observe") and self.n == 1

    def left_out(self) -> str:
        """Why there is no such cell; the empty text if there is."""
        if self.endpoint == "answers" and (self.stream != "off" or self.n > 1):
            return "/v1/answers has neither stream nor n: refused by name, tested below"
        plain = (self.tools, self.contexts, self.judge, self.answer)
        if self.known == "cached" and plain != ("none", "first", "ok", "supported"):
            return "the chatbot is not asked"
        if self.tools == "called" and (self.contexts, self.answer) != ("first", "supported"):
            return "there is no answer to be supported"
        if self.contexts == "last" and not self.streamed_to_us:
            return "a reply in one piece has no last event"
        return ""

    @property
    def leaves_early(self) -> bool:
        """Whether words leave before the chatbot has said all of them."""
        checked = self.contexts == "first" and self.judge == "ok"
        return self.streamed_to_us and self.tools == "none" and (self.stream == "observe" or checked)

    def says(self, heard: Event) -> Says | CallsTool:
        """What the chatbot plays; with n: 2 the first choice is always supported.

        Where words must leave early, it says its last sentence only after the asker has heard some.
        """
        if self.tools == "called":
            return CallsTool(text=CALLING)
        good = " ".join([FIRST, TRUE, LAST])
        said = good if self.answer == "supported" else " ".join([FIRST, FALSE, LAST])
        contexts = [] if self.contexts == "none" else [CONTEXT]
        place: Literal["first", "last"] = "last" if self.contexts == "last" else "first"
        if self.n == 2:
            return Says(good, contexts, also=[said])
        pieces = [FIRST, f" {said[len(FIRST) + 1 : -len(LAST) - 1]}", f" {LAST}"]
        return Says(
            said, contexts, contexts_in=place, pieces=pieces, until=heard if self.leaves_early else None
        )


AXES = (
    ("off", "buffer", "sentence", "observe"), ("fresh", "cached"), ("chat", "answers"), (1, 2),
    ("none", "called"), ("first", "last", "none"), ("ok", "slow", "down"), ("supported", "unsupported"),
)  # fmt: skip
CELLS = [cell for cell in (Cell(*values) for values in product(*AXES)) if not cell.left_out()]  # type: ignore[arg-type]


@dataclass(frozen=True)
class Got:
    """What came back, of each choice the text and how it ended."""

    texts: Sequence[str]
    finished: Sequence[str | None]
    decision: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Expected:
    """What has to."""

    outcome: str
    reason: str
    faithfulness: float | str | None
    finished: Sequence[str | None]
    leaves: Sequence[Sequence[str]]  # of each choice the sentences that do, in order
    canned: Sequence[bool]  # whether the canned text with the ticket's number stands there
    ticket: bool
    sent: str = ""  # what the ticket says that the asker has read


def expected(cell: Cell) -> Expected:
    """The rules, written down once more and in another way than in the gateway."""
    if cell.known == "cached":
        return Expected("ground_truth", "verified_exact", None, ["stop"] * cell.n, [[VERIFIED]] * cell.n, [False] * cell.n, False)  # fmt: skip
    good, said = [FIRST, TRUE, LAST], [FIRST, TRUE if cell.answer == "supported" else FALSE, LAST]
    observed = cell.stream == "observe" and cell.n == 1
    if cell.tools == "called":
        seen = [CALLING] if observed else []
        ends = "content_filter" if observed else "stop"
        return Expected("escalated", "unchecked", "unchecked", [ends] * cell.n, [seen] * cell.n, [True] * cell.n, True, " ".join(seen))  # fmt: skip
    if cell.judge != "ok" or cell.contexts == "none":
        if observed:
            return Expected("rag", "unchecked", "unchecked", ["stop"], [said], [False], True, " ".join(said))
        return Expected("escalated", "unchecked", "unchecked", ["stop"] * cell.n, [[]] * cell.n, [True] * cell.n, True)  # fmt: skip
    if cell.answer == "supported":
        return Expected("rag", "supported", 1.0, ["stop"] * cell.n, [good] * cell.n, [False] * cell.n, False)
    share = pytest.approx(2 / 3, abs=0.001)
    if observed:
        return Expected(
            "rag", "unsupported_statement", share, ["stop"], [said], [False], True, " ".join(said)
        )
    if cell.n == 2:
        return Expected("withheld", "unsupported_statement", share, ["stop", "content_filter"], [good, []], [False, True], True)  # fmt: skip
    seen = [FIRST] if cell.stream == "sentence" and cell.contexts == "first" else []
    return Expected("withheld", "unsupported_statement", share, ["content_filter"], [seen], [True], True, " ".join(seen))  # fmt: skip


class SwitchedJudge:
    """The judge that ships, which can be made slow or dead."""

    mode: ClassVar[str] = "ok"

    def __init__(self) -> None:
        self._judge = LocalJudge(load_shipped_support())

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        if self.mode == "slow":
            await asyncio.sleep(60)
        if self.mode == "down":
            raise ClassifierError("dead")
        return await self._judge.judge(answer, contexts, question=question)


@pytest.fixture(scope="module")
def gateways(chatbot: Chatbot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Stream, Gateway]]:
    """One for each setting of `faithfulness.streaming`, with one verified entry."""
    running: dict[Stream, Gateway] = {}
    entered: list[Gateway] = []
    with patch("gateway.checking.opening.open_judge", AsyncMock(return_value=SwitchedJudge())):
        for mode in ("buffer", "sentence", "observe"):
            folder = tmp_path_factory.mktemp(mode)
            text = CONFIGURATION.format(mode=mode, url=chatbot.base_url)
            running[mode] = Gateway(settings(folder, text)).__enter__()
            entered.append(running[mode])
            with running[mode].http("reviewer") as reviewer:
                entry = {"kind": "ground_truth", "language": "en", "phrasings": [KNOWN], "answer": VERIFIED, "state": "active"}  # fmt: skip
                assert reviewer.post("/v1/entries", json=entry).status_code < 300
    yield running
    for gateway in entered:
        gateway.__exit__(None, None, None)


def ask(gateway: Gateway, cell: Cell, heard: Event) -> Got:
    question = KNOWN if cell.known == "cached" else FRESH
    if cell.endpoint == "answers":
        body = gateway.answer(question)
        finish = "content_filter" if body["outcome"] in ("refused", "withheld") else "stop"
        return Got([body["text"]], [finish], body)
    messages: Any = [{"role": "user", "content": question}]
    with gateway.openai() as client:
        if cell.stream == "off":
            raw = client.chat.completions.with_raw_response.create(
                model="sekisho", messages=messages, n=cell.n
            )
            whole = raw.parse()
            decision: Any = (whole.model_extra or {})["sekisho"]
            texts = [choice.message.content or "" for choice in whole.choices]
            return Got(texts, [choice.finish_reason for choice in whole.choices], decision, dict(raw.headers))
        texts, finished = [""] * cell.n, [None] * cell.n
        for chunk in client.chat.completions.create(
            model="sekisho", messages=messages, n=cell.n, stream=True
        ):
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
                if texts[choice.index]:
                    heard.set()
                finished[choice.index] = choice.finish_reason or finished[choice.index]  # type: ignore[call-overload]
            decision = (chunk.model_extra or {}).get("sekisho")
    return Got(texts, finished, decision)


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_nothing_unsupported_or_unchecked_leaves_and_every_end_is_named(
    gateways: dict[Stream, Gateway], chatbot: Chatbot, monkeypatch: pytest.MonkeyPatch, cell: Cell
) -> None:
    gateway = gateways["buffer" if cell.stream == "off" else cell.stream]
    heard = Event()
    chatbot.reset()
    chatbot.always(cell.says(heard))
    monkeypatch.setattr(SwitchedJudge, "mode", cell.judge)
    if cell.judge == "slow":  # 30 s would be too long for the test, 0.05 s too short for a busy machine
        monkeypatch.setattr(gateway.services.pipeline._check, "_timeout_s", 0.05)
    got, want = ask(gateway, cell, heard), expected(cell)

    assert (got.decision["outcome"], got.decision["reason"]) == (want.outcome, want.reason)
    assert got.decision.get("faithfulness") == want.faithfulness
    assert list(got.finished) == list(want.finished)
    ticket = got.decision.get("ticket")
    assert bool(ticket) is want.ticket
    for text, leaves, canned in zip(got.texts, want.leaves, want.canned, strict=True):
        found = [one for one in (FIRST, TRUE, FALSE, LAST, CALLING, VERIFIED) if one in text]
        assert sorted(found, key=text.index) == list(leaves)
        assert (ticket is not None and ticket in text) is canned
        assert canned or text == " ".join(leaves)
    if got.headers:
        assert got.headers["x-sekisho-outcome"] == want.outcome
    assert len(chatbot.asked) == (cell.known == "fresh")
    assert all(bool(asked.body.get("stream")) is cell.streamed_to_us for asked in chatbot.asked)
    if ticket:
        assert read_before(gateway, ticket) == want.sent


def read_before(gateway: Gateway, ticket: str) -> str:
    """What the ticket tells a reviewer that the asker has read; its draft is there whole."""
    with gateway.http("reviewer") as reviewer:
        steps = reviewer.get(f"/v1/tickets/{ticket}").json()["steps"]
    sent = [step["found"]["text"] for step in steps if step["stage"] == "sent"]
    drafts = [step["found"]["text"] for step in steps if step["stage"] == "rag"]
    assert drafts == [""] or LAST in drafts[0]
    return "".join(sent)


def test_the_matrix_is_as_large_as_it_says() -> None:
    whole = list(product(*AXES))
    assert len(whole) == 1152
    assert len(CELLS) == len({str(cell) for cell in CELLS}) > 150


@pytest.mark.parametrize("field", ["stream", "n"])
def test_what_answers_does_not_have_is_refused_by_name(gateways: dict[Stream, Gateway], field: str) -> None:
    with gateways["buffer"].http() as client:
        reply = client.post("/v1/answers", json={"question": FRESH, field: 1})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, field)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"n": 0}, "n"), ({"n": 9}, "n"), ({"tools": [{"type": "function"}]}, "tools"), ({"functions": [{}]}, "functions"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "hours", "schema": {}}}}, "response_format"),
        ({"response_format": {}}, "response_format.type"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["buffer", "sentence", "observe"])
def test_what_we_cannot_do_is_refused_by_name(
    gateways: dict[Stream, Gateway], mode: Stream, body: dict[str, Any], param: str
) -> None:
    asked = {"messages": [{"role": "user", "content": FRESH}], "stream": True, **body}
    with gateways[mode].http() as client:
        reply = client.post("/v1/chat/completions", json=asked)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)
    assert json.dumps(reply.json())


def test_the_form_that_answers_have_may_be_asked_for(
    gateways: dict[Stream, Gateway], chatbot: Chatbot
) -> None:
    chatbot.reset()
    chatbot.says(TRUE, [CONTEXT])
    body = {"messages": [{"role": "user", "content": FRESH}], "response_format": {"type": "text"}}
    with gateways["buffer"].http() as client:
        reply = client.post("/v1/chat/completions", json=body)
    assert reply.json()["choices"][0]["message"]["content"] == TRUE
    assert "response_format" not in chatbot.asked[0].body


@pytest.mark.parametrize("mode", ["sentence", "observe"])
def test_who_hangs_up_is_not_waited_for_and_what_left_is_recorded(
    gateways: dict[Stream, Gateway], chatbot: Chatbot, mode: Stream
) -> None:
    chatbot.reset()
    waiting = Event()
    pieces = [FIRST, f" {TRUE}", f" {LAST}"]
    chatbot.says("".join(pieces), [CONTEXT], pieces=pieces, until=waiting)
    body = {"messages": [{"role": "user", "content": FRESH}], "stream": True}
    with gateways[mode].http() as client:
        with client.stream("POST", "/v1/chat/completions", json=body) as stream:
            request_id = stream.headers["x-request-id"]
            next(line for line in stream.iter_lines() if "opens" in line)
        assert chatbot.hung_up.wait(30)
        waiting.set()
    assert [row["outcome"] for row in _recorded(gateways[mode], request_id)] == ["rag"]


def _recorded(gateway: Gateway, request_id: str) -> list[dict[str, Any]]:
    """The outcomes of a request, once they are written; nobody is told when they are."""

    async def read() -> list[dict[str, Any]]:
        for _ in range(200):
            await gateway.services.telemetry.flush()
            async with gateway.services.stores.database.connect() as connection:
                query = select(outcomes).where(outcomes.c.request_id == request_id)
                if rows := (await connection.execute(query)).mappings().all():
                    return [dict(row) for row in rows]
            await asyncio.sleep(0.05)
        return []

    return gateway.do(read())
