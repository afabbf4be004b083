"""How much it counts what a model of answers reads in the entry that is to be served.

Fitted on plain questions to the helpdesks of `desks/`, which the model has not read: of each the entry that
evidence and pair model put first, where those leave doubt. It is right if its answer holds what a right reply
has to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from cache.matching.evidence import Numbers, Weights, log_odds
from cache.matching.scoring import Paired, Scorer, told
from encoders import Encoder
from encoders.pairs import PairModel
from training.command import rows
from training.desk_questions import Desk, desks
from training.rereading import FARTHEST, Shelf, both_odds, looked_up, vetoed

__all__ = ["answer_reading"]

DOUBTED_FROM, SURE_FROM = 0.3, 0.98  # scores before the answer is read
TARGET = 0.005  # wrong answers per request at the default cut, over all helpdesks


@dataclass(frozen=True)
class First:
    """The first entries of a helpdesk's questions: score, what is read in it, whether it answers."""

    scores: Numbers
    logits: Numbers
    right: np.ndarray
    held_back: np.ndarray  # by a guard

    @property
    def doubted(self) -> np.ndarray:
        """Those whose answer is read."""
        return (self.scores >= DOUBTED_FROM) & (self.scores < SURE_FROM)


async def answer_reading(
    encoder: Encoder, pairs: PairModel, answers: PairModel, weights: Weights
) -> dict[str, float]:
    """The weights as weights.yaml has them, after a table of what those fitted on the others would serve.

    The bias puts the cut that keeps the target here where the default cut is without answers.
    """
    found = [await _firsts(desk, encoder, pairs, answers, weights) for desk in desks()]
    by_others = [_read(one, _fitted(other for other in found if other is not one)) for one in found]
    print(
        "\nanswer read: at most so many wrong of all; right before, right now by weights fitted on the others"
    )
    for wrong in (0.0025, 0.005, 0.01, 0.02):
        before = _right_at([one.scores for one in found], found, wrong)[1]
        print(f"  {wrong:7.2%}", before, _right_at(by_others, found, wrong)[1])
    model = _fitted(found)
    kept = _right_at([_read(one, model) for one in found], found, TARGET)[0]
    default = max(one.default_cut for one in weights.rereadings.values())
    shifted = model.intercept_[0] + float(log_odds(np.array(default)) - log_odds(np.array(kept)))
    return {
        "bias": round(float(shifted), 4),
        "score": round(float(model.coef_[0][0]), 4),
        "answer": round(float(model.coef_[0][1]), 4),
        "farthest": FARTHEST,
        "doubted_from": DOUBTED_FROM,
        "sure_from": SURE_FROM,
    }


async def _firsts(
    desk: Desk, encoder: Encoder, pairs: PairModel, answers: PairModel, weights: Weights
) -> First:
    entries = rows(desk.home / "entries.jsonl")
    worded = [[one["question"], *one["phrasings"]] for one in entries]
    listed = [{"entry_id": one["id"], "questions": of} for one, of in zip(entries, worded, strict=True)]
    traffic = [{"text": one.text, "entry_id": None} for one in desk.asked]
    shelf = Shelf(desk.language, listed, traffic)
    scorer = Scorer.of(weights, desk.language, encoder.identity.languages, pairs)
    probes = await looked_up(encoder, scorer.weighing, shelf)
    paired = [
        Paired(asked.text, nearest, entries[at]["answer"])
        for asked, nearest, at in zip(desk.asked, probes.nearest, probes.entries, strict=True)
    ]
    right = [asked.answered_by(one.answer) for asked, one in zip(desk.asked, paired, strict=True)]
    return First(
        await scorer.reread(probes.scores, paired),
        await answers.scores([(one.question, told(one.phrasing, one.answer)) for one in paired]),
        np.array(right),
        vetoed(shelf, probes),
    )


def _fitted(found: Iterable[First]) -> LogisticRegression:
    """On what is read and no guard holds back."""
    kept = [(one, one.doubted & ~one.held_back) for one in found]
    seen = np.concatenate([both_odds(one.scores, one.logits)[read] for one, read in kept])
    return LogisticRegression(C=30.0).fit(seen, np.concatenate([one.right[read] for one, read in kept]))


def _read(one: First, model: LogisticRegression) -> Numbers:
    return np.where(one.doubted, model.predict_proba(both_odds(one.scores, one.logits))[:, 1], one.scores)


def _right_at(scores: Sequence[Numbers], found: Sequence[First], wrong: float) -> tuple[float, int]:
    """The smallest cut with at most so many wrong answers per request, and how many it serves right."""
    right = np.concatenate([one.right for one in found])
    held_back = np.concatenate([one.held_back for one in found])
    served = np.where(held_back, 0.0, np.concatenate(scores))
    cut = float(np.nextafter(np.sort(served[~right])[::-1][int(wrong * len(served))], 2.0))
    return cut, int((right & (served >= cut)).sum())
