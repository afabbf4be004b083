"""Fit cache/weights.yaml: how much each piece of evidence says that an entry answers a question.

    python -m training.fit_matching DATA [--write]

DATA is the folder of development data. `meaning` is fitted on the two English FAQ sets (real traffic
against their entries, and the approval-time probes), `words` on Japanese and Chinese helpdesk questions
that we wrote (questions/, pairs/), as pairs that no guard holds back, `characters` on captions, `rereading`
on the traffic and the pairs that the pair models have not seen. Each set is also judged by weights fitted
on the others only: that is what a stranger's FAQ will see, and what is printed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml
from sklearn.linear_model import LogisticRegression

from cache.arrays import ShelfArrays
from cache.calibration import Asked, ask
from cache.evidence import EVIDENCE, Numbers, Weights
from encoders import Encoder
from encoders.onnx import OnnxEncoder
from encoders.pairs import OnnxPairModel
from encoders.shipped import load_shipped
from training.command import fit_command, rows
from training.fit_pairs import SETS, is_unseen
from training.matching_sets import NONE, Judged, faq, pairs
from training.matching_sets import made as made_pairs

TARGETS = (0.003, 0.01, 0.02, 0.03)  # wrong answers per request
DEFAULT_TARGET = 0.005  # the default cut keeps this on every set
REREADING_TARGET = (
    0.0035  # the same after the pair model, which is surer of a few traps than of most paraphrases
)

# Where evidence stops counting. A wide margin must not make a far entry near: without these ends
# the model serves 17 % instead of 34 % of BANKING77 at 1 % wrong answers per request.
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "meaning": {
        "best": (0.0, 1.0),
        "margin": (-0.2, 0.1),
        "central": (0.0, 1.0),
        "central_margin": (-0.2, 0.1),
        "characters": (0.0, 0.0),
        "characters_margin": (0.0, 0.0),
        "aligned": (0.0, 0.0),
        "covered": (0.0, 0.0),
    },
    "words": {
        "best": (0.3, 1.0),
        "margin": (-0.1, 0.1),
        "central": (0.0, 0.0),
        "central_margin": (0.0, 0.0),
        "characters": (0.0, 0.0),
        "characters_margin": (0.0, 0.0),
        "aligned": (0.0, 1.0),
        "covered": (0.0, 1.0),
    },
    "characters": {
        "best": (0.5, 1.0),
        "margin": (-0.1, 0.05),
        "central": (0.0, 0.0),
        "central_margin": (0.0, 0.0),
        "characters": (0.3, 1.0),
        "characters_margin": (-0.2, 0.2),
        "aligned": (0.0, 0.0),
        "covered": (0.0, 0.0),
    },
}
FARTHEST = 6.0  # log-odds

# No default cut is taken from shelves of our own pairs: they are traps by construction, and count alone.
NO_CUT = {"words": ("ja", "zh", "made ja", "made zh"), "meaning": (), "characters": ()}


def fit(sets: list[Judged], reading: str) -> dict[str, Any]:
    """Weights fitted on the sets, as weights.yaml has them."""
    ranges = RANGES[reading]
    low, high = (np.array([ranges[name][end] for name in EVIDENCE]) for end in (0, 1))
    probed = [one for one in sets if reading != "characters"]
    evidence = np.concatenate([one.evidence for one in sets] + [one.probes for one in probed])
    right = np.concatenate([one.right for one in sets] + [one.probes_right for one in probed])
    evidence = np.clip(evidence, low, high)
    model = LogisticRegression(C=30.0, max_iter=5_000).fit(evidence, right)
    return {
        "bias": round(float(model.intercept_[0]), 4),
        "default_cut": 1.0,
        "evidence": {
            name: {
                "weight": round(float(model.coef_[0][at]), 4),
                "from": low[at].item(),
                "to": high[at].item(),
            }
            for at, name in enumerate(EVIDENCE)
        },
    }


def scores(part: dict[str, Any], evidence: Numbers) -> Numbers:
    """The probabilities by fitted weights."""
    return Weights.from_table({"meaning": part}).readings["meaning"].probability(evidence)


def served(one: Judged, values: Numbers) -> list[str]:
    """Share of the answerable questions served right, with the best cut for each target."""
    order = np.argsort(-values)
    wrong = np.cumsum(~one.right[order]) / len(order)
    right = np.cumsum(one.right[order]) / one.answerable
    return [f"{right[wrong <= target].max(initial=0.0):.3f}" for target in TARGETS]


def cut_at(one: Judged, values: Numbers, target: float) -> float:
    """The smallest cut with at most this many wrong answers per request."""
    wrong = np.sort(values[~one.right])[::-1]
    return float(np.nextafter(wrong[int(target * len(values))], 2.0))


def made(sets: list[Judged], reading: str) -> dict[str, Any]:
    """The weights of a reading, after a table of what they do on sets they have not seen."""
    print(f"\n{reading}: served right at {TARGETS} wrong per request, best cut")
    for one in sets:
        others = fit([other for other in sets if other is not one], reading)
        print(f"  {one.name:12} cosine {served(one, one.evidence[:, 0])}", end="  ")
        print(f"characters {served(one, one.evidence[:, EVIDENCE.index('characters')])}", end="  ")
        print(f"fitted on the others {served(one, scores(others, one.evidence))}")
    part = fit(sets, reading)
    cuts = {
        one.name: cut_at(one, scores(part, one.evidence), DEFAULT_TARGET)
        for one in sets
        if one.name not in NO_CUT[reading]
    }
    if reading == "words":
        own = [scores(part, one.probes)[~one.probes_right].max() for one in sets if one.name in ("ja", "zh")]
        cuts["our own pairs, alone"] = float(max(own))
    for one in sets:
        values, right = scores(part, one.probes), one.probes_right
        table = [
            f"{cut}: {(values[right] >= cut).mean():.3f} {(values[~right] >= cut).mean():.4f}"
            for cut in (0.3, 0.5, 0.7, 0.8)
        ]
        print(f"  {one.name:12} probes or lone pairs from a cut on, right and wrong: ", *table)
    part["default_cut"] = round(max(cuts.values()) + 0.00005, 4)
    print("  cuts:", ", ".join(f"{name} {cut:.4f}" for name, cut in cuts.items()))
    return part


HEADER = """\
# Made by training/fit_matching.py; do not edit by hand.
# P(the entry answers) = 1 / (1 + exp(-(bias + sum of weight * evidence))), each evidence kept in from..to;
# meaning: where the encoder knows the language. words: where there are tables of its words, too. characters:
# where it does not. rereading: over the log-odds by evidence and the logit of the pair model.
# default_cut: at most 0.5 % wrong answers per request on the sets that fit_matching names, for shelves
# that can't be calibrated.
"""


async def fitted(data: Path) -> str:
    """The text of weights.yaml."""
    shipped = load_shipped()
    captions = [data / f"cache/pairs/{name}.jsonl" for name in ("jsick_train", "jsts_train", "jnli_valid")]
    own = [Path(__file__).parent / "pairs" / f"{language}.jsonl" for language in ("ja", "zh")]
    faqs = [await faq(shipped, data, name) for name in SETS]
    table = {
        "meaning": made(faqs, "meaning"),
        "words": made(
            [await made_pairs(shipped, language) for language in ("ja", "zh")]
            + [await pairs(shipped, file, "best") for file in own],
            "words",
        ),
        "characters": made(
            [await pairs(OnnxEncoder.load(), file, "characters") for file in captions], "characters"
        ),
    }
    table["rereading"] = await reread(shipped, data, table)
    return HEADER + yaml.safe_dump(table, sort_keys=False)


async def reread(encoder: Encoder, data: Path, table: dict[str, Any]) -> dict[str, float]:
    """How much the pair model adds: a logistic model over the log-odds by evidence and its logit.

    Fitted on the half of the traffic that the pair model has not seen; each set is judged by the other one.
    """
    weighing, model = Weights.from_table(table).readings["meaning"], OnnxPairModel.load()
    sets = {}
    for name in SETS:
        entries = rows(data / f"cache/faq/{name}.entries.jsonl")
        traffic = [row for row in rows(data / f"cache/faq/{name}.traffic.jsonl") if is_unseen(row)]
        texts = [text for entry in entries for text in entry["questions"]]
        owners = np.repeat(np.arange(len(entries)), [len(entry["questions"]) for entry in entries])
        number = {entry["entry_id"]: at for at, entry in enumerate(entries)}
        asked = [row["text"] for row in traffic]
        gold = np.array([number.get(row["entry_id"], NONE) for row in traffic])
        shelf = ShelfArrays.of(await encoder.encode(texts), texts, owners, "en")
        whole = Asked(tuple(asked), await encoder.encode(asked))
        probes = ask(shelf, weighing, gold, whole, np.arange(len(asked)))
        logits = await model.scores(list(zip(asked, probes.phrasings, strict=True)))
        first = np.clip(probes.scores, 1e-6, 1 - 1e-6)
        odds = np.stack([np.log(first / (1 - first)), logits], axis=1).clip(-FARTHEST, FARTHEST)
        sets[name] = (odds, probes)
    print(f"\nrereading: served right at {TARGETS} wrong per request, best cut, traffic that no model saw")
    models = {
        name: LogisticRegression(C=30.0).fit(odds, probes.right) for name, (odds, probes) in sets.items()
    }
    for name, other in (SETS, SETS[::-1]):
        odds, probes = sets[name]
        one = Judged(name, odds, probes.right, int(probes.answerable.sum()), odds, probes.right)
        by_other = models[other].decision_function(odds)
        print(f"  {name:12} evidence {served(one, odds[:, 0])}  pair {served(one, odds[:, 1])}", end="  ")
        print(f"both, fitted on the other set {served(one, by_other)}")
    both = [
        np.concatenate(parts)
        for parts in zip(*((odds, probes.right) for odds, probes in sets.values()), strict=True)
    ]
    whole = LogisticRegression(C=30.0).fit(*both)
    cuts = []
    for odds, probes in sets.values():
        values = whole.predict_proba(odds)[:, 1]
        cuts.append(float(np.sort(values[~probes.right])[::-1][int(REREADING_TARGET * len(values))]))
    return {
        "bias": round(float(whole.intercept_[0]), 4),
        "first": round(float(whole.coef_[0][0]), 4),
        "pair": round(float(whole.coef_[0][1]), 4),
        "farthest": FARTHEST,
        "default_cut": round(max(cuts) + 0.00005, 4),
    }


if __name__ == "__main__":
    fit_command(__doc__, fitted, Path("cache/weights.yaml"))
