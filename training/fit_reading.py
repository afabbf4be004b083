"""Fit the weights and cuts of the judge that reads passages, and print what each helpdesk would get.

    python -m training.fit_reading [--reader FOLDER]     # writes reading_weights.json and prints the figures

Plain questions to the helpdesks of training/desks. Each is searched for in its helpdesk's documents as a
gateway does, and a passage answers if it holds what a right reply has to. Figures are of weights that were
fitted without the helpdesk that is judged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from classifiers.retrieval.reading import ANSWERS_FROM, SHIPPED, PassageReader, Signals
from encoders import Encoder, encode_one
from encoders.pairs import OnnxPairModel
from encoders.shipped import ANSWERING, load_shipped
from gateway.documents.passages import RETRIEVED, PassageSearch
from gateway.rag.answering import evidence
from training.desk_questions import Asked, Desk, desks
from training.desk_search import searched

QUOTED_RIGHT = 0.88  # of what is called correct answers, at the helpdesks that the weights did not see
INCORRECT_KEEPS = 0.98  # of the questions whose passage was found
SIGNALS = tuple(field.name for field in fields(Signals))


@dataclass(frozen=True)
class Found:
    """A question, and for each passage that was found what speaks for it and whether it answers."""

    asked: Asked
    signals: NDArray[np.float64]
    answers: NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """Its likeliest passage: how likely, whether the model takes it for an answer, and whether it is one."""

    desk: str
    found: Found
    score: float
    answers: bool
    right: bool


async def found_at(desk: Desk, encoder: Encoder, reader: PassageReader) -> list[Found]:
    """What a search finds for the questions of a helpdesk."""
    async with searched(desk, encoder) as search:
        return [await _found(desk, one, encoder, search, reader) for one in track(desk.asked, desk.name)]


async def _found(
    desk: Desk, asked: Asked, encoder: Encoder, search: PassageSearch, reader: PassageReader
) -> Found:
    question = await encode_one(encoder, asked.text)
    passages = await search.find(question, language=desk.language, limit=RETRIEVED)
    signals = await reader.signals(question, evidence(passages))
    read = [(one, passage) for one, passage in zip(signals, passages, strict=True) if one]
    return Found(
        asked,
        np.array([astuple(one) for one, _ in read], dtype=np.float64).reshape(-1, len(SIGNALS)),
        np.array([asked.answered_by(passage.shown) for _, passage in read], bool),
    )


def main() -> None:
    """Search, read, fit, measure, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", type=Path, default=ANSWERING, metavar="FOLDER", help="instead of ours")
    model = OnnxPairModel.load(parser.parse_args().reader)
    encoder, models = load_shipped(), dict[str, dict[str, Any]]()
    for kind, reads_meaning in (("meaning", True), ("words", False)):
        reader = PassageReader(encoder, model, reads_meaning=reads_meaning)
        found = {one.name: asyncio.run(found_at(one, encoder, reader)) for one in desks()}
        cuts = _measured(kind, found)
        for writing, english in (("words", True), ("characters", False)):
            of_writing = [one for name, of in found.items() if name.startswith("en") is english for one in of]
            models.setdefault(writing, {"encoder": encoder.identity.name})[kind] = _fitted(of_writing) | cuts
    SHIPPED.write_text(
        json.dumps({"judge": "reading@2", "models": models}, indent=1) + "\n", encoding="utf-8"
    )


def _fitted(found: Sequence[Found]) -> dict[str, Any]:
    """Each passage is a case. Questions that are too short to tell what they ask are none."""
    told = [one for one in found if one.asked.kind != "unclear"]
    signals, answers = (
        np.concatenate([one.signals for one in told]),
        np.concatenate([one.answers for one in told]),
    )
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(signals, answers)
    scaler, regression = model[0], model[1]
    weights = regression.coef_[0] / scaler.scale_
    bias = regression.intercept_[0] - weights @ scaler.mean_
    return {
        "bias": round(float(bias), 4),
        "weights": {name: round(float(of), 4) for name, of in zip(SIGNALS, weights, strict=True)},
    }


def _scores(found: Found, weights: dict[str, Any]) -> NDArray[np.float64]:
    logits = found.signals @ np.array([weights["weights"][name] for name in SIGNALS]) + weights["bias"]
    return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float64)


def _measured(kind: str, found: dict[str, list[Found]]) -> dict[str, float]:
    """The two cuts, on the scores of weights that did not see the helpdesk, and a table of what they do."""
    judged: list[Judged] = []
    for name, here in found.items():
        english = name.startswith("en")
        others = [of for other, of in found.items() if other != name and other.startswith("en") is english]
        weights = _fitted([one for of in others for one in of])
        judged += [_judged(name, one, weights) for one in here]
    told = sorted((of for of in judged if of.found.asked.kind != "unclear"), key=lambda of: -of.score)
    quoted = [of for of in told if of.answers]
    share = np.cumsum([of.right for of in quoted]) / np.arange(1, len(quoted) + 1)
    correct_from = quoted[int(np.flatnonzero(share >= QUOTED_RIGHT).max())].score
    there = [of.score for of in told if of.found.answers.any()]
    incorrect_below = float(np.quantile(there, 1 - INCORRECT_KEEPS))
    _show(kind, judged, correct_from, incorrect_below)
    return {"incorrect_below": round(incorrect_below, 3), "correct_from": round(correct_from, 3)}


def _judged(name: str, found: Found, weights: dict[str, Any]) -> Judged:
    """The likeliest passage by these weights."""
    scores = _scores(found, weights)
    if not len(scores):
        return Judged(name, found, 0.0, False, False)
    best = int(scores.argmax())
    answers = bool(found.signals[best][SIGNALS.index("answers")] >= ANSWERS_FROM)
    return Judged(name, found, float(scores[best]), answers, bool(found.answers[best]))


def _show(kind: str, judged: Sequence[Judged], correct: float, incorrect: float) -> None:
    columns = (
        "helpdesk",
        "answered",
        "found",
        "right",
        "wrong",
        "to a person",
        "others",
        "quoted",
        "incorrect",
    )
    table = Table(*columns, title=f"{kind}: correct from {correct:.3f}, incorrect below {incorrect:.3f}")
    for name in dict.fromkeys(of.desk for of in judged):
        here = [of for of in judged if of.desk == name]
        ours = [of for of in here if of.found.asked.kind == "answered"]
        others = [of for of in here if of.found.asked.kind in ("not_in_documents", "not_ours")]
        quoted = [of for of in ours if of.answers and of.score >= correct]
        right = sum(of.right for of in quoted)
        counts = [
            len(ours), sum(bool(of.found.answers.any()) for of in ours), right, len(quoted) - right,
            len(ours) - len(quoted), len(others), sum(of.answers and of.score >= correct for of in others),
            sum(of.score < incorrect for of in others),
        ]  # fmt: skip
        table.add_row(name, *map(str, counts))
    Console().print(table)


if __name__ == "__main__":
    main()
