"""Fit classifiers/gate/complaints.npz: what complains to the reader, about somebody else, or not at all.

    python -m training.fit_complaints DATA [--write]

Complaints are what we wrote: training/attacks/complaints.yaml, and training/attacks/stories.yaml as told
to the reader. All else is what the detector of attacks is fitted on (training/fit_attacks.py), but for what
customers of a bank ask and what we chose to sound alarming: troubles, many of them. Cuts are chosen by
weights that never saw the text; printed is what they do to each kind.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from classifiers.gate.complaints import HEADS
from classifiers.gate.detector import script_of
from classifiers.text import normalise
from encoders.shipped import load_shipped
from training.attack_texts import LANGUAGES, SCRIPTS, Text, collected
from training.command import given, save_arrays
from training.fit_attacks import MEANING, Floats, Material, material

__all__ = ["fitted", "kinds"]

HERE = Path(__file__).parent
TARGET = HERE.parent / "classifiers/gate/complaints.npz"
FOLDS = 5
STIFFNESS = 3.0  # C of the regression
TROUBLES = ("banking77", "terse", "written", "orders", "polite")  # harmless texts of these may complain
LET_IN = {"complains": 0.03, "here": 0.15}  # of what must not pass a head: other texts; complaints elsewhere
COMPLAIN = ("here", "stories", "elsewhere")
WEIGHT = {"stories": 0.25, "neither": 10.0}  # of one text, else 1; all that must pass count like all else


@dataclass(frozen=True, slots=True)
class Head:
    """What one head learns."""

    weights: Floats
    held_out: Floats  # logits by weights that never saw the text, shifted so that 0 is the cut


def written() -> list[Text]:
    """Complaints to the reader and about somebody else, by source."""
    listed = yaml.safe_load((HERE / "attacks/complaints.yaml").read_text(encoding="utf-8"))
    return [
        Text(text, "", source, text, script_of(normalise(text)))
        for language in LANGUAGES
        for source in ("here", "elsewhere", "neither")
        for text in listed[language][source]
    ]


def teaches(one: Text) -> bool:
    """Whether it is written as askers write, and known to complain or not to."""
    if one.source == "stories":
        return one.form == "whole"
    return one.form in ("whole", "padded") and (bool(one.topic) or one.source not in TROUBLES)


def kinds(seen: Material) -> np.ndarray[Any, np.dtype[np.str_]]:
    """here, stories, elsewhere, neither, attack, other."""
    return np.array([_kind(one) for one in seen.texts])


def _kind(one: Text) -> str:
    if one.source in (*COMPLAIN, "neither"):
        return one.source
    return "attack" if one.topic else "other"


def head(seen: Material, name: str) -> Head:
    """Fit one of the two; the second knows nothing but complaints."""
    kind = kinds(seen)
    learnt = np.isin(kind, COMPLAIN) if name == "here" else np.ones(len(kind), bool)
    passes = np.isin(kind, COMPLAIN[:2] if name == "here" else COMPLAIN)
    weight = np.array([WEIGHT.get(one, 1.0) for one in kind]) * learnt
    weight = (
        np.where(passes, weight / weight[passes].sum(), weight / weight[~passes].sum()) * learnt.sum() / 2
    )
    features = csr_matrix(
        hstack([seen.n_grams, csr_matrix((seen.vectors - seen.vectors.mean(axis=0)) * MEANING)])
    )
    chosen, groups = np.flatnonzero(learnt), np.array([one.group for one in seen.texts])
    held_out = np.full(len(kind), np.nan)
    for inside, outside in StratifiedGroupKFold(FOLDS).split(chosen, passes[chosen], groups[chosen]):
        model = _regression(features, passes, weight, chosen[inside])
        held_out[chosen[outside]] = model.decision_function(features[chosen[outside]])
    model = _regression(features, passes, weight, chosen)
    if name == "here":
        others = np.flatnonzero(~learnt)
        held_out[others] = model.decision_function(features[others])
    stopped = kind == "elsewhere" if name == "here" else kind == "other"
    shift = float(np.quantile(held_out[stopped], 1 - LET_IN[name]))
    weights = np.append(model.coef_[0], model.intercept_[0] - shift)
    weights[seen.n_grams.shape[1] : -1] *= MEANING
    return Head(weights, held_out - shift)


def _regression(features: csr_matrix, passes: Floats, weight: Floats, chosen: Floats) -> LogisticRegression:
    model = LogisticRegression(C=STIFFNESS, max_iter=300, tol=1e-4)
    return model.fit(features[chosen], passes[chosen], sample_weight=weight[chosen])


def fitted(seen: Material) -> dict[str, Any]:
    """The arrays of one script; prints what share of each kind passes both heads, and each."""
    heads = {name: head(seen, name) for name in HEADS}
    kind = kinds(seen)
    for one in (*COMPLAIN, "neither", "attack", "other"):
        each = [heads[name].held_out[kind == one] >= 0 for name in HEADS]
        shares = [passed.mean() for passed in (each[0] & each[1], *each)]
        both, complains, here = (f"{share:6.1%}" for share in shares)
        print(f"  {one:10} {len(each[0]):6}  both {both}  complains {complains}  here {here}")
    arrays = {name: heads[name].weights.astype(np.float16) for name in HEADS}
    return {"centre": seen.vectors.mean(axis=0).astype(np.float32), **arrays}


async def run(data: Path, *, write: bool) -> None:
    """Fit, and write if asked to."""
    whole = [one for one in collected(data) if teaches(one)]
    stored: dict[str, Any] = {"encoder": load_shipped().identity.digest}
    for script in SCRIPTS:
        print(script, flush=True)
        arrays = fitted(await material([*whole, *written()], script))
        stored.update({f"{script}.{name}": array for name, array in arrays.items()})
    if write:
        save_arrays(TARGET, stored)


def main() -> None:
    """Fit on the folder of development data."""
    arguments = given(__doc__)
    asyncio.run(run(arguments.data, write=arguments.write))


if __name__ == "__main__":
    main()
