from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from classifiers.faithfulness.statements.segmentation import script_language
from classifiers.retrieval import RelevanceVerdict
from encoders import Encoded, EncoderError, EncoderIdentity, Vector, encode_one
from encoders.pairs import PairModel
from encoders.shipped import load_shipped_answering
from encoders.testing import HashingEncoder
from gateway.domain import Draft
from gateway.errors import UpstreamUnavailable
from gateway.models.completions import ChatModel
from gateway.rag.chunking import GOES_ON
from gateway.rag.knowledge import KnowledgeRag
from gateway.rag.passages import RetrievedPassage
from gateway.rag.quoting import ExtractiveWriter
from gateway.rag.writer import NO_ANSWER, LlmWriter
from gateway.rag.written import Written
from tests.chatbot import Chatbot, Fails
from tests.rag.asking import encoded, question, quoting


def passage(text: str, heading: str = "Handbook", number: int = 1) -> RetrievedPassage:
    return RetrievedPassage(
        id=str(number),
        path="library.md",
        heading=heading,
        text=text,
        language="en",
        similarity=0.5,
        bm25=3.0,
        score=0.1,
    )


class Answers:
    """A model of answers to which only pieces with one of these words answer."""

    languages = ("en", "ja", "zh")
    digest = "answers"

    def __init__(self, *words: str) -> None:
        self._words = words
        self.read: list[tuple[str, str]] = []

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        self.read += pairs
        return np.array([2.0 if any(word in read for word in self._words) else -2.0 for _, read in pairs])


@cache
def shipped_reader() -> PairModel:
    return load_shipped_answering()


async def quoted(
    asked: str, found: Sequence[RetrievedPassage], *answers: str, parts: tuple[str, ...] = ()
) -> str | None:
    """What is quoted where only pieces with these words answer; without any, by the model that ships."""
    encoder, reader = HashingEncoder(), Answers(*answers) if answers else shipped_reader()
    one = replace(question(asked, language=script_language(asked)), parts=parts)
    written = await quoting(reader).write(one, await encode_one(encoder, asked), found)
    return written.text if written else None


QUOTED: dict[str, tuple[str, list[str], str]] = {
    "the sentence that answers": (
        "How many books can I borrow?",
        ["The library stands next to the station. You can borrow ten books. Bags are left at the entrance."],
        "You can borrow ten books.",
    ),
    "with the sentence that a pronoun points back to": (
        "Until what time is the kiosk in the lobby open?",
        ["A kiosk stands in the lobby. It is open until 22:00 on every day of the year. Cash only."],
        "A kiosk stands in the lobby. It is open until 22:00 on every day of the year.",
    ),
    "a list with the sentence that announces it": (
        "What do I have to send to get a certificate by post?",
        ["To get a certificate by post, send these:\n1. Form C-1,\n2. a stamp.\nIt takes 10 days."],
        "To get a certificate by post, send these:\n1. Form C-1,\n2. a stamp.",
    ),
    "a short table": (
        "How long may I keep DVDs?",
        ["- item: books; loan: 2 weeks\n- item: DVDs; loan: 1 week"],
        "- item: books; loan: 2 weeks\n- item: DVDs; loan: 1 week",
    ),
    "the number that is asked for": (
        "How much is the fee for a lost card?",
        ["A lost card has to be reported. The fee for a lost card is 300 yen."],
        "The fee for a lost card is 300 yen.",
    ),
    "Japanese": (
        "図書館は何冊まで借りられますか",
        ["貸出しはカウンターで行います。本は1人10冊まで借りられます。飲食はご遠慮ください。"],
        "本は1人10冊まで借りられます。",
    ),
    "Japanese list": (
        "自転車と原付の返還手数料はいくらですか",
        ["引取りには、次の返還手数料が必要です。\n- 自転車：2,500円\n- 原付：4,000円\n届をお持ちください。"],
        "引取りには、次の返還手数料が必要です。\n- 自転車：2,500円\n- 原付：4,000円",
    ),
    "Chinese": (
        "图书馆最多可以借多少本书？",
        ["请在服务台办理。每人最多可以借10本书。请勿饮食。"],
        "每人最多可以借10本书。",
    ),
    "from the passage that fits, not the first": (
        "Where are umbrellas kept?",
        ["The library opens at nine.", "Umbrellas are kept for a month at the lost property office."],
        "Umbrellas are kept for a month at the lost property office.",
    ),
}


@pytest.mark.parametrize(("asked", "texts", "answer"), QUOTED.values(), ids=QUOTED)
async def test_the_writer_quotes(asked: str, texts: list[str], answer: str) -> None:
    found = [passage(text, number=n) for n, text in enumerate(texts)]
    assert await quoted(asked, found) == answer


async def test_a_heading_goes_along_where_the_sentence_cannot_be_understood_without_it() -> None:
    found = [passage("Open from nine to five.", heading="City › Swimming pool")]
    answer = await quoted("When is the swimming pool open?", found, "nine")
    assert answer == "Swimming pool: Open from nine to five."


async def test_the_heading_of_a_list_stands_on_a_line_of_its_own() -> None:
    found = [passage("- pool: North; hours: 9 to 5\n- pool: South; hours: 9 to 6", heading="City › Swimming")]
    answer = await quoted("When is swimming possible?", found, "\n-")
    assert answer == "Swimming:\n- pool: North; hours: 9 to 5\n- pool: South; hours: 9 to 6"


FEES = "- 点数: 1点; 手数料: 500円\n- 点数: 2点; 手数料: 900円\n- 点数: 3点; 手数料: 1,300円"


@pytest.mark.parametrize(
    ("answers", "answer"),
    [
        (("円\n-",), FEES),
        (("円\n-", "1回に"), f"{FEES}\n1回に収集できるのは5点までです。"),
    ],
)
async def test_a_table_is_quoted_whole_where_it_answers_whole(answers: tuple[str, ...], answer: str) -> None:
    found = [passage(f"{FEES}\n1回に収集できるのは5点までです。")]
    assert await quoted("点数の手数料はいくらですか", found, *answers) == answer


class Rows(Answers):
    """Takes rows for answers that a table as a whole is not."""

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        found = await super().scores(pairs)
        return np.where(["\n-" in read for _, read in pairs], -2.0, found)


@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        (("3点",), "点数: 3点; 手数料: 1,300円"),
        (("1点", "3点"), FEES),  # never two of three
        (("手数料",), FEES),
    ],
)
async def test_of_a_table_one_row_is_quoted_or_all(rows: tuple[str, ...], answer: str) -> None:
    found = [passage(f"{FEES}\n\n1回に収集できるのは5点までです。")]
    asked = "粗大ごみの点数の手数料はいくらですか"
    one = question(asked, language="ja")
    written = await quoting(Rows(*rows)).write(one, await encode_one(HashingEncoder(), asked), found)
    assert written == Written(answer)


async def test_a_row_keeps_its_mark_where_more_is_quoted() -> None:
    found = [passage("- item: books; loan: 2 weeks\n- item: DVDs; loan: 1 week\nBooks can be renewed.")]
    asked = "How long may I keep DVDs, and which of them can be renewed?"
    written = await quoting(Rows("DVDs", "renewed")).write(
        question(asked), await encode_one(HashingEncoder(), asked), found
    )
    assert written == Written("- item: DVDs; loan: 1 week\nBooks can be renewed.")


SEALS = "印鑑登録は市民課で申請してください。登録手数料は300円です。"
HEALTH = "資格証の再交付の手数料は200円です。"


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("犬の登録手数料はいくらですか", None),
        ("パスポートの登録手数料は", None),
        ("会社の印鑑登録はどこですか", None),
        ("印鑑登録の手数料はいくらですか", "印鑑登録：登録手数料は300円です。"),
        ("現在の登録手数料はいくらですか", "登録手数料は300円です。"),
        ("市役所の登録手数料はいくらですか", "登録手数料は300円です。"),
        ("国保の資格証の再交付はいくらですか", "資格証の再交付の手数料は200円です。"),
        ("国民健康保険は登録手数料がいくらですか", None),  # a heading, of another passage
        ("登録料は登録手数料でいくらですか", "登録手数料は300円です。"),  # no heading
    ],
)
async def test_nothing_is_quoted_that_is_said_of_something_else(asked: str, answer: str | None) -> None:
    found = [passage(SEALS, heading="印鑑登録"), passage(HEALTH, heading="国民健康保険", number=2)]
    says = ["200円" if answer and "200" in answer else "300円"]
    assert await quoted(asked, found, *says) == answer


async def test_a_table_that_goes_on_in_another_passage_is_never_quoted_as_if_it_were_whole() -> None:
    found = [passage(f"{FEES}\n{GOES_ON}")]
    asked = "粗大ごみの点数の手数料はいくらですか"
    reader = Rows("3点")
    written = await quoting(reader).write(
        question(asked, language="ja"), await encode_one(HashingEncoder(), asked), found
    )
    assert written == Written("点数: 3点; 手数料: 1,300円")
    assert await quoted(asked, found, "手数料") is None


async def test_an_item_of_several_sentences_is_quoted_with_all_of_them() -> None:
    steps = "1. 電話で申し込みます。オンラインでも受け付けます。\n2. シールを買います。"
    found = [passage(steps, heading="粗大ごみ › 申込み")]
    asked = "粗大ごみのオンラインでの申込みは"
    written = await quoting(Rows("オンライン")).write(
        question(asked, language="ja"), await encode_one(HashingEncoder(), asked), found
    )
    assert written == Written("電話で申し込みます。オンラインでも受け付けます。")


@pytest.mark.parametrize("texts", [[], ["Bags are left at the entrance."], ["How many books can I borrow?"]])
async def test_where_nothing_answers_nothing_is_quoted(texts: list[str]) -> None:
    assert await quoted("Wie viele Bücher?", [passage(text) for text in texts]) is None


async def test_every_quotation_is_word_for_word_in_its_passage() -> None:
    for asked, texts, _ in QUOTED.values():
        answer = await quoted(asked, [passage(text) for text in texts])
        assert answer is not None
        assert any(answer in text for text in texts)


PARKING = "Bicycles may be left for a day. Leave the key with us. What was taken away is kept at the depot."


class Meaning:
    """An encoder for which everything about the depot means the same."""

    identity = EncoderIdentity("meaning", 2, "0", ("en",))

    def __init__(self, *, works: bool = True) -> None:
        self.works = works
        self.read: list[str] = []

    async def encode(self, texts: Sequence[str], /) -> Vector:
        if not self.works:
            raise EncoderError("gone")
        self.read += texts
        return np.array([[1, 0] if "depot" in text else [0, 1] for text in texts], dtype=np.float32)


async def test_an_encoder_finds_the_sentence_that_says_it_in_other_words() -> None:
    asked = Encoded("Where is my removed bicycle?", np.array([1, 0], dtype=np.float32))
    answers = Answers("bicycle", "depot")
    await ExtractiveWriter(Meaning(), answers).write(question(asked.text), asked, [passage(PARKING)])
    assert "depot" in answers.read[0][1]


async def test_an_encoder_is_not_asked_about_a_language_it_was_not_trained_on() -> None:
    encoder = Meaning()
    asked = Encoded("自転車はどこですか", np.array([1, 0], dtype=np.float32))
    await ExtractiveWriter(encoder, Answers("駅")).write(
        question(asked.text, language="ja"), asked, [passage("自転車は駅前です。")]
    )
    assert encoder.read == []


class Broken:
    """A model of answers that can't be run."""

    languages = ("en",)
    digest = "broken"

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        raise EncoderError("gone")


@pytest.mark.parametrize(
    "writer",
    [ExtractiveWriter(Meaning(works=False), Answers()), ExtractiveWriter(Meaning(), Broken())],
    ids=["encoder", "reader"],
)
async def test_a_model_that_fails_is_a_chatbot_that_fails(writer: ExtractiveWriter) -> None:
    asked = Encoded("Where is my bicycle?", np.array([1, 0], dtype=np.float32))
    with pytest.raises(UpstreamUnavailable):
        await writer.write(question(asked.text), asked, [passage(PARKING)])


LIBRARY = "The library lends books for two weeks. Films are lent for a week. Lost books are paid for."


async def test_only_what_answers_is_quoted_and_what_answers_as_surely_beside_it() -> None:
    found = [passage(LIBRARY)]
    assert await quoted("How long does the library lend books?", found, "two weeks") == (
        "The library lends books for two weeks."
    )
    asked = "How long does the library lend books and films?"
    assert await quoted(asked, found, "two weeks", "for a week") == (
        "The library lends books for two weeks. Films are lent for a week."
    )


async def test_a_piece_is_read_under_its_headings() -> None:
    answers = Answers("two weeks")
    asked = "How long does the library lend books?"
    await quoting(answers).write(
        question(asked), await encode_one(HashingEncoder(), asked), [passage(LIBRARY)]
    )
    assert len(answers.read) == 3
    assert all(read.startswith("Handbook\n") for _, read in answers.read)


async def test_what_only_speaks_of_the_matter_is_not_quoted() -> None:
    assert await quoted("When does the library lend books?", [passage(LIBRARY)], "o'clock") is None


async def test_a_line_that_heads_a_part_is_no_answer() -> None:
    text = "■ Lost books\nLost books are paid for.\n■ Films\nFilms are lent for a week."
    assert await quoted("What about lost books?", [passage(text)], "Lost") == "Lost books are paid for."


async def test_what_announces_a_list_is_quoted_with_it_or_not_at_all() -> None:
    text = "To get a certificate, send these:\n- Form C-1\n- a stamp\nIt takes 10 days."
    whole = "To get a certificate, send these:\n- Form C-1\n- a stamp"
    for says in ("send these", "Form C-1", "a stamp"):
        assert await quoted("What do I send to get a certificate?", [passage(text)], says) == whole


async def test_each_part_of_a_question_has_to_be_answered() -> None:
    asked = "How long does the library lend books? And what does a lost one cost?"
    parts = "How long does the library lend books?", "And what does a lost one cost?"
    found = [passage(LIBRARY)]
    assert await quoted(asked, found, "two weeks", parts=parts) == "The library lends books for two weeks."
    assert await quoted(asked, found, "$", parts=parts) is None


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
