"""Pairs of questions that people asked a bank and an assistant (BANKING77, CLINC150), for fit_pairs.

    python -m training.faq_pairs DATA FOLDER

writes the traffic of both sets that no model learns from, so that figures can be measured on it: a quarter,
chosen by a hash of its words. Questions of one intent answer for each other; hard negatives are the nearest
questions of other intents, questions that nothing answers, and real questions with a word exchanged (SWAPS).
Half of the pairs are what a shelf would offer, the question first.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np

from training.command import rows

__all__ = ["SETS", "Pair", "is_unseen", "made_pairs"]

Pair = tuple[str, str, int]

SETS: Final = ("banking77", "clinc150")
KEPT: Final = 4  # of so many rows of traffic one is never read
PHRASINGS: Final = (3, 5, 10, 10, 15)  # of an entry on a shelf
ASKED: Final = 150  # questions of one shelf
OTHERS: Final = 2  # wrong entries that a shelf offers
DRAWN: Final = 6.85  # pairs of a question, about

# Words of one row are never each other's: exchanging them makes another question.
SWAPS: Final = [
    row.split(", ")
    for row in (
        "enable, disable",
        "activate, deactivate",
        "increase, decrease",
        "lock, unlock",
        "freeze, unfreeze",
        "open, close",
        "add, remove",
        "start, stop",
        "buy, sell",
        "send, receive",
        "deposit, withdraw",
        "upgrade, downgrade",
        "accept, decline",
        "import, export",
        "before, after",
        "minimum, maximum",
        "first, last",
        "domestic, international",
        "debit, credit",
        "with, without",
        "card, account, phone, passport, password, pin, car, flight, hotel, loan, bill, invoice, order, "
        "subscription, insurance, mortgage, visa, ticket, refund, transfer, payment, paycheck, vacation, "
        "tax, routing number, id, license, permit, statement, appointment, battery, timer, alarm, "
        "reservation",
        "how much, how long, when, where, why, who",
        "fee, deadline, limit, address, status, date",
        "activate, cancel, renew, replace, check, change, find, report, order, pay",
    )
]
_NEGATABLE: Final = re.compile(r"\b(can|do|did|does|is|are|was|will) (i|you|it|we|my)\b", re.IGNORECASE)
_DIRECTION: Final = re.compile(r"\bfrom (\w+(?: \w+)?) to (\w+)", re.IGNORECASE)
GREETINGS: Final = ("hi, ", "hello, ", "quick question: ", "excuse me, ", "please tell me, ", "one thing: ")
CLOSINGS: Final = (" thanks!", " please", " thank you", " ?", " asap", "")


@dataclass(frozen=True)
class Asked:
    """A question and what it asks for; no two of `nothing` ask for the same."""

    text: str
    intent: str
    stored: bool = False  # a phrasing of an entry, which calibrates its shelf


def is_unseen(row: dict[str, Any]) -> bool:
    """Whether a row of traffic is kept for measuring."""
    return crc32(row["text"].lower().encode()) % KEPT == KEPT - 1


def questions(data: Path) -> dict[str, list[Asked]]:
    """The questions of each set that may be learnt from, each once."""
    traffic = {name: rows(data / f"cache/faq/{name}.traffic.jsonl") for name in SETS}
    taken = {row["text"].lower() for name in SETS for row in traffic[name] if is_unseen(row)}
    banking = [
        Asked(text, entry["entry_id"].lower())
        for entry in rows(data / "cache/faq/banking77.entries.jsonl")
        for text in entry["questions"]
    ]
    banking += [
        Asked(row["text"], row["entry_id"].lower()) for row in traffic["banking77"] if row["entry_id"]
    ]
    banking += [
        Asked(row["text"], row["intent"][0].lower())
        for row in rows(data / "gate/en.dev.jsonl")
        if len(row.get("intent") or ()) == 1
    ]
    near = [row["text"] for row in traffic["banking77"] if row["slice"] == "near_oos"]
    banking += [Asked(text, f"nothing {at}") for at, text in enumerate(near)]
    clinc = [
        Asked(row["text"], row["intent"])
        for row in rows(data / "gate/clinc150_train.jsonl")
        if row["intent"] != "oos"
    ]
    stored = {
        text.lower()
        for name in SETS
        for entry in rows(data / f"cache/faq/{name}.entries.jsonl")
        for text in entry["questions"]
    }
    found: dict[str, list[Asked]] = {}
    for name, asked in zip(SETS, (banking, clinc), strict=True):
        fresh = {one.text.lower(): one for one in reversed(asked) if one.text.lower() not in taken}
        taken |= fresh.keys()
        found[name] = [replace(one, stored=text in stored) for text, one in fresh.items()]
    return found


def swapped(question: str) -> str | None:
    """The question with one word exchanged, so that it asks for something else; None without such a word."""
    made = []
    for row in SWAPS:
        for word in row:
            if at := re.search(rf"\b{re.escape(word)}\b", question, re.IGNORECASE):
                other = random.choice([one for one in row if one != word])
                made.append(question[: at.start()] + other + question[at.end() :])
    if (at := _NEGATABLE.search(question)) and random.random() < 0.3:
        made.append(f"{question[: at.end()]} not{question[at.end() :]}")
    if at := _DIRECTION.search(question):
        made.append(f"{question[: at.start()]}from {at[2]} to {at[1]}{question[at.end() :]}")
    return random.choice(made) if made else None


def reworded(question: str) -> str:
    """The same question as somebody else would type it: a greeting, a slip of the finger, no contractions."""
    chance = random.random()
    if chance < 0.4:
        return random.choice(GREETINGS) + question + random.choice(CLOSINGS)
    if chance < 0.7:
        words = question.split()
        at = random.randrange(len(words))
        word = words[at]
        if len(word) > 4:
            cut = random.randrange(1, len(word) - 2)
            words[at] = word[:cut] + word[cut + 1] + word[cut] + word[cut + 2 :]
        return " ".join(words)
    plain = question.rstrip("?").lower()
    return plain.replace("i'm", "i am").replace("can't", "cannot").replace("don't", "do not")


def pairs_of(asked: Sequence[Asked], vectors: np.ndarray, wanted: int) -> Iterator[Pair]:
    """Pairs of questions, and whether one answer serves both."""
    intents = np.array([one.intent for one in asked])
    for _ in range(wanted):
        at = random.randrange(len(asked))
        question, intent = asked[at].text, intents[at]
        order = np.argsort(-(vectors @ vectors[at]))
        same = [n for n in order if intents[n] == intent and n != at]
        free = intent.startswith("nothing")
        other = [
            n for n in order[:60] if intents[n] != intent and not (free and intents[n].startswith("nothing"))
        ]
        if same:
            near, any_, half = (
                random.choice(same[:5]),
                random.choice(same),
                random.choice(same[: max(5, len(same) // 2)]),
            )
            yield from ((question, asked[n].text, 1) for n in (near, any_, half))
        for part, most in ((other[:8], 2), (other[8:30], 1)):
            yield from ((question, asked[n].text, 0) for n in random.sample(part, min(most, len(part))))
        far = random.randrange(len(asked))
        if intents[far] != intent and random.random() < 0.4:
            yield question, asked[far].text, 0
        if (trap := swapped(question)) is not None:
            yield trap, random.choice([question, question, asked[same[0]].text if same else question]), 0
        if random.random() < 0.25:
            yield reworded(question), question, 1
        elif random.random() < 0.2:
            yield question, question, 1


def shelf_pairs(asked: Sequence[Asked], vectors: np.ndarray, wanted: int) -> list[Pair]:
    """Questions and what shelves would offer them, the question first.

    A shelf has a third of the intents or more. Phrasings of entries are offered, but never ask: a model that
    had read each beside its neighbours would know the probes that calibrate their shelf, and flatter it.
    """
    rows_of: dict[str, list[int]] = {}
    for row, one in enumerate(asked):
        if not one.intent.startswith("nothing"):
            rows_of.setdefault(one.intent, []).append(row)
    intents = [intent for intent, own in rows_of.items() if len(own) > 1]
    askers = [row for row, one in enumerate(asked) if not one.stored]
    made: list[Pair] = []
    queue: list[int] = []
    while len(made) < wanted:
        some = random.sample(intents, random.randint(len(intents) // 3, len(intents)))
        most = random.choice(PHRASINGS)
        shelf = [row for one in some for row in random.sample(rows_of[one], min(most, len(rows_of[one])))]
        if len(queue) < ASKED:
            fresh = askers.copy()
            random.shuffle(fresh)
            queue += fresh
        for row in queue[:ASKED]:
            made += offered(asked, vectors, shelf, row)
        del queue[:ASKED]
    return made[:wanted]


def offered(asked: Sequence[Asked], vectors: np.ndarray, shelf: Sequence[int], row: int) -> Iterator[Pair]:
    """A question beside the nearest phrasing of its own entry, if it has one, and of the nearest others."""
    nearest: dict[str, int] = {}
    for at in np.argsort(-(vectors[shelf] @ vectors[row]), kind="stable"):
        if shelf[at] != row:
            nearest.setdefault(asked[shelf[at]].intent, shelf[at])
    own = nearest.pop(asked[row].intent, None)
    if own is not None:
        yield asked[row].text, asked[own].text, 1
    yield from ((asked[row].text, asked[other].text, 0) for other in [*nearest.values()][:OTHERS])


def made_pairs(data: Path, wanted: int, folder: Path) -> list[Pair]:
    """About so many pairs; `folder` has the sentence-transformers model that finds neighbours."""
    from sentence_transformers import SentenceTransformer  # heavy, and only needed here

    encoder = SentenceTransformer(str(folder), device="cpu")
    found: list[Pair] = []
    for asked in questions(data).values():
        vectors = encoder.encode([one.text for one in asked], normalize_embeddings=True)
        found += shelf_pairs(asked, vectors, wanted // 4)
        found += [
            (one, other, same) if random.random() < 0.5 else (other, one, same)
            for one, other, same in pairs_of(asked, vectors, int(wanted / 4 / DRAWN))
        ]
    return found


def main() -> None:
    """Write the traffic of each set that is not learnt from."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        kept = [row for row in rows(arguments.data / f"cache/faq/{name}.traffic.jsonl") if is_unseen(row)]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
        (arguments.folder / f"{name}.traffic.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
