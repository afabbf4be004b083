"""Who answers the cases: the gateway, the chatbot alone, a running gateway, or the file itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import httpx2
import numpy as np
import openai

from encoders import Encoded, Encoder, encode_one
from evaluation.answers.cases import AnswerCase, Context
from evaluation.answers.results import Said
from evaluation.served import carry_over, carry_over_shelf, shelf_digest
from gateway.assembly import Services, assemble
from gateway.domain import Conversation, NothingRelevant, Passage, Question, Tokens, Turn
from gateway.errors import InvalidRequest, UpstreamUnavailable
from gateway.rag.upstream import UpstreamRag
from gateway.recording.logs import configure_logging
from gateway.routes.decision import answer_body
from gateway.settings import Settings
from gateway.stages import Rag

__all__ = ["OUT_OF_REACH", "Chatbot", "Gateway", "Recorded", "RunningGateway", "Target", "open_target"]

ANSWERS = frozenset({"ground_truth", "confirmed_answer", "rag"})
OUT_OF_REACH = frozenset({"unreachable", "http_401", "http_403", "http_404"})
"""Causes for which no other case would be answered either: a wrong address or key."""


class Target(Protocol):
    """Answers cases. Raises `SekishoError` where it can't."""

    @property
    def version(self) -> str:
        """Another one whenever the same case could be answered otherwise."""
        ...

    @property
    def encoder(self) -> Encoder | None:
        """What it encodes with, so that nobody loads the same models again."""
        ...

    async def ask(self, case: AnswerCase, /) -> Said: ...


@asynccontextmanager
async def open_target(
    name: str, settings: Settings, *, url: str | None, key: str, entries: Sequence[Path], tenant: str
) -> AsyncIterator[Target]:
    """The target of this name; the gateway and the chatbot get stores of their own, which are thrown away.

    Raises:
        SekishoError: naming what can't be opened.
    """
    if name == "recorded":
        yield Recorded()
    elif url is not None:
        async with openai.AsyncOpenAI(base_url=f"{url.rstrip('/')}/v1", api_key=key or "none") as client:
            yield RunningGateway(client, url)
    elif name == "upstream" and settings.upstream.kind == "openai":
        rag = UpstreamRag.of(settings.upstream, extra_body=settings.upstream.extra_body)
        try:
            yield Chatbot(rag, None, _digest(settings, "upstream"), tenant)
        finally:
            await rag.close()
    else:
        async with _assembled(settings, entries, tenant) as (services, chatbot, kept):
            if name == "upstream":
                chatbot_version = _digest(settings, "upstream", "policy", "encoder")
                yield Chatbot(chatbot, services.stores.encoder, chatbot_version, tenant)
            else:
                yield Gateway(services, f"{_digest(settings, *_THAT_ANSWER)}+{kept}", tenant)


class Recorded:
    """The answers that stand in the file."""

    version = "recorded"
    encoder = None

    async def ask(self, case: AnswerCase, /) -> Said:
        """What was answered then."""
        if case.recorded_answer is None:
            raise InvalidRequest("the case has no recorded_answer")
        text = case.recorded_answer
        return Said(
            answer=text, contexts=case.recorded_contexts, outcome="recorded", answered=bool(text.strip())
        )


class Chatbot:
    """The chatbot alone, without anything before or behind it."""

    def __init__(self, rag: Rag, encoder: Encoder | None, digest: str, tenant: str) -> None:
        self.version = f"upstream:{digest}"
        self.encoder = encoder
        self._rag = rag
        self._tenant = tenant

    async def ask(self, case: AnswerCase, /) -> Said:
        """Its draft."""
        question = Question(
            text=case.real_question, language=case.lang, conversation=_asked(case, self._tenant)
        )
        encoded = (
            await encode_one(self.encoder, question.text)
            if self.encoder
            else Encoded(question.text, np.zeros(0, dtype=np.float32))
        )
        draft = await self._rag.ask(question, encoded)
        contexts = tuple(map(_context, draft.contexts))
        if isinstance(draft, NothingRelevant):
            return Said(
                answer="", contexts=contexts, outcome="nothing_relevant", answered=False, reason=draft.reason
            )
        return Said(answer=draft.text, contexts=contexts, outcome="rag", tokens=draft.tokens)


class Gateway:
    """The whole way of a question, by the code that serves. Tickets get no number: runs are compared."""

    def __init__(self, services: Services, digest: str, tenant: str) -> None:
        self.version = f"gateway:{digest}"
        self.encoder = services.stores.encoder
        self._services = services
        self._tenant = tenant

    async def ask(self, case: AnswerCase, /) -> Said:
        """What an asker would get."""
        asked = _asked(case, self._tenant)
        return _said_of(answer_body(await self._services.dry_run.answer(asked), asked.request_id))


class RunningGateway:
    """A gateway that runs elsewhere. Nobody tells when it changed: `--fresh` asks it again."""

    encoder = None

    def __init__(self, client: openai.AsyncOpenAI, url: str) -> None:
        self.version = f"gateway:{url}"
        self._client = client
        self._url = url

    async def ask(self, case: AnswerCase, /) -> Said:
        """What it answers."""
        messages = [{"role": turn.role, "content": turn.text} for turn in _turns(case)]
        try:
            body: dict[str, Any] = await self._client.post(
                "/answers", body={"messages": messages}, cast_to=dict[str, Any]
            )
        except openai.APIStatusError as exc:
            raise UpstreamUnavailable(
                f"{self._url} answered {exc.status_code}: {_reason(exc)}", cause=f"http_{exc.status_code}"
            ) from exc
        except openai.APIConnectionError as exc:
            if isinstance(exc, openai.APITimeoutError) and not isinstance(
                exc.__cause__, httpx2.ConnectTimeout
            ):
                raise UpstreamUnavailable(f"{self._url} did not answer in time", cause="timeout") from exc
            raise UpstreamUnavailable(f"no gateway answers at {self._url}", cause="unreachable") from exc
        try:
            return _said_of(body)
        except (KeyError, TypeError) as exc:
            raise UpstreamUnavailable(
                f"{self._url} answered no outcome: expected Sekisho's /v1/answers", cause="unreadable"
            ) from exc


def _reason(refused: openai.APIStatusError) -> str:
    """What an error in OpenAI's envelope says; of another one, what its status is called."""
    match refused.body:
        case {"message": str(said)}:
            return said
        case _:
            return refused.response.reason_phrase


def _said_of(body: Mapping[str, Any]) -> Said:
    """What `/v1/answers` says, as far as metrics need it."""
    drafts = [step["found"] for one in body["questions"] for step in one["steps"] if step["stage"] == "rag"]
    passages = [passage for draft in drafts for passage in draft.get("contexts", ())]
    texts = [draft["text"] for draft in drafts if "text" in draft]
    answered = body["outcome"] in ANSWERS and bool(body["questions"])
    return Said(
        answer=body["text"],
        contexts=tuple(Context(passage["text"], passage.get("source", "")) for passage in passages),
        outcome=body["outcome"],
        answered=answered,
        reason=body.get("reason", ""),
        entry=body.get("entry"),
        draft="\n\n".join(texts) if texts and not answered else None,
        tokens=_tokens(drafts),
    )


def _tokens(drafts: Sequence[Mapping[str, Any]]) -> Tokens | None:
    counted = [draft["tokens"] for draft in drafts if draft.get("tokens")]
    if not counted:
        return None
    return Tokens(sum(one["read"] for one in counted), sum(one["written"] for one in counted))


@asynccontextmanager
async def _assembled(
    settings: Settings, entries: Sequence[Path], tenant: str
) -> AsyncIterator[tuple[Services, Rag, str]]:
    """The gateway over stores of its own: examples, cuts and entries of the served ones, and of files."""
    caught: list[Rag] = []

    def catch(rag: Rag) -> Rag:
        caught.append(rag)
        return rag

    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="sekisho-"))
        scratch = settings.stored_in(Path(folder))
        configure_logging(settings.logging.model_copy(update={"level": "error"}))
        await carry_over(settings, scratch)
        await carry_over_shelf(settings, scratch, entries, tenant=tenant)
        services = await stack.enter_async_context(assemble(scratch, around_rag=catch))
        yield services, caught[0], await shelf_digest(services.stores.entries, tenant)


_THAT_ANSWER = (
    "policy", "gate", "replies", "cache", "upstream", "faithfulness", "understanding", "encoder", "review",
)  # fmt: skip


def _digest(settings: Settings, *sections: str) -> str:
    """Of everything in these sections, of the files they name, and of the release."""
    told = hashlib.sha256(version("sekisho").encode())
    told.update(json.dumps(settings.model_dump(mode="json", include={*sections}), sort_keys=True).encode())
    for root in _paths(settings.model_dump(include={*sections})):
        for file in _files(settings.path(root)):
            told.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
    return told.hexdigest()[:16]


def _paths(dumped: Any) -> Iterator[Path]:
    """Every path in settings, however deep, in the order in which they are declared."""
    match dumped:
        case Path():
            yield dumped
        case dict() | list():
            for part in dumped.values() if isinstance(dumped, dict) else dumped:
                yield from _paths(part)


def _files(root: Path) -> list[Path]:
    return sorted(one for one in root.rglob("*") if one.is_file()) if root.is_dir() else [root]


def _asked(case: AnswerCase, tenant: str) -> Conversation:
    told = hashlib.sha256(json.dumps(asdict(case), ensure_ascii=False).encode()).hexdigest()
    return Conversation(turns=_turns(case), tenant=tenant, request_id=told[:24])


def _turns(case: AnswerCase) -> tuple[Turn, ...]:
    return (*case.messages, Turn("user", case.real_question))


def _context(passage: Passage) -> Context:
    return Context(passage.text, passage.source)
