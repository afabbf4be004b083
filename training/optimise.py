"""What the scripts that train a transformer share: how they are called, batches, and one schedule, a short
warm-up and then a rate that falls to nothing.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import torch
from rich.progress import track

__all__ = ["batches", "begun", "optimise", "training_command"]

HEAD_RATE: Final = 1e-3
WARM_UP: Final = 40  # steps
SORTED: Final = 600  # examples from which batches of like length are made
PRINTED: Final = 50  # steps between two lines of progress
LONGEST_STEP: Final = 1.0  # norm of a gradient

Batch = TypeVar("Batch", bound=Sequence[Any])
Example = TypeVar("Example")


def training_command(description: str | None, rate: float) -> argparse.ArgumentParser:
    """Passes, rate, seed and threads, the model to begin with, and where to write the one that is trained."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passes", type=int, default=0, help="none: only measure and export")
    parser.add_argument("--rate", type=float, default=rate, help="of learning")
    parser.add_argument(
        "--begin", type=Path, nargs="+", metavar="FOLDER", help="go on from this model, or the mean of these"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="of a core each; more than are idle is slower")
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write the model there")
    return parser


def begun(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments, with all that is random seeded and the threads set."""
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    return arguments


def batches(
    found: Sequence[Example], tokens: Callable[[Example], float], *, most: int
) -> list[list[Example]]:
    """Batches of examples of like length and at most so many tokens, in random order."""
    made: list[list[Example]] = []
    for start in range(0, len(found), SORTED):
        batch: list[Example] = []
        for one in sorted(found[start : start + SORTED], key=tokens):
            if batch and tokens(one) * (len(batch) + 1) > most:
                made.append(batch)
                batch = []
            batch.append(one)
        made.append(batch)
    random.shuffle(made)
    return made


def optimise(
    model: Any,
    heads: Sequence[torch.nn.Linear],
    steps: Sequence[Batch],
    loss: Callable[[Batch], torch.Tensor],
    rate: float,
) -> None:
    """Take a step for each batch; what requires no gradient, as the word vectors, stays as it is."""
    body = [one for one in model.parameters() if one.requires_grad]
    tops = [one for head in heads for one in head.parameters()]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": rate}, {"params": tops, "lr": HEAD_RATE}], weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / WARM_UP) * (1 - step / len(steps))
    )
    model.train()
    losses, read, began = [], 0, time.monotonic()
    for number, batch in enumerate(track(steps, description="training"), 1):
        lost = loss(batch)
        optimiser.zero_grad()
        lost.backward()
        torch.nn.utils.clip_grad_norm_([*body, *tops], LONGEST_STEP)
        optimiser.step()
        schedule.step()
        losses.append(lost.item())
        read += len(batch)
        if number % PRINTED == 0:
            speed = read / (time.monotonic() - began)
            done = f"step {number:,} of {len(steps):,}"
            print(f"{done}: loss {np.mean(losses[-PRINTED:]):.3f}, {speed:.0f}/s", flush=True)
    model.eval()
