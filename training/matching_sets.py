"""What the weights are fitted on: shelves, questions whose right entry is known, and lone pairs."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cache.guards import default_guards
from cache.matching import objection
from cache.matching.arrays import ShelfArrays, without_entries
from cache.matching.evidence import EVIDENCE, Numbers
from cache.reading.spelling import encode_spelt, spelt
from encoders import Encoder
from training.command import rows
from training.question_pairs import Frames, family_pairs

__all__ = ["NONE", "TARGETS", "Judged", "alone", "faq", "made", "pairs", "served", "unguarded", "wordings"]

NONE = -1
ROW = ("cached_question", "question", "should_reuse", "lang")
TARGETS = (0.003, 0.01, 0.02, 0.03)  # wrong answers per request
MADE_PAIRS = 2400  # of a language
NEIGHBOURS = 3


@dataclass(frozen=True)
class Judged:
    """The nearest entry of each question, with its evidence and whether it is the right one."""

    name: str
    evidence: Numbers
    right: np.ndarray
    answerable: int
    probes: Numbers
    probes_right: np.ndarray


async def faq(encoder: Encoder, data: Path, name: str) -> Judged:
    """A curated FAQ and its traffic."""
    entries = rows(data / f"cache/faq/{name}.entries.jsonl")
    traffic = rows(data / f"cache/faq/{name}.traffic.jsonl")
    number = {entry["entry_id"]: at for at, entry in enumerate(entries)}
    texts = [text for entry in entries for text in entry["questions"]]
    owners = np.repeat(np.arange(len(entries)), [len(entry["questions"]) for entry in entries])
    asked = [row["text"] for row in traffic]
    gold = np.array([number.get(row["entry_id"], NONE) for row in traffic])
    return await judged(encoder, name, texts, owners, asked, gold, by="best", language="en")


async def made(encoder: Encoder, language: str) -> Judged:
    """Pairs made from the families of questions that we wrote, each alone on its shelf."""
    random.seed(0)
    found = family_pairs(Frames.load(language))
    lone = [dict(zip(ROW, (*next(found), language), strict=True)) for _ in range(MADE_PAIRS)]
    evidence, right = await alone(encoder, lone)
    return Judged(f"made {language}", evidence[:0], right[:0], 1, evidence, right)


async def pairs(encoder: Encoder, file: Path, by: str) -> Judged:
    """Sentence pairs, on one shelf with all the others and each alone on a shelf of its own."""
    both, language = rows(file), rows(file)[0]["lang"]
    cluster = clusters([row for row in both if row["should_reuse"]])
    stored = {row["cached_question"]: row["question"] for row in both if row["should_reuse"]}
    stored = {text: question for text, question in stored.items() if question not in stored}
    order = sorted(stored, key=cluster.__getitem__)
    owners = np.unique([cluster[text] for text in order], return_inverse=True)[1]
    number = {cluster[text]: owner for text, owner in zip(order, owners, strict=True)}
    asked = sorted(set(stored.values()))
    gold = [number[cluster[text]] for text in asked]
    others = (
        row[side] for row in both if not row["should_reuse"] for side in ("question", "cached_question")
    )
    others = [text for text in dict.fromkeys(others) if text not in cluster][: 4 * len(asked)]
    gold += [NONE] * len(others)
    shelf = await judged(
        encoder, file.stem, order, owners, asked + others, np.array(gold), by=by, language=language
    )
    evidence, right = await alone(encoder, both)
    return replace(shelf, probes=evidence, probes_right=right)


def clusters(reusable: list[dict[str, Any]]) -> dict[str, str]:
    """For each text, one that stands for all that may answer for each other."""
    stands: dict[str, str] = {}
    for row in reusable:
        one, other = (stands.setdefault(row[side], row[side]) for side in ("cached_question", "question"))
        stands.update({text: one for text, old in stands.items() if old == other})
    return stands


async def alone(encoder: Encoder, both: list[dict[str, Any]]) -> tuple[Numbers, np.ndarray]:
    """The evidence for each pair with nothing else on the shelf, unless a guard holds it back."""
    kept = unguarded(both)
    stored = await encoder.encode([spelt(row["cached_question"], row["lang"]) for row in kept])
    asked = await encoder.encode([spelt(row["question"], row["lang"]) for row in kept])
    evidence = []
    for row, one, other in zip(kept, stored, asked, strict=True):
        shelf = ShelfArrays.of(one[None], [row["cached_question"]], np.zeros(1, np.intp), row["lang"])
        evidence.append(shelf.evidence(other[None], [row["question"]])[0, 0])
    return np.array(evidence), np.array([bool(row["should_reuse"]) for row in kept])


def unguarded(both: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pairs that no guard holds back."""
    guards = default_guards()
    return [
        row
        for row in both
        if objection(row["question"], row["cached_question"], (row["cached_question"],), row["lang"], guards)
        is None
    ]


async def wordings(encoder: Encoder, file: Path) -> list[dict[str, Any]]:
    """Each wording of an FAQ beside the nearest of its own entry and of the three nearest others."""
    entries = rows(file)
    texts = [(text, row["id"]) for row in entries for text in (row["question"], *row["phrasings"])]
    vectors = await encoder.encode([text for text, _ in texts])
    found = []
    for at, (text, own) in enumerate(texts):
        nearest_first = (texts[other] for other in np.argsort(-(vectors @ vectors[at])) if other != at)
        best: dict[str, str] = {}
        for other, owner in nearest_first:
            best.setdefault(owner, other)
        others = [owner for owner in best if owner != own][:NEIGHBOURS]
        kept = [owner for owner in (own, *others) if owner in best]
        pairs_of = ((best[owner], text, owner == own, entries[0]["language"]) for owner in kept)
        found += [dict(zip(ROW, pair, strict=True)) for pair in pairs_of]
    return found


async def judged(
    encoder: Encoder,
    name: str,
    texts: list[str],
    owners: np.ndarray,
    asked: list[str],
    gold: np.ndarray,
    *,
    by: str,
    language: str,
) -> Judged:
    """A shelf, and what it finds for questions whose right entry is known."""
    vectors, theirs = [await encode_spelt(encoder, some, language) for some in (texts, asked)]
    shelf = ShelfArrays.of(vectors, texts, owners, language)
    evidence, first = nearest(shelf.evidence(theirs, asked), by)
    held = shelf.held_out(np.arange(len(texts)))
    mine, mine_first = nearest(held, by)
    gone, _ = nearest(without_entries(held, owners), by)
    findable = shelf.entry_sizes[owners] > 1
    return Judged(
        name,
        evidence,
        first == gold,
        int((gold != NONE).sum()),
        np.concatenate([mine[findable], gone]),
        np.concatenate([(mine_first == owners)[findable], np.zeros(len(gone), bool)]),
    )


def nearest(evidence: Numbers, by: str) -> tuple[Numbers, np.ndarray]:
    """The entry that is first by one piece of evidence, and all the evidence for it."""
    first = evidence[:, :, EVIDENCE.index(by)].argmax(axis=1)
    return evidence[np.arange(len(evidence)), first], first


def served(right: np.ndarray, answerable: int, values: Numbers) -> list[str]:
    """Share of the answerable questions served right, with the best cut for each of `TARGETS`."""
    order = np.argsort(-values)
    wrong = np.cumsum(~right[order]) / len(order)
    share = np.cumsum(right[order]) / answerable
    return [f"{share[wrong <= target].max(initial=0.0):.3f}" for target in TARGETS]
