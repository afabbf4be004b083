"""A vague question that a verified entry answers may be looked up; one that says less than the entry may not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from cache.entries import Entry
from cache.matching import Hit, Match, Miss
from encoders import Encoded, EncoderError, EncoderIdentity, Vector
from gateway.understanding import Understanding
from gateway.understanding.follow_ups import FollowUps
from gateway.understanding.vouching import Vouching, names_subject_of
from storage.sql import DatabaseUnavailable
from tests.understanding.asking import BrokenModel, conversation, follow_ups

FEE = "How much is a residence card?"
VAGUE = "Is a stamp needed for registration?"


def entry(*phrasings: str) -> Entry:
    now = datetime.now(UTC)
    return Entry(
        id="e-1",
        tenant="default",
        kind="ground_truth",
        language="en",
        phrasings=phrasings,
        answer="Yes.",
        state="active",
        created_at=now,
        updated_at=now,
    )


class Shelf:
    """Finds one entry for every question, and remembers who asked; or breaks."""

    def __init__(self, *phrasings: str, breaks: Exception | None = None) -> None:
        self.asked: list[tuple[str, str, str, str]] = []
        self._phrasings, self._breaks = phrasings, breaks

    async def find(self, question: Encoded, /, *, tenant: str, language: str, group: str = "") -> Match:
        self.asked.append((question.text, tenant, language, group))
        if self._breaks:
            raise self._breaks
        if not self._phrasings:
            return Miss(reason="nothing there")
        return Hit(
            entry=entry(*self._phrasings),
            phrasing=self._phrasings[0],
            tier="vector",
            score=0.99,
            reason="",
        )


class Flat:
    """An encoder that knows no meaning, so nothing is compared with it."""

    identity = EncoderIdentity("flat", 2, "sha256:none", ("en",))

    def __init__(self, breaks: Exception | None = None) -> None:
        self._breaks = breaks

    async def encode(self, texts: Sequence[str], /) -> Vector:
        if self._breaks:
            raise self._breaks
        return np.ones((len(texts), 2), dtype=np.float32)


async def alone(text: str, shelf: Shelf, encoder: Flat | None = None, *, before: str = FEE) -> bool:
    understanding = Understanding(follow_ups(), vouching=Vouching(shelf, encoder or Flat()))
    [question] = (await understanding.understand(conversation(before, text))).questions
    return question.self_contained


@pytest.mark.parametrize(
    ("text", "phrasings", "named"),
    [
        ("Is a referral needed for physiotherapy?", ("Is a referral needed for physiotherapy?",), True),
        ("Is a referral needed?", ("Is a referral needed for physiotherapy?",), False),
        ("Do referrals for physiotherapy cost money?", ("Is a referral needed for physiotherapy?",), False),
        (
            "Who refers me for physiotherapy?",
            (
                "Is a referral needed for physiotherapy?",
                "physiotherapy without a doctor",
                "Physiotherapy: how?",
            ),
            True,
        ),
        ("Who refers me?", ("Is a referral needed?", "physiotherapy without a doctor"), False),
        ("Is a referral needed?", ("How do I?", "What can you do?"), False),
    ],
)
def test_a_question_names_the_subject_if_it_has_the_words_that_phrasings_share(
    text: str, phrasings: tuple[str, ...], named: bool
) -> None:
    assert names_subject_of(entry(*phrasings), text) is named


async def test_a_vague_question_is_looked_up_if_an_entry_says_just_that() -> None:
    assert not await alone(VAGUE, Shelf())
    assert await alone(VAGUE, Shelf(VAGUE))
    assert not await alone("Is a stamp needed?", Shelf(VAGUE))


async def test_a_question_that_is_likely_complete_is_looked_up_if_an_entry_is_found() -> None:
    assert not await alone("Where do I park?", Shelf())
    assert await alone("Where do I park?", Shelf("Where can visitors of the Sakura library park?"))


async def test_the_shelf_is_the_askers() -> None:
    shelf = Shelf()
    await alone(VAGUE, shelf)
    assert shelf.asked == [(VAGUE, "default", "en", "")]


@pytest.mark.parametrize("text", ["How much does it cost?", "What about physiotherapy?", "Why?"])
async def test_no_entry_vouches_for_what_a_rule_holds_back(text: str) -> None:
    shelf = Shelf(text)
    assert not await alone(text, shelf)
    assert shelf.asked == []


async def test_what_names_enough_and_other_languages_ask_no_entry() -> None:
    shelf = Shelf()
    assert await alone("How do I register my bicycle with the police?", shelf)
    assert not await alone("手数料はいくらですか", shelf, before="住民票の写しはどこで取れますか")
    assert shelf.asked == []


@pytest.mark.parametrize(
    ("shelf", "encoder"),
    [
        (Shelf(breaks=DatabaseUnavailable("gone")), Flat()),
        (Shelf(VAGUE), Flat(breaks=EncoderError("out of reach"))),
    ],
)
async def test_what_cant_be_asked_does_not_vouch(shelf: Shelf, encoder: Flat) -> None:
    assert not await alone(VAGUE, shelf, encoder)


async def test_no_entry_vouches_for_what_could_not_be_read_with_its_conversation() -> None:
    shelf = Shelf(VAGUE)
    understanding = Understanding(FollowUps(BrokenModel()), vouching=Vouching(shelf, Flat()))
    [question] = (await understanding.understand(conversation(FEE, VAGUE))).questions
    assert (question.self_contained, shelf.asked) == (False, [])
