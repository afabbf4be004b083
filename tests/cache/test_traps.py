"""The blind gate: pairs of helpdesk questions, half of them traps, each judged alone with the models that ship.

What is wanted is no trap served and three paraphrases in four; README.md beside the pairs says how they were written.
The limits here are what was reached: a change may not fall behind them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cache.entries import Entry
from cache.guards import default_guards
from cache.matching import Candidate, Hit, Match, Similar, candidates, decide
from cache.matching.evidence import Weights
from cache.matching.scoring import Scorer
from cache.reading.asking import readings, says_all
from cache.reading.spelling import spelt
from cache.reading.text import normalise
from encoders import Vector
from encoders.pairs import PairModel
from encoders.shipped import load_shipped, load_shipped_pairs

TRAPS = Path(__file__).parent / "traps"
REACHED = {  # traps served at most, paraphrases at least
    ("", "en"): (0, 0.86),
    ("", "ja"): (0, 0.89),
    ("", "zh"): (0, 0.81),
    ("prefaces", "en"): (1, 0.90),
    ("prefaces", "ja"): (0, 0.86),
    ("prefaces", "zh"): (0, 0.90),
    ("plain", "en"): (0, 0.73),
    ("plain", "ja"): (0, 0.83),
    ("plain", "zh"): (0, 0.86),
    ("properties", "en"): (0, 0.50),
    ("properties", "ja"): (0, 0.75),
    ("properties", "zh"): (0, 0.83),
    ("wishes", "en"): (0, 0.80),
    ("wishes", "ja"): (0, 0.90),
    ("wishes", "zh"): (0, 0.90),
    ("spellings", "ja"): (0, 0.82),
    ("roles", "en"): (2, 0.70),
    ("roles", "ja"): (4, 0.75),
    ("roles", "zh"): (1, 0.73),
}


@dataclass(frozen=True)
class Judged:
    row: dict[str, Any]
    served: bool


@cache
def pair_model() -> PairModel:
    return load_shipped_pairs()


def entry(row: dict[str, Any]) -> Entry:
    now = datetime.now(UTC)
    return Entry(
        id="only",
        tenant="shop",
        kind="ground_truth",
        language=row["lang"],
        phrasings=(row["cached_question"],),
        answer="",
        state="active",
        created_at=now,
        updated_at=now,
    )


async def judged(folder: str, language: str) -> list[Judged]:
    text = (TRAPS / folder / f"{language}.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    encoder, weights = load_shipped(), Weights.load()
    scorer = Scorer.of(weights, language, encoder.identity.languages, pair_model())
    stored = [spelt(row["cached_question"], language) for row in rows]
    asked = [text for row in rows for text in readings(row["question"], language)]
    texts = list(dict.fromkeys([*stored, *asked]))
    vectors = dict(zip(texts, await encoder.encode(texts), strict=True))
    found = []
    for row, phrasing in zip(rows, stored, strict=True):
        match = await served(row, vectors, vectors[phrasing], scorer)
        same_words = normalise(row["question"]) == normalise(row["cached_question"])
        found.append(Judged(row, same_words or isinstance(match, Hit)))
    return found


async def served(row: dict[str, Any], vectors: dict[str, Vector], stored: Vector, scorer: Scorer) -> Match:
    """As `Shelf` does it, without its stores."""
    ranked: tuple[Candidate, ...] = ()
    for text in readings(row["question"], row["lang"]):
        similar = Similar((("only", row["cached_question"], float(vectors[text] @ stored)),), floor=None)
        ranked = candidates(text, similar, [entry(row)], scorer.weighing)
        ranked = await scorer.first_reread(text, ranked)
        if says_all(text, row["cached_question"], row["lang"]):
            break
    return decide(row["question"], ranked, cut=scorer.default_cut, guards=default_guards())


@pytest.mark.parametrize(("folder", "language"), REACHED)
async def test_traps_stay_unserved_and_paraphrases_are_found(folder: str, language: str) -> None:
    found = await judged(folder, language)
    traps = [one.row for one in found if one.served and not one.row["should_reuse"]]
    reusable = [one for one in found if one.row["should_reuse"]]
    recall = sum(one.served for one in reusable) / len(reusable)
    most, least = REACHED[folder, language]
    assert len(found) >= (40 if folder else 150)
    assert len(traps) <= most, traps
    assert recall >= least
