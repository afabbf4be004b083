"""What is quoted of an operator's documents without a language model: the answer, part of it, or neither.

    python -m benchmarks.quotations [--reader FOLDER]

Sections of documents that we wrote (`training/answering`), of which the model of answers learnt nothing. Each
question is asked of its section and of those others of its document, at most three, that hold most of its
words. *Right*: all lines that answer are quoted, or a sentence of each; *in part*: some of them; *wrong*: no
line of them, or none answers. Beside it: the line that shares most words with the question, always quoted.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Literal, get_args

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.retrieval import alone
from classifiers.faithfulness.statements.segmentation import LIST_MARK, sentences
from classifiers.gate.lexical import Rarity, lexical_share
from classifiers.retrieval import PATH_SEPARATOR
from classifiers.retrieval.reading import ReadingJudge
from encoders import Encoder, encode_one
from encoders.pairs import OnnxPairModel
from encoders.shipped import ANSWERING, load_shipped
from gateway.documents.passages import RetrievedPassage
from gateway.figures.rates import Rate
from gateway.rag.quoting import ExtractiveWriter
from training.written_questions import Answer, Section, written_sections

LANGUAGES = ("en", "ja", "zh")
OTHERS = 3
Outcome = Literal["right", "in part", "wrong", "to a person, rightly", "to a person, though answered"]
Counts = Counter[tuple[str, str]]  # by what answers and what became of it
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
KINDS = ("a sentence or row", "a whole list", "nothing")


def kind(answer: Answer) -> str:
    """What answers."""
    return KINDS[2] if not answer.places else KINDS[1] if answer.together else KINDS[0]


def passage(section: Section, number: int) -> RetrievedPassage:
    """A section as the search would find it."""
    text = section.lines[0]
    for before, line in pairwise(section.lines):
        listed = LIST_MARK.match(before) and LIST_MARK.match(line)
        text += f"\n{line}" if listed else f"\n\n{line}"
    return RetrievedPassage(
        id=str(number), path=section.document, heading=f"{section.document}{PATH_SEPARATOR}{section.heading}",
        text=text, language=section.language, score=0.0,
    )  # fmt: skip


def outcome(section: Section, answer: Answer, quotation: str | None) -> Outcome:
    """What became of a question."""
    if quotation is None:
        return "to a person, though answered" if answer.places else "to a person, rightly"
    held = {
        at for at, line in enumerate(section.lines) if any(one.text in quotation for one in sentences(line))
    }
    if not answer.places & held:
        return "wrong"
    return "right" if answer.places <= held else "in part"


async def measure(
    language: str, writer: ExtractiveWriter, encoder: Encoder, milliseconds: list[float]
) -> tuple[Counts, Counts]:
    """The outcomes of the writer, which is timed, and of the line that shares most words."""
    found = [(one, passage(one, number)) for number, one in enumerate(written_sections(language))]
    rarity = Rarity.fitted(one.shown for _, one in found)
    ours, lexical = Counts(), Counts()
    for section, own in track([of for of in found if of[0].kept], description=language):
        beside = [one for other, one in found if other.document == section.document and one is not own]
        for asked, answer in section.questions.items():
            shares = {one.id: lexical_share(asked, one.shown, rarity) for one in [own, *beside]}
            near = sorted(beside, key=lambda one: -shares[one.id])[:OTHERS]
            passages = sorted([own, *near], key=lambda one: -shares[one.id])
            encoded, started = await encode_one(encoder, asked), perf_counter()
            written = await writer.write(alone(asked, language), encoded, passages)
            milliseconds.append((perf_counter() - started) * 1e3)
            ours[kind(answer), outcome(section, answer, written.text if written else None)] += 1
            lexical[kind(answer), outcome(section, answer, _likeliest(asked, passages, rarity))] += 1
    return ours, lexical


def _likeliest(asked: str, passages: Sequence[RetrievedPassage], rarity: Rarity) -> str:
    lines = [line for one in passages for line in one.text.splitlines() if line]
    return max(lines, key=lambda line: lexical_share(asked, line, rarity))


def show(language: str, counts: Counts, name: str, table: Table) -> None:
    """A row for each kind of question."""
    for of in KINDS:
        total = sum(counts[of, one] for one in OUTCOMES)
        cells = [str(Rate(counts[of, one], total)) if counts[of, one] else "–" for one in OUTCOMES]
        table.add_row(language, name, of, str(total), *cells)


async def main() -> None:
    """All three languages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", type=Path, default=ANSWERING, metavar="FOLDER", help="instead of ours")
    reader = OnnxPairModel.load(parser.parse_args().reader)
    encoder = load_shipped()
    writer = ExtractiveWriter(encoder, ReadingJudge(encoder, reader))
    table = Table("", "", "what answers", "n", *OUTCOMES)
    milliseconds: list[float] = []
    for language in LANGUAGES:
        ours, lexical = await measure(language, writer, encoder, milliseconds)
        show(language, ours, "quoted", table)
        show(language, lexical, "likeliest line", table)
    Console(width=200).print(table)
    p50, p95 = np.percentile(milliseconds, [50, 95])
    print(f"a quotation takes {p50:.0f} ms, 95 % at most {p95:.0f} ms, sentences seen before included")


if __name__ == "__main__":
    asyncio.run(main())
