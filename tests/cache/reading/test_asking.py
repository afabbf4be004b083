"""What is taken for a preface, and what is not; the pairs of traps/prefaces say what that is worth."""

from __future__ import annotations

import pytest

from cache.indexing import index_pending
from cache.matching import Hit, NearMiss
from cache.reading.asking import guarded_readings, readings, says_all
from cache.shelf import Shelf
from cache.store import EntryStore
from encoders import encode_one
from storage.vectors import VectorIndex
from tests.cache.shelves import WEIGHTS, WordEncoder, content

QUESTION = "How do I reset the account password?"
PREFACE = "I came back from my holidays yesterday and a lot had changed."


@pytest.mark.parametrize(
    ("text", "language", "asks"),
    [
        (f"{PREFACE} {QUESTION}", "en", QUESTION),
        ("Hello, I was wondering if you could tell me where my invoices are kept?", "en",
         "where my invoices are kept?"),
        ("お世話になっております。先日引っ越したばかりなのですが、住民票はどこで取れますか。よろしくお願いします。", "ja",
         "住民票はどこで取れますか"),
        ("您好，我上周刚搬来，请问怎么申请停车证？谢谢", "zh", "怎么申请停车证?"),
        ("請問怎麼申請停車證？", "zh", "怎么申请停车证?"),
    ],
)  # fmt: skip
def test_what_only_leads_up_to_a_question_is_left_out(text: str, language: str, asks: str) -> None:
    assert readings(text, language)[0].rstrip("。 ") == asks


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("My card was stolen yesterday on the way to work. How do I block it?", "en"),  # it
        ("Can you tell me how to reset my password?", "en"),  # the models read past it
        (f"{QUESTION} I use the app on an old phone that has no camera.", "en"),  # stands behind
        ("カードを失くしました。どうすればいいですか", "ja"),  # asks nothing by itself
        ("要是水管爆了，造成的损失家财险给赔吗？", "zh"),  # a condition
        ("Was kostet das?", "de"),
    ],
)  # fmt: skip
def test_what_a_question_needs_stays(text: str, language: str) -> None:
    assert readings(text, language) == (text,)


def test_a_reading_that_lacks_a_word_of_the_phrasing_does_not_say_all() -> None:
    assert says_all("年会费是多少", "年费是多少", "zh") or says_all("年费是多少", "年费多少", "zh")
    assert not says_all("年费是多少", "金卡的年费是多少", "zh")
    assert says_all("How do I reset the password of the account?", QUESTION, "en")
    assert not says_all("How do I reset the password?", QUESTION, "en")


async def test_the_evidence_is_of_what_is_asked_and_the_guards_read_the_preface(
    store: EntryStore, index: VectorIndex
) -> None:
    encoder = WordEncoder()
    shelf = Shelf(store, index, encoder, weights=WEIGHTS)
    await store.create("shop", content(QUESTION), by="ann", state="active")
    await index_pending(store, index, encoder)

    async def asked(text: str) -> object:
        return await shelf.find(await encode_one(encoder, text), tenant="shop", language="en")

    hit = await asked(f"{PREFACE} {QUESTION}")
    assert isinstance(hit, Hit)
    plain = await shelf.neighbours(await encode_one(encoder, QUESTION), tenant="shop", language="en")
    assert hit.score == plain[0].score
    held_back = await asked(f"I am asking for my mother, who lives in another town. {QUESTION}")
    assert isinstance(held_back, NearMiss)
    assert held_back.reason.startswith("persons")


async def test_a_greeting_before_an_accepted_phrasing_hides_no_other_word(
    store: EntryStore, index: VectorIndex
) -> None:
    encoder = WordEncoder()
    shelf = Shelf(store, index, encoder, weights=WEIGHTS)
    accepted = "Hello, did the city take my scooter away from the main station? Where is it?"
    await store.create("shop", content(accepted), by="ann", state="active")
    await index_pending(store, index, encoder)
    asked = await encode_one(encoder, accepted.removeprefix("Hello, ").replace("scooter", "bike"))
    found = await shelf.find(asked, tenant="shop", language="en")
    assert isinstance(found, NearMiss)
    assert found.reason.startswith("substitution")


@pytest.mark.parametrize(
    ("text", "language"), [("a? " * 2_600, "en"), ("吗？" * 4_000, "zh"), ("か？" * 4_000, "ja")]
)
def test_a_text_of_nothing_but_questions_is_read_as_it_is(text: str, language: str) -> None:
    assert [one.replace(" ", "") for one in readings(text, language)] == [text.replace(" ", "")]


def test_guards_read_what_is_asked_without_even_a_short_lead_in() -> None:
    text = "Excuse me. Is the central library open on Sundays?"
    assert readings(text, "en") == (text,)
    assert guarded_readings(text, "en") == (text, "Is the central library open on Sundays?")
