"""How much of a reply is read: a server that never ends would fill the memory, and hold everybody up."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

__all__ = ["TooLarge", "limited"]

# Nobody else is answered while a reply is read: one of 3 MB held a busy machine with two cores for 1.7 s. A
# stream comes bit by bit, and takes some hundred bytes for each word.
LARGEST_REPLY = 4_000_000
LARGEST_STREAM = 16_000_000


class TooLarge(httpx2.DecodingError):
    """The reply is larger than any answer."""


async def limited(response: httpx2.Response) -> None:
    """Let no more than that be read of a response (a hook of the client's)."""
    streamed = "event-stream" in response.headers.get("content-type", "")
    most = LARGEST_STREAM if streamed else LARGEST_REPLY
    response.stream = _Limited(response.stream, most)


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: object, most: int) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)  # noqa: S101 - for the type checker: an async client's
        self._stream = stream
        self._left = most
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise TooLarge(f"answered more than {self._most // 1_000_000} MB")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
