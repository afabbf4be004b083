"""Questions made of documents, and how much of what is asked they cover."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from encoders.testing import HashingEncoder
from evaluation.artificial.coverage import coverage
from evaluation.artificial.generating import ByTemplates, questions_from
from gateway.cli import app
from gateway.documents.chunking import Chunk
from gateway.documents.reading import SourceDocument
from gateway.errors import InvalidRequest
from tests.chatbot import Asked, Chatbot, Reply, Says


@pytest.mark.parametrize(
    ("language", "sentence", "question"),
    [
        ("en", "A lost sticker costs ¥300.", "How much does a lost sticker cost?"),
        ("en", "The fee for a copy is ¥200.", "How much is the fee for a copy?"),
        ("en", "You can renew your pass at Window 6.", "How can I renew my pass?"),
        ("en", "If someone else comes for you, a letter of proxy is needed.", "What happens if someone else comes for me?"),
        ("en", "Cancelling is free of charge and takes about 10 minutes.", "Is cancelling free of charge?"),
        ("ja", "利用料は、1時間につき500円です。", "利用料はいくらですか。"),
        ("ja", "カードをなくしたときは、窓口にお越しください。", "カードをなくした場合はどうすればいいですか。"),
        ("ja", "引取りには、鍵と本人確認書類が必要です。", "引取りには何が必要ですか。"),
        ("zh", "如果证件丢失，请到服务台办理。", "证件丢失怎么办？"),
        ("zh", "停车费为每小时5元。", "停车费多少钱？"),
    ],
)  # fmt: skip
async def test_a_sentence_is_asked_for_what_it_says(language: str, sentence: str, question: str) -> None:
    found = await ByTemplates().pairs(Chunk("", sentence), language)
    assert found == [(question, sentence)]


@pytest.mark.parametrize("sentence", ["It costs ¥300.", "これは、500円です。", "该费用为5元。"])
async def test_a_sentence_that_leans_on_another_is_not_asked_for(sentence: str) -> None:
    language = {"I": "en", "こ": "ja", "该": "zh"}[sentence[0]]
    assert await ByTemplates().pairs(Chunk("", sentence), language) == []


@pytest.mark.parametrize(
    ("language", "heading", "question"),
    [
        ("en", "Pets › Opening hours", "What should I know about opening hours?"),
        ("en", "Pets › Who can have a pass?", "Who can have a pass?"),
        ("en", "Pets › Minamo Card", "What should I know about Minamo Card?"),
        ("ja", "ペット › 料金", "料金について教えてください。"),
    ],
)
async def test_a_heading_is_asked_for_in_words_of_its_own(language: str, heading: str, question: str) -> None:
    text = {"en": "Two forms lie on the desk.", "ja": "様式は机の上に二つあります。"}[language]
    assert (question, text) in await ByTemplates().pairs(Chunk(heading, text), language)


class Author(Chatbot):
    """Plays a model that writes one honest pair and one that it made up."""

    def _reply_to(self, asked: Asked) -> Reply:
        passage = json.loads(asked.question)["passage"]
        pairs = [
            {"question": "What does it say?", "answer": passage},
            {"question": "Who is the mayor?", "answer": "The mayor is Hanako Yamada, elected in 2019."},
        ]
        return Says(json.dumps({"questions": pairs}))


def cli(folder: Path, *arguments: str, base_url: str = "") -> Any:
    (folder / "knowledge").mkdir(exist_ok=True)
    (folder / "knowledge" / "parking.md").write_text(
        "# Parking\n\n## Fees\n\nA lost sticker costs 300 yen.\n\nIf you move away, you get the rest back.\n",
        "utf-8",
    )
    model = f"evaluation: {{llm: {{base_url: '{base_url}', model: author-1}}}}\n" if base_url else ""
    config = folder / "sekisho.yaml"
    config.write_text(f"policy: {{must: {{description: Parking., documents: knowledge/}}}}\n{model}", "utf-8")
    return CliRunner().invoke(app, ["evaluate", *arguments, "--config", str(config)], catch_exceptions=False)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_documents_become_cases_and_drafts(tmp_path: Path) -> None:
    out, drafts = tmp_path / "questions.jsonl", tmp_path / "drafts.jsonl"
    told = cli(tmp_path, "questions", "--out", str(out), "--propose", str(drafts))
    assert told.exit_code == 0, told.output
    asked = [row["question"] for row in rows(out)]
    assert asked[:2] == ["How much does a lost sticker cost?", "What happens if I move away?"]
    draft = rows(drafts)[0]
    assert (draft["state"], draft["answer"]) == ("draft", "A lost sticker costs 300 yen.")
    assert draft["sources"][0]["document"].endswith("parking.md")

    real = tmp_path / "real.jsonl"
    real.write_text(
        "\n".join(
            json.dumps({"question": q}) for q in ("what does a lost sticker cost?", "Do you sell fish?")
        ),
        "utf-8",
    )
    figures = tmp_path / "coverage.json"
    told = cli(tmp_path, "coverage", "--real", str(real), "--artificial", str(out), "--json", str(figures))
    assert told.exit_code == 0, told.output
    found = json.loads(figures.read_text("utf-8"))
    assert (found["covered"], found["n"]) == (1, 2)
    assert found["gaps"] == [{"lang": "en", "questions": ["Do you sell fish?"]}]


def test_what_a_model_makes_up_is_dropped(tmp_path: Path) -> None:
    out = tmp_path / "questions.jsonl"
    with Author() as author:
        told = cli(tmp_path, "questions", "--out", str(out), base_url=author.base_url)
    assert "1 dropped" in " ".join(told.output.split())
    assert [row["question"] for row in rows(out)] == ["What does it say?"]


async def test_every_question_stands_there_once() -> None:
    chunk = Chunk("", "A lost sticker costs 300 yen.")
    twice = SourceDocument("a.md", "", "en", chunk.text, (chunk, chunk))
    assert len([one async for one in questions_from([twice], ByTemplates())]) == 1


async def test_one_near_question_is_enough_and_other_languages_do_not_count() -> None:
    encoder = HashingEncoder()
    found = await coverage(
        [("fee for a permit", "en"), ("fee for a boat", "en"), ("料金", "ja")],
        [("fee for a permit", "en"), ("something else entirely", "en")],
        encoder,
    )
    assert next(one.covered for one in found.questions)
    assert found.questions[2].nearest == ""
    assert found.of("ja") == (0, 1)


def test_without_documents_it_says_where_they_come_from(tmp_path: Path) -> None:
    config = tmp_path / "sekisho.yaml"
    config.write_text("policy: {must: {description: Ours.}}\n", "utf-8")
    with pytest.raises(InvalidRequest, match=r"policy\.must\.documents"):
        CliRunner().invoke(
            app,
            ["evaluate", "questions", "--out", str(tmp_path / "x.jsonl"), "--config", str(config)],
            catch_exceptions=False,
        )
