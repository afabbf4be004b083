from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import pytest

from classifiers.retrieval import PassageEvidence, RelevanceVerdict
from encoders import Encoded, EncoderError, Vector
from encoders.testing import HashingEncoder
from gateway.documents.passages import RetrievedPassage
from gateway.domain import Draft
from gateway.errors import UpstreamUnavailable
from gateway.models.completions import ChatModel
from gateway.rag.knowledge import KnowledgeRag
from gateway.rag.quoting import ExtractiveWriter
from gateway.rag.writer import NO_ANSWER, LlmWriter
from gateway.rag.written import Written
from tests.chatbot import Chatbot, Fails
from tests.rag.asking import encoded, question


def passage(text: str, heading: str = "Handbook", number: int = 1) -> RetrievedPassage:
    return RetrievedPassage(
        id=str(number),
        path="library.md",
        heading=heading,
        text=text,
        language="en",
        score=0.1,
    )


class Knows:
    """A judge to which a passage answers if it holds what is known to answer this question."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        answer = self._known.get(question.text)
        scores = tuple(float(answer is not None and answer in one.text) for one in passages)
        label: Literal["correct", "ambiguous"] = "correct" if any(scores) else "ambiguous"
        return RelevanceVerdict(label=label, scores=scores, reason="", judge="knows@1")


LOANS = "The library lends books for two weeks."
LOST = "Lost books are paid for."
KNOWN = {
    "How long does it lend books?": "two weeks",
    "What does a lost one cost?": "paid for",
    "How long, and what does a lost one cost?": "two weeks",
}


async def quoted(asked: str, *parts: str, quotes_ambiguous: bool = False) -> Written | None:
    found = [passage(LOANS, heading="Library › Loans"), passage(LOST, heading="Library › Lost", number=2)]
    writer = ExtractiveWriter(HashingEncoder(), Knows(KNOWN), quotes_ambiguous=quotes_ambiguous)
    return await writer.write(replace(question(asked), parts=parts), encoded(asked), found)


async def test_the_passage_that_answers_is_quoted_whole_under_its_headings() -> None:
    assert await quoted("How long does it lend books?") == Written(f"Library › Loans\n{LOANS}")


async def test_where_nothing_answers_nothing_is_quoted() -> None:
    assert await quoted("Is there a café?") is None


async def test_an_operator_may_have_doubtful_passages_quoted() -> None:
    assert await quoted("Is there a café?", quotes_ambiguous=True) == Written(f"Library › Loans\n{LOANS}")


async def test_each_part_of_a_question_has_to_be_answered() -> None:
    both = "How long, and what does a lost one cost?"
    long, lost = "How long does it lend books?", "What does a lost one cost?"
    assert await quoted(both, long, lost) == Written(f"Library › Loans\n{LOANS}\n\nLibrary › Lost\n{LOST}")
    assert await quoted(both, long, long) == Written(f"Library › Loans\n{LOANS}")
    assert await quoted(both, long, "And is there a café?") is None


class Silent(HashingEncoder):
    async def encode(self, texts: Sequence[str], /) -> Vector:
        raise EncoderError("gone")


async def test_an_encoder_that_fails_is_a_chatbot_that_fails() -> None:
    asked = replace(question("How long?"), parts=("How long?", "And how much?"))
    with pytest.raises(UpstreamUnavailable):
        await ExtractiveWriter(Silent(), Knows({})).write(asked, encoded("How long?"), [passage(LOANS)])


@pytest.fixture
async def model() -> AsyncIterator[tuple[Chatbot, LlmWriter]]:
    with Chatbot() as bot:
        writer = LlmWriter(
            ChatModel(base_url=bot.base_url, model="writer-1", max_retries=0, name="the language model")
        )
        yield bot, writer
        await writer.close()


@pytest.mark.parametrize(
    ("language", "told"), [("en", "in English"), ("ja", "日本語で"), ("zh", "用中文"), ("fr", "in English")]
)
async def test_a_model_is_given_the_passages_and_told_to_use_nothing_else(
    model: tuple[Chatbot, LlmWriter], language: str, told: str
) -> None:
    bot, writer = model
    bot.says("You can borrow ten {books}.")
    found = [passage("Ten books {at most}."), passage("Two weeks.", heading="Library › Loans", number=2)]
    answer = await writer.write(question("How many?", language=language), encoded("How many?"), found)
    assert (answer, writer.name) == (Written("You can borrow ten {books}."), "writer-1")
    system, asked = bot.asked[-1].messages
    assert told in system["content"]
    assert "[1] Handbook\nTen books {at most}." in system["content"]
    assert "[2] Library › Loans\nTwo weeks." in system["content"]
    assert asked == {"role": "user", "content": "How many?"}
    assert bot.asked[-1].body["temperature"] == 0


async def test_a_model_that_finds_no_answer_writes_none(model: tuple[Chatbot, LlmWriter]) -> None:
    bot, writer = model
    bot.says(f" {NO_ANSWER}\n")
    assert await writer.write(question("How many?"), encoded("How many?"), [passage("Two weeks.")]) is None


@pytest.mark.parametrize(
    ("says", "heard"), [("Ten books at most.", "Ten books at most."), (f"No. {NO_ANSWER}", "No. ")]
)
async def test_who_listens_hears_the_answer_grow_and_never_the_mark(
    model: tuple[Chatbot, LlmWriter], says: str, heard: str
) -> None:
    bot, writer = model
    bot.says(says)
    parts: list[str] = []
    found = [passage("Ten books at most.")]
    await writer.write(question("How many?"), encoded("How many?"), found, parts.append)
    assert len(parts) > 3
    assert parts[-1] == heard
    assert all(heard.startswith(part) for part in parts)


def knowledge(writer: LlmWriter, found: RetrievedPassage) -> KnowledgeRag:
    """Documents in which this passage is found, and is relevant."""

    class Search:
        async def find(self, *_: object, **__: object) -> list[RetrievedPassage]:
            return [found]

    class Relevant:
        async def judge(self, *_: object) -> RelevanceVerdict:
            return RelevanceVerdict(label="correct", scores=(1.0,), reason="", judge="test")

    return KnowledgeRag(Search(), Relevant(), writer)  # type: ignore[arg-type]


async def test_own_documents_are_listened_to_with_their_contexts(model: tuple[Chatbot, LlmWriter]) -> None:
    bot, writer = model
    bot.says("Ten books at most.")
    found = passage("Ten books at most.")

    heard: list[Draft] = []
    rag = knowledge(writer, found)
    draft = await rag.ask(question("How many books?"), encoded("How many books?"), heard.append)
    assert isinstance(draft, Draft)
    assert [context.text for context in heard[-1].contexts] == [context.text for context in draft.contexts]
    assert heard[-1].text == draft.text == "Ten books at most."


@pytest.mark.parametrize(
    ("says", "text", "unfinished", "unreadable"),
    [
        ("Ten books. For two", "Ten books.", " For two", ""),
        ("Ten books for", "", "Ten books for", "cut_off"),
    ],
)
async def test_of_an_answer_that_was_cut_off_the_finished_sentences_are_the_draft(
    model: tuple[Chatbot, LlmWriter], says: str, text: str, unfinished: str, unreadable: str
) -> None:
    bot, writer = model
    bot.says(says, finish_reason="length")
    rag = knowledge(writer, passage("Ten books for two weeks."))
    draft = await rag.ask(question("How many books?"), encoded("How many books?"))
    assert isinstance(draft, Draft)
    assert (draft.text, draft.unfinished, draft.unreadable) == (text, unfinished, unreadable)


async def test_a_model_that_is_down_is_named(model: tuple[Chatbot, LlmWriter]) -> None:
    bot, writer = model
    bot.always(Fails(503))
    with pytest.raises(UpstreamUnavailable, match="the language model answered 503"):
        await writer.write(question("How many?"), encoded("How many?"), [passage("Two weeks.")])
