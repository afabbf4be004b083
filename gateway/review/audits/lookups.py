"""The record of lookups: counted for every shelf, a random sample of the hits kept for a reviewer.

Answers by RAG are counted and sampled beside them, since what the judge let through is not known to be right.

Written in the background, so that no hit waits or fails for it. The sample is drawn by the operating system's
randomness, whatever the score: what the reviewers say of it holds for all hits.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import RowMapping, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.calibration import Cut
from cache.calibration.drift import Drift
from cache.entries import Entry
from cache.matching import Hit, Match, Miss, NearMiss
from cache.shelf import Shelf
from classifiers.faithfulness import Checked
from gateway.domain import Answered, Draft, Outcome, Passage, Question
from gateway.recording.batches import Batches
from gateway.review.audits.windows import AuditTier, WindowKey, rag_window
from storage.remembered import forget, recall, remember
from storage.schema import audit_windows, audits
from storage.sql import Database
from storage.texts import storable

__all__ = ["Lookup", "LookupLog", "Rates", "Written", "topic_of"]

COUNTED = "audits.counted."  # and a log's own name: the first lookup of its newest batch
COUNTED_FOR = timedelta(days=7)  # a gateway that was away for longer has ended
MOST_OPEN = 500  # audits of a window that wait; whoever has not come so far draws no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How many hits are drawn."""

    vector: float = 0.05
    exact: float = 0.01
    rag: float = 0.02  # of the delivered answers by RAG
    first: int = 30  # hits by meaning of every window that are all drawn


@dataclass(frozen=True, slots=True)
class Written:
    """What RAG answered, as it was delivered."""

    text: str
    contexts: tuple[Passage, ...]
    score: float  # of its worst statement


@dataclass(frozen=True, slots=True)
class Lookup:
    """A question that was looked up, and what was found; or that RAG answered."""

    question: Question
    found: Match | Written
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: str = field(default_factory=lambda: str(uuid4()))

    @property
    def shelf(self) -> tuple[str, str]:
        """Tenant and language."""
        return self.question.tenant, self.question.language


class LookupLog(Batches[Lookup]):
    """Takes every outcome, keeps the lookups among its steps."""

    def __init__(
        self,
        database: Database,
        shelf: Shelf,
        *,
        model: str,
        delivering: Callable[[str], str],
        rates: Rates,
        on_lost: Callable[[int], None],
        chance: random.Random | None = None,
    ) -> None:
        """`model` tells apart the windows of encoders, pair models and weights, `delivering` of RAG's judges.

        `chance` is given by tests only.
        """
        super().__init__("audits", self._record, on_lost=on_lost, is_written=self._is_counted)
        self._counted = COUNTED + str(uuid4())
        self._database = database
        self._shelf = shelf
        self._model = model
        self._delivering = delivering
        self._rates = rates
        self._chance = chance or random.SystemRandom()

    def outcome(self, outcome: Outcome) -> None:
        """Keep what the cache found; a lookup that failed found nothing."""
        for step in outcome.steps:
            match step.found:
                case Miss(lookup_failed=True):
                    pass
                case Hit() | NearMiss() | Miss():
                    self.add(Lookup(outcome.question, step.found))
                case Draft() if isinstance(outcome, Answered) and outcome.source == "rag":
                    self.add(Lookup(outcome.question, _written(outcome, step.found)))

    async def _record(self, lookups: Sequence[Lookup]) -> None:
        """Count the lookups in their windows, and keep the sample."""
        cuts = {shelf: await self._shelf.cut(*shelf) for shelf in {one.shelf for one in lookups}}
        by_window: dict[WindowKey, list[Lookup]] = {}
        for one in lookups:
            by_window.setdefault(self._key(one, cuts[one.shelf]), []).append(one)
        in_order = sorted(by_window)  # of all replicas: two can't lock up
        for key in in_order:
            await self._open_window(key, cuts[key.tenant, key.language])
        async with self._database.quick.begin() as connection:
            for key in in_order:
                await self._add(connection, key, cuts[key.tenant, key.language], by_window[key])
            await forget(connection, COUNTED, before=datetime.now(UTC) - COUNTED_FOR)
            await remember(connection, {self._counted: lookups[0].id})

    async def _is_counted(self, lookup: Lookup) -> bool:
        async with self._database.quick.connect() as connection:
            return bool(await recall(connection, self._counted) == lookup.id)

    async def _open_window(self, key: WindowKey, cut: Cut) -> None:
        async with self._database.quick.connect() as connection:
            if await connection.scalar(select(audit_windows.c.id).filter_by(**key._asdict())):
                return
        row = {**key._asdict(), "id": str(uuid4()), "cut": cut.score, "started_at": datetime.now(UTC)}
        try:
            async with self._database.quick.begin() as connection:
                await connection.execute(insert(audit_windows), row)
        except IntegrityError:  # another replica was faster
            return

    async def _add(
        self, connection: AsyncConnection, key: WindowKey, cut: Cut, lookups: Sequence[Lookup]
    ) -> None:
        locked = select(audit_windows).filter_by(**key._asdict()).with_for_update()
        window = (await connection.execute(locked)).mappings().one()
        served = [one for one in lookups if not _below(one.found, cut.score)]
        looked_up = [one for one in served if not isinstance(one.found, Written)]
        drawn = await self._drawn(connection, window, served)
        if drawn:
            await connection.execute(insert(audits), [_row(window, one) for one in drawn])
        drift = Drift.from_json(window["drift"])
        for one in looked_up:
            if (score := _best_score(one.found)) is not None:
                drift.see(score, lot=self._chance.random())
        counted = {
            "lookups": audit_windows.c.lookups + len(looked_up),
            "exact_hits": audit_windows.c.exact_hits + _of_tier(served, "exact"),
            "vector_hits": audit_windows.c.vector_hits + _of_tier(served, "vector"),
            "rag_answers": audit_windows.c.rag_answers + _of_tier(served, "rag"),
            "drift": drift.as_json(),
        }
        await connection.execute(
            update(audit_windows).where(audit_windows.c.id == window["id"]).values(counted)
        )

    async def _drawn(
        self, connection: AsyncConnection, window: RowMapping, served: Sequence[Lookup]
    ) -> list[Lookup]:
        """A random sample, and every one of the first hits by meaning."""
        rates = {"exact": self._rates.exact, "vector": self._rates.vector, "rag": self._rates.rag}
        drawn, seen = [], window["vector_hits"]
        for one in served:
            tier = _tier_of(one.found)
            if tier is None:
                continue
            first = tier == "vector" and seen < self._rates.first
            seen += tier == "vector"
            if first or self._chance.random() < rates[tier]:
                drawn.append(one)
        if not drawn:
            return []
        waiting = select(func.count()).where(audits.c.window_id == window["id"], audits.c.verdict == "open")
        return drawn[: max(0, MOST_OPEN - (await connection.scalar(waiting) or 0))]

    def _key(self, lookup: Lookup, cut: Cut) -> WindowKey:
        """What was found belongs to the shelf's encoder and cut, an answer by RAG to whoever let it out."""
        if isinstance(lookup.found, Written):
            return rag_window(*lookup.shelf, self._delivering)
        return WindowKey(*lookup.shelf, self._model, cut.since)


def topic_of(entry: Entry) -> str:
    """What an entry is about, as far as it says so: the document that it was written from."""
    return entry.sources[0].document if entry.sources else ""


def _written(outcome: Answered, draft: Draft) -> Written:
    score = outcome.verdict.score if isinstance(outcome.verdict, Checked) else 0.0
    return Written(outcome.text, draft.contexts, score)


def _below(found: Match | Written, cut: float) -> bool:
    """Whether an older, lower cut served this; the window of the present cut must not count it."""
    return isinstance(found, Hit) and found.tier == "vector" and found.score < cut


def _best_score(found: Match | Written) -> float | None:
    """The best score by meaning; None where the exact tier was faster."""
    match found:
        case Hit(tier="exact"):
            return None
        case Hit(score=score) | NearMiss(score=score):
            return score
        case Miss() | Written():
            return 0.0


def _tier_of(found: Match | Written) -> AuditTier | None:
    """How it was answered; None if it was not."""
    if isinstance(found, Hit):
        return found.tier
    return "rag" if isinstance(found, Written) else None


def _of_tier(served: Sequence[Lookup], tier: AuditTier) -> int:
    return sum(_tier_of(one.found) == tier for one in served)


def _row(window: Mapping[Any, Any], lookup: Lookup) -> dict[str, Any]:
    shown = _of_entry(lookup.found) if isinstance(lookup.found, Hit) else _of_writing(lookup.found)
    return {
        "id": str(uuid4()),
        "window_id": window["id"],
        "tenant": window["tenant"],
        "language": window["language"],
        "request_id": lookup.question.conversation.request_id,
        "tier": _tier_of(lookup.found),
        "question": lookup.question.text,
        "verdict": "open",
        "at": lookup.at,
        **shown,
    }


def _of_entry(hit: Hit) -> dict[str, Any]:
    return {
        "score": hit.score,
        "phrasing": hit.phrasing,
        "answer": hit.entry.answer,
        "contexts": None,
        "entry_id": hit.entry.id,
        "entry_revision": hit.entry.revision,
        "topic": topic_of(hit.entry),
    }


def _of_writing(written: Any) -> dict[str, Any]:
    return {
        "score": written.score,
        "phrasing": "",
        "answer": storable(written.text),
        "contexts": [
            {"text": storable(one.text), "source": one.source, "title": one.title} for one in written.contexts
        ],
        "entry_id": "",
        "entry_revision": 0,
        "topic": next((one.source for one in written.contexts), ""),
    }
