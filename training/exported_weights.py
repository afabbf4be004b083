"""The weights of an exported model, named as in BERT: what the next training begins with.

They differ from what was exported by what quantisation costs; the word vectors, which no training here
changes, are not read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from training.transformer import Floats, Weights

__all__ = ["load_exported"]

TOGETHER: Final = ("query", "key", "value")  # stored as one matrix


def load_exported(model: Any, head: torch.nn.Linear, folder: Path) -> None:
    """Let a transformer and the layer on top of it begin with the weights of a pair model's folder."""
    weights = _weights(folder)
    head.load_state_dict({part: torch.tensor(weights.pop(f"head.{part}")) for part in ("weight", "bias")})
    state = model.state_dict()
    places = weights.pop("places")
    state["embeddings.position_embeddings.weight"][: len(places)] = torch.tensor(places)
    types = torch.zeros_like(state["embeddings.token_type_embeddings.weight"])
    types[1] = torch.tensor(weights.pop("type"))  # the first one is in the places
    state["embeddings.token_type_embeddings.weight"] = types
    model.load_state_dict(state | {name: torch.tensor(value) for name, value in weights.items()})


def _weights(folder: Path) -> Weights:
    """Matrices (out, in), biases and normalisations of `model.onnx`, and its `places` and `type`."""
    constants = onnx.load(str(folder / "model.onnx")).graph.initializer
    stored = {one.name: numpy_helper.to_array(one) for one in constants}
    weights = {name: stored[name] for name in stored if "LayerNorm" in name or name in ("places", "type")}
    weights |= {"head.weight": stored["head.weight"].T, "head.bias": stored["head.bias"]}
    for name in [one.removesuffix(".linear.scale") for one in stored if one.endswith(".linear.scale")]:
        matrix, bias = _matrix(stored, f"{name}.linear"), stored[f"{name}.linear.bias"]
        at, _, first = name.rpartition(".")
        parts = [f"{at}.{part}" for part in TOGETHER] if first == TOGETHER[0] else [name]
        for part, rows, row in zip(
            parts, np.split(matrix, len(parts)), np.split(bias, len(parts)), strict=True
        ):
            weights |= {f"{part}.weight": rows, f"{part}.bias": row}
    return weights


def _matrix(stored: dict[str, Any], name: str) -> Floats:
    """What `in_blocks`, `with_fixed_scale` or `with_token_scale` has stored, (out, in)."""
    values, scale = stored[f"{name}.weight"], stored[f"{name}.scale"]
    if values.dtype == np.uint8:
        blocks = (values.astype(np.float32) - 128) * scale[..., None]
        return blocks.reshape(len(values), -1)
    matrix: Floats = values.T.astype(np.float32) * scale[:, None]
    return matrix * stored.get(f"{name}.shrink", np.float32(1))
