"""Train and export the support model: (passage window, statement) in, the logit that it is supported out.

    python -m training.fit_support DATA --lang en --wordnet FOLDER --sources squad2 ragchecker --to FILE
    python -m training.fit_support DATA --lang en --begin FILE --export FOLDER

Needs the extra `training`. Where the wrong words of a statement are known, they are learnt one by one.
README.md here says what came of it, and why no such model is shipped.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from zlib import crc32

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from torch.nn.functional import binary_cross_entropy_with_logits

from training import export_encoder, export_multilingual
from training.export_multilingual import four_bit_words
from training.support_documents import documents, rewriters
from training.support_groups import Group, groups
from training.support_model import (
    UNKNOWN,
    Base,
    Packed,
    Support,
    e5,
    minilm,
    packed,
    statement_logits,
    tensors,
)
from training.transformer import Kind, build, in_blocks
from training.written_statements import written_groups

WRITTEN: Final = "written"  # statements of our own
MOST_TOKENS: Final = 2_600  # of a batch
RATE: Final = 1.5e-4
HEAD_RATE: Final = 1e-3
WARM_UP: Final = 60  # steps
TOKEN_SHARE: Final = 0.6  # of the loss


def batches(made: Sequence[Packed]) -> list[list[Packed]]:
    """Batches of groups of like length, in random order."""
    found: list[list[Packed]] = []
    for start in range(0, len(made), 600):
        batch: list[Packed] = []
        for one in sorted(made[start : start + 600], key=lambda one: len(one.ids)):
            if batch and len(one.ids) * (len(batch) + 1) > MOST_TOKENS:
                found.append(batch)
                batch = []
            batch.append(one)
        found.append(batch)
    random.shuffle(found)
    return found


def loss_of(model: Support, batch: Sequence[Packed]) -> torch.Tensor:
    """What is to be made small."""
    read = tensors(batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        tokens = model(read["ids"], read["places"], read["parts"])
    most = max(len(one.supported) for one in batch)
    logits = statement_logits(tokens, read["parts"], most)
    labels = torch.tensor([one.supported + [-1.0] * (most - len(one.supported)) for one in batch])
    known = labels >= 0
    loss = binary_cross_entropy_with_logits(logits[known], labels[known])
    marked = read["wrong"] != UNKNOWN
    if marked.any():
        wrong = read["wrong"][marked].float()
        weight = torch.where(wrong > 0, 3.0, 1.0)
        loss = loss + TOKEN_SHARE * binary_cross_entropy_with_logits(tokens[marked], wrong, weight=weight)
    return loss


def train(model: Support, made: Sequence[Packed], rate: float = RATE) -> None:
    """One pass over the groups."""
    groups_ = [
        {
            "params": [p for n, p in model.named_parameters() if p.requires_grad and "head" not in n],
            "lr": rate,
        },
        {"params": list(model.head.parameters()), "lr": HEAD_RATE},
    ]
    optimiser = torch.optim.AdamW(groups_, weight_decay=0.01)
    steps = batches(made)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / WARM_UP) * (1 - step / len(steps))
    )
    began, seen, running = time.monotonic(), 0, 0.0
    for number, batch in enumerate(steps, 1):
        loss = loss_of(model, batch)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        seen += sum(len(one.supported) for one in batch)
        running += loss.item()
        if number % 50 == 0:
            speed = seen / (time.monotonic() - began)
            print(f"{number}/{len(steps)} loss {running / 50:.3f} {seen:,} pairs, {speed:.0f}/s", flush=True)
            running = 0.0


def chosen_groups(
    data: Path,
    wordnet: Path | None,
    languages: Sequence[str],
    sources: Sequence[str],
    pairs: int,
    seed: int,
) -> list[Group]:
    """Groups of these sources, up to so many pairs, shared evenly as far as the sources reach."""
    read = {source: documents(data, source) for source in sources if source != WRITTEN}
    said_otherwise = rewriters([one for found in read.values() for one in found], wordnet)
    made = {source: groups(found, said_otherwise[found[0].lang], seed) for source, found in read.items()}
    if WRITTEN in sources:
        made[WRITTEN] = [one for lang in languages for one in written_groups(lang)]
    sizes = {source: sum(len(one.said) for one in found) for source, found in made.items()}
    kept: list[Group] = []
    left = pairs
    for number, source in enumerate(sorted(made, key=lambda one: sizes[one])):
        share = left // (len(made) - number)
        for one in made[source]:
            if share <= 0:
                break
            kept.append(one)
            share -= len(one.said)
            left -= len(one.said)
    random.Random(seed).shuffle(kept)
    return kept


def artefacts(made: Sequence[Group]) -> float:
    """AUROC of a classifier that reads the statements alone: near .5 if their wording gives nothing away."""
    texts = [one.text for group in made for one in group.said]
    supported = np.array([one.supported for group in made for one in group.said])
    windows = np.array([crc32(group.window[:25].encode()) for group in made for _ in group.said])
    scores = np.zeros(len(texts))
    for known, unseen in GroupKFold(5).split(texts, supported, windows):
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
        judge = LogisticRegression(max_iter=300)
        judge.fit(words.fit_transform([texts[at] for at in known]), supported[known])
        scores[unseen] = judge.decision_function(words.transform([texts[at] for at in unseen]))
    return float(roc_auc_score(supported, scores))


def export(model: Support, base: Base, folder: Path) -> None:
    """Write the model folder, in int8."""
    weights = {name: value.detach().float().numpy() for name, value in model.state_dict().items()}
    kind = Kind(2, base.end, support=True)
    if base.name == "minilm":
        made = export_encoder.quantised_model(weights, base.words, kind)
        source = f"{export_encoder.NAME}, four layers, trained by training/fit_support.py"
        languages, licence = ("en",), "Apache-2.0"
    else:
        made = build(weights, in_blocks, kind, quantised=True, words=four_bit_words)
        source = f"intfloat/{export_multilingual.NAME}, six layers, trained by training/fit_support.py"
        languages, licence = ("ja", "zh"), "MIT"
    name = f"support-{base.name}"
    export_encoder.write(
        made,
        base.words,
        folder / name,
        name=f"{name}-int8",
        width=2,
        source=source,
        languages=languages,
        licence=licence,
    )
    print(f"{folder / name / 'model.onnx'}: {len(made) / 1e6:.1f} MB")


def main() -> None:
    """Train and write the weights, or export them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--lang", choices=("en", "ja-zh"), required=True)
    parser.add_argument("--wordnet", type=Path, help="folder with WordNet's data.noun …, for English")
    parser.add_argument("--sources", nargs="+", default=[])
    parser.add_argument("--pairs", type=int, default=60_000)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--begin", type=Path, help="weights to go on from")
    parser.add_argument("--to", type=Path, help="where the weights go")
    parser.add_argument("--artefacts", action="store_true", help="only measure what the wording gives away")
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write FOLDER/support-… in ONNX, too")
    chosen = parser.parse_args()
    random.seed(chosen.seed)
    torch.manual_seed(chosen.seed)
    torch.set_num_threads(1)
    base: Base = minilm() if chosen.lang == "en" else e5()
    model = Support(base)
    if chosen.begin:
        model.load_state_dict(torch.load(chosen.begin))
    if chosen.sources:
        made = chosen_groups(
            chosen.data, chosen.wordnet, chosen.lang.split("-"), chosen.sources, chosen.pairs, chosen.seed
        )
        said = [one for group in made for one in group.said]
        share = sum(one.supported for one in said) / len(said)
        print(f"{len(made):,} windows, {len(said):,} statements, {share:.0%} supported", flush=True)
        if chosen.artefacts:
            print(f"AUROC of the statements alone: {artefacts(made):.3f}")
            return
        train(model, [packed(one, base) for one in made], chosen.rate)
        torch.save(model.state_dict(), chosen.to)
    if chosen.export:
        export(model, base, chosen.export)


if __name__ == "__main__":
    main()
