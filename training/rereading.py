"""How much the word of a pair model counts beside the evidence, and from which score on it serves by default.

Fitted on what the pair models have not seen: questions of FAQs whose right entry is known, each against the
whole shelf, and lone pairs that no guard holds back; all sets count the same. The helpdesks that we wrote,
half of whose askers want something else, are not fitted on: with the FAQs they give the default cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.linear_model import LogisticRegression

from cache.calibration import Asked, Probes, ask
from cache.guards import default_guards
from cache.matching import objection
from cache.matching.arrays import ShelfArrays
from cache.matching.evidence import Numbers, Weighing, log_odds
from cache.reading.spelling import encode_spelt
from encoders import Encoder
from encoders.pairs import PairModel
from training.command import rows
from training.faq_pairs import SETS, is_unseen
from training.matching_sets import NONE, alone, served, unguarded

__all__ = ["FARTHEST", "Shelf", "both_odds", "faqs", "helpdesks", "looked_up", "rereading", "vetoed"]

DEFAULT_TARGET = 0.005  # wrong answers per request at the default cut, over all shelves
FARTHEST = 6.0  # log-odds
HELPDESKS = Path(__file__).parent / "helpdesks"
Odds = tuple[Numbers, np.ndarray]  # by evidence and by the pair model, shape (questions, 2); whether right


class Shelf(NamedTuple):
    """Entries and what they are asked, as the development data has them."""

    language: str
    entries: list[dict[str, Any]]
    traffic: list[dict[str, Any]]

    @classmethod
    def read(cls, folder: Path, name: str, language: str) -> Self:
        """Both files of that name."""
        entries, traffic = (rows(folder / f"{name}.{part}.jsonl") for part in ("entries", "traffic"))
        return cls(language, entries, traffic)


def faqs(data: Path) -> dict[str, Shelf]:
    """The public FAQs with the traffic that no model has learnt from."""
    whole = {name: Shelf.read(data / "cache" / "faq", name, "en") for name in SETS}
    return {
        name: one._replace(traffic=[row for row in one.traffic if is_unseen(row)])
        for name, one in whole.items()
    }


def helpdesks(*languages: str) -> dict[str, Shelf]:
    """The helpdesks that we wrote, two of a language, whose askers want something else half of the time."""
    files = sorted(HELPDESKS.glob("*.entries.jsonl"))
    names = (file.name.removesuffix(".entries.jsonl") for file in files)
    return {name: Shelf.read(HELPDESKS, name, name[:2]) for name in names if name[:2] in languages}


async def rereading(
    encoder: Encoder,
    model: PairModel,
    weighing: Weighing,
    shelves: Mapping[str, Shelf],
    lone: Mapping[str, list[dict[str, Any]]],
) -> dict[str, float]:
    """The weights as weights.yaml has them, after a table of what those fitted on the others would serve."""
    asked = {name: await _asked(encoder, model, weighing, shelf) for name, shelf in shelves.items()}
    found = {name: odds for name, (odds, _) in asked.items() if name in SETS}
    found |= {name: await _alone(encoder, model, weighing, pairs) for name, pairs in lone.items()}
    print("\nread again: served right by evidence; by the pair model; by both, fitted on the others")
    for name, ((odds, right), _) in asked.items():
        answerable = sum(row["entry_id"] is not None for row in shelves[name].traffic)
        others = _fitted(found[other] for other in found if other != name).decision_function(odds)
        parts = (served(right, answerable, values) for values in (odds[:, 0], odds[:, 1], others))
        print(f"  {name:14}", *parts)
    every = _fitted(found.values())
    scores = [
        np.where(held_back, 0.0, every.predict_proba(odds)[:, 1])[~right]
        for (odds, right), held_back in asked.values()
    ]
    wrong = np.sort(np.concatenate(scores))[::-1]
    requests = sum(len(right) for (_, right), _ in asked.values())
    return {
        "bias": round(float(every.intercept_[0]), 4),
        "first": round(float(every.coef_[0][0]), 4),
        "pair": round(float(every.coef_[0][1]), 4),
        "farthest": FARTHEST,
        "default_cut": round(float(wrong[int(DEFAULT_TARGET * requests)]) + 0.00005, 4),
    }


def _fitted(found: Iterable[Odds]) -> LogisticRegression:
    odds, right = zip(*found, strict=True)
    questions = sum(map(len, right))
    counts = np.concatenate([np.full(len(one), questions / len(right) / len(one)) for one in right])
    return LogisticRegression(C=30.0).fit(np.concatenate(odds), np.concatenate(right), counts)


async def _asked(
    encoder: Encoder, model: PairModel, weighing: Weighing, shelf: Shelf
) -> tuple[Odds, np.ndarray]:
    """What speaks for the best entry of each question, and whether a guard holds it back."""
    asked, probes = [row["text"] for row in shelf.traffic], await looked_up(encoder, weighing, shelf)
    logits = await model.scores([*zip(asked, probes.nearest, strict=True)])
    return (both_odds(probes.scores, logits), probes.right), vetoed(shelf, probes)


def vetoed(shelf: Shelf, probes: Probes) -> np.ndarray:
    """Whether a guard objects to the first entry of each question."""
    asked, guards = [row["text"] for row in shelf.traffic], default_guards()
    found = []
    for text, nearest, at in zip(asked, probes.nearest, probes.entries, strict=True):
        phrasings = tuple(shelf.entries[at]["questions"])
        found.append(objection(text, nearest, phrasings, shelf.language, guards) is not None)
    return np.array(found)


async def looked_up(encoder: Encoder, weighing: Weighing, shelf: Shelf) -> Probes:
    """The entry that the evidence puts first for each question."""
    texts = [text for entry in shelf.entries for text in entry["questions"]]
    owners = np.repeat(np.arange(len(shelf.entries)), [len(entry["questions"]) for entry in shelf.entries])
    number = {entry["entry_id"]: at for at, entry in enumerate(shelf.entries)}
    asked = [row["text"] for row in shelf.traffic]
    gold = np.array([number.get(row["entry_id"], NONE) for row in shelf.traffic])
    vectors, theirs = [await encode_spelt(encoder, some, shelf.language) for some in (texts, asked)]
    arrays = ShelfArrays.of(vectors, texts, owners, shelf.language)
    return ask(arrays, weighing, gold, Asked(tuple(asked), theirs), np.arange(len(asked)))


async def _alone(encoder: Encoder, model: PairModel, weighing: Weighing, lone: list[dict[str, Any]]) -> Odds:
    kept = unguarded(lone)
    evidence, right = await alone(encoder, kept)
    logits = await model.scores([(row["question"], row["cached_question"]) for row in kept])
    return both_odds(weighing.probability(evidence), logits), right


def both_odds(scores: Numbers, logits: Numbers) -> Numbers:
    """The log-odds of scores beside a model's logits, shape (questions, 2)."""
    return np.stack([log_odds(scores), logits], axis=1).clip(-FARTHEST, FARTHEST)
