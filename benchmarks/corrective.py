"""How well Corrective RAG tells found from not found, and how much of a passage its strips leave.

    python -m benchmarks.corrective DATA     # DATA holds qa/*.jsonl

Questions of the QA corpora over an index of their own passages, once as it is and once without the passage
that answers: its siblings of the same article stay. Then *incorrect* is right. Cosine, cut where it loses as
many answers, stands beside. Weights fitted on other sources are measured with --weights.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from classifiers.retrieval import PassageEvidence
from classifiers.retrieval.reading import SHIPPED, ReadingJudge, ReadingModel
from classifiers.retrieval.strips import KEPT_FROM, refined
from encoders import Encoded
from encoders.shipped import load_shipped, load_shipped_answering
from evaluation.statistics import Rate
from storage.lexical import Lexicon, Words
from training.command import rows

CORPORA = {"en": "squad2", "ja": "jaquad_train", "zh": "cmrc2018_dev"}
PASSAGES = 400
RETRIEVED = 5
LABELS = ("correct", "ambiguous", "incorrect")


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its answer in the index or without: what the judge says, and the best cosine."""

    there: bool
    label: str
    cosine: float


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
    ) -> list[tuple[str, float]]:
        """The passages that fit best by words and by meaning, with their cosines.

        `without` is left out, as if it stood in no document.
        """
        asked: Words = self._lexicon.question(text)
        bm25 = [sum(d.get(i, 0.0) * self._idf.get(i, 0.0) for i in asked.indices) for d in self._documents]
        cosine = self._vectors @ vector
        there = [passage != without for passage in self._passages]
        ranked = [i for i in np.argsort(bm25)[::-1][: RETRIEVED + 1] if there[i]][:RETRIEVED]
        near = [i for i in np.argsort(cosine)[::-1][:4] if there[i]][:3]
        ranked = [*ranked[:3], *[i for i in near if i not in ranked[:3]]]
        return [(self._passages[i], float(cosine[i])) for i in ranked]


def main() -> None:
    """Search, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--questions", type=int, default=200, help="a language")
    parser.add_argument("--weights", type=Path, default=SHIPPED)
    chosen = parser.parse_args()
    judge = ReadingJudge(load_shipped(), load_shipped_answering(), ReadingModel.load(chosen.weights))
    for language, corpus in CORPORA.items():
        known = [row for row in rows(chosen.data / f"qa/{corpus}.jsonl") if row["answerable"]]
        random.Random(7).shuffle(known)
        asked = known[: chosen.questions]
        others = sorted({row["context"] for row in known} - {row["context"] for row in asked})
        random.Random(8).shuffle(others)
        passages = [*sorted({row["context"] for row in asked}), *others[:PASSAGES]]
        print(f"== {language}: {len(asked)} questions of {corpus}, {len(passages)} passages")
        _confusion(list(asyncio.run(_judged(judge, passages, asked))))
        _strips(asked)


async def _judged(
    judge: ReadingJudge, passages: Sequence[str], asked: Sequence[dict[str, str]]
) -> list[Judged]:
    vectors = await load_shipped().encode([*passages, *(row["question"] for row in asked)])
    search = Search(passages, vectors[: len(passages)])
    found: list[Judged] = []
    for row, vector in zip(asked, vectors[len(passages) :], strict=True):
        for there in (True, False):
            near = search.find(row["question"], vector, without=None if there else row["context"])
            question = Encoded(row["question"], vector)
            verdict = await judge.judge(question, [PassageEvidence(text) for text, _ in near])
            found.append(Judged(there, verdict.label, max(cosine for _, cosine in near)))
    return found


def _confusion(judged: Sequence[Judged]) -> None:
    for there, name in ((True, "answer there"), (False, "answer taken out")):
        mine = [each for each in judged if each.there == there]
        rates = {label: Rate(sum(each.label == label for each in mine), len(mine)) for label in LABELS}
        print(f"  {name:18}", ", ".join(f"{label} {_shown(rate)}" for label, rate in rates.items()))
    lost = np.mean([each.label == "incorrect" for each in judged if each.there])
    cut = float(np.quantile([each.cosine for each in judged if each.there], lost))
    gone = [each for each in judged if not each.there]
    caught = Rate(sum(each.cosine < cut for each in gone), len(gone))
    print(f"  cosine at the same loss: incorrect where the answer was taken out {_shown(caught)}")


def _strips(asked: Sequence[dict[str, str]]) -> None:
    left = total = 0
    kept = 0
    for row in asked:
        text = refined(row["question"], row["context"], kept_from=KEPT_FROM)
        left, total = left + len(text), total + len(row["context"])
        kept += any(answer in text for answer in row["answers"])
    print(f"  strips: answer kept {_shown(Rate(kept, len(asked)))}, {left / total:.0%} of the text left")


def _shown(rate: Rate) -> str:
    low, high = rate.ci95
    return f"{rate.value:.1%} [{low:.1%}, {high:.1%}]"


if __name__ == "__main__":
    main()
