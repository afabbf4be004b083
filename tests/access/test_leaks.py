"""No path shows an entry to an asker whose shelf it is not on: another tenant's, group's or language's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import httpx2
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from cache.indexing import index_pending, shelf_key
from cache.shelf import Shelf
from cache.store import EntryStore
from classifiers.faithfulness.lexical import LexicalJudge
from classifiers.retrieval.reading import ReadingJudge
from encoders import Encoded, EncoderIdentity, encode_one
from encoders.shipped import load_shipped_answering
from gateway.checking.drafts import DraftCheck
from gateway.documents.passages import PassageSearch
from gateway.gatekeeping.scope import EntryScope
from gateway.gatekeeping.turns import ConversationGate
from gateway.handover import Handover
from gateway.metrics import Metrics
from gateway.people.access import BootstrapKey, Keys
from gateway.pipeline import Pipeline
from gateway.rag.knowledge import KnowledgeRag
from gateway.rag.quoting import ExtractiveWriter
from gateway.recording.outcomes import OutcomeLog
from gateway.replies import Replies
from gateway.review.tickets import Tickets
from gateway.routes import answers, checks, openai
from gateway.routes.middleware import RequestId
from gateway.settings import PolicySettings, Settings
from gateway.switched_off import NoGate
from gateway.telemetry import Telemetry
from gateway.understanding import Understanding
from languages.identification import Language
from storage.sql import Database
from storage.testing import MemoryIndex
from storage.vectors import VectorIndex
from tests.cache.shelves import WEIGHTS, WordEncoder, content
from tests.understanding.asking import follow_ups

SECRET = "swordfish"  # one word: a stream sends it in one piece
STORED = ("How do I reset my account password?", "I forgot my account password, how do I reset it?")
NEARLY = "How do I reset my own account password?"
ASKED = (STORED[0], "how do i RESET my account password", NEARLY)

ASKERS = {
    "nobody in particular": BootstrapKey("sk-of-nobody-in-particular", "shop", "client", "web"),
    "of sales": BootstrapKey("sk-of-somebody-in-sales", "shop", "client", "intranet", "sales"),
    "a reviewer": BootstrapKey("sk-of-a-reviewer-who-asks", "shop", "reviewer", "Sato"),
}
ELSEWHERE = {
    "another tenant's": ("bank", "", "en"),
    "another tenant's group of the same name": ("bank", "sales", "en"),
    "another group's": ("shop", "staff", "en"),
    "another language's": ("shop", "", "ja"),
}


@dataclass
class Services:
    """What the routes that ask need of the gateway."""

    stores: Services
    encoder: WordEncoder
    shelf: Shelf
    pipeline: Pipeline
    keys: Keys
    settings: Settings
    telemetry: Telemetry

    def language_of(self, text: str) -> Language:
        return "en"


@dataclass
class Desk:
    """A whole way of a question over real stores, and every door to it."""

    store: EntryStore
    index: VectorIndex
    encoder: WordEncoder
    shelf: Shelf
    http: httpx2.AsyncClient

    async def keep(self, tenant: str, group: str, language: str) -> None:
        written = content(*STORED, answer=SECRET, group=group, language=language)
        await self.store.create(tenant, written, by="ann", state="active")
        await index_pending(self.store, self.index, self.encoder)

    async def post(self, asker: str, path: str, body: dict[str, object]) -> str:
        headers = {"authorization": f"Bearer {ASKERS[asker].key}"}
        reply = await self.http.post(path, json=body, headers=headers)
        assert reply.status_code == 200, reply.text
        return reply.text


@pytest.fixture
def identity() -> EncoderIdentity:
    return WordEncoder().identity


@pytest.fixture
async def desk(database: Database, index: VectorIndex, identity: EncoderIdentity) -> AsyncIterator[Desk]:
    encoder, store = WordEncoder(), EntryStore(database)
    shelf = Shelf(store, index, encoder, weights=WEIGHTS)
    passages = PassageSearch(database, MemoryIndex(identity), identity)
    outcomes = OutcomeLog(database, on_lost=lambda _: None)
    telemetry = Telemetry(Metrics(CollectorRegistry()), outcomes, texts=False)
    answering = ReadingJudge(encoder, load_shipped_answering())
    replies = Replies(PolicySettings())
    pipeline = Pipeline(
        understanding=Understanding(follow_ups()), encoder=encoder,
        gate=ConversationGate(NoGate(), encoder), cache=shelf,
        rag=KnowledgeRag(passages, answering, ExtractiveWriter(encoder, answering)),
        check=DraftCheck(LexicalJudge()),
        handover=Handover(Tickets(database), replies), replies=replies, watch=telemetry,
    )  # fmt: skip
    app = FastAPI()
    keys = Keys(database, bootstrap=list(ASKERS.values()))
    app.state.services = Services(None, encoder, shelf, pipeline, keys, Settings(), telemetry)  # type: ignore[arg-type]
    app.state.services.stores = app.state.services
    for module in (answers, checks, openai):
        app.include_router(module.router)
    app.add_middleware(RequestId)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://gateway") as http:
        yield Desk(store, index, encoder, shelf, http)


async def _exact(desk: Desk, asker: str, question: Encoded) -> object:
    who = ASKERS[asker]
    return await desk.shelf.exact(question, tenant=who.tenant, group=who.group, language="en")


async def _find(desk: Desk, asker: str, question: Encoded) -> object:
    who = ASKERS[asker]
    return await desk.shelf.find(question, tenant=who.tenant, group=who.group, language="en")


async def _neighbours(desk: Desk, asker: str, question: Encoded) -> object:
    who = ASKERS[asker]
    return await desk.shelf.neighbours(question, tenant=who.tenant, group=who.group, language="en")


async def _gate(desk: Desk, asker: str, question: Encoded) -> object:
    who = ASKERS[asker]
    return await EntryScope(desk.shelf, lambda text: "en").near(question, tenant=who.tenant, group=who.group)


async def _lookup(desk: Desk, asker: str, question: Encoded) -> object:
    return await desk.post(asker, "/v1/cache/lookup", {"question": question.text})


async def _answers(desk: Desk, asker: str, question: Encoded) -> object:
    return await desk.post(asker, "/v1/answers", {"question": question.text})


async def _chat(desk: Desk, asker: str, question: Encoded) -> object:
    message = {"role": "user", "content": question.text}
    # What a body says of groups and tenants is nothing to us.
    claimed = {"group": "staff", "tenant": "bank", "user": "staff", "language": "ja"}
    return await desk.post(asker, "/v1/chat/completions", {"messages": [message], **claimed})


async def _stream(desk: Desk, asker: str, question: Encoded) -> object:
    message = {"role": "user", "content": question.text}
    return await desk.post(asker, "/v1/chat/completions", {"messages": [message], "stream": True})


PATHS: dict[str, Callable[[Desk, str, Encoded], Awaitable[object]]] = {
    "exact": _exact, "vector": _find, "neighbours": _neighbours, "gate": _gate, "lookup": _lookup,
    "answers": _answers, "chat": _chat, "stream": _stream,
}  # fmt: skip


def shows(found: object) -> bool:
    """Whether anything of the entry came back: its answer, a phrasing of it, or its evidence."""
    said = str(found)
    return SECRET in said or STORED[1] in said or "Neighbour(" in said


async def _shown(desk: Desk, askers: tuple[str, ...], asked: tuple[str, ...]) -> set[tuple[str, str, str]]:
    found = set()
    for asker in askers:
        for text in asked:
            for name, path in PATHS.items():
                if shows(await path(desk, asker, await encode_one(desk.encoder, text))):
                    found.add((asker, text, name))
    return found


@pytest.mark.parametrize("whose", ELSEWHERE)
async def test_an_entry_of_another_shelf_is_seen_on_no_path(desk: Desk, whose: str) -> None:
    await desk.keep(*ELSEWHERE[whose])
    assert await _shown(desk, tuple(ASKERS), ASKED) == set()


@pytest.mark.parametrize(
    ("group", "askers"), [("", tuple(ASKERS)), ("sales", ("of sales",))], ids=["everybody's", "his group's"]
)
async def test_an_entry_of_the_askers_own_shelf_is_seen_on_every_path(
    desk: Desk, group: str, askers: tuple[str, ...]
) -> None:
    """The control: the paths above show what may be shown."""
    await desk.keep("shop", group, "en")
    by_meaning = set(PATHS) - {"exact"}
    assert await _shown(desk, askers, (NEARLY,)) == {
        (asker, NEARLY, name) for asker in askers for name in by_meaning
    }
    words = ASKED[1]
    assert await _shown(desk, askers, (words,)) == {
        (asker, words, name) for asker in askers for name in PATHS
    }


async def test_an_entry_that_changes_its_group_changes_its_shelf(desk: Desk) -> None:
    await desk.keep("shop", "", "en")
    (entry,) = (await desk.store.list("shop")).entries
    await desk.store.edit(
        "shop", entry.id, content(*STORED, answer=SECRET, group="staff"), revision=1, by="ann"
    )
    assert (
        await _shown(desk, ("nobody in particular",), ASKED) == set()
    )  # SQL decides before the index follows
    await index_pending(desk.store, desk.index, desk.encoder)
    vector = (await desk.encoder.encode([NEARLY]))[0]
    found = await desk.index.nearest(vector, where={}, limit=5)
    assert {one.payload["shelf"] for one in found} == {shelf_key("shop", "en", "staff")}
