"""One schedule for everything that is trained here: a short warm-up, then a rate that falls to nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
import torch
from rich.progress import track

__all__ = ["batches", "optimise"]

HEAD_RATE: Final = 1e-3
WARM_UP: Final = 40  # steps
SORTED: Final = 600  # examples from which batches of like length are made
PRINTED: Final = 50  # steps between two lines of progress
LONGEST_STEP: Final = 1.0  # norm of a gradient

Batch = TypeVar("Batch", bound=Sequence[Any])
Example = TypeVar("Example")


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
