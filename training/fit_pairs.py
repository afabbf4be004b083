"""Train and export the pair model: MiniLM reading two English questions together.

    python -m training.fit_pairs DATA [--pairs 64000]

Needs the extra `training`. DATA is the folder of development data. The questions of one intent answer for
each other; hard negatives are the nearest questions of other intents, questions that nothing answers, and
real questions with a word exchanged (SWAPS). Half of the traffic of each FAQ set, chosen by a hash of its
words, is never read, so that figures can be measured on it: `--unseen FOLDER` writes those halves and stops.
One epoch takes about 20 minutes on one core with bf16.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np
import torch
from rich.progress import track
from tokenizers import Tokenizer
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import AutoModel, AutoTokenizer

from training import export_encoder as export
from training.command import rows
from training.transformer import WIDTH, Kind

Pair = tuple[str, str, int]
Reader = Callable[[list[str], list[str]], dict[str, torch.Tensor]]  # tokenizes pairs

TARGET: Final = Path(__file__).resolve().parent.parent / "encoders" / "models" / "question-pairs-minilm"
SETS: Final = ("banking77", "clinc150")
LONGEST: Final = 80  # tokens of a pair in training
BATCH: Final = 64
RATE: Final = 6e-5
HEAD_RATE: Final = 1e-3
WARM_UP: Final = 40  # steps
PRINTED: Final = 50  # steps between two lines of progress

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


def is_unseen(row: dict[str, Any]) -> bool:
    """Whether a row of traffic is kept for measuring."""
    return crc32(row["text"].lower().encode()) % 2 == 1


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
    found: dict[str, list[Asked]] = {}
    for name, asked in zip(SETS, (banking, clinc), strict=True):
        fresh = {one.text.lower(): one for one in reversed(asked) if one.text.lower() not in taken}
        taken |= fresh.keys()
        found[name] = list(fresh.values())
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


def made_pairs(data: Path, wanted: int, folder: Path) -> list[Pair]:
    """All pairs, in random order and either direction."""
    from sentence_transformers import SentenceTransformer  # heavy, and only needed here

    encoder = SentenceTransformer(str(folder), device="cpu")
    found: list[Pair] = []
    for asked in questions(data).values():
        vectors = encoder.encode([one.text for one in asked], normalize_embeddings=True)
        found += pairs_of(asked, vectors, wanted // 16)
    random.shuffle(found)
    return [(one, other, same) if random.random() < 0.5 else (other, one, same) for one, other, same in found]


def batches(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Batches of pairs of like length, in random order."""
    made = []
    for start in range(0, len(pairs), BATCH * 20):
        part = sorted(pairs[start : start + BATCH * 20], key=lambda pair: len(pair[0]) + len(pair[1]))
        here = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        random.shuffle(here)
        made += here
    return made


def trained(
    pairs: Sequence[Pair], read: Reader, model: Any, head: torch.nn.Linear, rate: float = RATE
) -> tuple[Any, torch.nn.Linear]:
    """The transformer and the layer over its mean; the word vectors stay as they are."""
    model.embeddings.word_embeddings.weight.requires_grad_(False)
    groups = [
        {"params": [one for one in model.parameters() if one.requires_grad], "lr": rate},
        {"params": list(head.parameters()), "lr": HEAD_RATE},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = batches(pairs)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / WARM_UP) * (1 - step / len(steps))
    )
    for number, batch in enumerate(track(steps, description="training")):
        inputs = read([pair[0] for pair in batch], [pair[1] for pair in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            inner = model(**inputs).last_hidden_state
        mask = inputs["attention_mask"].unsqueeze(-1).float()
        mean = (inner.float() * mask).sum(1) / mask.sum(1)
        same = torch.tensor([float(pair[2]) for pair in batch])
        loss = binary_cross_entropy_with_logits(head(mean)[:, 0], same)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if number % PRINTED == 0:
            print(f"step {number:,} of {len(steps):,}: loss {loss.item():.3f}", flush=True)
    return model.eval(), head.eval()


def exported(model: torch.nn.Module, head: torch.nn.Linear, tokenizer: Tokenizer) -> bytes:
    """The pair model in int8, by the methods of export_encoder; its output is the logit."""
    weights = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    weights |= {f"head.{name}": value.detach().numpy() for name, value in head.state_dict().items()}
    return export.quantised_model(weights, tokenizer, Kind(1, tokenizer.token_to_id("[SEP]")))


def write_unseen(data: Path, folder: Path) -> None:
    """Write the half of each set's traffic that is not learnt from."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        kept = [row for row in rows(data / f"cache/faq/{name}.traffic.jsonl") if is_unseen(row)]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
        (folder / f"{name}.traffic.jsonl").write_text(text, encoding="utf-8")


def main() -> None:
    """Train, export, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=64_000)
    parser.add_argument(
        "--unseen", type=Path, metavar="FOLDER", help="only write the traffic kept for measuring"
    )
    arguments = parser.parse_args()
    if arguments.unseen:
        write_unseen(arguments.data, arguments.unseen)
        return
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)  # two threads that share their cores with others take longer than one
    folder = export.source_folder()
    pairs = made_pairs(arguments.data, arguments.pairs, folder)
    print(
        f"{len(pairs):,} pairs, {sum(same for _, _, same in pairs) / len(pairs):.0%} of them the same",
        flush=True,
    )
    words = AutoTokenizer.from_pretrained(folder)

    def read(some: list[str], others: list[str]) -> dict[str, torch.Tensor]:
        return dict(
            words(some, others, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
        )

    # torch's fused attention is slow backwards on a CPU: 55 instead of 95 pairs a second of one core
    eager = AutoModel.from_pretrained(folder, attn_implementation="eager")
    model, head = trained(pairs, read, eager, torch.nn.Linear(WIDTH, 1))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    source = f"{export.NAME}, trained by training/fit_pairs.py on BANKING77 and CLINC150 train rows"
    made = exported(model, head, tokenizer)
    export.write(made, tokenizer, TARGET, name="question-pairs-minilm-int8", width=1, source=source)
    print(f"{TARGET / 'model.onnx'}: {len(made) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
