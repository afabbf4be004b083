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

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
import yaml
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from classifiers.gate.detector import TOPICS, Script, script_of, windows, wording
from classifiers.gate.shipped import shipped_attacks, shipped_everyday
from classifiers.text import normalise
from encoders.shipped import load_shipped
from evaluation.statistics import Rate
from training.command import rows

HeadName = Literal["both", "wording"]

HERE = Path(__file__).parent
TARGET = HERE.parent / "classifiers/gate/detector.npz"
SCRIPTS: tuple[Script, ...] = ("latin", "east_asian")
LANGUAGES = ("en", "ja", "zh")
SOURCES = {
    "mustnot_harm_harmbench": "harm",
    "mustnot_harm_advbench": "harm",
    "mustnot_injection": "injection",
    "mustnot_jailbreak_wild": "jailbreak",
    "mustnot_harm_catqa": "harm",
    "mustnot_jailbreak": "jailbreak",
    "may_far_travel": "",
}
WORDINGS = 3  # of each act
PARTS = 2  # of a longer harmless text
JOINED = 100  # texts of several harmless ones
FOLDS = 3
FROM_CLINC = 2_500
ABOUT_DOCUMENTS = {"squad2": 900, "jaquad_train": 1_200, "cmrc2018_dev": 900}  # long questions
STIFFNESS = 3.0  # C of the regression
MEANING = 2.0  # times the vector, beside n-grams of length 1
# Of the look-alikes that a head may call forbidden. Those held out are called so less often.
MISSED: dict[Script, dict[HeadName, float]] = {
    "latin": {"both": 0.03, "wording": 0.02},
    "east_asian": {"both": 0.05, "wording": 0.005},
}
TRUST = {"written": 6.0, "terse": 0.4}  # what one text of a source counts; others 1

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Text:
    """A text with its topic; none means harmless. Texts of one group are never judged by each other."""

    text: str
    topic: str
    source: str
    group: str
    script: Script
    hard: bool = False  # chosen because it sounds alarming
    form: Literal["whole", "padded", "part"] = "whole"  # padded: a copy with harmless words around it


def collect(data: Path) -> list[Text]:
    """Everything that may be fitted on, each text once."""
    random = Random(0)
    found = [*_public(data, random), *_written(), *_acts(random)]
    found.extend(_mixed([one.text for one in found if one.source == "clinc150"], random))
    once = {normalise(one.text): one for one in reversed(found)}
    return list(once.values())


def _public(data: Path, random: Random) -> list[Text]:
    found = []
    for language in LANGUAGES:
        for row in rows(data / f"gate/{language}.dev.jsonl"):
            if row["slice"] in SOURCES:
                found.append(_text(row["text"], SOURCES[row["slice"]], row["slice"]))
    clinc = random.sample(rows(data / "gate/clinc150_train.jsonl"), FROM_CLINC)
    found.extend(_text(row["text"], "", "clinc150") for row in clinc)
    for row in rows(data / "cache/faq/banking77.entries.jsonl"):
        found.extend(_text(text, "", "banking77") for text in row["questions"])
    return [*found, *_about_documents(data)]


def _about_documents(data: Path) -> list[Text]:
    judged = {normalise(row["text"]) for name in LANGUAGES for row in rows(data / f"gate/{name}.dev.jsonl")}
    random, found = Random(3), []
    for name, count in ABOUT_DOCUMENTS.items():
        questions = sorted({row["question"] for row in rows(data / f"qa/{name}.jsonl")})
        unseen = [question for question in questions if normalise(question) not in judged]
        found.extend(_text(question, "", name) for question in random.sample(unseen, count))
    return found


def _written() -> list[Text]:
    shipped = shipped_attacks()
    found = [_text(text, topic.name, "written") for topic in shipped.topics for text in topic.examples]
    found.extend(_text(text, "", "written", hard=True) for text in shipped.harmless)
    found.extend(_text(text, "", "everyday") for text in shipped_everyday())
    terse = yaml.safe_load((HERE / "attacks/terse.yaml").read_text(encoding="utf-8"))
    found.extend(_text(text, "", "terse") for texts in terse.values() for text in texts)
    for language in LANGUAGES:
        for row in rows(HERE / f"attacks/{language}.jsonl"):
            harmless = row["gold"] == "may"
            topic = "" if harmless else row["slice"].removeprefix("mustnot_")
            found.append(_text(row["text"], topic, "written", hard=harmless))
    for language in ("ja", "zh"):
        for row in rows(HERE / f"pairs/{language}.jsonl"):
            found.extend(_text(row[key], "", "pairs") for key in ("cached_question", "question"))
    return found


def _acts(random: Random) -> list[Text]:
    listed = yaml.safe_load((HERE / "attacks/acts.yaml").read_text(encoding="utf-8"))
    return [
        replace(_text(wording.format(act), topic, "acts", hard=not topic), group=act)
        for kind, topic in (("harmful", "harm"), ("harmless", ""))
        for language in LANGUAGES
        for act in listed[kind][language]
        for wording in random.sample(listed["wordings"][language], WORDINGS)
    ]


def _mixed(english: Sequence[str], random: Random) -> list[Text]:
    """A few words in Latin letters, small or large, within Japanese and Chinese: no sign of an attack."""
    listed = yaml.safe_load((HERE / "attacks/mixed.yaml").read_text(encoding="utf-8"))
    found = []
    for frame in (frame for language in sorted(listed) for frame in listed[language]):
        for form in (str.title, str.title, str.lower, str.upper) * 2:
            names = [form(_piece(random.choice(english), "latin", random)) for _ in range(frame.count("{}"))]
            found.append(_text(frame.format(*names), "", "mixed"))
    return found


def _text(text: str, topic: str, source: str, *, hard: bool = False) -> Text:
    return Text(text, topic, source, text, script_of(normalise(text)), hard)


def padded(texts: Sequence[Text], random: Random) -> list[Text]:
    """Some texts again with harmless words around them, and parts of the harmless ones.

    Neither politeness nor length says anything, and a part is judged by its wording alone.
    """
    padding = yaml.safe_load((HERE / "attacks/padding.yaml").read_text(encoding="utf-8"))
    found = []
    harmless = {
        script: [one.text for one in texts if one.script == script and not one.topic] for script in SCRIPTS
    }
    for one in texts:
        if random.random() < (0.35 if one.topic else 0.08):
            piece = _piece(random.choice(harmless[one.script]), one.script, random)
            text = f"{piece} {one.text}" if random.random() < 0.5 else f"{one.text} {piece}"
            found.append(replace(one, text=text, form="padded"))
        if random.random() < (0.25 if one.topic else 0.06):
            language = "en" if one.script == "latin" else random.choice(("ja", "zh"))
            before, after = (
                random.choice(padding[language]["before"]),
                random.choice(padding[language]["after"]),
            )
            form = random.choice(("{b} {t}", "{t} {a}", "{b} {t} {a}"))
            found.append(replace(one, text=form.format(b=before, t=one.text, a=after), form="padded"))
    for one in texts:
        parts = windows(normalise(one.text)) if not one.topic else []
        found.extend(
            replace(one, text=part, form="part") for part in random.sample(parts, min(PARTS, len(parts)))
        )
    for script in SCRIPTS:
        for number in range(JOINED):
            joined = " ".join(random.sample(harmless[script], random.randint(2, 6)))
            found.append(Text(joined, "", "joined", f"joined {number}", script))
    return found


def _piece(text: str, script: Script, random: Random) -> str:
    """One to nine words of a harmless text, or as much where words are not parted."""
    if script == "latin":
        return " ".join(text.split()[: random.randint(1, 9)])
    return text[: random.randint(2, 18)]


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
    def missed(self) -> dict[HeadName, float]:
        """Of its look-alikes, by head."""
        return MISSED[self.texts[0].script]

    def learnt_by(self, head: HeadName) -> Material:
        """What a head learns from: the vector is that of a whole text, so parts teach the wording alone."""
        if head == "wording":
            return self
        return self.some(np.array([one.form != "part" for one in self.texts]))

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
    weight = np.array([TRUST.get(one.source, 1.0) for one in seen.texts])
    truth = seen.forbidden
    weight = np.where(truth, weight / weight[truth].sum(), weight / weight[~truth].sum()) * len(truth) / 2
    return LogisticRegression(C=STIFFNESS, max_iter=300, tol=1e-4).fit(features, truth, sample_weight=weight)


def shift(seen: Material, features: csr_matrix, head: HeadName) -> float:
    """The logit that all but a few look-alikes stay under, each judged by weights that never saw it."""
    groups = [one.group for one in seen.texts]
    logits = np.zeros(len(seen.texts))
    for inside, outside in GroupKFold(FOLDS).split(features, groups=groups):
        chosen = np.isin(np.arange(len(logits)), inside)
        model = regression(features[inside], seen.some(chosen))
        logits[outside] = model.decision_function(features[outside])
    return float(np.quantile(logits[seen.look_alikes(head)], 1 - seen.missed[head]))


def fitted(seen: Material) -> dict[str, Any]:
    """The arrays of one script."""
    centre = seen.vectors.mean(axis=0)
    arrays: dict[str, Any] = {"centre": centre.astype(np.float32)}
    for head in seen.missed:
        learnt = seen.learnt_by(head)
        features = learnt.features(head, centre)
        model = regression(features, learnt)
        weights = model.coef_[0].copy()
        if head == "both":
            weights[seen.n_grams.shape[1] :] *= MEANING
        arrays[head] = weights.astype(np.float16)
        arrays[f"{head}_bias"] = np.float64(model.intercept_[0] - shift(learnt, features, head))
    attacks = seen.some(seen.forbidden)
    named = LogisticRegression(C=STIFFNESS, max_iter=400, class_weight="balanced")
    named.fit(attacks.n_grams, [TOPICS.index(one.topic) for one in attacks.texts])
    return {
        **arrays,
        "topics": named.coef_.astype(np.float16),
        "topics_bias": named.intercept_.astype(np.float32),
    }


def unseen(seen: Material) -> None:
    """Print how much of each source is caught by weights that were fitted without it."""
    sources = sorted({one.source for one in seen.texts if one.topic} - {"written", "acts"})
    print(f"{'source':26} {'n':>4}  caught [95 %]            wording   TF-IDF + LR   flag all")
    for source in sources:
        of_source = np.array([one.source == source for one in seen.texts])
        whole = np.array([one.form == "whole" for one in seen.texts])
        test, rest = seen.some(of_source & whole), seen.some(~of_source)
        if len(test.texts) < 20:
            continue
        caught = {head: _caught(rest, test, head) for head in rest.missed}
        rate = Rate(int(caught["both"].sum()), len(test.texts))
        low, high = rate.ci95
        print(
            f"{source:26} {len(test.texts):4}  {rate.value:6.1%} [{low:.1%}, {high:.1%}]"
            f"{caught['wording'].mean():12.1%} {_plain(rest, test):12.1%} {1:11.0%}"
        )


def _caught(rest: Material, test: Material, head: HeadName) -> Floats:
    learnt, centre = rest.learnt_by(head), rest.vectors.mean(axis=0)
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
    texts = collect(data)
    texts.extend(padded(texts, Random(1)))
    seen = {script: await material(texts, script) for script in SCRIPTS}
    if write:
        stored: dict[str, Any] = {"encoder": load_shipped().identity.digest}
        for script, of_script in seen.items():
            stored.update({f"{script}.{name}": array for name, array in fitted(of_script).items()})
        np.savez_compressed(TARGET, **stored)
        print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB")
    for script, of_script in seen.items():
        known, harmless = of_script.forbidden.sum(), (~of_script.forbidden).sum()
        print(f"\n{script}: {known} forbidden, {harmless} harmless texts", flush=True)
        unseen(of_script)


def main() -> None:
    """Fit on the folder of development data."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    asyncio.run(run(arguments.data, write=arguments.write))


if __name__ == "__main__":
    main()
