from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from cache.entries import EntryState
from cache.indexing import disagreement, index_pending, reindex, repair, shelf_key, spread_of
from cache.matching.evidence import spread
from cache.store import EntryStore
from encoders import Vector
from storage.testing import MemoryIndex
from storage.vectors import IndexUnavailable, Point, VectorIndex
from tests.cache.shelves import WordEncoder, content


async def test_an_entry_is_in_the_index_while_it_is_active(
    store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    entry = await store.create("shop", content("How do I pay?", "Payment"), by="ann")
    assert await index_pending(store, index, encoder) == 1
    assert await index.ids() == set()
    await store.change_state("shop", entry.id, "active", revision=1, by="ann")
    assert len((await disagreement(store, index)).missing) == 2
    assert await index_pending(store, index, encoder) == 1
    assert len(await index.ids()) == 2
    await store.edit("shop", entry.id, content("How do I pay?"), revision=2, by="ann")
    assert await index_pending(store, index, encoder) == 1
    assert len(await index.ids()) == 1
    await store.change_state("shop", entry.id, "paused", revision=3, by="ann")
    assert await index_pending(store, index, encoder) == 1
    assert await index.ids() == set()
    assert await index_pending(store, index, encoder) == 0
    assert not await disagreement(store, index)


async def test_the_index_says_how_far_the_phrasings_of_an_entry_spread(
    store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    for phrasings in (("How do I pay?", "Payment"), ("When are you open?",)):
        await store.create("shop", content(*phrasings), by="ann", state="active")
    await index_pending(store, index, encoder)
    vector = (await encoder.encode(["Payment"]))[0]
    found = await index.nearest(vector, where={"shelf": shelf_key("shop", "en", "")}, limit=5)
    spreads = {one.text: spread_of(one.payload) for one in found}
    assert (
        spreads["Payment"]
        == spreads["How do I pay?"]
        == pytest.approx(spread(await encoder.encode(["How do I pay?", "Payment"])), abs=1e-4)
    )
    assert spreads["When are you open?"] == 1.0
    assert spread_of({"entry": "without"}) == 1.0


async def test_what_a_kill_left_unindexed_is_found_again(
    store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    await store.create("shop", content("One?"), by="ann", state="active")
    await index_pending(store, index, encoder)
    await store.create("shop", content("Two?", "Zwei?"), by="ann", state="active")
    assert len((await disagreement(store, index)).missing) == 2
    restarted = EntryStore(store.db)
    assert await index_pending(restarted, index, encoder) == 1
    assert not await disagreement(restarted, index)


async def test_an_entry_changed_while_it_was_indexed_is_indexed_again(
    store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    entry = await store.create("shop", content("Old?"), by="ann", state="active")

    class EditedMeanwhile(WordEncoder):
        """Another replica edits and indexes the entry while this one encodes its old text."""

        edited = False

        async def encode(self, texts: Sequence[str], /) -> Vector:
            if not self.edited:
                self.edited = True
                await store.edit("shop", entry.id, content("New?"), revision=1, by="ben")
                await index_pending(store, index, encoder)
            return await super().encode(texts)

    await index_pending(store, index, EditedMeanwhile())
    assert not await disagreement(store, index)
    (found,) = await index.nearest(
        (await encoder.encode(["New?"]))[0], where={"shelf": shelf_key("shop", "en", "")}, limit=5
    )
    assert found.text == "New?"


async def test_reindexing_makes_a_broken_index_agree_with_sql(
    store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    await store.create("shop", content("One?", "Eins?"), by="ann", state="active")
    await store.create("shop", content("Two?"), by="ann", state="retired")
    await index_pending(store, index, encoder)
    await index.clear()
    vector = (await encoder.encode(["stray"]))[0]
    stray = "11111111-1111-4111-8111-111111111111"
    await index.upsert(
        [Point(stray, vector, "stray", {"shelf": shelf_key("shop", "en", ""), "entry": "gone"})]
    )
    found = await disagreement(store, index)
    assert (len(found.missing), found.unknown) == (2, {stray})
    seen: list[int] = []
    assert not await reindex(store, index, encoder, progress=seen.append)
    assert len(await index.ids()) == 2
    assert sum(seen) == 2


async def test_reindexing_loses_nothing_to_a_gateway_that_indexes_beside_it(
    store: EntryStore, encoder: WordEncoder
) -> None:
    class Shared(MemoryIndex):
        """A server, which a gateway writes to until it has deleted everything."""

        async def clear(self) -> None:
            await index_pending(store, self, encoder)
            await super().clear()

    await store.create("shop", content("One?", "Eins?"), by="ann", state="active")
    shared = Shared(encoder.identity)
    await index_pending(store, shared, encoder)
    assert not await reindex(store, shared, encoder)
    assert len(await shared.ids()) == 2


class Encodes(WordEncoder):
    """Remembers what it encoded."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def encode(self, texts: Sequence[str], /) -> Vector:
        self.texts += texts
        return await super().encode(texts)


async def test_a_repair_touches_nothing_but_what_differs(
    store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    await store.create("shop", content("One?"), by="ann", state="active")
    lost = await store.create("shop", content("Two?", "Zwei?"), by="ann", state="active")
    await index_pending(store, index, encoder)
    await index.delete(where={"entry": lost.id})
    stray = "11111111-1111-4111-8111-111111111111"
    [vector] = await encoder.encode(["stray"])
    await index.upsert([Point(stray, vector, "stray", {"shelf": shelf_key("shop", "en", "")})])
    again = Encodes()
    found = await repair(store, index, again)
    assert (len(found.missing), found.unknown) == (2, {stray})
    assert sorted(again.texts) == ["Two?", "Zwei?"]
    assert not await disagreement(store, index)
    assert not await repair(store, index, again)


@pytest.mark.parametrize("moment", ["ids", "remove"])
@pytest.mark.parametrize("state", ["active", "paused"])
async def test_what_another_replica_changes_during_a_repair_stays_as_it_left_it(
    store: EntryStore, index: VectorIndex, encoder: WordEncoder, moment: str, state: EntryState
) -> None:
    await store.create("shop", content("One?"), by="ann", state="active")
    before: EntryState = "paused" if state == "active" else "active"
    entry = await store.create("shop", content("Two?"), by="ann", state="active")
    await index_pending(store, index, encoder)
    if before == "paused":
        await store.change_state("shop", entry.id, before, revision=entry.revision, by="ann")

    class Shared:
        """The index, whose other user changes the entry at some moment."""

        def __getattr__(self, name: str) -> Any:
            return getattr(index, name)

        async def ids(self) -> set[str]:
            found = await index.ids()
            await self._meanwhile("ids")
            return found

        async def remove(self, ids: Sequence[str]) -> None:
            await self._meanwhile("remove")
            await index.remove(ids)

        async def clear(self) -> None:
            raise AssertionError("others are served from it")

        async def _meanwhile(self, now: str) -> None:
            kept = await store.get("shop", entry.id)
            if now == moment and kept.state == before:
                await store.change_state("shop", entry.id, state, revision=kept.revision, by="ben")
                await index_pending(store, index, encoder)

    await repair(store, cast("VectorIndex", Shared()), encoder)
    assert not await disagreement(store, index)


async def test_a_dead_index_loses_nothing(
    store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    await store.create("shop", content("One?"), by="ann", state="active")

    class DeadIndex:
        async def upsert(self, points: Sequence[Point], /) -> None:
            raise IndexUnavailable("no disk")

    with pytest.raises(IndexUnavailable):
        await index_pending(store, DeadIndex(), encoder)  # type: ignore[arg-type]
    assert await index_pending(store, index, encoder) == 1
    assert not await disagreement(store, index)
