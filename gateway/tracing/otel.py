"""Traces for OpenTelemetry, with its GenAI conventions. Needs the extra `otel`.

FastAPI's own spans name query strings and its logs the messages of exceptions, which hold texts; so the
span of a request is ours, and FastAPI's are off. No provider is made the process's own.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial

from anyio import to_thread
from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from classifiers.faithfulness import Checked, Unchecked
from gateway.domain import Finding, Outcome, Question, Stage
from gateway.tracing import Call, traced
from gateway.tracing.findings import (
    Attributes,
    evaluated,
    of_call,
    of_finding,
    of_outcome,
    of_question,
    of_reply,
)

__all__ = ["OtelTrace", "TracedRequests", "open_otel"]

CONVENTIONS = "https://opentelemetry.io/schemas/1.40.0"
_FLUSH_MS = 5_000  # what is not exported by then is lost: a collector that is away holds no gateway up
_CONTEXT = TraceContextTextMapPropagator()  # no baggage: it would go on to the chatbot


class OtelTrace:
    """The trace of one process; which request a span belongs to is in the context."""

    def __init__(self, provider: otel.TracerProvider, *, version: str, texts: bool) -> None:
        self._tracer = provider.get_tracer("sekisho", version, schema_url=CONVENTIONS)
        self._texts = texts

    @contextmanager
    def request(self, scope: Scope) -> Iterator[Callable[[Message], None]]:
        """A request, which continues the trace that its `traceparent` names; told the response's head."""
        headers = Headers(scope=scope)
        caller = _CONTEXT.extract(headers)
        method, request_id = scope["method"], scope["state"]["request_id"]
        about: Attributes = {"http.request.method": method, "sekisho.request_id": request_id}
        with self._span(method, about, context=caller, kind=SpanKind.SERVER) as span:
            try:
                yield partial(_responded, span)
            finally:  # which route it is was not known before
                if route := getattr(scope.get("route"), "path", None):
                    span.update_name(f"{method} {route}")
                    span.set_attribute("http.route", route)

    @contextmanager
    def question(self, question: Question, /) -> Iterator[Callable[[Outcome], None]]:
        """A question of the request."""
        with self._span("question", of_question(question)) as span:
            yield lambda outcome: span.set_attributes(of_outcome(outcome))

    @contextmanager
    def stage(self, stage: Stage, /) -> Iterator[Callable[[Finding], None]]:
        """A stage of the way."""
        with self._span(stage, {}) as span:
            yield partial(self._found, span)

    @contextmanager
    def call(self, call: Call, /) -> Iterator[None]:
        """A model's answer; its server is told the trace."""
        with self._span(f"chat {call.model}", of_call(call), kind=SpanKind.CLIENT) as span:
            _CONTEXT.inject(call.headers)
            yield
            span.set_attributes(of_reply(call.reply, call.first_s))

    def _found(self, span: Span, found: Finding) -> None:
        span.set_attributes(of_finding(found))
        if isinstance(found, Checked | Unchecked):
            span.add_event("gen_ai.evaluation.result", evaluated(found, texts=self._texts))

    @contextmanager
    def _span(
        self,
        name: str,
        about: Attributes,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        context: Context | None = None,
    ) -> Iterator[Span]:
        """A span that is current inside. An error is told by its type, for its message may hold texts."""
        with self._tracer.start_as_current_span(
            name, context, kind, about, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as exc:
                span.set_attribute("error.type", type(exc).__name__)
                span.set_status(StatusCode.ERROR)
                raise


class TracedRequests:
    """A span around every request to the API. Plain ASGI, as it stands on the hot path."""

    def __init__(self, app: ASGIApp, *, trace: OtelTrace) -> None:
        self._app = app
        self._trace = trace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return

        with self._trace.request(scope) as responded, traced(self._trace):

            async def telling(message: Message) -> None:
                if message["type"] == "http.response.start":
                    responded(message)
                await send(message)

            await self._app(scope, receive, telling)


@asynccontextmanager
async def open_otel(*, version: str, texts: bool) -> AsyncIterator[OtelTrace]:
    """Traces to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names."""
    provider = TracerProvider(resource=Resource.create({"service.version": version, **_name()}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    try:
        yield OtelTrace(provider, version=version, texts=texts)
    finally:
        await to_thread.run_sync(_close, provider)


def _name() -> dict[str, str]:
    """Ours, unless the environment says another."""
    attributes = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in attributes
    return {} if named else {"service.name": "sekisho"}


def _close(provider: TracerProvider) -> None:
    provider.force_flush(_FLUSH_MS)
    provider.shutdown()


def _responded(span: Span, message: Message) -> None:
    span.set_attribute("http.response.status_code", message["status"])
    if message["status"] >= 500:
        span.set_status(StatusCode.ERROR)
        span.set_attribute("error.type", str(message["status"]))
    said = Headers(raw=message.get("headers", []))
    for name in ("outcome", "reason"):
        if value := said.get(f"x-sekisho-{name}"):
            span.set_attribute(f"sekisho.{name}", value)
