"""The first layers of multilingual-e5-small in torch, with the pieces of the tokenizer that we ship."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import torch
from tokenizers import Tokenizer, processors
from transformers import BertConfig, BertModel

from training import export_multilingual
from training.transformer import HEADS, WIDTH

__all__ = ["Base", "e5"]

USED: Final = 6  # of its twelve layers


@dataclass(frozen=True)
class Base:
    """What is trained further: an encoder and its tokenizer."""

    words: Tokenizer
    encoder: Any


def e5() -> Base:
    """Half of its twelve layers, reading pairs of texts."""
    source = export_multilingual.read(export_multilingual.source())
    text = (export_multilingual.TARGET / "tokenizer.json").read_text(encoding="utf-8")
    words = Tokenizer.from_str(text)
    words.no_truncation()
    start, end = words.token_to_id("<s>"), words.token_to_id("</s>")
    marks = [("<s>", start), ("</s>", end)]
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=marks
    )
    places = {piece: at for at, piece in enumerate(source.pieces)}
    kept = [places[piece] for piece, _ in json.loads(text)["model"]["vocab"]]
    name = "embeddings.word_embeddings.weight"
    weights = {key: torch.tensor(value) for key, value in source.weights.items()}
    weights[name] = weights[name][kept]
    shapes = {
        part: len(weights[f"embeddings.{part}_embeddings.weight"]) for part in ("position", "token_type")
    }
    config = BertConfig(
        vocab_size=len(kept),
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_hidden_layers=export_multilingual.LAYERS,
        num_attention_heads=HEADS,
        max_position_embeddings=shapes["position"],
        type_vocab_size=shapes["token_type"],
    )
    encoder = BertModel(config, add_pooling_layer=False)
    left = encoder.load_state_dict(weights, strict=False)
    if any("position_ids" not in name for name in (*left.missing_keys, *left.unexpected_keys)):
        raise SystemExit(f"multilingual-e5-small does not fit BERT: {left}")
    encoder.encoder.layer = encoder.encoder.layer[:USED]
    return Base(words, encoder)
