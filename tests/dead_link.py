"""A link to a database that can go dead: no byte gets through any more, and nobody is told."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

__all__ = ["DeadLink"]


class DeadLink:
    """Forwards a free port of the loopback interface to a Unix socket, between `with` and its end."""

    def __init__(self, target: str) -> None:
        """`target` is the path of the socket."""
        self._target = target
        self._alive = threading.Event()  # read by the forwarding loop, set by tests
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.port = 0

    def die(self) -> None:
        """Forward nothing from now on; who connects is taken, and hears nothing."""
        self._do(self._pause())

    def revive(self) -> None:
        """Forward again, also what has waited."""
        self._do(self._resume())

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._open())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _do(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)  # type: ignore[arg-type]

    async def _open(self) -> None:
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._links: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._linked, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    async def _pause(self) -> None:
        self._flowing.clear()

    async def _resume(self) -> None:
        self._flowing.set()

    async def _linked(self, near: asyncio.StreamReader, answering: asyncio.StreamWriter) -> None:
        link = asyncio.current_task()
        assert link is not None
        self._links.add(link)
        link.add_done_callback(self._links.discard)
        with suppress(asyncio.CancelledError):
            await self._flowing.wait()
            far, asking = await asyncio.open_unix_connection(self._target)
            await asyncio.gather(self._forward(near, asking), self._forward(far, answering))

    async def _forward(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):  # an end hung up
            while data := await source.read(65536):
                await self._flowing.wait()
                sink.write(data)
                await sink.drain()
        sink.close()
