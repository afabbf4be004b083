"""Fit gateway/understanding/weights.yaml: how much each sign says that a question leans on earlier turns.

    python -m training.fit_leaning DATA [--write]

DATA is the folder of development data. Fitted are turns that no rule decides: of MTRAG, CAsT 2019 and
MeanCache, with the labels of training/followups.yaml; the same turns moved into another dialogue, which makes
nobody less vague; and questions of two FAQs after others, which change the subject and stand alone. Every
set is also judged by weights that did not see it: that gives the cut, and is printed. The second questions of
training/helpdesk_turns.yaml are judged only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from encoders import Encoder
from encoders.memo import MemoEncoder
from encoders.onnx import OnnxEncoder
from gateway.understanding.leaning import plain, ruled
from gateway.understanding.nearness import nearness
from gateway.understanding.weighing import Nearness, Weights, signs
from gateway.understanding.wording import wording
from training.command import fit_command, rows

DIALOGUES = ("mtrag", "cast2019", "meancache_contextual")
FAQS = ("banking77", "clinc150")
HELPDESKS = "our helpdesks"  # only judged: fitting on them too made none of the others better
LEFT_OUT = (("mtrag", "banking77"), ("cast2019", "clinc150"), ("meancache_contextual",), (HELPDESKS,))
FAQ_QUESTIONS = 400  # of each
MISSED = {"strict": 0.02, "balanced": 0.05, "lenient": 0.1}  # of the turns that lean


@dataclass(frozen=True)
class Turn:
    """A turn, what its asker said before, and two labels."""

    source: str
    dialogue: str
    text: str
    earlier: Sequence[str]
    labelled: bool  # leans, by the rule of the data set
    read: bool | None  # leans, as read; None: unclear
    moved: bool = False  # into another dialogue
    nearness: Nearness | None = None

    @property
    def ruled(self) -> bool:
        """Whether a rule holds it back."""
        return bool(self.earlier) and ruled(self.text, wording("en")) is not None

    @property
    def signs(self) -> dict[str, float]:
        """What the gateway sees."""
        return signs(plain(self.text), wording("en"), earlier=self.earlier, nearness=self.nearness)


def dialogues(data: Path) -> list[Turn]:
    """All turns of all dialogues."""
    labels = yaml.safe_load((Path(__file__).parent / "followups.yaml").read_text(encoding="utf-8"))
    found = []
    for source in DIALOGUES:
        for row in rows(data / f"cache/followups/{source}.jsonl"):
            *before, last = row["messages"]
            place = row["id"].removeprefix(f"{source}-")
            found.append(
                Turn(
                    source=source,
                    dialogue=place.rpartition("_" if source == "cast2019" else "-")[0],
                    text=last["content"],
                    earlier=[turn["content"] for turn in before if turn["role"] == "user"],
                    labelled=not row["standalone"],
                    read=read(source, place, len(row["messages"]), labels, labelled=not row["standalone"]),
                )
            )
    return found


def read(source: str, place: str, number: int, labels: dict[str, Any], *, labelled: bool) -> bool | None:
    """Whether a turn leans, as read."""
    if source == "mtrag":
        of_dialogue = labels[source].get(place.rpartition("-")[0], {"leans": [], "unclear": []})
        return None if number in of_dialogue["unclear"] else number in of_dialogue["leans"]
    return None if place in labels.get(source, {"unclear": ""})["unclear"].split() else labelled


def helpdesk_turns() -> list[Turn]:
    """Second questions that we wrote, half of them a new subject."""
    written = yaml.safe_load((Path(__file__).parent / "helpdesk_turns.yaml").read_text(encoding="utf-8"))
    return [
        Turn(HELPDESKS, desk["helpdesk"], text, [desk["asked"]], labelled=leans, read=leans)
        for desk in written
        for kind, leans in (("leans", True), ("alone", False))
        for text in desk[kind]
    ]


def moved(turns: list[Turn], random: Random) -> list[Turn]:
    """The read turns of MTRAG and CAsT, each after what somebody else said."""
    sources = ("mtrag", "cast2019")
    listed = [one for one in turns if one.source in sources and one.earlier and one.read is not None]
    found = []
    for one in listed:
        other = random.choice([turn for turn in listed if turn.dialogue != one.dialogue])
        found.append(replace(one, earlier=other.earlier, moved=True))
    return found


def changes(data: Path, random: Random) -> list[Turn]:
    """Questions of FAQs, each after one to three questions that other entries answer."""
    found = []
    for source in FAQS:
        entries = rows(data / f"cache/faq/{source}.entries.jsonl")
        asked = [(entry["entry_id"], text) for entry in entries for text in entry["questions"]]
        for entry, text in random.sample(asked, FAQ_QUESTIONS):
            others = [other for of, other in asked if of != entry]
            before = random.sample(others, random.randint(1, 3))
            found.append(Turn(source, entry, text, before, labelled=False, read=False))
    return found


def fit(turns: list[Turn]) -> Weights:
    """Weights from the turns that no rule decides, all sources and kinds counting alike."""
    fitted = [one for one in turns if one.source != HELPDESKS]
    known = [one for one in fitted if one.earlier and not one.ruled and one.read is not None]
    names = list(known[0].signs)
    sizes = Counter((one.source, one.moved, one.read) for one in known)
    share = [1 / sizes[one.source, one.moved, one.read] for one in known]
    model = LogisticRegression(C=1.0, max_iter=5_000).fit(
        [list(one.signs.values()) for one in known],
        [one.read for one in known],
        sample_weight=np.array(share) / np.mean(share),
    )
    values = [round(float(value), 3) for value in model.coef_[0]]
    return Weights(round(float(model.intercept_[0]), 3), dict(zip(names, values, strict=True)), {})


def scores(weights: Weights, turns: list[Turn]) -> np.ndarray:
    """P(leans); 1 where a rule says so, 0 at the first turn."""
    return np.array(
        [1.0 if one.ruled else weights.probability(one.signs) if one.earlier else 0.0 for one in turns]
    )


def unseen(turns: list[Turn]) -> tuple[list[Turn], np.ndarray]:
    """Turns with their scores by weights that were fitted without their sources."""
    judged, found = [], []
    for pair in LEFT_OUT:
        weights = fit([one for one in turns if one.source not in pair])
        of = [one for one in turns if one.source in pair]
        judged.extend(of)
        found.append(scores(weights, of))
    return judged, np.concatenate(found)


def tell(turns: list[Turn], values: np.ndarray, cut: float) -> None:
    """Print what a cut does to each source."""
    for source, is_moved in dict.fromkeys((one.source, one.moved) for one in turns):
        at = [n for n, one in enumerate(turns) if (one.source, one.moved) == (source, is_moved)]
        told = []
        for label in ("read", "labelled"):
            pairs = [(getattr(turns[n], label), bool(values[n] >= cut)) for n in at]
            missed = [not held for leans, held in pairs if leans is True]
            wrongly = [held for leans, held in pairs if leans is False]
            told.append(f"as {label} {share(missed)} missed, {share(wrongly)} held")
        print(f"    {source}{', moved' if is_moved else ''}: {'; '.join(told)}")


def share(found: list[bool]) -> str:
    """A share in words."""
    return f"{np.mean(found):.1%} of {len(found)}" if found else "none of 0"


HEADER = """\
# Made by training/fit_leaning.py; do not edit by hand.
# P(an English question leans on earlier turns) = 1 / (1 + exp(-(bias + sum of weight * sign))), for questions
# that no rule decides; `meaning` counts nearness by this encoder, `words` does without. From the cut on they
# are held back: 2, 5 or 10 % of the turns that lean were missed, rules included, on MTRAG and CAsT 2019 and
# MeanCache together, by weights fitted without the set that was judged.
"""


async def fitted(data: Path) -> str:
    """The text of weights.yaml."""
    random = Random(5)
    turns = dialogues(data)
    turns += moved(turns, random) + changes(data, random) + helpdesk_turns()
    encoder = MemoEncoder(OnnxEncoder.load(), 20_000)
    with_nearness = [await compared(one, encoder) for one in turns]
    table = {
        "encoder": encoder.identity.name,
        "meaning": reading(with_nearness, "meaning: with cosines"),
        "words": reading(turns, "words: without"),
    }
    return HEADER + yaml.safe_dump(table, sort_keys=False)


async def compared(one: Turn, encoder: Encoder) -> Turn:
    """The turn with its nearness to what was said before."""
    if not one.earlier:
        return one
    return replace(one, nearness=await nearness(encoder, one.text, one.earlier))


def reading(turns: list[Turn], name: str) -> dict[str, Any]:
    """One model as weights.yaml has it, after what it does on sources it has not seen."""
    print(f"\n{name}")
    judged, values = unseen(turns)
    for source in ("mtrag", "cast2019", HELPDESKS):
        later = [n for n, one in enumerate(judged) if one.source == source and not one.moved and one.earlier]
        clear = [n for n in later if judged[n].read is not None]
        print(f"  {source}: AUROC {roc_auc_score([judged[n].read for n in clear], values[clear]):.3f}")
    leaning = sorted(
        value
        for one, value in zip(judged, values, strict=True)
        if one.source in DIALOGUES and one.read and not one.moved
    )
    cuts = {caution: float(leaning[int(missed * len(leaning))]) for caution, missed in MISSED.items()}
    weights = fit(turns)
    for caution, cut in cuts.items():
        print(f"\n  {caution}, {MISSED[caution]:.0%} missed, cut {cut:.3f}; sources not fitted:")
        tell(judged, values, cut)
        print("   by weights fitted on all:")
        tell(turns, scores(weights, turns), cut)
    rounded = {caution: round(cut - 0.0005, 3) for caution, cut in cuts.items()}
    return {"bias": weights.bias, "cuts": rounded, "signs": dict(weights.signs)}


if __name__ == "__main__":
    fit_command(__doc__, fitted, Path("gateway/understanding/weights.yaml"))
