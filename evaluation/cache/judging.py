"""Verified answers under pairs and under traffic, served by the shelf that serves in production."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from cache.errors import CacheError
from cache.matching import Hit, Match
from cache.shelf import Labelled, Shelf
from cache.store import EntryStore, Incoming
from cache.store.content import Content
from encoders import Encoder, Vector, encode_one
from evaluation.cases import Feedback, Pair, ShelfEntry, Traffic
from evaluation.statistics import Rate, percentiles
from gateway.errors import InvalidRequest
from gateway.settings import Settings
from gateway.stores import open_stores

__all__ = ["Category", "PairsResult", "Served", "TrafficResult", "evaluate_pairs", "evaluate_traffic"]

TENANT = "evaluation"
COSINES = (0.80, 0.85, 0.90, 0.95)
Tick = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Served:
    """What one lookup found, and what simpler shelves would have looked at."""

    match: Match
    right: bool  # whether what was served, or the nearest by cosine, is the entry that answers
    cosine: float
    nearest_right: bool
    same_words: bool
    ms: float

    @property
    def hit(self) -> bool:
        """Something was served."""
        return isinstance(self.match, Hit)


@dataclass(frozen=True, slots=True)
class Category:
    """The pairs of one kind."""

    kind: str  # "yes", "no" or "both": whether their answers may be reused
    served: Rate


@dataclass(frozen=True, slots=True)
class PairsResult:
    """Every pair judged alone, on a shelf that holds only that entry."""

    pairs: tuple[tuple[Pair, Served], ...]

    @property
    def n(self) -> int:
        """How many pairs."""
        return len(self.pairs)

    def shelves(self) -> dict[str, tuple[Rate, Rate]]:
        """Served share of reusable pairs and of traps: ours, the exact tier alone, and plain cosine."""
        reuse = [served for pair, served in self.pairs if pair.should_reuse]
        traps = [served for pair, served in self.pairs if not pair.should_reuse]

        def rates(serves: Callable[[Served], bool]) -> tuple[Rate, Rate]:
            return Rate(sum(map(serves, reuse)), len(reuse)), Rate(sum(map(serves, traps)), len(traps))

        return {
            "Sekisho": rates(lambda served: served.hit),
            "exact words only": rates(lambda served: served.same_words),
            **{f"cosine ≥ {cut:.2f}": rates(lambda served, cut=cut: served.cosine >= cut) for cut in COSINES},  # type: ignore[misc]
        }

    def by_category(self) -> dict[str, Category]:
        """How many of each kind were served."""
        found = {}
        for name in dict.fromkeys(pair.category for pair, _ in self.pairs):
            of_kind = [(pair, served) for pair, served in self.pairs if pair.category == name]
            reusable = {pair.should_reuse for pair, _ in of_kind}
            kind = "both" if len(reusable) > 1 else "yes" if reusable == {True} else "no"
            found[name] = Category(kind, Rate(sum(served.hit for _, served in of_kind), len(of_kind)))
        return found

    def as_json(self) -> dict[str, Any]:
        """The keys of the contract."""
        reuse, traps = self.shelves()["Sekisho"]
        return {
            "n": self.n,
            "reuse": reuse.n,
            "traps": traps.n,
            "recall": reuse.value,
            "false_reuse": traps.count,
            "false_reuse_rate": traps.value,
            "by_category": {
                name: {"n": part.served.n, "served": part.served.count}
                for name, part in self.by_category().items()
            },
            "latency_ms": percentiles(served.ms for _, served in self.pairs),
        }


@dataclass(frozen=True, slots=True)
class TrafficResult:
    """A FAQ under traffic, all entries on one shelf, at the cut that the stated target gave."""

    asked: tuple[tuple[Traffic, Served], ...]
    entries: int
    target_error: float
    cut: str

    def shelves(self) -> dict[str, tuple[Rate, Rate, Rate, Rate, Rate]]:
        """Served right, wrong per request, wrong per hit, near and far served: ours and simpler shelves."""
        return {
            "Sekisho": self._rates(lambda one: one.hit, lambda one: one.right),
            "exact words only": self._rates(lambda one: one.same_words, lambda one: one.right),
            **{
                f"cosine ≥ {cut:.2f}": self._rates(
                    lambda one, cut=cut: one.cosine >= cut,  # type: ignore[misc]
                    lambda one: one.nearest_right,
                )
                for cut in COSINES
            },
        }

    def _rates(
        self, serves: Callable[[Served], bool], right: Callable[[Served], bool]
    ) -> tuple[Rate, Rate, Rate, Rate, Rate]:
        in_scope = [served for question, served in self.asked if question.entry_id is not None]
        hits = [served for _, served in self.asked if serves(served)]
        wrong = sum(not right(served) for served in hits)

        def slice_served(name: str) -> Rate:
            of_slice = [served for question, served in self.asked if question.slice == name]
            return Rate(sum(map(serves, of_slice)), len(of_slice))

        return (
            Rate(sum(serves(served) and right(served) for served in in_scope), len(in_scope)),
            Rate(wrong, len(self.asked)),
            Rate(wrong, len(hits)),
            slice_served("near_oos"),
            slice_served("far_oos"),
        )

    def as_json(self) -> dict[str, Any]:
        """The keys of the contract."""
        right, per_request, per_hit, near, far = self.shelves()["Sekisho"]
        return {
            "in_scope": right.n,
            "served_correct_rate": right.value,
            "wrong_per_request": per_request.value,
            "wrong_per_hit": per_hit.value,
            "near_served_rate": near.value,
            "far_served_rate": far.value,
            "target_error": self.target_error,
            "latency_ms": percentiles(served.ms for _, served in self.asked),
        }


async def evaluate_pairs(
    pairs: Sequence[Pair], settings: Settings, *, progress: Tick = lambda: None
) -> PairsResult:
    """Each pair is a tenant of its own, so its shelf holds that entry and nothing else."""
    async with open_stores(_served_by(settings, answer_model=False)) as stores:
        store, shelf, encoder = stores.entries, stores.shelf, stores.encoder
        for place, pair in enumerate(pairs):
            language = (pair.cached_lang or pair.lang)[:2]
            alone = ShelfEntry(entry_id=pair.cached_question, questions=[pair.cached_question], lang=language)
            await _fill(store, _pair_tenant(place), [alone])
        await stores.index_pending()
        found = []
        for place, pair in enumerate(pairs):
            served = await _look_up(
                pair.question, pair.lang[:2], _pair_tenant(place), shelf, encoder,
                wanted=lambda _: pair.should_reuse,  # noqa: B023 - called before the loop goes on
                phrasings=[pair.cached_question], owners=[""],
                vectors=await encoder.encode([pair.cached_question]),
            )  # fmt: skip
            found.append((pair, served))
            progress()
        return PairsResult(tuple(found))


async def evaluate_traffic(
    entries: Sequence[ShelfEntry],
    traffic: Sequence[Traffic],
    settings: Settings,
    *,
    target_error: float,
    feedback: Sequence[Feedback] = (),
    progress: Tick = lambda: None,
) -> TrafficResult:
    """The FAQ is approved and calibrated as a fresh one (or on labelled feedback), then asked."""
    read = settings.cache.answer_model and all(entry.answer.strip() for entry in entries)
    async with open_stores(_served_by(settings, target_error=target_error, answer_model=read)) as stores:
        store, shelf, encoder = stores.entries, stores.shelf, stores.encoder
        names = await _fill(store, TENANT, entries)
        await stores.index_pending()
        told = []
        for language in sorted({entry.lang[:2] for entry in entries}):
            labelled = [
                Labelled(one.text, names.get(one.entry_id or ""))
                for one in feedback
                if one.lang[:2] == language
            ]
            cut = await shelf.calibrate(TENANT, language, labelled)
            told.append(f"{language}: served from {cut.score:.3f}; {cut.why}")
        named = {entry_id: name for name, entry_id in names.items()}
        phrasings = [(question, entry.entry_id) for entry in entries for question in entry.questions]
        vectors = await encoder.encode([text for text, _ in phrasings])
        asked = []
        for one in traffic:
            served = await _look_up(
                one.text, one.lang[:2], TENANT, shelf, encoder, group=one.group,
                wanted=lambda owner: named.get(owner, owner) == one.entry_id,  # noqa: B023
                phrasings=[text for text, _ in phrasings], owners=[owner for _, owner in phrasings],
                vectors=vectors,
            )  # fmt: skip
            asked.append((one, served))
            progress()
        return TrafficResult(tuple(asked), len(entries), target_error, "\n".join(told))


async def _look_up(
    text: str,
    language: str,
    tenant: str,
    shelf: Shelf,
    encoder: Encoder,
    *,
    group: str = "",
    wanted: Callable[[str], bool],
    phrasings: Sequence[str],
    owners: Sequence[str],
    vectors: Vector,
) -> Served:
    started = perf_counter()
    question = await encode_one(encoder, text)
    match = await shelf.find(question, tenant=tenant, language=language, group=group)
    ms = (perf_counter() - started) * 1000
    similarities = vectors @ question.vector
    nearest = int(np.argmax(similarities))
    return Served(
        match=match,
        right=isinstance(match, Hit) and wanted(match.entry.id),
        cosine=float(similarities[nearest]),
        nearest_right=wanted(owners[nearest]),
        same_words=isinstance(match, Hit) and match.tier == "exact",
        ms=ms,
    )


def _served_by(settings: Settings, **cache: float | bool) -> Settings:
    return settings.model_copy(update={"cache": settings.cache.model_copy(update=cache)})


async def _fill(store: EntryStore, tenant: str, entries: Sequence[ShelfEntry]) -> dict[str, str]:
    """Name to entry id; an entry without an answer has its name for one."""
    results = await store.put(tenant, [_incoming(one) for one in entries], by="evaluation")
    for result in results:
        if isinstance(result, CacheError):
            raise InvalidRequest(f"an entry of the file can't be used: {result}")
    return {one.entry_id: result.entry.id for one, result in zip(entries, results, strict=True)}  # type: ignore[union-attr]


def _incoming(entry: ShelfEntry) -> Incoming:
    return Incoming(
        content=Content(
            kind="ground_truth",
            language=entry.lang[:2],
            phrasings=tuple(entry.questions),
            answer=entry.answer or entry.entry_id,
            group=entry.group,
            valid_from=entry.valid_from,
            valid_until=entry.valid_until,
        )
    )


def _pair_tenant(place: int) -> str:
    return f"pair_{place}"
