"""Which passages are found, and how often the quotation holds the answer, on questions with known answers.

    python -m benchmarks.retrieval FOLDER [--questions 500] [--weights 0,0.1,1]

FOLDER holds JSON Lines files with "question", "context", "answers", "answerable" and "title". The contexts of
a file are its documents. A passage is right if it belongs to the question's context and holds an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from classifiers.faithfulness.statements.segmentation import sentences
from encoders import Encoded
from encoders.onnx import OnnxEncoder
from encoders.shipped import load_shipped_answering
from gateway.documents.ingestion import Documents
from gateway.documents.passages import LOOKED_AT, PassageSearch, fused
from gateway.domain import Conversation, Question, Turn
from gateway.rag.quoting import ExtractiveWriter
from gateway.review.entries.rereview import follow_renamed, outdate_and_ask
from storage.edge import EdgeIndex
from storage.sql import Database
from storage.vectors import Found
from training.command import rows


@dataclass(frozen=True)
class Asked:
    """A question, the path of its document, and its answers."""

    encoded: Encoded
    path: str
    answers: tuple[str, ...]

    def right(self, found: Found) -> bool:
        return found.payload["path"] == self.path and any(answer in found.text for answer in self.answers)


def corpus(file: Path, folder: Path) -> tuple[Path, list[tuple[str, str, tuple[str, ...]]], str]:
    """The contexts as a corpus file, and the questions with the path of their context."""
    questions = rows(file)
    lines = {text: n for n, text in enumerate(dict.fromkeys(row["context"] for row in questions), 1)}
    titles = {row["context"]: row.get("title") or "" for row in questions}
    written = folder / file.name
    with written.open("w", encoding="utf-8") as out:
        for text in lines:
            out.write(json.dumps({"title": titles[text], "text": text}, ensure_ascii=False) + "\n")
    asked = [
        (row["question"], f"{file.name}#{lines[row['context']]}", tuple(row["answers"]))
        for row in questions
        if row["answerable"]
    ]
    return written, asked, questions[0]["lang"]


def recall(rankings: Sequence[tuple[Asked, Sequence[Found]]], top: int) -> float:
    """Share of the questions with a right passage among the first."""
    return sum(any(asked.right(found) for found in ranking[:top]) for asked, ranking in rankings) / len(
        rankings
    )


def together(near: Sequence[Found], matching: Sequence[Found], weight: float) -> list[Found]:
    """Both rankings as one."""
    known = {found.id: found for found in (*near, *matching)}
    scores = fused([(near, weight), (matching, 1.0)])
    return [known[id_] for id_ in sorted(scores, key=lambda id_: (-scores[id_], id_))]


async def measure(file: Path, encoder: OnnxEncoder, questions: int, weights: Sequence[float]) -> None:
    """Print the figures of one file."""
    with tempfile.TemporaryDirectory() as folder:
        written, asked, language = corpus(file, Path(folder))
        random.Random(7).shuffle(asked)
        asked = asked[:questions]
        database = await Database.open(f"sqlite+aiosqlite:///{folder}/sekisho.db")
        index = await EdgeIndex.open(Path(folder) / "index", identity=encoder.identity)
        started = perf_counter()
        report = await Documents(
            database, index, encoder, on_changed=outdate_and_ask, on_renamed=follow_renamed
        ).ingest([written])
        print(
            f"\n{file.name} ({language}): {len(report.added)} documents, {report.passages} passages, "
            f"{len(asked)} questions, ingested in {perf_counter() - started:.1f} s"
        )
        vectors = [(await encoder.encode([text]))[0] for text, _, _ in asked]
        posed = [
            Asked(Encoded(text, vector), path, answers)
            for (text, path, answers), vector in zip(asked, vectors, strict=True)
        ]
        near = [await index.nearest(q.encoded.vector, where={}, limit=LOOKED_AT) for q in posed]
        matching = [await index.matching(q.encoded.text, where={}, limit=LOOKED_AT) for q in posed]
        show("dense", list(zip(posed, near, strict=True)))
        show("BM25", list(zip(posed, matching, strict=True)))
        for weight in weights:
            pairs = zip(posed, near, matching, strict=True)
            show(f"hybrid, dense × {weight}", [(q, together(n, m, weight)) for q, n, m in pairs])
        await end_to_end(
            PassageSearch(database, index, encoder.identity),
            ExtractiveWriter(encoder, load_shipped_answering()),
            posed,
            language,
        )
        await index.close()
        await database.close()


def show(name: str, rankings: Sequence[tuple[Asked, Sequence[Found]]]) -> None:
    """Print one line."""
    print(f"  {name:22} recall@1 {recall(rankings, 1):.3f}   @5 {recall(rankings, 5):.3f}")


async def end_to_end(
    search: PassageSearch, writer: ExtractiveWriter, posed: Sequence[Asked], language: str
) -> None:
    """The way that serves: search, then quote."""
    held, length, started = 0, 0, perf_counter()
    for question in posed:
        found = await search.find(question.encoded, language=language, limit=4)
        written = await writer.write(alone(question.encoded.text, language), question.encoded, found)
        text = written.text if written else ""
        held += any(answer in text for answer in question.answers)
        length += len(sentences(text))
    ms = (perf_counter() - started) / len(posed) * 1e3
    print(
        f"  found and quoted       answer in it {held / len(posed):.3f}   "
        f"{length / len(posed):.1f} sentences   {ms:.1f} ms"
    )


def alone(text: str, language: str) -> Question:
    """A question that nothing came before."""
    conversation = Conversation(turns=(Turn("user", text),), tenant="default", request_id="benchmark")
    return Question(text=text, language=language, conversation=conversation)


async def main() -> None:
    """Measure every file of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--weights", default="0.1,0.3,1")
    options = parser.parse_args()
    encoder = OnnxEncoder.load()
    for file in sorted(options.folder.glob("*.jsonl")):
        await measure(
            file, encoder, options.questions, [float(weight) for weight in options.weights.split(",")]
        )


if __name__ == "__main__":
    asyncio.run(main())
