"""Fit cache/matching/weights.yaml: how much each piece of evidence says that an entry answers a question.

    python -m training.fit_matching DATA [--write]

DATA is the folder of development data. `meaning` is fitted on the two English FAQ sets (real traffic
against their entries, and the approval-time probes), `words` on Japanese and Chinese helpdesk questions
that we wrote (questions/, pairs/), as pairs that no guard holds back, `characters` on captions; how much a
pair model counts by rereading.py, a model of answers by answer_reading.py. Each set is also judged by weights
fitted on the others only: that is what a stranger's FAQ will see, and what is printed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml
from sklearn.linear_model import LogisticRegression

from cache.matching.evidence import EVIDENCE, Numbers, Weights
from encoders.onnx import OnnxEncoder
from encoders.shipped import load_shipped, load_shipped_answering, load_shipped_pairs
from training.answer_reading import answer_reading
from training.command import fit_command, rows
from training.faq_pairs import SETS
from training.matching_sets import TARGETS, Judged, faq, pairs, served, wordings
from training.matching_sets import made as made_pairs
from training.rereading import faqs, helpdesks, rereading

DEFAULT_TARGET = 0.005  # the default cut keeps this on every set

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
EXAMPLES, ENTRIES = Path(__file__).parents[1] / "examples" / "helpdesk", "entries.jsonl"
OWN_PAIRS = Path(__file__).parent / "pairs"

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


def cut_at(one: Judged, values: Numbers, target: float) -> float:
    """The smallest cut with at most this many wrong answers per request."""
    wrong = np.sort(values[~one.right])[::-1]
    return float(np.nextafter(wrong[int(target * len(values))], 2.0))


def made(sets: list[Judged], reading: str) -> dict[str, Any]:
    """The weights of a reading, after a table of what they do on sets they have not seen."""
    print(f"\n{reading}: served right at {TARGETS} wrong per request, best cut")
    for one in sets:
        others = fit([other for other in sets if other is not one], reading)
        by = {"fitted on the others": scores(others, one.evidence)}
        for name in ("best", "characters"):
            by[name] = one.evidence[:, EVIDENCE.index(name)]
        shares = (f"{name} {served(one.right, one.answerable, values)}" for name, values in by.items())
        print(f"  {one.name:12}", *shares)
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
# default_cut: for shelves that can't be calibrated; at most 0.5 % wrong answers per request on each set that
# fit_matching names, of a rereading at most 0.5 % of all requests that rereading.py names.
# answering: over the log-odds of the score so far, where it is doubted_from..sure_from, and the logit of the
# model of answers.
"""


async def fitted(data: Path) -> str:
    """The text of weights.yaml."""
    shipped = load_shipped()
    captions = [data / f"cache/pairs/{name}.jsonl" for name in ("jsick_train", "jsts_train", "jnli_valid")]
    own = [OWN_PAIRS / f"{language}.jsonl" for language in ("ja", "zh")]
    asked = [await faq(shipped, data, name) for name in SETS]
    table = {
        "meaning": made(asked, "meaning"),
        "words": made(
            [await made_pairs(shipped, language) for language in ("ja", "zh")]
            + [await pairs(shipped, file, "best") for file in own],
            "words",
        ),
        "characters": made(
            [await pairs(OnnxEncoder.load(), file, "characters") for file in captions], "characters"
        ),
    }
    asking = {language: await wordings(shipped, EXAMPLES / language / ENTRIES) for language in ("en", "ja")}
    ours = [row for file in own for row in rows(file)]
    model = load_shipped_pairs()
    for reading, shelves, lone in (
        ("meaning", faqs(data) | helpdesks("en"), {"wordings": asking["en"]}),
        ("words", helpdesks("ja", "zh"), {"wordings": asking["ja"], "our pairs": ours}),
    ):
        weighing = Weights.from_table(table).readings[reading]
        table[reading]["rereading"] = await rereading(shipped, model, weighing, shelves, lone)
    weights = Weights.from_table(table)
    table["answering"] = await answer_reading(shipped, model, load_shipped_answering(), weights)
    return HEADER + yaml.safe_dump(table, sort_keys=False)


if __name__ == "__main__":
    fit_command(__doc__, fitted, Path("cache/matching/weights.yaml"))
