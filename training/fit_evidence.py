"""Fit the weights and cuts of the retrieval judge, and print the points of its trade.

    python -m training.fit_evidence --data DATA        # writes evidence_weights.json and prints the figures

Answerable: a question whose passage is in the collection. Not: a question about documents left out of it.
Both are asked of the same collection, and what a search brings up for them is what the judge sees.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from classifiers.retrieval import PassageEvidence
from classifiers.retrieval.evidence import SHIPPED, Signals, signals
from encoders import Encoder
from encoders.shipped import load_shipped
from gateway.rag.chunking import chunks
from gateway.rag.documents import text_for_index
from storage.lexical import Lexicon, Words
from training.command import rows

RETRIEVED = 5
KEPT = (0.90, 0.95, 0.98, 0.99)  # shares of the answerable questions
INCORRECT_KEEPS = 0.98  # of the answerable questions are not sent to a person
LEAST_SPREAD = 1e-3  # of a signal that says something
CORRECT_LEAKS = 0.05  # of the unanswerable questions pass for well answered


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what a search found for it, and whether the answer is there."""

    source: str
    answerable: bool
    signals: tuple[Signals, ...]
    gold: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """Passages and questions of one source; a question without a passage can't be answered."""

    source: str
    passages: list[str]
    questions: list[tuple[str, str | None]]


class Search:
    """BM25 with the weights of our index, and cosine, over a list of passages."""

    def __init__(self, passages: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self._lexicon, self._passages, self._vectors = Lexicon(), passages, vectors
        words = [self._lexicon.document(p) for p in passages]
        self._documents = [dict(zip(w.indices, w.values, strict=True)) for w in words]
        counts = Counter(i for d in self._documents for i in d)
        n = len(passages)
        self._idf = {i: math.log((n - c + 0.5) / (c + 0.5) + 1) for i, c in counts.items()}

    def find(
        self, text: str, vector: NDArray[np.float32], *, without: str | None = None
    ) -> list[PassageEvidence]:
        """The passages that fit best by words and by meaning.

        `without` is left out, as if it stood in no document.
        """
        asked: Words = self._lexicon.question(text)
        bm25 = [sum(d.get(i, 0.0) * self._idf.get(i, 0.0) for i in asked.indices) for d in self._documents]
        cosine = self._vectors @ vector
        there = [passage != without for passage in self._passages]
        ranked = [i for i in np.argsort(bm25)[::-1][: RETRIEVED + 1] if there[i]][:RETRIEVED]
        near = [i for i in np.argsort(cosine)[::-1][:4] if there[i]][:3]
        ranked = [*ranked[:3], *[i for i in near if i not in ranked[:3]]]
        return [PassageEvidence(self._passages[i], float(cosine[i]), float(bm25[i])) for i in ranked]


def main() -> None:
    """Search, fit, measure, write."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--data", type=Path, required=True)
    folder: Path = arguments.parse_args().data
    encoder, models = load_shipped(), {}
    for writing, sources in (("words", _english(folder)), ("characters", _other(folder))):
        asked = [each for source in sources for each in asyncio.run(_ask(source, encoder))]
        models[writing] = {
            "encoder": encoder.identity.name,
            "meaning": _model(f"{writing}, cosine among them", asked, meaning=True),
            "words": _model(f"{writing}, without cosine", asked, meaning=False),
        }
    SHIPPED.write_text(
        json.dumps({"judge": "evidence@2", "models": models}, indent=1) + "\n", encoding="utf-8"
    )


def _english(folder: Path) -> list[Collection]:
    return [*_halves(rows(folder / "qa/squad2.jsonl"), "squad2", 1200), _helpdesk("en")]


def _other(folder: Path) -> list[Collection]:
    found = [*_halves(rows(folder / "qa/jaquad_train.jsonl"), "jaquad_train", 800)]
    for lang in ("ja", "zh"):
        asked = [
            r
            for r in rows(folder / f"gate/{lang}.dev.jsonl")
            if r["slice"] in ("must_in_scope", "may_near_other_docs")
        ]
        questions = [(r["text"], "" if r["gold"] == "must" else None) for r in asked]
        found.append(
            Collection(
                f"gate {lang}", [r["text"] for r in rows(folder / f"gate/{lang}.corpus.jsonl")], questions
            )
        )
    return [*found, _helpdesk("ja")]


def _helpdesk(lang: str) -> Collection:
    """Our example: the questions of its entries, which its documents answer, and those outside of them."""
    folder = Path(__file__).parents[1] / "examples/helpdesk" / lang
    passages: list[str] = []
    for path in sorted((folder / "documents").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        cut = chunks(text, title=path.stem, language=lang, markdown=True)
        passages.extend(text_for_index(chunk.heading, chunk.text) for chunk in cut)
    entries = rows(folder / "entries.jsonl")
    asked = [(text, "") for entry in entries for text in (entry["question"], *entry["phrasings"])]
    others = [
        (line, None) for line in (folder / "may.txt").read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    return Collection(f"helpdesk {lang}", passages, [*asked, *others])


def _halves(rows: list[dict[str, Any]], source: str, limit: int) -> list[Collection]:
    """Two collections of half of the articles each, asked about both halves."""
    titles = sorted({r["title"] for r in rows})
    random.Random(3).shuffle(titles)
    asked = random.Random(4).sample(
        [r for r in rows if r["answerable"]], min(limit, sum(r["answerable"] for r in rows))
    )
    found = []
    for here in (set(titles[::2]), set(titles[1::2])):
        passages = sorted({r["context"] for r in rows if r["title"] in here})
        found.append(
            Collection(
                source,
                passages,
                [(r["question"], r["context"] if r["title"] in here else None) for r in asked],
            )
        )
    return found


async def _ask(source: Collection, encoder: Encoder) -> list[Asked]:
    vectors = await encoder.encode([*source.passages, *(text for text, _ in source.questions)])
    search = Search(source.passages, vectors[: len(source.passages)])
    found = []
    for (text, gold), vector in zip(source.questions, vectors[len(source.passages) :], strict=True):
        evidence = search.find(text, vector)
        found.append(
            Asked(
                source.source,
                gold is not None,
                tuple(signals(text, e) for e in evidence),
                tuple(gold is not None and (e.text == gold or gold == "") for e in evidence),
            )
        )
    return found


def _fit(asked: Sequence[Asked], *, meaning: bool) -> tuple[NDArray[np.float64], float]:
    """The best passage decides, so what is fitted is the largest score of each question."""
    sizes = Counter((a.source, a.answerable) for a in asked)
    weights = np.array([1 / sizes[a.source, a.answerable] for a in asked])
    weights /= weights.sum()
    answerable = np.array([float(a.answerable) for a in asked])
    width = max(len(a.signals) for a in asked)
    x = np.array(
        [[astuple(s) for s in (*a.signals, *a.signals[-1:] * (width - len(a.signals)))] for a in asked]
    )
    spread = x.reshape(-1, x.shape[-1]).std(0)
    scale = np.maximum(spread, LEAST_SPREAD)

    def loss(p: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = (x / scale) @ p[1:] + p[0]
        best = logits.argmax(1)
        z, chosen = logits[np.arange(len(x)), best], (x / scale)[np.arange(len(x)), best]
        residual = weights * (1 / (1 + np.exp(-z)) - answerable)
        value = weights @ (np.logaddexp(0, z) - answerable * z) + 1e-3 * p[1:] @ p[1:]
        return float(value), np.r_[residual.sum(), chosen.T @ residual + 2e-3 * p[1:]]

    silent = [
        s < LEAST_SPREAD or (f.name == "cosine" and not meaning)
        for f, s in zip(fields(Signals), spread, strict=True)
    ]
    most = [0 if each else None for each in silent]
    bounds = [(None, None), *((0, each) for each in most)]
    p = minimize(loss, np.r_[0.0, np.where(silent, 0.0, 0.3)], jac=True, bounds=bounds, method="L-BFGS-B").x
    return p[1:] / scale, float(p[0])


def _scores(asked: Sequence[Asked], weights: NDArray[np.float64], bias: float) -> NDArray[np.float64]:
    best = [max(float(np.array(astuple(s)) @ weights) for s in a.signals) for a in asked]
    return 1 / (1 + np.exp(-(np.array(best) + bias)))


def _model(writing: str, asked: list[Asked], *, meaning: bool) -> dict[str, Any]:
    """Fit on five sixths at a time for the figures and cuts, on all for the weights."""
    order = np.random.default_rng(5).permutation(len(asked)) % 6
    scores = np.zeros(len(asked))
    for fold in range(6):
        fitted = _fit([a for a, k in zip(asked, order, strict=True) if k != fold], meaning=meaning)
        here = np.flatnonzero(order == fold)
        scores[here] = _scores([asked[i] for i in here], *fitted)
    answerable = np.array([a.answerable for a in asked])
    print(f"\n== {writing}")
    for source in sorted({a.source for a in asked}):
        mine = np.array([a.source == source for a in asked])
        _report(source, scores[mine], answerable[mine], [asked[i] for i in np.flatnonzero(mine)])
    incorrect = float(np.quantile(scores[answerable], 1 - INCORRECT_KEEPS))
    correct = max(incorrect, float(np.quantile(scores[~answerable], 1 - CORRECT_LEAKS)))
    below, above = scores < incorrect, scores >= correct
    print(
        f"cuts {incorrect:.3f} {correct:.3f}: answerable incorrect {below[answerable].mean():.3f} correct "
        f"{above[answerable].mean():.3f}; not answerable incorrect {below[~answerable].mean():.3f} correct "
        f"{above[~answerable].mean():.3f}"
    )
    weights, bias = _fit(asked, meaning=meaning)
    return {
        "incorrect_below": round(incorrect, 4),
        "correct_from": round(correct, 4),
        "cuts_from": f"{', '.join(sorted({a.source for a in asked}))}, cross-fitted: {INCORRECT_KEEPS:.0%} "
        f"of the answerable questions are kept, {CORRECT_LEAKS:.0%} of the others pass for correct",
        "bias": round(bias, 4),
        "weights": {f.name: round(float(w), 4) or 0.0 for f, w in zip(fields(Signals), weights, strict=True)},
    }


def _report(
    source: str, scores: NDArray[np.float64], answerable: NDArray[np.bool_], asked: list[Asked]
) -> None:
    single = [
        f"{f.name} {roc_auc_score(answerable, [max(astuple(s)[i] for s in a.signals) for a in asked]):.3f}"
        for i, f in enumerate(fields(Signals))
    ]
    points = []
    for share in KEPT:
        cut = np.quantile(scores[answerable], 1 - share)
        points.append(f"{share:.0%}: leak {(scores[~answerable] >= cut).mean():.3f}")
    print(
        f"{source:14} answerable {answerable.sum()} others {(~answerable).sum()} "
        f"AUROC {roc_auc_score(answerable, scores):.3f} (alone: {', '.join(single)}) kept {', '.join(points)}"
    )


if __name__ == "__main__":
    main()
