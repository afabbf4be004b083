"""A load generator that knows its floor: raw HTTP/1.1 over kept connections, open or closed loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from time import perf_counter

import numpy as np

__all__ = ["Load", "closed_loop", "open_loop", "request"]


@dataclass(frozen=True, slots=True)
class Load:
    """What one run saw. Open-loop times start when a request was due, so waiting in a queue counts."""

    seconds: float
    milliseconds: np.ndarray
    failed: int

    @property
    def per_second(self) -> float:
        return len(self.milliseconds) / self.seconds

    def percentile(self, q: float) -> float:
        return float(np.percentile(self.milliseconds, q)) if len(self.milliseconds) else float("nan")


def request(path: str, body: bytes, key: str = "") -> bytes:
    """The bytes of a POST."""
    head = (
        f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer {key or 'none'}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def open_loop(
    port: int, requests: Sequence[bytes], *, rate: float, seconds: float, connections: int = 64
) -> Load:
    """Requests leave when they are due, whether the ones before have come back or not."""
    pool = await _connect(port, connections)
    due = asyncio.Queue[tuple[float, bytes]]()
    times: list[float] = []
    failed = 0

    async def worker(line: _Line) -> None:
        nonlocal failed
        while True:
            at, payload = await due.get()
            if await line.exchange(payload):
                times.append((perf_counter() - at) * 1000)
            else:
                failed += 1
            due.task_done()

    workers = [asyncio.create_task(worker(line)) for line in pool]
    started, payloads = perf_counter(), cycle(requests)
    for number in range(int(rate * seconds)):
        at = started + number / rate
        if (wait := at - perf_counter()) > 0:
            await asyncio.sleep(wait)
        due.put_nowait((max(at, started), next(payloads)))
    await due.join()
    took = perf_counter() - started
    await _close(workers, pool)
    return Load(took, np.asarray(times), failed)


async def closed_loop(port: int, requests: Sequence[bytes], *, connections: int = 16, seconds: float) -> Load:
    """Each connection asks again as soon as it has its reply."""
    pool = await _connect(port, connections)
    times: list[float] = []
    failed = 0
    payloads = cycle(requests)
    started = perf_counter()

    async def worker(line: _Line) -> None:
        nonlocal failed
        while perf_counter() - started < seconds:
            at = perf_counter()
            if await line.exchange(next(payloads)):
                times.append((perf_counter() - at) * 1000)
            else:
                failed += 1

    await asyncio.gather(*(worker(line) for line in pool))
    took = perf_counter() - started
    await _close([], pool)
    return Load(took, np.asarray(times), failed)


class _Line:
    """One kept connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self.writer = reader, writer

    async def exchange(self, payload: bytes) -> bool:
        """Whether a whole 2xx reply came back."""
        self.writer.write(payload)
        head = await self._reader.readuntil(b"\r\n\r\n")
        lowered = head.lower()
        if b"transfer-encoding: chunked" in lowered:
            await self._chunks()
        else:
            length = lowered.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0]
            await self._reader.readexactly(int(length))
        return head[9:10] == b"2"

    async def _chunks(self) -> None:
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            await self._reader.readexactly(size + 2)
        await self._reader.readexactly(2)


async def _connect(port: int, connections: int) -> list[_Line]:
    return [_Line(*await asyncio.open_connection("127.0.0.1", port)) for _ in range(connections)]


async def _close(workers: Sequence[asyncio.Task[None]], pool: Sequence[_Line]) -> None:
    for task in workers:
        task.cancel()
    for line in pool:
        line.writer.close()
    await asyncio.gather(*workers, return_exceptions=True)
