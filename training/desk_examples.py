"""What a model of answers reads at small helpdesks: the pieces that a search finds, and the nearest entries.

Of each question of `answering/desks`: what the judge of passages would give the model to read, and the
verified entries whose phrasings are nearest. Whether one answers is told by what a right reply has to hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.progress import track

from cache.matching.scoring import told
from cache.reading.spelling import encode_spelt
from classifiers.retrieval.reading import PassageReader
from encoders import Encoder, Vector, encode_one
from encoders.shipped import load_shipped, load_shipped_answering
from gateway.documents.passages import RETRIEVED
from gateway.rag.answering import evidence
from training.command import rows
from training.desk_questions import Asked, Desk, desks
from training.desk_search import searched

__all__ = ["DESKS", "Read", "read_at_desks"]

DESKS: Final = Path(__file__).parent / "answering" / "desks"
NEAREST: Final = 4  # entries to a question
NEIGHBOURS: Final = 3  # to a phrasing of one

Read = tuple[str, str, str, bool]  # language; question; what is read; whether it answers


async def read_at_desks(folder: Path = DESKS) -> list[Read]:
    """All that is read there; what can't be called either is left out."""
    encoder = load_shipped()
    reader = PassageReader(encoder, load_shipped_answering())
    return [
        one
        for desk in desks(folder)
        for one in [*await _passages(desk, encoder, reader), *await _entries(desk, encoder)]
    ]


async def _passages(desk: Desk, encoder: Encoder, reader: PassageReader) -> list[Read]:
    found: list[Read] = []
    async with searched(desk, encoder) as search:
        for asked in track(_told(desk), desk.name):
            question = await encode_one(encoder, asked.text)
            passages = await search.find(question, language=desk.language, limit=RETRIEVED)
            read = await reader.likeliest(question, evidence(passages))
            for at in {at for at, _ in read}:
                there = [text for of, text in read if of == at]
                answers = asked.answered_by(passages[at].shown)
                found += [
                    (desk.language, asked.text, text, right)
                    for text, right in _of_passage(asked, there, answers=answers)
                ]
    return found


def _of_passage(asked: Asked, there: Sequence[str], *, answers: bool) -> Iterator[tuple[str, bool]]:
    """Of a passage that answers, pieces that hold a part of it can't be called either."""
    right = [asked.answered_by(text) for text in there]
    for text, one in zip(there, right, strict=True):
        if one or not answers or (any(right) and not asked.touched_by(text)):
            yield text, one


async def _entries(desk: Desk, encoder: Encoder) -> list[Read]:
    """Each question, and each phrasing held out, with the nearest entries under their nearest phrasings."""
    entries: list[dict[str, Any]] = rows(desk.home / "entries.jsonl")
    worded = [(text, one["answer"]) for one in entries for text in (one["question"], *one["phrasings"])]
    stored = await encode_spelt(encoder, [text for text, _ in worded], desk.language)
    asking = _told(desk)
    vectors = await encode_spelt(encoder, [one.text for one in asking], desk.language)
    found: list[Read] = []
    for asked, cosines in zip(asking, vectors @ stored.T, strict=True):
        for text, answer in _nearest(worded, cosines, NEAREST):
            found.append((desk.language, asked.text, told(text, answer), asked.answered_by(answer)))
    for at, ((asked, own), cosines) in enumerate(zip(worded, stored @ stored.T, strict=True)):
        cosines[at] = -np.inf
        for text, answer in _nearest(worded, cosines, NEIGHBOURS):
            found.append((desk.language, asked, told(text, answer), answer == own))
    return found


def _nearest(worded: Sequence[tuple[str, str]], cosines: Vector, most: int) -> list[tuple[str, str]]:
    """The phrasings and answers of the nearest entries, each entry once."""
    nearest: dict[str, str] = {}
    for at in np.argsort(-cosines):
        text, answer = worded[int(at)]
        nearest.setdefault(answer, text)
    return [(text, answer) for answer, text in islice(nearest.items(), most)]


def _told(desk: Desk) -> list[Asked]:
    """The questions that tell what they ask."""
    return [one for one in desk.asked if one.kind != "unclear"]
