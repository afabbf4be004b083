from __future__ import annotations

import re

import pytest

from cache.guards import Compared
from cache.indexing import index_pending, shelf_key
from cache.matching import Hit, Match, Miss, NearMiss
from cache.matching.evidence import Weights
from cache.shelf import Shelf
from cache.store import EntryStore
from cache.store.content import LONGEST_PHRASING
from encoders import encode_one
from storage.vectors import Found, IndexUnavailable, Payload, Point, VectorIndex
from tests.cache.shelves import WEIGHTS, WordEncoder, content

FAQ = {
    "reset": ("How do I reset my account password?", "I forgot my account password, how do I reset it?"),
    "enable": ("How do I enable two-factor login for the app?", "enable two-factor login for the app"),
    "refund": ("Is a refund paid out within 5 days?", "refund paid out within 5 days"),
    "hours": ("When does the Kyoto shop open?", "opening hours of the Kyoto shop"),
}


@pytest.fixture
async def filled(shelf: Shelf, store: EntryStore, index: VectorIndex, encoder: WordEncoder) -> Shelf:
    for name, phrasings in FAQ.items():
        await store.create("shop", content(*phrasings, answer=name), by="ann", state="active", entry_id=name)
    await index_pending(store, index, encoder)
    return shelf


async def find(shelf: Shelf, text: str, *, tenant: str = "shop", language: str = "en") -> Match:
    return await shelf.find(await encode_one(WordEncoder(), text), tenant=tenant, language=language)


async def test_the_same_words_are_served_by_the_exact_tier(filled: Shelf) -> None:
    found = await find(filled, "  how do i RESET my account password")
    assert isinstance(found, Hit)
    assert (found.entry.id, found.tier, found.score) == ("reset", "exact", 1.0)


async def test_a_pasted_document_is_near_no_phrasing(filled: Shelf) -> None:
    pasted = " ".join([FAQ["reset"][0]] * 60)
    assert len(pasted) > LONGEST_PHRASING
    assert await find(filled, pasted) == Miss(reason="no entry is near")


async def test_other_words_are_served_by_meaning(filled: Shelf) -> None:
    found = await find(filled, "How do I reset my own account password?")
    assert isinstance(found, Hit)
    assert (found.entry.id, found.tier, found.phrasing) == ("reset", "vector", FAQ["reset"][0])
    assert "reaches the cut" in found.reason


@pytest.mark.parametrize(
    ("asked", "near", "reason"),
    [
        (
            "How do I disable two-factor login for the app?",
            "enable",
            "opposites: the question says “disable”",
        ),
        ("Is a refund paid out within 7 days?", "refund", "numbers: the question has 7 day"),
        ("Is no refund paid out within 5 days?", "refund", "polarity: the question is negated"),
        ("When does the Kyoto shop pay its staff?", "hours", "below the cut"),
    ],
)
async def test_a_near_miss_is_kept_back_and_says_why(
    filled: Shelf, asked: str, near: str, reason: str
) -> None:
    found = await find(filled, asked)
    assert isinstance(found, NearMiss)
    assert found.entry.id == near
    assert reason in found.reason


@pytest.mark.parametrize(
    ("asked", "tenant", "language"),
    [
        ("Which wine goes with fish?", "shop", "en"),
        ("How do I reset my own account password?", "bank", "en"),
        ("How do I reset my own account password?", "shop", "ja"),
        ("How do I reset my account password?", "bank", "en"),
        ("?!", "shop", "en"),
    ],
)
async def test_nothing_is_found_far_away_or_on_another_shelf(
    filled: Shelf, asked: str, tenant: str, language: str
) -> None:
    found = await find(filled, asked, tenant=tenant, language=language)
    assert isinstance(found, Miss)
    assert not found.lookup_failed


async def test_a_miss_says_what_the_best_score_is_made_of(filled: Shelf) -> None:
    found = await find(filled, "How do I order a wedding cake?")
    assert isinstance(found, Miss)
    assert re.fullmatch(
        r"no entry is near enough: the best scores 0\.\d+, the cut is .* \(meaning .*; characters .*\)",
        found.reason,
    )


async def test_the_index_is_never_trusted_for_state(filled: Shelf, store: EntryStore) -> None:
    await store.change_state("shop", "reset", "paused", revision=1, by="ann")
    found = await find(filled, "How do I reset my own account password?")
    assert not isinstance(found, Hit)


async def test_a_phrasing_that_was_edited_away_is_no_evidence(filled: Shelf, store: EntryStore) -> None:
    await store.edit("shop", "reset", content("Where is the nearest branch?"), revision=1, by="ann")
    assert not isinstance(await find(filled, "How do I reset my own account password?"), Hit)


class DeadIndex:
    """An index that can't be asked."""

    async def nearest(self, vector: object, /, *, where: Payload, limit: int) -> list[Found]:
        raise IndexUnavailable("the folder is locked")

    async def matching(self, text: str, /, *, where: Payload, limit: int) -> list[Found]:
        raise IndexUnavailable("the folder is locked")


async def test_a_dead_index_is_a_miss_that_says_so_and_the_exact_tier_goes_on(
    filled: Shelf, store: EntryStore, encoder: WordEncoder
) -> None:
    blind = Shelf(store, DeadIndex(), encoder)  # type: ignore[arg-type]
    found = await find(blind, "How do I reset my own account password?")
    assert isinstance(found, Miss)
    assert found.lookup_failed
    assert "the folder is locked" in found.reason
    assert isinstance(await find(blind, "How do I reset my account password?"), Hit)


class BrokenGuard:
    """A guard whose table is damaged."""

    name = "broken"

    def veto(self, compared: Compared, /) -> str | None:
        raise ValueError("no table")


async def test_a_guard_that_fails_keeps_the_entry_back(
    filled: Shelf, store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    guarded = Shelf(store, index, encoder, weights=WEIGHTS, guards=[BrokenGuard()])
    found = await find(guarded, "How do I reset my own account password?")
    assert isinstance(found, NearMiss)
    assert found.reason == "broken: could not be checked (ValueError: no table)"


async def test_a_language_that_the_encoder_does_not_know_is_found_by_its_characters(
    filled: Shelf, store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    answers = {"パスワードを変更する方法を教えてください": "password", "配送先の住所を確認したい": "address"}
    for phrasing, answer in answers.items():
        await store.create("shop", content(phrasing, language="ja", answer=answer), by="ann", state="active")
    await index_pending(store, index, encoder)
    question = await encode_one(encoder, "パスワードを変更する方法を教えて")
    first = (await filled.neighbours(question, tenant="shop", language="ja"))[0]
    assert first.entry.answer == "password"
    assert first.evidence.characters > 0.8


async def test_the_operator_is_told_what_judges_each_language(
    store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    shelf = Shelf(store, index, encoder, weights=Weights.load())
    assert encoder.identity.languages == ("en",)
    assert shelf.covers == {"en": "meaning", "ja": "characters only", "zh": "characters only"}


async def test_a_calibrated_cut_is_kept_and_used_by_every_replica(
    filled: Shelf, store: EntryStore, index: VectorIndex, encoder: WordEncoder
) -> None:
    assert (await filled.cut("shop", "en")).why.startswith("default cut")
    cut = await filled.calibrate("shop", "en")
    assert "16 probes can't show 0.01 wrong answers per request, 161 are needed" in cut.why
    assert await filled.cut("shop", "en") == cut
    assert await Shelf(store, index, encoder, weights=WEIGHTS).cut("shop", "en") == cut
    stricter = Shelf(store, index, encoder, weights=WEIGHTS, target_error=0.001)
    by_other_weights = Shelf(store, index, encoder)
    for other in (stricter, by_other_weights):
        assert (await other.cut("shop", "en")).probes == 0


async def test_points_of_another_tenant_with_a_known_entry_id_are_not_served(
    filled: Shelf, index: VectorIndex, encoder: WordEncoder
) -> None:
    text = "How do I reset my own account password?"
    payload = {"shelf": shelf_key("bank", "en", ""), "entry": "reset"}
    await index.upsert(
        [Point("22222222-2222-4222-8222-222222222222", (await encoder.encode([text]))[0], text, payload)]
    )
    assert isinstance(await find(filled, text, tenant="bank"), Miss)
