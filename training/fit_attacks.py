"""Fit classifiers/gate/detector.npz: what asks for harm, or attacks the system, and what only sounds like it.

    python -m training.fit_attacks DATA [--write]

DATA is the folder of development data. Fitted on its rows of AdvBench, HarmBench, CyberSecEval, in-the-wild
jailbreaks, CatQA and JailBench (all MIT or Apache-2.0), on what we wrote (training/attacks, attacks.yaml,
everyday.yaml, training/pairs), and on harmless questions of CLINC150, BANKING77 (CC BY), CrossWOZ
(Apache-2.0), SQuAD 2, JaQuAD and CMRC 2018 (CC BY-SA; none that gate/*.dev.jsonl asks). The held-out half of
what we wrote (tests/classifiers/gate/attacks) is never read. Printed is how much of each source is caught by
weights that never saw it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from classifiers.gate.detector import TOPICS, Script, wording
from classifiers.text import normalise
from encoders.shipped import load_shipped
from evaluation.statistics import Rate
from training.attack_texts import SCRIPTS, Text, collected
from training.command import given, save_arrays

__all__ = ["fitted", "material"]

HeadName = Literal["both", "wording", "told"]

TARGET = Path(__file__).parent.parent / "classifiers/gate/detector.npz"
HEADS: tuple[HeadName, ...] = ("both", "wording", "told")
FOLDS = 3
STIFFNESS = 2.0  # C of the regression
MEANING = 2.0  # times the vector, beside n-grams of length 1
# Of the look-alikes that a head may call forbidden. Those held out are called so less often.
MISSED: dict[Script, dict[HeadName, float]] = {
    "latin": {"both": 0.03, "wording": 0.015},
    "east_asian": {"both": 0.06, "wording": 0.022},
}
# Of the attacks told in a story, those that may be taken for one. Held out, fewer are.
TAKEN = 0.15
TOPIC_STEP = 32  # parts of 1: the weights that only name a topic need no more digits
TRUST: dict[Script, dict[str, float]] = {  # what one text of a source counts; others 1
    "latin": {"written": 6.0, "terse": 0.4},
    "east_asian": {"written": 6.0, "terse": 6.0},
}

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Material:
    """The texts of one script as numbers."""

    texts: tuple[Text, ...]
    n_grams: csr_matrix
    vectors: Floats

    def some(self, chosen: Floats) -> Material:
        """A part of it."""
        index = np.flatnonzero(chosen)
        return Material(tuple(self.texts[i] for i in index), self.n_grams[index], self.vectors[index])

    @property
    def script(self) -> Script:
        """Of all of its texts."""
        return self.texts[0].script

    def learnt_by(self, head: HeadName) -> Material:
        """What a head learns from: stories teach what is told and nothing else, parts the wording alone."""
        return self.some(np.array([_teaches(one, head) for one in self.texts]))

    @property
    def centre(self) -> Floats:
        """The middle of the vectors, stories aside."""
        return np.asarray(self.learnt_by("wording").vectors.mean(axis=0))

    @property
    def forbidden(self) -> Floats:
        """Which of them are."""
        return np.array([bool(one.topic) for one in self.texts])

    def look_alikes(self, head: HeadName) -> Floats:
        """Which must pass though they sound alarming; where a vector is read, only as askers write them."""
        return np.array(
            [
                one.hard and one.source == "written" and (head == "wording" or one.form == "whole")
                for one in self.texts
            ]
        )

    def features(self, head: HeadName, centre: Floats) -> csr_matrix:
        """What a head sees."""
        if head == "wording":
            return self.n_grams
        return csr_matrix(hstack([self.n_grams, csr_matrix((self.vectors - centre) * MEANING)]))


def _teaches(one: Text, head: HeadName) -> bool:
    if head == "told":
        return one.source == "stories" or bool(one.topic)
    return one.source != "stories" and one.form != "told" and (head == "wording" or one.form != "part")


async def material(texts: Sequence[Text], script: Script) -> Material:
    """Encode the texts of a script."""
    of_script = [one for one in texts if one.script == script]
    encoder = load_shipped()
    vectors = [
        await encoder.encode([one.text for one in of_script[start : start + 64]])
        for start in range(0, len(of_script), 64)
    ]
    n_grams = wording([normalise(one.text) for one in of_script], script)
    return Material(tuple(of_script), n_grams, np.concatenate(vectors).astype(np.float64))


def regression(features: csr_matrix, seen: Material) -> LogisticRegression:
    """Both classes count alike."""
    trust = TRUST[seen.script]
    weight = np.array([trust.get(one.source, 1.0) for one in seen.texts])
    truth = seen.forbidden
    weight = np.where(truth, weight / weight[truth].sum(), weight / weight[~truth].sum()) * len(truth) / 2
    return LogisticRegression(C=STIFFNESS, max_iter=300, tol=1e-4).fit(features, truth, sample_weight=weight)


def shift(seen: Material, features: csr_matrix, head: HeadName) -> float:
    """The logit that most look-alikes stay under, or told attacks above, by weights that never saw them."""
    groups = [one.group for one in seen.texts]
    logits = np.zeros(len(seen.texts))
    for inside, outside in GroupKFold(FOLDS).split(features, groups=groups):
        chosen = np.isin(np.arange(len(logits)), inside)
        model = regression(features[inside], seen.some(chosen))
        logits[outside] = model.decision_function(features[outside])
    if head == "told":
        told = np.array([one.form == "told" for one in seen.texts])
        return float(np.quantile(logits[told], TAKEN))
    return float(np.quantile(logits[seen.look_alikes(head)], 1 - MISSED[seen.script][head]))


def fitted(seen: Material) -> dict[str, Any]:
    """The arrays of one script."""
    centre = seen.centre
    arrays: dict[str, Any] = {"centre": centre.astype(np.float32)}
    for head in HEADS:
        learnt = seen.learnt_by(head)
        features = learnt.features(head, centre)
        model = regression(features, learnt)
        weights = model.coef_[0].copy()
        if head != "wording":
            weights[seen.n_grams.shape[1] :] *= MEANING
        arrays[head] = weights.astype(np.float16)
        arrays[f"{head}_bias"] = np.float64(model.intercept_[0] - shift(learnt, features, head))
    attacks = seen.learnt_by("wording")
    attacks = attacks.some(attacks.forbidden)
    named = LogisticRegression(C=STIFFNESS, max_iter=400, class_weight="balanced")
    named.fit(attacks.n_grams, [TOPICS.index(one.topic) for one in attacks.texts])
    return {
        **arrays,
        "topics": (np.round(named.coef_ * TOPIC_STEP) / TOPIC_STEP).astype(np.float16),
        "topics_bias": named.intercept_.astype(np.float32),
    }


def unseen(seen: Material) -> None:
    """Print how much of each source is caught by weights that were fitted without it."""
    sources = sorted({one.source for one in seen.texts if one.topic} - {"written", "acts"})
    print(f"{'source':26} {'n':>4}  caught [95 %]            wording   TF-IDF + LR   flag all")
    for source in sources:
        of_source = np.array([one.source == source for one in seen.texts])
        whole = np.array([one.form == "whole" for one in seen.texts])
        test, rest = seen.some(of_source & whole & seen.forbidden), seen.some(~of_source)
        if len(test.texts) < 20:
            continue
        caught = {head: _caught(rest, test, head) for head in HEADS}
        rate = Rate(int((caught["both"] & caught["told"]).sum()), len(test.texts))
        low, high = rate.ci95
        print(
            f"{source:26} {len(test.texts):4}  {rate.value:6.1%} [{low:.1%}, {high:.1%}]"
            f"{caught['wording'].mean():12.1%} {_plain(rest, test):12.1%} {1:11.0%}"
        )


def _caught(rest: Material, test: Material, head: HeadName) -> Floats:
    learnt, centre = rest.learnt_by(head), rest.centre
    features = learnt.features(head, centre)
    cut = shift(learnt, features, head)
    return np.asarray(regression(features, learnt).decision_function(test.features(head, centre)) >= cut)


def _plain(rest: Material, test: Material) -> float:
    """The same by TF-IDF and logistic regression, with its own cut."""
    learnt = rest.learnt_by("both")
    texts = [normalise(one.text) for one in (*learnt.texts, *test.texts)]
    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(1, 4), sublinear_tf=True, max_features=50_000
    )
    vectorizer.fit(texts[: len(learnt.texts)])
    n_grams = csr_matrix(vectorizer.transform(texts))
    features = n_grams[: len(learnt.texts)]
    scores = regression(features, learnt).decision_function(n_grams[len(learnt.texts) :])
    return float((scores >= shift(learnt, features, "both")).mean())


async def run(data: Path, *, write: bool) -> None:
    """Fit and write if asked to, and measure."""
    texts = collected(data)
    seen = {script: await material(texts, script) for script in SCRIPTS}
    if write:
        stored: dict[str, Any] = {"encoder": load_shipped().identity.digest}
        for script, of_script in seen.items():
            stored.update({f"{script}.{name}": array for name, array in fitted(of_script).items()})
        save_arrays(TARGET, stored)
    for script, of_script in seen.items():
        known, harmless = of_script.forbidden.sum(), (~of_script.forbidden).sum()
        print(f"\n{script}: {known} forbidden, {harmless} harmless texts", flush=True)
        unseen(of_script)


def main() -> None:
    """Fit on the folder of development data."""
    arguments = given(__doc__)
    asyncio.run(run(arguments.data, write=arguments.write))


if __name__ == "__main__":
    main()
