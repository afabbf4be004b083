"""The door to an OpenAI-compatible model: one question out, one reply in, or `UpstreamUnavailable`.

The official client keeps the connections, retries with jitter and honours `Retry-After`. Its typed
methods are left alone: building and checking their models costs three times the call itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import aiohttp
import httpx2
from openai import APIError, APIStatusError, AsyncOpenAI, AsyncStream, DefaultAioHttpClient, OpenAIError

from gateway.domain import Tokens, Turn
from gateway.errors import ToolCalled, UpstreamUnavailable
from gateway.models.halves import whole
from gateway.models.sizes import TooLarge, limited
from gateway.models.wires import WIRES, NoText, WireName
from gateway.settings import LlmSettings
from gateway.tracing import Call, calling
from storage.circuit import Circuit

__all__ = ["ChatModel", "Completion", "OnText"]

OnText = Callable[[str, Mapping[str, Any]], None]  # is told text and reply as far as they came

_CONNECTIONS = 1000
_IDLE_S = 30.0  # shorter than the keep-alive of common servers would be safe, longer saves handshakes
_CUT = (aiohttp.ClientPayloadError, aiohttp.http_exceptions.PayloadEncodingError, httpx2.RemoteProtocolError)
_SPEAKS_OF_THE_REQUEST = frozenset({400, 413, 422})  # an asker can cause these: they don't open the circuit


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model answered, and the whole reply for whoever looks for contexts in it."""

    text: str
    model: str
    reply: Mapping[str, Any]
    first_s: float | None = None  # until the first words, where they were streamed
    cut_off: bool = False  # by the model's limit on its length

    @property
    def tokens(self) -> Tokens | None:
        """What the reply says that it took, under the names of either contract."""
        usage = self.reply.get("usage")
        if not isinstance(usage, Mapping):
            return None
        read = usage.get("prompt_tokens", usage.get("input_tokens"))
        written = usage.get("completion_tokens", usage.get("output_tokens"))
        return Tokens(read, written) if _is_count(read) and _is_count(written) else None


class ChatModel:
    """An OpenAI-compatible model at a base URL, with time limits, retries and a circuit breaker."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        wire: WireName = "chat",
        connect_timeout_s: float = 3.0,
        timeout_s: float = 60.0,
        max_retries: int = 2,
        breaker_failures: int = 5,
        breaker_reset_s: float = 30.0,
        extra_body: Mapping[str, Any] | None = None,
        name: str = "the chatbot",
    ) -> None:
        self.model = model
        self._name = name
        self._base_url = base_url
        self._wire = WIRES[wire]
        self._timeout_s = timeout_s
        self._extra_body = dict(extra_body or {})
        limits = httpx2.Limits(max_connections=_CONNECTIONS, keepalive_expiry=_IDLE_S)
        timeout = httpx2.Timeout(timeout_s, connect=connect_timeout_s)
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or "none",  # the client insists on one; servers without keys don't look
            max_retries=max_retries,
            timeout=timeout,
            http_client=DefaultAioHttpClient(
                limits=limits,
                timeout=timeout,
                event_hooks={"response": [self._wait_no_longer_than_askers, limited]},
            ),
        )
        self._breaker = Circuit(
            failure_threshold=breaker_failures,
            recovery_timeout=breaker_reset_s,
            expected_exception=UpstreamUnavailable,
            name=name,
        )

    @classmethod
    def of(cls, settings: LlmSettings, *, name: str = "the language model") -> Self:
        """The model that a section of the configuration describes."""
        return cls(
            base_url=settings.base_url,
            model=settings.model,
            api_key=settings.api_key.get_secret_value() if settings.api_key else None,
            timeout_s=settings.timeout_s,
            name=name,
        )

    async def complete(
        self,
        turns: Sequence[Turn],
        options: Mapping[str, Any] | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        """The model's answer to a conversation; streamed to `on_text`.

        Raises:
            ToolCalled: a tool call instead of an answer.
            UpstreamUnavailable: no answer, or nothing that can be read as one.
        """
        reply, first_s = await self._reply(self._body(turns, options or {}), on_text)
        return self._read(reply, first_s)

    async def choices(
        self, turns: Sequence[Turn], options: Mapping[str, Any], n: int
    ) -> tuple[Completion | UpstreamUnavailable, ...]:
        """Up to `n` answers, each by itself; one that can't be read says why.

        Raises:
            UpstreamUnavailable: no answer, or none that can be read.
        """
        reply, _ = await self._reply({**self._body(turns, options), **self._wire.several(n)}, None)
        read = [self._attempt(one) for one in self._wire.split(reply)[:n]]
        failed = [one for one in read if isinstance(one, UpstreamUnavailable)]
        if len(failed) == len(read):
            raise failed[0]
        return tuple(read)

    def _attempt(self, reply: Mapping[str, Any]) -> Completion | UpstreamUnavailable:
        try:
            return self._read(reply, None)
        except UpstreamUnavailable as exc:
            return exc

    def _read(self, reply: Mapping[str, Any], first_s: float | None) -> Completion:
        text = self._wire.text(reply)
        if isinstance(text, NoText):
            failure = ToolCalled if text.called else UpstreamUnavailable
            raise failure(f"{self._name} {text.why}", cause=text.cause)
        named = reply.get("model")
        model = named if isinstance(named, str) and named else self.model
        return Completion(text, model, reply, first_s, self._wire.cut_off(reply))

    async def _reply(
        self, body: dict[str, Any], on_text: OnText | None
    ) -> tuple[Mapping[str, Any], float | None]:
        """The whole reply and, where it was streamed, the seconds until the first words of its text."""
        if on_text is not None:
            body = {**self._wire.streaming, **body, "stream": True}
        body = {name: value for name, value in body.items() if value is not None}
        with self._breaker.trying() as may:
            if not may:
                raise self._left_alone()
            call = Call(model=self.model, base_url=self._base_url, options=body)
            with calling(call):
                call.reply, call.first_s = await self._asked(body, call.headers, on_text)
                return call.reply, call.first_s

    @property
    def failing(self) -> bool:
        """Whether it failed so often in a row that it is left alone, and has not answered since."""
        return not self._breaker.closed

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _body(self, turns: Sequence[Turn], options: Mapping[str, Any]) -> dict[str, Any]:
        messages = [{"role": turn.role, "content": turn.text} for turn in turns]
        passed = {**self._wire.passed(options), **self._extra_body, "model": self.model}
        return {**passed, self._wire.conversation: messages}

    async def _asked(
        self, body: dict[str, Any], headers: Mapping[str, str], on_text: OnText | None
    ) -> tuple[Mapping[str, Any], float | None]:
        """The reply, with the circuit told how it went.

        The circuit hears of it only after the wait is over: an asker who leaves while we wait says
        nothing about the chatbot.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                if on_text is not None:
                    answered = await self._streamed(body, headers, on_text)
                else:
                    response = await self._client.post(
                        self._wire.path, cast_to=httpx2.Response, body=body, options={"headers": headers}
                    )
                    answered = _object(response.content), None
        except APIStatusError as exc:
            what = f"answered {exc.status_code}{_meaning(exc.status_code)}"
            failure = self._unavailable(what, cause=f"http_{exc.status_code}")
            if exc.status_code in _SPEAKS_OF_THE_REQUEST:
                if not self._breaker.closed:
                    self._breaker.reset()  # it reads what it is sent
                raise failure from None  # the client's error repeats the reply, which may repeat a key
            with self._breaker:
                raise failure from None
        except (TimeoutError, OpenAIError, aiohttp.ClientError, httpx2.HTTPError) as exc:
            with self._breaker:
                why = None if type(exc) is APIError else exc  # an error event may repeat a key, too
                what, cause = _silence(exc, self._timeout_s)
                raise self._unavailable(what, cause=cause) from why
        except (ValueError, RecursionError) as exc:
            wrong = "nested too deeply" if isinstance(exc, RecursionError) else str(exc)
            with self._breaker:
                raise self._unavailable(f"answered what is not JSON ({wrong})", cause="unreadable") from None
        with self._breaker:
            return answered

    async def _streamed(
        self, body: dict[str, Any], headers: Mapping[str, str], on_text: OnText
    ) -> tuple[Mapping[str, Any], float | None]:
        """The reply put together from its stream, told as it comes; a server may answer in one piece."""
        started, first_s = perf_counter(), None
        async with await self._client.post(
            self._wire.path,
            cast_to=object,
            body=body,
            options={"headers": headers},
            stream=True,
            stream_cls=AsyncStream[object],
        ) as stream:
            if "event-stream" not in stream.response.headers.get("content-type", ""):
                return _object(await stream.response.aread()), None
            chunks = self._wire.chunks()
            async for event in stream:
                if not isinstance(event, Mapping):
                    raise ValueError(f"an event that is a JSON {type(event).__name__}, not an object")
                chunks.add(event)
                if first_s is None and chunks.text:
                    first_s = perf_counter() - started
                on_text(chunks.text, chunks.reply)
        if not chunks.finished:
            raise httpx2.RemoteProtocolError("the stream broke off")
        return chunks.reply, first_s

    async def _wait_no_longer_than_askers(self, response: httpx2.Response) -> None:
        """Where `Retry-After` leaves no time for an answer, a person gets the question now."""
        asked = response.headers.get("retry-after", "")
        if asked.isdecimal() and int(asked) * (self._client.max_retries + 1) > self._timeout_s:
            response.headers["x-should-retry"] = "false"  # the client obeys it

    def _left_alone(self) -> UpstreamUnavailable:
        breaker = self._breaker
        return self._unavailable(
            f"failed {breaker.failure_count} times in a row and is left alone "
            f"for {max(breaker.open_remaining, 1)} s; the last time {breaker.last_failure}",
            cause="left_alone",
        )

    def _unavailable(self, what: str, *, cause: str) -> UpstreamUnavailable:
        return UpstreamUnavailable(f"{self._name} {what}", cause=cause)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _object(content: bytes) -> Mapping[str, Any]:
    """The JSON object of a body, as `whole` makes it; ValueError says what it was instead."""
    if not content.strip():
        raise ValueError("an empty body")
    try:
        reply = json.loads(content)
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as exc:
        raise ValueError(f"{exc.msg} at character {exc.pos} of {len(exc.doc)}") from None
    if not isinstance(reply, dict):
        raise ValueError(f"a JSON {type(reply).__name__}, not an object")
    return dict(whole(reply))


def _meaning(status: int) -> str:
    match status:
        case 401 | 403:
            return " (the key was not accepted)"
        case 404:
            return " (no such model or path)"
        case 429:
            return " (too many requests)"
        case _:
            return ""


def _silence(exc: BaseException, limit_s: float) -> tuple[str, str]:
    """What it did, and the cause: too late, or not there at all; the client calls both a timeout."""
    if type(exc) is APIError:
        return "broke off its answer with an error", "broke_off"
    cause = _bottom(exc)
    if isinstance(cause, TooLarge):
        return str(cause), "unreadable"
    if isinstance(cause, _CUT):
        return "broke off its answer", "broke_off"
    if isinstance(cause, TimeoutError) and not isinstance(cause, aiohttp.ConnectionTimeoutError):
        return f"did not answer within {limit_s:g} s", "timeout"
    return f"could not be reached ({type(cause).__name__})", "unreachable"


def _bottom(exc: BaseException) -> BaseException:
    """What went wrong first. Only its name is told, as messages can hold addresses and keys."""
    while isinstance(exc.__cause__, Exception):  # asyncio's own timeout is caused by a cancellation
        exc = exc.__cause__
    return exc
