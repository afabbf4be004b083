"""Plays the chatbot for benchmarks: the same OpenAI-compatible reply to everything, at once."""

from __future__ import annotations

import asyncio
import json
import sys

import uvloop

_BODY = json.dumps(
    {
        "id": "chatcmpl-instant",
        "object": "chat.completion",
        "created": 0,
        "model": "instant",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "content": "The desk is open from 8:30 to 17:15.",
                    "context": {
                        "citations": [{"content": "The desk is open from 8:30 to 17:15 on weekdays."}]
                    },
                },
            }
        ],
    }
).encode()
_REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
    len(_BODY),
    _BODY,
)


class Instant(asyncio.Protocol):
    """Answers every complete request on a connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._waiting = transport, b""

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        while (end := self._waiting.find(b"\r\n\r\n")) >= 0:
            length = self._waiting[:end].lower().split(b"content-length:")[1].split(b"\r\n")[0]
            whole = end + 4 + int(length)
            if len(self._waiting) < whole:
                return
            self._waiting = self._waiting[whole:]
            self._transport.write(_REPLY)  # type: ignore[attr-defined]


async def main(port: int) -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_server(Instant, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
