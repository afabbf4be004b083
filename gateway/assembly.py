"""Where settings become a running gateway: the one place that puts things together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import structlog
from prometheus_client import CollectorRegistry
from qdrant_client import AsyncQdrantClient

from cache.indexing import index_pending
from cache.scope import EntryScope
from cache.shelf import Shelf
from cache.store import EntryStore
from classifiers.faithfulness.lexical import LexicalJudge
from classifiers.gate import ScopeSource
from classifiers.gate.examples import ExampleGate
from classifiers.retrieval.evidence import EvidenceJudge
from encoders import Encoded, Encoder, EncoderIdentity, encode_one
from encoders.memo import MemoEncoder
from gateway import switched_off
from gateway.access import BootstrapKey, Keys
from gateway.errors import ConfigurationError
from gateway.outcomes import OutcomeLog
from gateway.pipeline import Pipeline
from gateway.policy import read_policy
from gateway.rag.documents import Documents
from gateway.rag.knowledge import KnowledgeRag
from gateway.rag.scope import PassageScope
from gateway.rag.upstream import UpstreamRag
from gateway.replies import Replies
from gateway.review.tickets import Tickets
from gateway.settings import EncoderSettings, Settings
from gateway.stages import Cache, Gate, Judge, Rag
from gateway.telemetry import Metrics, Telemetry
from gateway.understanding import Understanding
from storage.edge import EdgeIndex
from storage.qdrant import QdrantIndex
from storage.sql import Database
from storage.vectors import IndexUnavailable, VectorIndex

__all__ = ["Services", "assemble", "open_encoder", "open_index"]

REINDEX_INTERVAL_S = 5.0  # entries written by another process (an import, a replica) are found this soon


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything a running gateway consists of."""

    settings: Settings
    version: str
    database: Database
    encoder: Encoder
    index: VectorIndex
    entries: EntryStore
    documents: Documents
    shelf: Cache
    gate: Gate
    rag: Rag
    judge: Judge
    tickets: Tickets
    keys: Keys
    telemetry: Telemetry
    pipeline: Pipeline
    probe: Encoded  # a question for readiness checks
    index_pending: Callable[[], Awaitable[int]]
