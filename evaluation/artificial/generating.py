"""Artificial questions: what the documents could be asked, each with the passage that answers it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

import yaml
from pydantic import BaseModel, ConfigDict

from classifiers.faithfulness import Checked
from classifiers.faithfulness.statements import statements
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.model_replies import AsksModel, read_object, response_format
from classifiers.retrieval import PATH_SEPARATOR
from gateway.documents.chunking import Chunk
from gateway.documents.reading import SourceDocument
from gateway.stages import Judge

__all__ = ["ArtificialQuestion", "ByModel", "ByTemplates", "Generator", "questions_from"]

MOST_A_PASSAGE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtificialQuestion:
    """A question, the answer that the document gives to it, and where it stands."""

    question: str
    answer: str
    language: str
    document: str  # its path
    version: str  # sha256 of its text
    heading: str
    passage: str

    @property
    def id(self) -> str:
        """The same for the same question on the same passage."""
        return hashlib.sha256(f"{self.question}\n{self.passage}".encode()).hexdigest()[:12]

    def as_case(self) -> dict[str, Any]:
        """A row that `sekisho evaluate answers` reads."""
        return {
            "id": self.id, "lang": self.language, "question": self.question, "ground_truth": self.answer,
            "ground_contexts": [{"id": self.document, "text": self.passage}], "tags": ["artificial"],
        }  # fmt: skip

    def as_entry(self) -> dict[str, Any]:
        """A row that `sekisho import` reads: a draft, which a person has to approve."""
        return {
            "question": self.question, "answer": self.answer, "language": self.language, "state": "draft",
            "sources": [{"document": self.document, "version": self.version}],
        }  # fmt: skip


class Generator(Protocol):
    """Makes questions, each with its answer, from one passage.

    Raises:
        ClassifierError: if it can't.
    """

    async def pairs(self, chunk: Chunk, language: str, /) -> list[tuple[str, str]]: ...


async def questions_from(
    documents: Iterable[SourceDocument], generator: Generator
) -> AsyncIterator[ArtificialQuestion]:
    """The questions of all documents, each only once."""
    seen: set[tuple[str, str]] = set()
    for document, chunk in ((one, chunk) for one in documents for chunk in one.chunks):
        version = hashlib.sha256(document.text.encode()).hexdigest()
        for question, answer in await generator.pairs(chunk, document.language):
            key = (document.language, question.casefold())
            if key in seen:
                continue
            seen.add(key)
            yield ArtificialQuestion(
                question=question, answer=answer, language=document.language, document=document.path,
                version=version, heading=chunk.heading, passage=chunk.text,
            )  # fmt: skip


class ByTemplates:
    """Without a model: from headings, and from sentences whose form says what they answer."""

    async def pairs(self, chunk: Chunk, language: str, /) -> list[tuple[str, str]]:
        """At most five, those from sentences first."""
        forms = _forms().get(language, _forms()["en"])
        found = [*_from_sentences(chunk, forms)]
        heading = chunk.heading.split(PATH_SEPARATOR)[-1].strip()
        if heading and len(found) < MOST_A_PASSAGE and statements(chunk.text):
            found.append((forms.ask_heading(heading), chunk.text))
        return found[:MOST_A_PASSAGE]


class ByModel:
    """By a language model; what it answers beyond the passage is dropped."""

    def __init__(self, model: AsksModel, judge: Judge) -> None:
        self._model = model
        self._judge = judge
        self.dropped = 0

    async def pairs(self, chunk: Chunk, language: str, /) -> list[tuple[str, str]]:
        """Those whose answers the passage supports."""
        title, _, heading = chunk.heading.partition(PATH_SEPARATOR)
        given = {"title": title, "heading": heading, "passage": chunk.text, "most": MOST_A_PASSAGE}
        reply = await self._model.ask(_prompt(language), json.dumps(given, ensure_ascii=False), _FORMAT)
        written = read_object(reply, _Reply, judge="questions@1").questions[:MOST_A_PASSAGE]
        context = f"{chunk.heading}\n{chunk.text}"
        kept = []
        for one in written:
            verdict = await self._judge.judge(one.answer, [context], question=one.question)
            if one.question.strip() and isinstance(verdict, Checked) and verdict.passed:
                kept.append((one.question.strip(), one.answer.strip()))
        self.dropped += len(written) - len(kept)
        return kept


class _Pair(BaseModel):
    model_config = ConfigDict(extra="ignore")

    question: str
    answer: str


class _Reply(BaseModel):
    """Questions that a passage answers."""

    model_config = ConfigDict(extra="ignore")

    questions: list[_Pair]


_FORMAT = response_format(_Reply, name="questions")


@dataclass(frozen=True, slots=True)
class _Forms:
    unclear: re.Pattern[str]  # sentences that lean on those before them
    sentences: tuple[tuple[re.Pattern[str], str], ...]
    asks: re.Pattern[str]  # headings that are questions
    heading: str
    swaps: tuple[tuple[re.Pattern[str], str], ...]  # the document says "you", the asker "I"

    def ask(self, sentence: str) -> str | None:
        """The question that a sentence answers."""
        if self.unclear.search(sentence):
            return None
        for find, ask in self.sentences:
            if (found := find.search(sentence)) and all(found.groupdict().values()):
                told = {name: self._swapped(part) for name, part in found.groupdict().items()}
                return _opened(ask.format(**told))
        return None

    def ask_heading(self, heading: str) -> str:
        """The question that a heading is, or stands for."""
        plain = heading.rstrip("?？ ")
        if self.asks.search(plain):
            return _opened(plain + ("？" if not plain.isascii() else "?"))
        return _opened(self.heading.format(heading=self._lowered(plain)))

    def _swapped(self, part: str) -> str:
        part = self._lowered(part)
        for find, put in self.swaps:
            part = find.sub(put, part)
        return part

    def _lowered(self, part: str) -> str:
        """A name keeps its capital, an ordinary first word does not."""
        first, _, rest = part.partition(" ")
        ordinary = self.swaps and first.istitle() and (rest[:1].islower() or first.endswith("ing"))
        return part[0].lower() + part[1:] if ordinary else part


def _from_sentences(chunk: Chunk, forms: _Forms) -> Iterator[tuple[str, str]]:
    for sentence in sentences(chunk.text):
        if sentence.kind in ("text", "item") and (question := forms.ask(sentence.text.strip(" -*・\n"))):
            yield question, sentence.text.strip()


def _opened(question: str) -> str:
    return question[0].upper() + question[1:]


@cache
def _forms() -> dict[str, _Forms]:
    read = yaml.safe_load((files(__package__) / "templates.yaml").read_text(encoding="utf-8"))
    return {
        language: _Forms(
            unclear=re.compile(one["unclear"], re.IGNORECASE),
            sentences=tuple((re.compile(row["find"], re.IGNORECASE), row["ask"]) for row in one["sentences"]),
            asks=re.compile(one["asks"], re.IGNORECASE),
            heading=one["heading"],
            swaps=tuple((re.compile(a, re.IGNORECASE), b) for a, b in one.get("swaps", {}).items()),
        )
        for language, one in read.items()
    }


@cache
def _prompt(language: str) -> str:
    name = language if language in ("ja", "zh") else "en"
    return (files(__package__) / "prompts" / f"{name}.md").read_text(encoding="utf-8")
