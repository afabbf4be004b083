"""How fast the gate judges beyond the embedding, and how well on the development data.

    python -m benchmarks.gate speed          p50 and p95 of a judgement by number of examples, CPU time
    python -m benchmarks.gate quality DATA   per slice: share that reaches RAG, share that goes to a person
                                             (unsure), and AUROC against must
    python -m benchmarks.gate promises DATA  the same shares by what `max_false_refusal` promises, over splits

DATA is the folder of development data. Policies are built as an operator would build them: half of the must
questions as examples (English: and half of the near ones as may; Japanese and Chinese: the documents and a
third of the must questions), no must_not example at all. The rest is judged. Beside it TF-IDF with logistic
regression, fitted on the same examples and cut at 2 % of the cross-validated must questions.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline

from classifiers.gate import ClassPolicy, Policy, ScopeSource
from classifiers.gate.combiner import conformal_floor
from classifiers.gate.examples import ExampleGate
from classifiers.gate.lexical import Rarity
from classifiers.gate.passages import PassageScope
from encoders import Encoder, encode_one
from encoders.memo import MemoEncoder
from encoders.shipped import load_shipped
from encoders.testing import HashingEncoder
from storage.testing import MemoryIndex
from storage.vectors import Point
from training.command import rows

MUST, NEAR = "must_in_scope", ("may_near_oos", "may_near_other_docs")
BANK = "Questions about cards, accounts and payments of our bank."
SIZES = (0, 10, 100, 1_000, 10_000)
PROMISE = 0.02
PROMISES = (0.02, 0.05, 0.1)
SPLITS = {"en": 6, "ja": 2, "zh": 2}

Scores = NDArray[np.float64]
Slices = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Judged:
    """Scores and verdicts of one slice."""

    scores: Scores
    passed: NDArray[np.bool_]
    unsure: float = 0.0  # share


async def speed() -> None:
    """Questions of a dozen words against more and more examples, with vectors of MiniLM's size."""
    encoder = HashingEncoder(384)
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))  # digits would be read as a disguise
    words = np.array(["".join(rng.choice(letters, rng.integers(3, 9))) for _ in range(3_000)])
    for size in SIZES:
        texts = [" ".join(rng.choice(words, 12)) for _ in range(size)]
        half = size // 2
        policy = Policy(ClassPolicy(BANK, tuple(texts[:half])), ClassPolicy("", tuple(texts[half:])))
        started = time.perf_counter()
        gate = await ExampleGate.fit(policy, encoder)
        fitted_s = time.perf_counter() - started
        questions = [await encode_one(encoder, " ".join(rng.choice(words, 12))) for _ in range(300)]
        taken = []
        for question in questions:
            started = time.thread_time()
            await gate.judge(question, tenant="t")
            taken.append((time.thread_time() - started) * 1_000)
        p50, p95 = np.quantile(taken, (0.5, 0.95))
        print(f"{size:6} examples  p50 {p50:5.2f} ms  p95 {p95:5.2f} ms  fit {fitted_s:5.1f} s")


async def quality(data: Path) -> None:
    """One table for each language."""
    encoder = load_shipped()
    for language in ("en", "ja", "zh"):
        slices = read_slices(data / "gate" / f"{language}.dev.jsonl")
        policy, rest = operators_policy(language, slices)
        sources = await operators_documents(language, data, encoder)
        gate = await ExampleGate.fit(policy, encoder, sources, max_false_refusal=PROMISE)
        judged = {}
        for name, texts in rest.items():
            verdicts = [await gate.judge(await encode_one(encoder, text), tenant="t") for text in texts]
            judged[name] = Judged(
                np.array([verdict.score for verdict in verdicts]),
                np.array([verdict.label == "must" for verdict in verdicts]),
                float(np.mean([verdict.label == "unsure" for verdict in verdicts])),
            )
        print(f"\n{language}: {len(policy.must.examples)} must, {len(policy.may.examples)} may examples")
        table(judged, tfidf(policy, rest) if policy.may.examples else {})


async def promises(data: Path) -> None:
    """What becomes of each slice where more or fewer must-questions may be kept from RAG."""
    encoder = MemoEncoder(load_shipped(), size=50_000)
    shown = Table("language", "promise", "slice", "n", "reach RAG", "to a person", "refused")
    for language, splits in SPLITS.items():
        sources = await operators_documents(language, data, encoder)
        for promise in PROMISES:
            found = defaultdict[str, Counter[str]](Counter)
            for seed in range(splits):
                slices = read_slices(data / "gate" / f"{language}.dev.jsonl", seed)
                policy, rest = operators_policy(language, slices)
                gate = await ExampleGate.fit(policy, encoder, sources, max_false_refusal=promise)
                for name, texts in rest.items():
                    for text in texts if not name.startswith("mustnot") else ():
                        verdict = await gate.judge(await encode_one(encoder, text), tenant="t")
                        found[name][verdict.label] += 1
            for name, labels in sorted(found.items()):
                count = labels.total()
                kinds = (labels["must"], labels["unsure"], labels["may"] + labels["must_not"])
                shares = (f"{each / count:.1%}" for each in kinds)
                shown.add_row(language, f"{promise:.0%}", name, str(count), *shares)
    Console(width=120).print(shown)


def read_slices(path: Path, seed: int = 0) -> dict[str, list[str]]:
    """The texts of a file of cases, by slice, shuffled the same way each time."""
    slices: dict[str, list[str]] = defaultdict(list)
    for case in rows(path):
        slices[case["slice"]].append(case["text"])
    rng = np.random.default_rng(seed)
    return {name: [texts[i] for i in rng.permutation(len(texts))] for name, texts in slices.items()}


def operators_policy(language: str, slices: Slices) -> tuple[Policy, dict[str, Sequence[str]]]:
    """What the operator wrote, and what is left to judge."""
    used: dict[str, int] = {MUST: len(slices[MUST]) // (2 if language == "en" else 3)}
    for name, texts in slices.items():
        if name in NEAR:
            used[name] = len(texts) // 2 if language == "en" else 0
        elif name.startswith("may_far"):
            used[name] = 20
    may = [text for name, count in used.items() if name != MUST for text in slices[name][:count]]
    must = ClassPolicy(BANK if language == "en" else "", tuple(slices[MUST][: used[MUST]]))
    rest = {name: texts[used.get(name, 0) :] for name, texts in slices.items()}
    return Policy(must=must, may=ClassPolicy("", tuple(may))), rest


async def operators_documents(language: str, data: Path, encoder: Encoder) -> list[ScopeSource]:
    """What the operator holds: nothing in English."""
    if language == "en":
        return []
    return [await documents(rows(data / "gate" / f"{language}.corpus.jsonl"), encoder)]


async def documents(rows: Sequence[Mapping[str, str]], encoder: Encoder) -> PassageScope:
    """The operator's documents as a source of scope, ranked exactly."""
    texts = [row["text"] for row in rows]
    vectors = await encoder.encode(texts)
    index = MemoryIndex(encoder.identity)
    await index.upsert(
        [
            Point(str(uuid4()), vector, row["text"], {"source": row["title"]})
            for row, vector in zip(rows, vectors, strict=True)
        ]
    )
    return PassageScope(index, Rarity.fitted(texts))


def tfidf(policy: Policy, rest: Slices) -> dict[str, Judged]:
    """What a plain classifier of words would do with the same examples."""
    texts = [*policy.must.examples, *policy.may.examples]
    truth = np.arange(len(texts)) < len(policy.must.examples)
    model: Pipeline = make_pipeline(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), sublinear_tf=True),
        LogisticRegression(C=10, class_weight="balanced", max_iter=1_000),
    )
    held_out = cross_val_predict(model, texts, truth, cv=5, method="decision_function")[truth]
    cut = conformal_floor(held_out, PROMISE)
    model.fit(texts, truth)
    judged = {}
    for name, questions in rest.items():
        scores = model.decision_function(list(questions))
        judged[name] = Judged(scores, scores >= (held_out.min() if cut is None else cut))
    return judged


def table(judged: Mapping[str, Judged], beside: Mapping[str, Judged]) -> None:
    """A row for each slice."""
    print(f"{'slice':26} {'n':>4} {'person':>6} {'reach':>6} {'auroc':>6}   TF-IDF reach, auroc")
    for name, one in sorted(judged.items()):
        plain = row(beside, name) if beside else ""
        print(f"{name:26} {len(one.scores):4} {one.unsure:6.3f} {row(judged, name)}   {plain}")


def row(judged: Mapping[str, Judged], name: str) -> str:
    """Share that reaches RAG, and how well the slice is told from must."""
    reach = f"{judged[name].passed.mean():6.3f}"
    if name == MUST:
        return f"{reach} {'':6}"
    ours, others = judged[MUST].scores, judged[name].scores
    truth = np.concatenate([np.ones(len(ours)), np.zeros(len(others))])
    return f"{reach} {roc_auc_score(truth, np.concatenate([ours, others])):6.3f}"


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("speed", "quality", "promises"))
    parser.add_argument("data", nargs="?", type=Path)
    options = parser.parse_args()
    if options.what == "speed":
        return asyncio.run(speed())
    if options.data is None:
        parser.error(f"{options.what}: expected the folder of development data")
    return asyncio.run({"quality": quality, "promises": promises}[options.what](options.data))


if __name__ == "__main__":
    main()
