from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from cache.calibration import Asked, Labelled, Probes, cut_for, probe, shelf_cut, upper_bound
from cache.entries import Entry
from cache.guards import default_guards
from cache.matching import Similar, candidates
from cache.matching.arrays import ShelfArrays
from cache.matching.evidence import ENTRIES, EVIDENCE, PHRASINGS, Weights, spread
from cache.matching.scoring import Scorer
from tests.cache.shelves import WEIGHTS, WordEncoder

WEIGHING = WEIGHTS.readings["meaning"]
TEXTS = {
    "reset": ("how do i reset my password", "reset the password", "password forgotten"),
    "pay": ("how do i pay", "which cards can i pay with", "pay by card"),
    "hours": ("when are you open", "opening hours", "open on sunday"),
}


def probes_of(scores: np.ndarray, right: np.ndarray) -> Probes:
    """Probes of which just the right ones are answerable."""
    numbers = np.arange(len(scores))
    return Probes(scores, right, right, numbers, numbers, (("",),) * len(scores), ("",) * len(scores))


def entry(name: str, phrasings: tuple[str, ...]) -> Entry:
    now = datetime.now(UTC)
    return Entry(
        id=name,
        tenant="shop",
        kind="ground_truth",
        language="en",
        phrasings=phrasings,
        answer=name,
        state="active",
        created_at=now,
        updated_at=now,
    )


def made(scores: list[float], right: list[bool]) -> Probes:
    return probes_of(np.array(scores), np.array(right))


async def test_serving_and_calibration_see_the_same_evidence() -> None:
    encoder = WordEncoder()
    entries = [entry(name, phrasings) for name, phrasings in TEXTS.items()]
    texts = [text for phrasings in TEXTS.values() for text in phrasings]
    owners = np.repeat(np.arange(3), 3)
    vectors = await encoder.encode(texts)
    question = "how do i change my password"
    asked = await encoder.encode([question])
    cosines = (vectors @ asked[0]).tolist()
    found = sorted(
        zip((entries[at].id for at in owners), texts, cosines, strict=True), key=lambda one: -one[2]
    )
    spreads = {one.id: spread(vectors[owners == at]) for at, one in enumerate(entries)}
    served = candidates(question, Similar(tuple(found), floor=None, spreads=spreads), entries, WEIGHING)
    at_once = ShelfArrays.of(vectors, texts, owners, "en").evidence(asked, [question])[0]
    for candidate in served:
        row = at_once[[one.id for one in entries].index(candidate.entry.id)]
        np.testing.assert_allclose(candidate.evidence.as_array(), row, atol=1e-6)
    assert served[0].entry.id == "reset"


async def test_only_the_nearest_entries_have_a_centre_and_phrasings_out_of_sight_count_as_the_farthest_seen() -> (
    None
):
    names = [f"entry{number}" for number in range(20)]
    entries = [entry(name, tuple(f"{word} {name}" for word in ("open", "close", "move"))) for name in names]
    texts = [text for one in entries for text in one.phrasings]
    owners = np.repeat(np.arange(len(entries)), 3)
    vectors = await WordEncoder().encode(texts)
    question = "open entry7 entry8"
    asked = await WordEncoder().encode([question])
    order = np.argsort(-(vectors @ asked[0]))[:PHRASINGS]
    cosines = (vectors @ asked[0]).tolist()
    found = tuple((entries[owners[row]].id, texts[row], cosines[row]) for row in order)
    spreads = {one.id: spread(vectors[owners == at]) for at, one in enumerate(entries)}
    served = candidates(question, Similar(found, found[-1][2], spreads), entries, WEIGHING)
    at_once = ShelfArrays.of(vectors, texts, owners, "en").evidence(asked, [question])[0]
    assert len(texts) > PHRASINGS
    for candidate in served:
        row = at_once[names.index(candidate.entry.id)]
        for name in ("central", "central_margin"):
            expected = row[EVIDENCE.index(name)]
            assert getattr(candidate.evidence, name) == pytest.approx(expected, abs=1e-6)
    assert sum(np.isfinite(one.evidence.central) for one in served) == ENTRIES


def test_phrasings_spread_as_far_as_they_differ() -> None:
    assert spread(np.array([[1.0, 0.0], [1.0, 0.0]])) == pytest.approx(1.0)
    assert spread(np.array([[1.0, 0.0], [0.0, 1.0]])) == pytest.approx(0.5**0.5)


async def test_a_held_out_phrasing_is_judged_as_if_it_were_not_there() -> None:
    encoder = WordEncoder()
    texts = [text for phrasings in TEXTS.values() for text in phrasings]
    vectors, owners = await encoder.encode(texts), np.repeat(np.arange(3), 3)
    shelf = ShelfArrays.of(vectors, texts, owners, "en")
    for row in range(len(texts)):
        rest = [at for at in range(len(texts)) if at != row]
        smaller = ShelfArrays.of(vectors[rest], [texts[at] for at in rest], owners[rest], "en")
        expected = smaller.evidence(vectors[[row]], [texts[row]])
        np.testing.assert_allclose(shelf.held_out(np.array([row])), expected, atol=1e-6)


def test_the_bound_is_the_exact_one() -> None:
    assert upper_bound(0, 299) == pytest.approx(0.00997, abs=1e-5)
    assert upper_bound(0, 298) > 0.01
    assert upper_bound(5, 5) == 1.0


@pytest.mark.parametrize(
    ("wrong", "right", "target", "score"),
    [
        ([0.9], 200, 0.01, 0.9),  # none may be wrong: just above the worst
        ([0.9, 0.8, 0.7], 1000, 0.01, 0.0),  # three of a thousand are within the target
        ([0.9] * 10 + [0.5], 400, 0.01, 0.9),  # equal scores are cut together
    ],
)
def test_the_cut_is_the_smallest_that_keeps_the_target(
    wrong: list[float], right: int, target: float, score: float
) -> None:
    probes = made(wrong + [0.95] * right, [False] * len(wrong) + [True] * right)
    cut = cut_for(probes, target_error=target, default=0.0)
    assert cut.score == pytest.approx(score)
    assert (cut.score > score) == (score > 0)
    assert cut.bound is not None
    assert cut.bound <= target
    assert cut.served == 1.0


def test_a_cut_that_hangs_on_few_wrong_probes_sinks_no_lower_than_the_default() -> None:
    few = made([0.9, *[0.95] * 200], [False, *[True] * 200])
    cut = cut_for(few, target_error=0.01, default=0.93)
    assert cut.score == 0.93
    assert cut.why.endswith("; the default cut, since so few probes say little of a lower one")
    assert cut_for(few, target_error=0.01, default=0.85).score == pytest.approx(0.9)
    many = made([0.9] * 10 + [0.95] * 1000, [False] * 10 + [True] * 1000)
    assert cut_for(many, target_error=0.01, default=0.93).score == pytest.approx(0.9)


def test_too_few_probes_give_the_default_and_say_how_many_are_needed() -> None:
    cut = cut_for(made([0.5] * 20, [True] * 20), target_error=0.01, default=0.97)
    assert (cut.score, cut.bound) == (0.97, None)
    assert cut.why == "default cut: 20 probes can't show 0.01 wrong answers per request, 161 are needed"


async def test_an_empty_shelf_gets_the_default_cut() -> None:
    cut = await shelf_cut([], WordEncoder(), scorer=Scorer(WEIGHING, default_cut=0.97), target_error=0.01)
    assert (cut.score, cut.probes) == (0.97, 0)


async def test_enough_labelled_questions_stand_in_the_place_of_the_probes() -> None:
    entries = [entry(name, phrasings) for name, phrasings in TEXTS.items()]
    asked = [Labelled(f"{text} {n}", one.id) for one in entries for text in one.phrasings for n in range(40)]
    asked += [Labelled(f"which wine goes with dish {n}", None) for n in range(40)]
    cut = await shelf_cut(
        entries, WordEncoder(), scorer=Scorer(WEIGHING, default_cut=0.97), target_error=0.01, labelled=asked
    )
    assert (cut.probes, cut.why.split(":")[0]) == (400, "labelled questions")
    assert cut.served > 0.5
    few = await shelf_cut(
        entries,
        WordEncoder(),
        scorer=Scorer(WEIGHING, default_cut=0.97),
        target_error=0.01,
        labelled=asked[:20],
    )
    assert (few.score, few.probes) == (0.97, 18)


async def test_a_question_with_a_preface_is_probed_by_what_it_asks() -> None:
    entries = [entry(name, phrasings) for name, phrasings in TEXTS.items()]
    preface = "We moved here a week ago and everything is still in boxes."
    said = ("how do i reset my password", f"{preface} how do i reset my password", f"{preface} reset it")
    cuts = []
    for text in said:
        asked = [Labelled(text, None)] * 300  # all wrong: the cut is what they score
        cut = await shelf_cut(
            entries,
            WordEncoder(),
            scorer=Scorer(WEIGHING, default_cut=0.97),
            target_error=0.01,
            labelled=asked,
        )
        cuts.append(cut.score)
    whole, prefaced, leaning = cuts
    assert prefaced == whole
    assert leaning < whole  # "it" needs what stood before


async def test_a_single_phrasing_is_only_probed_without_its_entry() -> None:
    entries = [entry("one", ("first question",)), entry("two", ("second question", "question two"))]
    texts = [text for one in entries for text in one.phrasings]
    vectors = await WordEncoder().encode(texts)
    shelf = ShelfArrays.of(vectors, texts, np.array([0, 1, 1]), "en")
    probes = probe(shelf, WEIGHING, Asked(tuple(texts), vectors), np.arange(3))
    assert (len(probes.scores), int(probes.answerable.sum())) == (5, 2)


def test_the_stated_error_holds_on_shelves_like_the_probes() -> None:
    """Of many FAQs drawn alike, at most about 20 % exceed the target with their calibrated cut."""
    random = np.random.default_rng(7)
    exceeded = 0
    for _ in range(200):
        right = random.random(1000) < 0.6
        cut = cut_for(probes_of(random.beta(np.where(right, 5, 2), 2), right), target_error=0.03, default=1.0)
        later = random.random(20_000) < 0.6
        wrong = (random.beta(np.where(later, 5, 2), 2) >= cut.score) & ~later
        exceeded += wrong.mean() > 0.03
    assert exceeded <= 55  # of 200


def test_each_phrasing_of_a_thousand_is_probed_with_and_without_its_entry() -> None:
    random = np.random.default_rng(3)
    words = ["".join(random.choice(list("abcdefghijklmnop"), 6)) for _ in range(400)]
    texts = [" ".join(random.choice(words, 8)) for _ in range(1100)]
    vectors = random.standard_normal((1100, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    shelf = ShelfArrays.of(vectors, texts, np.repeat(np.arange(110), 10), "en")
    probes = probe(shelf, WEIGHING, Asked(tuple(texts), vectors), np.arange(1100))
    assert len(probes.scores) == 2200


def test_more_evidence_never_lowers_the_probability() -> None:
    for weighing in Weights.load().readings.values():
        assert (weighing.weights >= 0).all()
        assert weighing.probability(np.full(len(EVIDENCE), -np.inf)) < 0.01
        assert weighing.probability(np.full(len(EVIDENCE), np.inf)) > 0.9


def test_the_default_cuts_are_conservative() -> None:
    weights = Weights.load()
    assert all(cut > 0.5 for cut in weights.default_cuts.values())
    assert set(weights.rereadings) == {"meaning", "words"}
    assert all(one.default_cut > 0.5 for one in weights.rereadings.values())


async def test_entries_that_ask_the_same_raise_the_cut() -> None:
    """Two entries with mixed-up phrasings answer for each other: the cut must rise above that."""
    texts = [
        f"{verb} my {thing} please"
        for thing in ("card", "phone", "car", "house")
        for verb in ("sell", "buy", "rent")
    ]
    apart = [
        entry(thing, tuple(t for t in texts if thing in t)) for thing in ("card", "phone", "car ", "house")
    ]
    mixed = [
        replace(one, phrasings=tuple(other.phrasings[at] for other in apart[:3]))
        for at, one in enumerate(apart[:3])
    ]
    cuts = [
        await shelf_cut(
            shelf * 30, WordEncoder(), scorer=Scorer(WEIGHING, default_cut=1.0), target_error=0.05
        )
        for shelf in (apart, mixed)
    ]
    assert cuts[1].score >= cuts[0].score


async def test_what_a_guard_holds_back_does_not_raise_the_cut() -> None:
    """Near misses that differ in a number are vetoed when served, so they may not make the cut strict."""
    entries = [
        entry(f"e{amount}", (f"What is the fee for {amount} items?", f"How much do {amount} items cost?"))
        for amount in range(1, 61)
    ]
    bare = await shelf_cut(
        entries, WordEncoder(), scorer=Scorer(WEIGHING, default_cut=1.0), target_error=0.05
    )
    guarded = await shelf_cut(
        entries,
        WordEncoder(),
        scorer=Scorer(WEIGHING),
        target_error=0.05,
        guards=default_guards(),
    )
    assert guarded.score < bare.score
    assert guarded.bound is not None
    assert guarded.bound <= 0.05
