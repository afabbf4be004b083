"""What PyTorch models say of themselves."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.nn import Module

__all__ = ["digest"]


def digest(model: Module) -> str:
    """The sha256 of all weights in the order of their names."""
    from torch import uint8

    found = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        # As bytes: NumPy has no bfloat16.
        found.update(tensor.detach().cpu().contiguous().flatten().view(uint8).numpy().tobytes())
    return found.hexdigest()
