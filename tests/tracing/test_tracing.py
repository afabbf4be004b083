"""Traces as a collector gets them: one tree per request, with names, scores and hashes, and no texts."""

from __future__ import annotations

import gzip
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from gateway.domain import Turn
from gateway.errors import ConfigurationError, UpstreamUnavailable
from gateway.models.completions import ChatModel
from gateway.settings import Settings, TelemetrySettings
from gateway.tracing import traced
from gateway.tracing.opening import open_tracing
from gateway.tracing.otel import OtelTrace
from tests.chatbot import Chatbot, Fails, Says
from tests.gateway.running import Gateway, settings

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "Zebrafinch"  # in every text of these tests, so in no span
CONFIG = """
gate: {{enabled: false}}
policy: {{must: {{description: Anything.}}}}
upstream: {{kind: openai, base_url: "{url}", model: helper, contexts: azure-on-your-data, max_retries: 0}}
"""


@dataclass
class Collector:
    """Takes OTLP over HTTP, as a collector does, and keeps what came."""

    spans: list[Any] = field(default_factory=list)
    services: set[str] = field(default_factory=set)
    raw: bytes = b""

    def __enter__(self) -> Self:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.take(
                    gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body
                )
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self, body: bytes) -> None:
        self.raw += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.services |= {
                one.value.string_value for one in resource.resource.attributes if one.key == "service.name"
            }
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]


def said(span: Any) -> dict[str, Any]:
    """The attributes of a span or an event as they were set."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


@pytest.fixture
def chatbot() -> Iterator[Chatbot]:
    with Chatbot() as bot:
        yield bot


@pytest.fixture
def memory() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def trace(memory: InMemorySpanExporter) -> OtelTrace:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    return OtelTrace(provider, version="1", texts=False)


def test_a_collector_gets_one_tree_per_request_that_continues_the_callers(
    chatbot: Chatbot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chatbot.says(f"The {SECRET} opens at nine.", contexts=[f"The {SECRET} opens at nine."])
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        helpdesk = settings(tmp_path, CONFIG.format(url=chatbot.base_url))
        with Gateway(helpdesk) as gateway, gateway.http() as client:
            asked = {
                "messages": [{"role": "user", "content": f"When does the {SECRET} open?"}],
                "temperature": 0.5,
            }
            reply = client.post(
                "/v1/chat/completions?q=" + SECRET, json=asked, headers={"traceparent": CALLER}
            )
            assert reply.headers["x-sekisho-outcome"] == "rag", reply.text
            streamed = client.post("/v1/chat/completions", json={**asked, "stream": True})
            assert "[DONE]" in streamed.text
            client.get("/livez")
    assert collector.services == {"sekisho"}
    assert SECRET.encode() not in collector.raw
    requests = collector.named("POST /v1/chat/completions")
    assert len(requests) == 2
    spans = [span for span in collector.spans if span.trace_id.hex() == CALLER.split("-")[1]]
    by_name = {span.name: span for span in spans}
    request, question, call = (
        by_name["POST /v1/chat/completions"],
        by_name["question"],
        by_name["chat helper"],
    )
    assert request.parent_span_id.hex() == CALLER.split("-")[2]
    assert question.parent_span_id == request.span_id
    for stage in ("gate", "cache", "rag", "faithfulness"):
        assert by_name[stage].parent_span_id == question.span_id, stage
    assert call.parent_span_id == by_name["rag"].span_id
    assert len(spans) == 7
    assert said(request)["http.response.status_code"] == 200
    assert said(request)["sekisho.outcome"] == said(question)["sekisho.outcome"] == "rag"
    told = said(call)
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.request.model"] == "helper"
    assert told["gen_ai.response.model"] == "chatbot-1"
    assert told["gen_ai.request.temperature"] == 0.5
    assert told["gen_ai.usage.input_tokens"] >= 0
    [event] = by_name["faithfulness"].events
    assert event.name == "gen_ai.evaluation.result"
    assert said(event) == {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "supported",
    }
    sent = chatbot.asked[0].headers["traceparent"].split("-")
    assert sent[1:3] == [call.trace_id.hex(), call.span_id.hex()]


def test_nothing_is_traced_and_no_header_sent_unless_asked_for(
    chatbot: Chatbot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chatbot.says("At nine.", contexts=["At nine."])
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        text = CONFIG.format(url=chatbot.base_url) + "telemetry: {otel: false}\n"
        with Gateway(settings(tmp_path, text)) as gateway, gateway.http() as client:
            client.post(
                "/v1/answers", json={"question": "When do you open?"}, headers={"traceparent": CALLER}
            )
    assert collector.spans == []
    assert "traceparent" not in chatbot.asked[-1].headers


async def test_a_call_that_fails_is_told_by_its_type_alone(
    chatbot: Chatbot, trace: OtelTrace, memory: InMemorySpanExporter
) -> None:
    chatbot.next(Fails(500))
    model = ChatModel(base_url=chatbot.base_url, model="helper", max_retries=0)
    with traced(trace), pytest.raises(UpstreamUnavailable):
        await model.complete([Turn("user", SECRET)])
    await model.close()
    [span] = memory.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is None
    assert span.attributes
    assert span.attributes["error.type"] == "UpstreamUnavailable"
    assert not span.events


async def test_a_reply_that_says_odd_things_of_itself_breaks_nothing(
    chatbot: Chatbot, trace: OtelTrace, memory: InMemorySpanExporter
) -> None:
    chatbot.next(Says("Yes.", extra={"id": 7, "usage": {"prompt_tokens": "many", "completion_tokens": True}}))
    model = ChatModel(base_url=chatbot.base_url, model="helper")
    with traced(trace):
        await model.complete([Turn("user", "?")], {"temperature": 0, "stop": [SECRET]})
    await model.close()
    [span] = memory.get_finished_spans()
    told = dict(span.attributes or {})
    assert told["gen_ai.response.finish_reasons"] == ("stop",)
    assert not {"gen_ai.response.id", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"} & told.keys()
    assert SECRET not in str(told)


@pytest.mark.parametrize(
    ("environment", "configured", "on"),
    [
        pytest.param({}, None, False, id="nobody asked"),
        pytest.param({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"}, None, True, id="by the environment"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"}, None, False, id="switched off there"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_EXPORTER": "none"}, None, False, id="no traces there"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, False, False, id="the file wins"),
        pytest.param({}, True, True, id="by the file"),
    ],
)  # fmt: skip
async def test_who_switches_it_on(
    environment: dict[str, str], configured: bool | None, on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    wanted = Settings(telemetry=TelemetrySettings(otel=configured))
    async with open_tracing(wanted, version="1") as trace:
        assert (trace is not None) is on


async def test_who_asks_for_it_without_the_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gateway.tracing.otel", None)
    with pytest.raises(ConfigurationError, match="extra otel"):
        async with open_tracing(Settings(telemetry=TelemetrySettings(otel=True)), version="1"):
            pass
