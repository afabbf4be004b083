"""A whole gateway on a free port of the loopback interface, as `sekisho serve` runs it, for tests to ask."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from unittest.mock import patch

import httpx2
import openai

from gateway.assembly import Services
from gateway.commands.serving import serve
from gateway.configuration.loading import load_settings
from gateway.recording.logs import configure_logging
from gateway.settings import Settings
from gateway.stages import Rag

T = TypeVar("T")

KEYS = {role: f"sk-test-{role}-0123456789" for role in ("client", "reviewer", "admin")}
OTHER_TENANT = "sk-test-client-of-another-tenant"


class Gateway:
    """Runs in a thread of its own until the block ends; start-up errors are raised where it was entered."""

    def __init__(
        self,
        settings: Settings,
        *,
        start_within_s: float = 180,
        around_rag: Callable[[Rag], Rag] = lambda rag: rag,
    ) -> None:
        self._around_rag = around_rag
        self._settings = settings
        self._start_within_s = start_within_s
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(self._start_within_s), "the gateway did not start"
        if self._failure:
            raise self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(30)
        assert not self._thread.is_alive(), "the gateway did not stop"

    def openai(self, role: str = "client", **options: Any) -> openai.OpenAI:
        """The official client."""
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=KEYS[role], max_retries=0, **options)

    def http(self, role: str | None = "client", *, key: str | None = None) -> httpx2.Client:
        """A plain client with a role's key, or another key, or none."""
        given = key or (KEYS[role] if role else None)
        headers = {"authorization": f"Bearer {given}"} if given else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    def answer(self, question: str | None = None, **body: Any) -> dict[str, Any]:
        """What /v1/answers says."""
        with self.http() as client:
            reply = client.post(
                "/v1/answers", json=body if question is None else {"question": question, **body}
            )
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found

    def write(self) -> None:
        """Write what was asked so far to the record, which else happens a little later beside the way."""
        self.do(self.services.telemetry.flush())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Something done inside the gateway's own loop, as one of its routes would."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(180)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except asyncio.CancelledError:
            pass
        except BaseException as exc:  # noqa: BLE001 - raised again where the block was entered
            self._failure = exc
        finally:
            self._started.set()

    async def _serve(self) -> None:
        configure_logging(self._settings.logging)

        async def ready(services: Services, address: str) -> None:
            self.url = address
            self.services = services
            self._started.set()

        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(serve(self._settings, ready, around_rag=self._around_rag))
        await self._task


# nothing that a test asks is drawn for an audit by chance: a drawn question keeps its text and waits for a verdict
UNDRAWN = {"SEKISHO_CACHE__AUDIT_RATE_EXACT": "0", "SEKISHO_CACHE__AUDIT_RATE_RAG": "0"}


def settings(folder: Path, text: str, *, console: bool | str = False, **environment: str) -> Settings:
    """Settings of a file in the folder, with a key per role and a free port; the console is off by default."""
    keys = "\n".join(f"    - {{key: '${{TEST_KEY_{role.upper()}}}', role: {role}}}" for role in KEYS)
    file = folder / "sekisho.yaml"
    file.write_text(
        f"{text}\nserver: {{port: 0, keep_alive_s: 2}}\nlogging: {{level: error}}\n"
        f"console: {console if isinstance(console, str) else f'{{enabled: {str(console).lower()}}}'}\nauth:\n  keys:\n{keys}\n"
        "    - {key: '${TEST_KEY_OTHER}', role: client, tenant: other}\n",
        "utf-8",
    )
    variables: Mapping[str, str] = {
        **UNDRAWN,
        **{f"TEST_KEY_{role.upper()}": key for role, key in KEYS.items()},
        "TEST_KEY_OTHER": OTHER_TENANT,
        **environment,
    }
    with patch.dict(os.environ, variables):
        return load_settings(file)
