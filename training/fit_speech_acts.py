"""Fit the model that tells claims from what claims nothing: greetings, offers, refusals, lead-ins, questions.

    python -m training.fit_speech_acts DATA [--write]   # DATA holds qa/*.jsonl

Fitted on training/acts: sentences written and labelled by us, and many more made from templates, beside
sentences of the QA corpora, which all claim something. Cuts come from the written ones, left out in turn. The
sentences of tests/classifiers/faithfulness/statements/acts are only measured.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from classifiers.faithfulness.statements.asides import SHIPPED, AsideModel, features
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.faithfulness.statements.speech_acts import final_mark, plain_sentence, ruled_act
from training.command import fit_command, rows

ROOT = Path(__file__).parents[1]
WRITTEN, HELD_OUT = ROOT / "training/acts", ROOT / "tests/classifiers/faithfulness/statements/acts"
CORPORA = {"en": "squad2", "ja": "jaquad_train", "zh": "cmrc2018_dev"}
ACTS = ("greeting", "offer", "refusal", "lead_in", "question", "claim")
MADE_EACH = 40  # sentences a template
FROM_CORPUS = 1500
WEIGHT_MADE, WEIGHT_CORPUS = 0.1, 0.1  # beside 1 for a sentence that was written
KEPT = 3000  # features a language
INVERSE_RIDGE = 3.0
STEPS = tuple(round(0.2 + 0.05 * i, 2) for i in range(16))
MARGIN = 0.1  # forty claims a language show little of what a thousand hold


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence and whether it claims nothing."""

    text: str
    act: str
    weight: float = 1.0

    @property
    def aside(self) -> bool:
        return self.act != "claim"

    @property
    def plain(self) -> str:
        return plain_sentence(self.text) + final_mark(self.text)

    @property
    def ruled(self) -> bool:
        return ruled_act(self.text, plain_sentence(self.text)) != "claim"


async def fitted(folder: Path) -> str:
    """The weights of all languages; prints what they reach."""
    models = {}
    for language in CORPORA:
        written = read(WRITTEN / f"{language}.txt")
        held_out = read(HELD_OUT / f"{language}.txt")
        known = {each.plain for each in held_out}
        others = [*_made(language), *_from_corpus(folder, language)]
        models[language] = _model(language, written, [o for o in others if o.plain not in known], held_out)
    data = {"judge": "asides@1", "languages": models}
    return json.dumps(data, ensure_ascii=False, indent=0) + "\n"


def read(file: Path) -> list[Labelled]:
    """Sentences under a line "# act"."""
    found, act = [], ""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            act = line[2:]
        else:
            found.append(Labelled(line, act))
    return found


def _made(language: str) -> Iterator[Labelled]:
    text = (WRITTEN / "templates.yaml").read_text(encoding="utf-8")
    data = yaml.load(text, Loader=yaml.BaseLoader)[language]  # "on" stays a word; our own file
    slots, rng = {**data["slots"], **data["more"]}, random.Random(1)
    for act in ACTS:
        made = {
            re.sub(r"\{(\w+)\}", lambda slot: rng.choice(slots[slot[1]]), template)
            for template in data[act]
            for _ in range(MADE_EACH)
        }
        yield from (Labelled(each[0].upper() + each[1:], act, WEIGHT_MADE) for each in sorted(made))


def _from_corpus(folder: Path, language: str) -> list[Labelled]:
    rng = random.Random(0)
    contexts = sorted({row["context"] for row in rows(folder / f"qa/{CORPORA[language]}.jsonl")})
    found = {s.text for text in rng.sample(contexts, min(600, len(contexts))) for s in sentences(text)[:6]}
    chosen = rng.sample(sorted(found), min(FROM_CORPUS, len(found)))
    return [Labelled(text, "claim", WEIGHT_CORPUS) for text in chosen]


def _model(
    language: str, written: list[Labelled], others: list[Labelled], held_out: list[Labelled]
) -> dict[str, object]:
    labels = np.array([each.aside for each in written])
    scores = np.zeros(len(written))
    for rest, part in StratifiedKFold(5, shuffle=True, random_state=0).split(written, labels):
        model = _fit([*(written[i] for i in rest), *others])
        scores[part] = [model.probability(written[i].plain) for i in part]
    alone, confirms = _cuts(scores, labels, np.array([each.ruled for each in written]))
    model = _fit([*written, *others])
    print(f"{language}: cuts {alone:.2f} alone, {confirms:.2f} to confirm; {len(model.by_feature)} features")
    _report("  written, left out in turn", written, scores, alone, confirms)
    _report("  held out", held_out, np.array([model.probability(e.plain) for e in held_out]), alone, confirms)
    weights = {k: round(v, 2) for k, v in sorted(model.by_feature.items())}
    return {"alone": alone, "confirms": confirms, "bias": round(model.bias, 3), "weights": weights}


def _fit(examples: Sequence[Labelled]) -> AsideModel:
    vectors = DictVectorizer()
    x = vectors.fit_transform([dict.fromkeys(features(each.plain), 1.0) for each in examples])
    common = np.flatnonzero(np.asarray((x > 0).sum(0))[0] >= 2)
    y, weights = [each.aside for each in examples], [each.weight for each in examples]
    for _ in range(2):  # once to choose the features, once on those alone
        fit = LogisticRegression(C=INVERSE_RIDGE, max_iter=300).fit(x[:, common], y, sample_weight=weights)
        order = np.argsort(-np.abs(fit.coef_[0]))[:KEPT]
        chosen = [(vectors.feature_names_[common[i]], float(fit.coef_[0][i])) for i in order]
        common = common[np.sort(order)]
    return AsideModel(dict(chosen), float(fit.intercept_[0]), 0.0, 0.0)


def _cuts(
    scores: NDArray[np.float64], aside: NDArray[np.bool_], ruled: NDArray[np.bool_]
) -> tuple[float, float]:
    """Above the cuts at which no claim that was left out goes unchecked: it costs more than a false block."""
    alone = next((c for c in STEPS if not (scores[~aside] >= c).any()), STEPS[-1])
    confirms = next((c for c in STEPS if not (ruled & ~aside & (scores >= c)).any()), STEPS[-1])
    return min(round(alone + MARGIN, 2), STEPS[-1]), confirms


def _report(
    name: str, written: Sequence[Labelled], scores: NDArray[np.float64], alone: float, confirms: float
) -> None:
    aside = np.array([each.aside for each in written])
    ruled = np.array([each.ruled for each in written])
    for judge, taken in (
        ("rules", ruled),
        ("model", scores >= alone),
        ("both", (ruled & (scores >= confirms)) | (scores >= alone)),
    ):
        print(
            f"{name:28} {judge:6} claims unchecked {(taken & ~aside).sum():3} of {(~aside).sum():3}, "
            f"asides taken for claims {(~taken & aside).sum():3} of {aside.sum():3}"
        )


if __name__ == "__main__":
    fit_command(__doc__, fitted, SHIPPED)
