"""What is kept is opened as the settings say: all of it, or nothing stays open."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from cache.store.content import Content
from encoders.shipped import load_shipped
from gateway.assembly import _ask_for_reviews
from gateway.configuration.loading import load_settings
from gateway.review.tickets import Tickets
from gateway.stores import open_stores
from storage.edge import OPTIMISE_BYTES, EdgeIndex
from storage.vectors import IndexUnavailable, Point


async def test_an_index_that_cannot_be_opened_leaves_the_other_one_free(tmp_path: Path) -> None:
    """Also a large one, whose search graph is begun as soon as it is open."""
    (tmp_path / "sekisho.yaml").write_text("cache: {pair_model: false}", "utf-8")
    settings, identity = load_settings(tmp_path / "sekisho.yaml"), load_shipped().identity
    entries, passages = (settings.index_folder / name for name in ("entries", "passages"))
    index = await EdgeIndex.open(entries, identity=identity, optimise_after=2 * OPTIMISE_BYTES)
    vectors = np.random.default_rng(7).normal(
        size=(OPTIMISE_BYTES // identity.dimensions // 4 + 1, identity.dimensions)
    )
    await index.upsert(
        [Point(str(UUID(int=at)), vector, "card", {}) for at, vector in enumerate(vectors.astype(np.float32))]
    )
    await index.close()
    passages.mkdir()
    (passages / "index.json").write_text("{", "utf-8")
    with pytest.raises(IndexUnavailable, match="passages is damaged"):
        async with open_stores(settings):
            pass
    await (await EdgeIndex.open(entries, identity=identity)).close()


EAST, WEST = "Pacific/Kiritimati", "Pacific/Pago_Pago"  # 25 hours apart: never the same day


@pytest.mark.parametrize(("zone", "over"), [(EAST, True), (WEST, False)])
async def test_an_entry_ends_and_is_reviewed_by_the_days_of_the_settings(
    tmp_path: Path, zone: str, over: bool
) -> None:
    (tmp_path / "sekisho.yaml").write_text(f"cache: {{pair_model: false, timezone: {zone}}}", "utf-8")
    last = datetime.now(ZoneInfo(EAST)).date() - timedelta(days=1)
    content = Content(
        kind="ground_truth",
        language="en",
        phrasings=("How much is it?",),
        answer="100 yen.",
        valid_until=last,
        review_by=last,
    )
    async with open_stores(load_settings(tmp_path / "sekisho.yaml")) as stores:
        await stores.entries.create("default", content, by="ann", state="active")
        served = await stores.entries.find_exact("default", "How much is it?", "en")
        await _ask_for_reviews(stores, "keep")
        asked = (await Tickets(stores.database).list(tenant="default")).items
    assert (served is None, len(asked) == 1) == (over, over)
