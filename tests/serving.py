"""A small server on a free loopback port, in a thread of its own: what plays a service that tests can't have."""

from __future__ import annotations

import logging
import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn
from fastapi import FastAPI

__all__ = ["Serving"]


class Serving:
    """Serves an application between `with` and its end; its address is known before."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def app(self) -> FastAPI:
        """What is served."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # its failures here are played
        config = uvicorn.Config(self.app(), log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive(), f"{type(self).__name__} did not start"
            self._thread.join(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()
