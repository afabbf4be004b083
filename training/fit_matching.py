"""Fit cache/matching/weights.yaml: how much each piece of evidence says that an entry answers a question.

    python -m training.fit_matching DATA [--write]

DATA is the folder of development data. `meaning` is fitted on the two English FAQ sets (real traffic
against their entries, and the approval-time probes), `words` on Japanese and Chinese helpdesk questions
that we wrote (questions/, pairs/), as pairs that no guard holds back, `characters` on captions, `rereading`
on wordings of our English helpdesk, which the pair model has not seen, `familiar` on traffic of the sets that
it learnt from. Each set is also judged by weights fitted on the others only: that is what a stranger's FAQ
will see, and what is printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from sklearn.linear_model import LogisticRegression

from cache.calibration import Asked, Probes, ask
from cache.guards import default_guards
from cache.matching import objection
from cache.matching.arrays import ShelfArrays
from cache.matching.evidence import EVIDENCE, Numbers, Weighing, Weights
from cache.matching.scoring import Scorer
from encoders import Encoder
from encoders.onnx import OnnxEncoder
from encoders.pairs import OnnxPairModel, PairModel
from encoders.shipped import load_shipped
from training.command import fit_command, rows
from training.faq_pairs import SETS, is_unseen
from training.matching_sets import NONE, Judged, alone, faq, pairs, unguarded, wordings
from training.matching_sets import made as made_pairs

TARGETS = (0.003, 0.01, 0.02, 0.03)  # wrong answers per request
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
FARTHEST = 6.0  # log-odds
HELPDESK = Path(__file__).parents[1] / "examples/helpdesk/en/entries.jsonl"

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
# where it does not. rereading: over the log-odds by evidence and the logit of the pair model; familiar: the
# same for shelves whose calibration shows that the pair model knows their subject, where it may read more.
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
    table["rereading"], table["familiar"] = await reread(shipped, data, table)
    return HEADER + yaml.safe_dump(table, sort_keys=False)


@dataclass(frozen=True)
class Reread:
    """What a shelf found first for its traffic."""

    odds: Numbers  # by evidence and by the pair model of the phrasings it reads, shape (questions, 2)
    first: Numbers  # the same, of the nearest phrasing alone
    probes: Probes
    held_back: np.ndarray  # by a guard


async def reread(
    encoder: Encoder, data: Path, table: dict[str, Any]
) -> tuple[dict[str, float], dict[str, float]]:
    """How much the pair model adds: logistic models over the log-odds by evidence and its logit.

    The first is for shelves of any subject: fitted on the wordings of our English helpdesk, which the model
    never saw, each pair alone on its shelf, and cut on the half of the traffic that it has not seen. The
    second, for subjects that it knows, is fitted on that half; each set is judged by the other one.
    """
    weighing, model = Weights.from_table(table).readings["meaning"], OnnxPairModel.load()
    sets = {name: await read_traffic(encoder, model, weighing, data, name) for name in SETS}
    print(f"\nfamiliar: served right at {TARGETS} wrong per request, best cut, traffic that no model saw")
    models = {name: LogisticRegression(C=30.0).fit(one.odds, one.probes.right) for name, one in sets.items()}
    for name, other in (SETS, SETS[::-1]):
        odds, probes = sets[name].odds, sets[name].probes
        one = Judged(name, odds, probes.right, int(probes.answerable.sum()), odds, probes.right)
        by_other = models[other].decision_function(odds)
        print(f"  {name:12} evidence {served(one, odds[:, 0])}  pair {served(one, odds[:, 1])}", end="  ")
        print(f"both, fitted on the other set {served(one, by_other)}")
    odds = np.concatenate([one.odds for one in sets.values()])
    familiar = LogisticRegression(C=30.0).fit(
        odds, np.concatenate([one.probes.right for one in sets.values()])
    )
    lone = unguarded(await wordings(encoder, HELPDESK))
    evidence, right = await alone(encoder, lone)
    logits = await model.scores([(row["question"], row["cached_question"]) for row in lone])
    anywhere = LogisticRegression(C=30.0).fit(log_odds(weighing.probability(evidence), logits), right)
    little = {name: anywhere.predict_proba(one.first)[:, 1] for name, one in sets.items()}
    much = {name: familiar.predict_proba(one.odds)[:, 1] for name, one in sets.items()}
    return (
        coefficients(anywhere) | default_cut("rereading", sets, little),
        coefficients(familiar) | default_cut("familiar", sets, much),
    )


def default_cut(which: str, sets: dict[str, Reread], scored: dict[str, Numbers]) -> dict[str, float]:
    """The cut that keeps the default target on every set, behind the guards."""
    cuts = {}
    for name, one in sets.items():
        values = np.where(one.held_back, 0.0, scored[name])
        wrong = np.sort(values[~one.probes.right])[::-1]
        cuts[name] = float(wrong[int(DEFAULT_TARGET * len(values))])
    print(f"{which}: cuts", ", ".join(f"{name} {cut:.4f}" for name, cut in cuts.items()))
    return {"default_cut": round(max(cuts.values()) + 0.00005, 4)}


async def read_traffic(
    encoder: Encoder, model: PairModel, weighing: Weighing, data: Path, name: str
) -> Reread:
    """The half of a set's traffic that the pair model has not seen, against the set's entries."""
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
    every = np.ones(len(asked))  # all are read, however little speaks for them
    much = Scorer(weighing, pairs=model, trust="much")
    logits = await much.logits(every, [*zip(asked, probes.nearest, strict=True)])
    guards = default_guards()
    found = zip(asked, probes.nearest, probes.entries, strict=True)
    held_back = [
        objection(text, nearest[0], tuple(entries[entry]["questions"]), "en", guards) is not None
        for text, nearest, entry in found
    ]
    odds = [log_odds(probes.scores, one) for one in (np.fmax.reduce(logits, axis=1), logits[:, 0])]
    return Reread(*odds, probes, np.array(held_back))


def log_odds(scores: Numbers, logits: Numbers) -> Numbers:
    """What a rereading weighs, shape (pairs, 2)."""
    kept = np.clip(scores, 1e-6, 1 - 1e-6)
    return np.stack([np.log(kept / (1 - kept)), logits], axis=1).clip(-FARTHEST, FARTHEST)


def coefficients(model: LogisticRegression) -> dict[str, float]:
    """A rereading, as weights.yaml has it."""
    return {
        "bias": round(float(model.intercept_[0]), 4),
        "first": round(float(model.coef_[0][0]), 4),
        "pair": round(float(model.coef_[0][1]), 4),
        "farthest": FARTHEST,
    }


if __name__ == "__main__":
    fit_command(__doc__, fitted, Path("cache/matching/weights.yaml"))
