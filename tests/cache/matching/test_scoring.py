"""What the models that read may do to a score, and what happens when one can't be asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from cache.calibration import shelf_cut
from cache.indexing import index_pending
from cache.matching import Hit, Match, Miss, NearMiss
from cache.matching.evidence import Answering, Numbers, Rereading, Weights
from cache.matching.scoring import WORTH_READING, Paired, Scorer
from cache.reading.asking import readings
from cache.shelf import Shelf
from cache.store import EntryStore
from encoders import EncoderError, encode_one
from storage.vectors import VectorIndex
from tests.cache.calibration.test_calibration import entry
from tests.cache.shelves import WEIGHTS, WordEncoder, content

REREADING = Rereading(bias=0.0, first=0.5, pair=1.0, farthest=6.0, default_cut=0.6)
ANSWERING = Answering(bias=0.0, score=0.5, answer=1.0, farthest=6.0, doubted_from=0.4, sure_from=0.98)
QUESTION = "How do I reset the account password?"


class ScriptedPairs:
    """Says the same logit of every pair, and remembers what it read."""

    languages = ("en",)
    digest = "scripted"

    def __init__(self, logit: float) -> None:
        self.logit = logit
        self.read: list[tuple[str, str]] = []

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> Numbers:
        self.read += pairs
        return np.full(len(pairs), self.logit)


class BrokenPairs(ScriptedPairs):
    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> Numbers:
        raise EncoderError("the model is gone")


async def found(
    pairs: ScriptedPairs,
    store: EntryStore,
    index: VectorIndex,
    language: str = "en",
    answers: ScriptedPairs | None = None,
) -> Match:
    weights = Weights(WEIGHTS.readings, WEIGHTS.default_cuts, {"meaning": REREADING}, ANSWERING)
    encoder = WordEncoder(("en", "ja"))
    shelf = Shelf(store, index, encoder, weights=weights, guards=[], pairs=pairs, answers=answers)
    stored = content("How do I reset my account password?", language=language)
    await store.create("shop", stored, by="ann", state="active")
    await index_pending(store, index, encoder)
    return await shelf.find(await encode_one(encoder, QUESTION), tenant="shop", language=language)


async def test_the_pair_model_reads_the_question_with_the_nearest_phrasing(
    store: EntryStore, index: VectorIndex
) -> None:
    pairs = ScriptedPairs(6.0)
    assert isinstance(await found(pairs, store, index), Hit)
    assert pairs.read == [(QUESTION, "How do I reset my account password?")]


async def test_what_does_not_read_alike_is_not_served(store: EntryStore, index: VectorIndex) -> None:
    match = await found(ScriptedPairs(-6.0), store, index)
    assert isinstance(match, NearMiss | Miss)


async def test_a_pair_model_that_fails_is_a_miss_that_says_so(store: EntryStore, index: VectorIndex) -> None:
    match = await found(BrokenPairs(6.0), store, index)
    assert isinstance(match, Miss)
    assert match.lookup_failed
    assert "the model is gone" in match.reason


async def test_a_language_the_pair_model_does_not_know_is_judged_without_it(
    store: EntryStore, index: VectorIndex
) -> None:
    pairs = ScriptedPairs(-6.0)
    assert isinstance(await found(pairs, store, index, language="ja"), Hit)
    assert pairs.read == []


async def test_where_the_pair_model_leaves_doubt_the_answer_is_read_under_the_nearest_phrasing(
    store: EntryStore, index: VectorIndex
) -> None:
    answers = ScriptedPairs(-6.0)
    match = await found(ScriptedPairs(0.5), store, index, answers=answers)
    assert isinstance(match, NearMiss | Miss)
    assert answers.read == [(QUESTION, "How do I reset my account password?\nPress “Forgot password”.")]


async def test_an_answer_that_reads_right_is_served(store: EntryStore, index: VectorIndex) -> None:
    doubtful = ScriptedPairs(0.5)
    assert isinstance(await found(doubtful, store, index, answers=ScriptedPairs(6.0)), Hit)


async def test_what_is_sure_already_is_served_without_reading_the_answer(
    store: EntryStore, index: VectorIndex
) -> None:
    answers = ScriptedPairs(-6.0)
    assert isinstance(await found(ScriptedPairs(6.0), store, index, answers=answers), Hit)
    assert answers.read == []


async def test_a_model_of_answers_that_fails_is_a_miss_that_says_so(
    store: EntryStore, index: VectorIndex
) -> None:
    match = await found(ScriptedPairs(0.5), store, index, answers=BrokenPairs(0.0))
    assert isinstance(match, Miss)
    assert match.lookup_failed


async def test_a_look_without_a_score_reads_nothing_and_a_question_with_a_preface_is_read_once(
    store: EntryStore, index: VectorIndex
) -> None:
    pairs, encoder = ScriptedPairs(3.0), WordEncoder()
    weights = Weights(WEIGHTS.readings, WEIGHTS.default_cuts, {"meaning": REREADING})
    shelf = Shelf(store, index, encoder, weights=weights, guards=[], pairs=pairs)
    stored = "Does the old blue family card pay for the bus?"
    await store.create("shop", content(stored), by="ann", state="active")
    await index_pending(store, index, encoder)
    text = "I have the old blue family card since I moved here last year. Does the card pay for the bus?"
    assert len(readings(text, "en")) > 1
    question = await encode_one(encoder, text)
    (seen,) = await shelf.by_evidence(question, tenant="shop", language="en")
    assert pairs.read == []
    (scored,) = await shelf.neighbours(question, tenant="shop", language="en")
    assert pairs.read == [(text, stored)]
    assert (scored.phrasing, scored.evidence) == (seen.phrasing, seen.evidence)


async def test_only_what_may_well_answer_is_read() -> None:
    pairs = ScriptedPairs(3.0)
    scorer = Scorer(WEIGHTS.readings["meaning"], REREADING, pairs)
    asked = [Paired("a", "b", "x"), Paired("c", "d", "y")]
    scores = await scorer.reread(np.array([WORTH_READING / 2, 0.5]), asked)
    assert pairs.read == [("c", "d")]
    assert scores[0] == WORTH_READING / 2
    assert scores[1] == pytest.approx(1 / (1 + np.exp(-3)))


async def test_a_probe_is_read_with_the_answers_of_others_and_never_beside_itself() -> None:
    pairs, answers = ScriptedPairs(0.5), ScriptedPairs(0.5)
    scorer = Scorer(WEIGHTS.readings["meaning"], REREADING, pairs, 0.9, ANSWERING, answers)
    phrasings = ("how do i reset my password", "i want to reset my password", "reset my password how")
    shelf = [entry("reset", phrasings), entry("pay", ("how do i pay my invoice", "i want to pay my invoice"))]
    await shelf_cut(shelf, WordEncoder(), scorer=scorer, target_error=0.01)
    assert answers.read
    assert {asked for asked, _ in answers.read} <= {text for one in shelf for text in one.phrasings}
    assert all(not read.startswith(f"{asked}\n") for asked, read in answers.read)


def test_rereading_is_monotone_and_bounded() -> None:
    steps = np.linspace(-20, 20, 41)
    by_pair = REREADING.probability(np.full(41, 0.5), steps)
    assert (np.diff(by_pair) >= 0).all()
    assert by_pair[0] == by_pair[10] > 0  # beyond `farthest` nothing more is believed
    by_evidence = REREADING.probability(np.linspace(0, 1, 41), np.zeros(41))
    assert (np.diff(by_evidence) >= 0).all()
