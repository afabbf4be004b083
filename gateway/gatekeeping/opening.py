"""Where settings become the gate that serves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

import structlog

from classifiers.gate import Policy, ScopeSource
from classifiers.gate.documented import DocumentedGate
from classifiers.gate.examples import JUDGE, ExampleGate
from classifiers.gate.kept import KeptFits
from classifiers.gate.lexical import Rarity
from classifiers.gate.named import NamedGate
from classifiers.gate.passages import PassageScope
from classifiers.gate.promise import CutsInForce
from classifiers.gate.rules import Rules
from classifiers.gate.shipped import Shipped
from gateway.background import Loop
from gateway.gatekeeping.canaries import Canaries
from gateway.gatekeeping.learning import BASE, LearningGate, taught
from gateway.gatekeeping.lists import read_rules
from gateway.gatekeeping.metrics import GateMetrics
from gateway.gatekeeping.outside import add_llm, open_detectors
from gateway.gatekeeping.policy import read_canaries, read_policy
from gateway.gatekeeping.promises import GatePromises, MadeFor, Standing
from gateway.gatekeeping.scope import EntryScope
from gateway.gatekeeping.vocabulary import OwnWords
from gateway.rag.answering import AnsweringPassages
from gateway.review.gate_examples import GateExamples
from gateway.settings import Settings
from gateway.stages import Gate
from gateway.stores import Stores
from gateway.switched_off import NoGate
from storage.arrays import ArrayFolder

__all__ = [
    "VERIFIED_QUESTIONS",
    "Gatekeeping",
    "fit_apart",
    "fitted_gate",
    "gate_sources",
    "kept_fits",
    "open_gate",
    "reading_documents",
    "shipped_for",
]

FITS_KEPT = 64  # of each kind, a few for every tenant that taught the gate; up to 3 MB each
COUNTED_PASSAGES = 5_000  # that say which words are rare; more say it no better
VERIFIED_QUESTIONS = 1_000  # that the gate compares with when it suspects something; more add little but time


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatekeeping:
    """The gate, what it may learn from, what must always pass it, and what it promises."""

    gate: Gate
    # The same without what only lets through: it is asked of every turn, where only must not counts.
    forbids: Gate
    examples: GateExamples
    canaries: Canaries
    promises: GatePromises
    learning: LearningGate | None  # None where the gate is switched off

    @property
    def tenants(self) -> tuple[str, ...]:
        """Those whose gates differ, and "default" for all others."""
        learnt = self.learning.tenants if self.learning else ()
        return tuple(dict.fromkeys(("default", *learnt)))

    @property
    def loops(self) -> dict[str, Loop]:
        """What runs for as long as the gateway does."""
        loops: dict[str, Loop] = {"canaries": partial(self.canaries.run, self.gate, lambda: self.tenants)}
        if self.learning:
            loops |= {"learning": self.learning.run, "gate_cuts": self.promises.run}
        return loops


@asynccontextmanager
async def open_gate(settings: Settings, stores: Stores, metrics: GateMetrics) -> AsyncIterator[Gatekeeping]:
    """The gate of a configuration, with what was accepted so far, after a first round of its canaries.

    Raises:
        ConfigurationError, ClassifierError, EncoderError, StoreUnavailable: naming what can't be had.
    """
    policy = read_policy(settings)
    examples = GateExamples(stores.database, policy)
    promises = GatePromises(stores.database)
    canaries = Canaries(read_canaries(settings), stores.encoder, every_s=settings.gate.canaries_every_s)
    async with AsyncExitStack() as stack:
        gate: Gate = NoGate()
        forbids, learning = gate, None
        if settings.gate.enabled:
            rules = read_rules(settings)
            fit = partial(fitted_gate, settings, stores, promises, rules)
            sources = partial(_state_of_sources, stores)
            over = await sources(BASE)
            learning = LearningGate(
                await fit(policy, BASE),
                policy,
                fit=fit,
                sources=sources,
                over=over,
                examples=examples,
                canaries=canaries,
                on_try=lambda state: metrics.lessons.labels(state).inc(),
            )
            await learning.catch_up()
            beside_detectors = await open_detectors(settings.gate, policy, metrics, stack)
            forbids = beside_detectors(learning)
            # Detectors are asked about what the documents let through, too.
            own = OwnWords(stores, policy, examples, rules)
            answered = beside_detectors(reading_documents(learning, stores, own, rules))
            gate = add_llm(answered, settings.gate, policy, metrics, stack)
        kept = Gatekeeping(
            gate=gate,
            forbids=forbids,
            examples=examples,
            canaries=canaries,
            promises=promises,
            learning=learning,
        )
        await canaries.check(kept.gate, kept.tenants)
        yield kept


async def gate_sources(stores: Stores, kept: KeptFits | None = None) -> list[ScopeSource]:
    """Where proof of scope is found: verified entries and the operator's documents."""
    passages = partial(stores.documents.some_passages, COUNTED_PASSAGES)
    rarity = await kept.rarity(passages) if kept else Rarity.fitted(await passages())
    return [
        EntryScope(stores.shelf, stores.language_of),
        PassageScope(stores.passage_index, rarity, source_key="path"),
    ]


async def fitted_gate(
    settings: Settings, stores: Stores, promises: GatePromises, rules: Rules, policy: Policy, tenant: str
) -> ExampleGate:
    """The gate of a policy over these stores, with the tenant's calibrated cuts, and no judge from outside.

    Raises:
        ConfigurationError, ClassifierError, StoreUnavailable: naming what can't be read or fitted.
    """
    kept = await kept_fits(settings, stores, tenant)
    cuts, share = CutsInForce(), settings.gate.max_false_refusal
    gate = await ExampleGate.fit(
        policy,
        stores.encoder,
        await gate_sources(stores, kept),
        max_false_refusal=share,
        tenant=tenant,
        shipped=shipped_for(settings),
        verified=await stores.entries.questions(tenant, limit=VERIFIED_QUESTIONS),
        rules=rules,
        in_force=cuts,
        kept=kept,
    )
    made_for = MadeFor.of(policy, stores.encoder.identity, JUDGE, max_false_refusal=share)
    await promises.stand_for(cuts, Standing(tenant=tenant, made_for=made_for, fitted=gate.fitted_cuts))
    for note in gate.notes:
        structlog.get_logger("sekisho.gate").warning("gate", note=note, tenant=tenant)
    return gate


def shipped_for(settings: Settings) -> Shipped:
    """What the gate knows before the operator says a word, as far as it is wanted."""
    return Shipped() if settings.gate.background else Shipped(background={})


def reading_documents(gate: Gate, stores: Stores, own: OwnWords, rules: Rules) -> Gate:
    """The gate, and behind it the documents: they may answer what it finds nothing for, or never name it."""
    documents = AnsweringPassages(stores.passages, stores.reading, stores.language_of)
    return NamedGate(DocumentedGate(gate, documents, rules), own, rules)


async def fit_apart(stores: Stores, settings: Settings, tenant: str) -> Gate:
    """The gate of other settings over these stores, taught what a tenant accepted; it does not serve.

    Raises:
        ConfigurationError, ClassifierError, EncoderError, StoreUnavailable: as of `fitted_gate`.
    """
    policy = read_policy(settings)
    examples = GateExamples(stores.database, policy)
    learnt = taught(policy, await examples.accepted(tenant))
    apart = GatePromises(stores.database)  # those of the gate that serves must not hear of this one
    rules = read_rules(settings)
    gate = await fitted_gate(settings, stores, apart, rules, learnt, tenant)
    return reading_documents(gate, stores, OwnWords(stores, policy, examples, rules), rules)


async def kept_fits(settings: Settings, stores: Stores, tenant: str) -> KeptFits:
    """What was fitted over the documents and entries that there are, by this gateway or an earlier one."""
    return KeptFits(
        ArrayFolder(settings.path(settings.storage.folder) / "fits", most=FITS_KEPT),
        sources=await _state_of_sources(stores, tenant),
    )


async def _state_of_sources(stores: Stores, tenant: str) -> str:
    """Another one when a document changed, or there are twice as many entries: a fit is made again then."""
    entries = len(await stores.entries.questions(tenant, limit=VERIFIED_QUESTIONS))
    return f"{await stores.documents.state()} {entries.bit_length()}"
