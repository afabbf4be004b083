"""`sekisho demo`: the example helpdesks, loaded and ready to be asked."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from cache.transfer import import_entries
from encoders import Encoded
from gateway.assembly import Services
from gateway.configuration.loading import load_settings
from gateway.domain import Draft, NothingRelevant, OnDraft, Question
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.stages import Rag
from gateway.stores import open_stores

__all__ = ["EXAMPLE", "HELPDESK", "CarelessRag", "demo_settings", "load", "say_how"]

TENANT = "default"
LANGUAGES = ("en", "ja")
EXAMPLE = "プールの料金はこどもだといくらですか"  # a near-duplicate of a verified question
REVIEWER = "demo"  # who signs in to the console

_HERE = Path(__file__).parent
_PLACES = (
    _HERE.parent / "examples" / "helpdesk",
    _HERE / "examples" / "helpdesk",
)  # a checkout, an installed wheel
HELPDESK = next((place for place in _PLACES if place.is_dir()), _PLACES[-1])


def demo_settings(folder: Path) -> Settings:
    """The example's configuration, with its stores in a folder that may be thrown away."""
    settings = load_settings(HELPDESK / "sekisho.yaml")
    storage = settings.storage.model_copy(update={"folder": folder.resolve()})
    return settings.model_copy(update={"storage": storage})


class CarelessRag:
    """Plays a careless chatbot for a few questions: real passages, and an answer that strays from them.

    The demo quotes its documents and a quotation is always supported, so without this nobody would see an
    answer withheld. What it makes up stands in `careless.jsonl`; the check that catches it is the real one.
    """

    def __init__(self, inner: Rag) -> None:
        self._inner = inner
        lines = (HELPDESK / "careless.jsonl").read_text("utf-8").splitlines()
        self._made_up = {row["question"]: row["answer"] for row in map(json.loads, lines)}

    async def ask(
        self, question: Question, encoded: Encoded, /, on_draft: OnDraft | None = None
    ) -> Draft | NothingRelevant:
        """The inner draft, with another text where the demo has one."""
        found = await self._inner.ask(question, encoded)
        made_up = self._made_up.get(question.text)
        if made_up is None or isinstance(found, NothingRelevant):
            return found
        return replace(found, text=made_up, model="a careless chatbot, played by the demo")


async def load(settings: Settings) -> None:
    """Bring the helpdesks' entries into the stores; a second time changes nothing."""
    async with open_stores(settings) as stores:
        for language in LANGUAGES:
            file = HELPDESK / language / "entries.jsonl"
            report = await import_entries(stores.entries, TENANT, file, by="sekisho demo")
            if report.refused:
                raise ConfigurationError(f"{file} can't be used: {report.refused[0]}")
        if await stores.index_pending():
            for tenant, language in await stores.entries.shelves():
                await stores.shelf.calibrate(tenant, language)


async def say_how(services: Services, address: str) -> None:
    """How to ask, in lines that can be copied whole."""
    client, reviewer, password = await _kept(services)
    question = json.dumps({"question": EXAMPLE}, ensure_ascii=False)
    curl = (
        f'curl {address}/v1/answers -H "authorization: Bearer {client}" -H "content-type: application/json"'
    )
    console = Console(highlight=False, soft_wrap=True)
    console.rule("[bold]関所 Sekisho is ready")
    console.print(f"""
The helpdesk of Minamo City, in English and Japanese.

[bold]Try it on a page[/]
  {address}/#key={client}

[bold]Or from a terminal[/]
  {curl} -d '{question}'

[bold]What stopped on the way waits for a person[/]
  {address}/console  (name: {REVIEWER}, password: {password})
  curl {address}/v1/tickets -H "authorization: Bearer {reviewer}"

[dim]Ctrl-C stops it.[/]""")


async def _kept(services: Services) -> tuple[str, str, str]:
    """The demo's own keys and its reviewer's password, made once and kept beside its data."""
    file = services.settings.path(services.settings.storage.folder) / "keys.json"
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if "client" not in kept:
        kept["client"] = await services.keys.create(TENANT, "client", "demo: asks")
        kept["reviewer"] = await services.keys.create(TENANT, "reviewer", "demo: reviews")
    if "password" not in kept:
        kept["password"] = secrets.token_urlsafe(9)
        await services.people.users.add(REVIEWER, tenant=TENANT, role="admin", password=kept["password"])
    file.touch(mode=0o600)
    file.write_text(json.dumps(kept), "utf-8")
    return kept["client"], kept["reviewer"], kept["password"]
