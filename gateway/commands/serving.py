"""`serve`, `demo` and `check-config`."""

from __future__ import annotations

import asyncio
import gc
import math
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer
import uvicorn
from fastapi import FastAPI
from rich.text import Text

from classifiers.gate.thinness import thin_notes
from gateway.app import create_app
from gateway.assembly import Services, assemble
from gateway.checking.modes import patterns_without
from gateway.commands import ConfigOption, console, run
from gateway.configuration.loading import find_settings
from gateway.demo import CarelessRag, demo_settings, load, say_how
from gateway.documents.reading import RefusedFile, SourceDocument, read_documents
from gateway.errors import ConfigurationError
from gateway.gatekeeping.lists import read_rules, told_of
from gateway.gatekeeping.policy import read_policy
from gateway.recording.logs import configure_logging
from gateway.settings import ServerSettings, Settings
from gateway.stages import Rag
from gateway.stores import FOR_ONE_GATEWAY
from gateway.streaming import OBSERVED

__all__ = ["add_to", "serve"]

_BESIDES_S = 5.0  # what a request takes besides the chatbot's answer and the check: gate, cache, a ticket
_UNWINDING_S = 5.0  # until who was cut off has closed what they held

Ready = Callable[[Services, str], Awaitable[None]]


Port = Annotated[
    int | None, typer.Option(help="Listen here instead of the configured port.", min=0, max=65535)
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("serve")(serve_command)
    app.command("demo")(demo_command)
    app.command("check-config")(check_config)


def serve_command(config: ConfigOption = None, port: Port = None) -> None:
    """Run the gateway."""
    settings = _at_port(find_settings(config), port)
    configure_logging(settings.logging)
    run(serve(settings, _say_where, alone=True))


def demo_command(
    port: Port = None,
    folder: Annotated[Path, typer.Option(help="Keep the demo's data there.")] = Path(".demo"),
) -> None:
    """Run the gateway with the two example helpdesks."""
    settings = _at_port(demo_settings(folder), port)
    if not settings.path(settings.storage.folder).exists():
        console.print("Reading two example helpdesks; the first start takes a minute or more.")
    configure_logging(settings.logging)

    async def load_and_serve() -> None:
        with console.status("reading and indexing the helpdesks"):
            await load(settings)
        await serve(settings, say_how, around_rag=CarelessRag, alone=True)

    run(load_and_serve())


def check_config(config: ConfigOption = None) -> None:
    """Read the configuration as `serve` would, and say what it means."""
    settings = find_settings(config)
    policy, rules = read_policy(settings), read_rules(settings)
    forbidden = len(policy.must_not.examples) + sum(len(topic.examples) for topic in policy.topics)
    found = list(read_documents([settings.path(folder) for folder in settings.policy.must.documents]))
    warnings = list(_warnings(settings, found))
    console.print(
        f"The configuration {'can be used, with warnings' if warnings else 'is sound'}: "
        f"{len(policy.must.examples)} must, {len(policy.may.examples)} may and "
        f"{forbidden} must-not examples in {len(policy.topics)} topics; answers by {settings.upstream.kind}."
    )
    if settings.policy.must.documents:
        refused = sum(isinstance(one, RefusedFile) for one in found)
        console.print(f"{len(found) - refused} documents read, {refused} can't be.")
    for warning in warnings:
        console.print(Text(f"WARNING {warning}", style="bold red"))
    if not settings.gate.enabled:
        console.print("The gate is switched off: no list and no rule of it is asked.")
        return
    notes = thin_notes(policy, max_false_refusal=settings.gate.max_false_refusal)
    for line in (*told_of(rules), *notes):
        console.print(line)


def _warnings(settings: Settings, documents: Sequence[SourceDocument | RefusedFile]) -> Iterator[str]:
    """What `serve` starts with all the same, and hardly anybody wants."""
    refused = [one for one in documents if isinstance(one, RefusedFile)]
    yield from map(str, refused)
    yield from patterns_without([one.path for one in documents], settings)
    if settings.upstream.kind == "knowledge" and len(documents) == len(refused):
        yield "answers come from documents, and there are none."
    if settings.upstream.kind == "openai" and settings.upstream.contexts is None:
        yield (
            "upstream.contexts does not say where the chatbot's passages stand: none of its answers can be "
            f"checked (faithfulness.on_unchecked: {settings.faithfulness.on_unchecked})."
        )
    if settings.faithfulness.streaming == "observe":
        yield OBSERVED
    if settings.storage.for_one_gateway:
        yield FOR_ONE_GATEWAY


async def serve(
    settings: Settings,
    ready: Ready,
    *,
    around_rag: Callable[[Rag], Rag] = lambda rag: rag,
    alone: bool = False,
) -> None:
    """Serve until told to stop; `ready` is called with the address once questions can be asked.

    `alone`: nothing else happens in this process, before or after.

    Whether told by a signal or cancelled: requests and pages end before the stores they read, by themselves
    if they take no longer than a request may.
    """
    with _bound(settings.server) as listening:
        async with assemble(settings, around_rag=around_rag) as services:
            app = create_app(services)
            if alone:
                _settle()
            server = _Server(_served(app, settings))
            host, port = listening.getsockname()[:2]
            host = f"[{host}]" if ":" in host else host
            announcing = asyncio.create_task(
                server.announce(lambda: ready(services, f"http://{host}:{port}"))
            )
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            try:
                await asyncio.wait({serving, announcing}, return_when=asyncio.FIRST_EXCEPTION)
            finally:
                server.should_exit = True
                await serving
                await _ended(announcing)


def _served(app: FastAPI, settings: Settings) -> uvicorn.Config:
    longest_s = settings.upstream.timeout_s + settings.faithfulness.patience_s + _BESIDES_S
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=math.ceil(longest_s),
    )


async def _ended(task: asyncio.Task[None]) -> None:
    """Cancel what is not done yet; raises what it raised before."""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


class _Server(uvicorn.Server):
    """Says when it listens. SIGTERM and SIGHUP end serving, not the process: what waits is written after."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self.server_state.tasks and not self.force_exit:  # they were cut off just now
            await asyncio.wait(self.server_state.tasks, timeout=_UNWINDING_S)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        with super().capture_signals(), self._hangup_heard():
            yield
            self._captured_signals = [one for one in self._captured_signals if one == signal.SIGINT]

    @contextmanager
    def _hangup_heard(self) -> Generator[None, None, None]:
        """The terminal's end is ours, too; not under `nohup`, which has it ignored."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGHUP)
        if before != signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self.handle_exit)
        try:
            yield
        finally:
            signal.signal(signal.SIGHUP, before)

    async def announce(self, say: Callable[[], Awaitable[None]]) -> None:
        await self._listening.wait()
        await say()


def _settle() -> None:
    """Models and policy live as long as the process: what looks at every object passes them over.

    So does NiceGUI as it starts: it would wake openai's lazy modules, a fifth of what a start costs.
    """
    gc.collect()
    gc.freeze()


async def _say_where(services: Services, address: str) -> None:
    with suppress(OSError):  # a full disk under the log is no reason not to serve
        console.print(f"Sekisho {services.version} listens on {address}")


def _bound(server: ServerSettings) -> socket.socket:
    """The listening socket, taken before anything slow: a port in use is told at once."""
    try:
        if ":" not in server.host:
            return socket.create_server((server.host, server.port), backlog=1024)
        both = server.host == "::" and socket.has_dualstack_ipv6()
        address = (server.host, server.port)
        return socket.create_server(address, family=socket.AF_INET6, backlog=1024, dualstack_ipv6=both)
    except OSError as exc:
        raise ConfigurationError(
            f"can't listen on {server.host}:{server.port} (server.host, server.port): {exc.strerror}"
        ) from exc


def _at_port(settings: Settings, port: int | None) -> Settings:
    if port is None:
        return settings
    return settings.model_copy(update={"server": settings.server.model_copy(update={"port": port})})
