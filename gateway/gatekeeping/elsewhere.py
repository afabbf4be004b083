"""The gate of any configuration, over a copy of what is served: trying it touches nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from cache.store import EntryStore
from cache.transfer import copy_entries
from encoders import Encoder
from gateway.gatekeeping.learning import taught
from gateway.gatekeeping.lists import read_rules
from gateway.gatekeeping.opening import fitted_gate, reading_documents
from gateway.gatekeeping.policy import read_policy
from gateway.gatekeeping.promises import GatePromises
from gateway.gatekeeping.vocabulary import OwnWords
from gateway.review.gate_examples import GateExamples
from gateway.settings import Settings
from gateway.stages import Gate
from gateway.stores import open_stores
from gateway.switched_off import NoGate
from storage.sql import Database

__all__ = ["gate_elsewhere"]


@asynccontextmanager
async def gate_elsewhere(
    settings: Settings, served: Database, tenant: str
) -> AsyncIterator[tuple[Gate, Encoder]]:
    """A tenant's gate by `settings`, with the entries, accepted examples and cuts of the `served` database.

    Raises:
        ConfigurationError, ClassifierError, StoreUnavailable: naming what can't be read or fitted.
    """
    with TemporaryDirectory(prefix="sekisho-") as folder:
        scratch = settings.stored_in(Path(folder))
        async with open_stores(scratch) as stores:
            if not settings.gate.enabled:
                yield NoGate(), stores.encoder
                return
            if await copy_entries(EntryStore(served), stores.entries, tenant, by="sekisho replay"):
                await stores.index_pending()
            await stores.documents.ingest([settings.path(root) for root in settings.policy.must.documents])
            policy = read_policy(settings)
            examples = GateExamples(served, policy)
            learnt = taught(policy, await examples.accepted(tenant))
            rules, promises = read_rules(scratch), GatePromises(served)
            gate = await fitted_gate(scratch, stores, promises, rules, learnt, tenant)
            own = OwnWords(stores, policy, examples, rules)
            yield reading_documents(gate, stores, own, rules), stores.encoder
