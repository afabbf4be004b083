"""The support model in torch: a window and all of its statements read as one sequence.

The window is read by itself, each statement with the window before its eyes, so in training one window serves
all of its statements. Each token of a statement gets a logit of being unsupported. In training their
log-sum-exp is the statement's, so that one wrong word is enough. The shipped model gives it out, and the mean
of their probabilities, which tells real answers apart better (README.md).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from tokenizers import Tokenizer, processors
from torch.nn.functional import scaled_dot_product_attention
from transformers import AutoModel, BertConfig, BertModel

from training import export_encoder, export_multilingual
from training.support_groups import Group, Said
from training.transformer import HEADS, LEAST_DOUBT, WIDTH

__all__ = [
    "UNKNOWN",
    "Base",
    "Packed",
    "Support",
    "e5",
    "minilm",
    "packed",
    "readings",
    "statement_logits",
    "tensors",
]

LONGEST_WINDOW: Final = 160  # tokens
LONGEST_SAID: Final = 72
UNKNOWN: Final = -1


@dataclass(frozen=True)
class Base:
    """What is trained further: an encoder, how many of its layers, and its tokenizer."""

    name: str
    words: Tokenizer
    encoder: Any
    layers: int
    start: int
    end: int


def minilm() -> Base:
    """all-MiniLM-L6-v2, for English: four of its six layers, since the answer waits for it."""
    folder = export_encoder.source_folder()
    words = Tokenizer.from_file(str(folder / "tokenizer.json"))
    words.no_truncation()
    words.no_padding()
    start, end = words.token_to_id("[CLS]"), words.token_to_id("[SEP]")
    return Base("minilm", words, AutoModel.from_pretrained(folder), 4, start, end)


def e5() -> Base:
    """multilingual-e5-small with the pieces we ship, for Japanese and Chinese: half of its twelve layers."""
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
    return Base("e5-small", words, encoder, 6, start, end)


@dataclass(frozen=True)
class Packed:
    """A window and its statements as one sequence."""

    ids: list[int]
    places: list[int]
    parts: list[int]  # 0 the window, then the number of the statement
    wrong: list[int]  # per token: 1, 0 or UNKNOWN
    supported: list[float]


class Support(torch.nn.Module):
    """The first layers of a BERT-like encoder and a layer that judges each token."""

    def __init__(self, base: Base) -> None:
        super().__init__()
        encoder = base.encoder
        self.embeddings = encoder.embeddings
        self.encoder = torch.nn.Module()
        self.encoder.layer = torch.nn.ModuleList(list(encoder.encoder.layer)[: base.layers])
        self.embeddings.word_embeddings.weight.requires_grad_(False)
        self.head = torch.nn.Linear(WIDTH, 1)
        torch.nn.init.normal_(self.head.weight, std=0.02)
        torch.nn.init.constant_(self.head.bias, -3.0)

    def forward(self, ids: torch.Tensor, places: torch.Tensor, parts: torch.Tensor) -> torch.Tensor:
        """The logit of being unsupported of each token; `parts` is UNKNOWN where there is none."""
        own = self.embeddings
        kinds = (parts > 0).long()
        x = own.word_embeddings(ids) + own.position_embeddings(places) + own.token_type_embeddings(kinds)
        x = own.LayerNorm(x)
        seen = (parts[:, None, :] == 0) | (parts[:, None, :] == parts[:, :, None])
        bias = torch.zeros(seen.shape).masked_fill(~seen, -1e4)[:, None]
        for block in self.encoder.layer:
            x = _block(block, x, bias)
        logits: torch.Tensor = self.head(x)[..., 0].float()
        return logits


def _block(block: Any, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    own = block.attention.self
    batch, length, _ = x.shape
    q, k, v = (
        part(x).view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
        for part in (own.query, own.key, own.value)
    )
    mixed = scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
    mixed = mixed.transpose(1, 2).reshape(batch, length, WIDTH)
    x = block.attention.output.LayerNorm(block.attention.output.dense(mixed) + x)
    wide = torch.nn.functional.gelu(block.intermediate.dense(x))
    result: torch.Tensor = block.output.LayerNorm(block.output.dense(wide) + x)
    return result


def packed(group: Group, base: Base) -> Packed:
    """A group as token ids."""
    start, end, words = base.start, base.end, base.words
    window = words.encode(group.window, add_special_tokens=False).ids[:LONGEST_WINDOW]
    ids = [start, *window, end]
    places, parts, wrong = list(range(len(ids))), [0] * len(ids), [UNKNOWN] * len(ids)
    for number, said in enumerate(group.said, 1):
        read = words.encode(said.text, add_special_tokens=False)
        tokens, offsets = read.ids[:LONGEST_SAID], read.offsets[:LONGEST_SAID]
        first = len(window) + 2
        ids += [*tokens, end]
        places += range(first, first + len(tokens) + 1)
        parts += [number] * (len(tokens) + 1)
        wrong += [*_token_labels(said, offsets), UNKNOWN]
    return Packed(ids, places, parts, wrong, [float(said.supported) for said in group.said])


def _token_labels(said: Said, offsets: Sequence[tuple[int, int]]) -> list[int]:
    if said.supported:
        return [0] * len(offsets)
    if said.wrong is None:
        return [UNKNOWN] * len(offsets)
    rest = UNKNOWN if said.kind in ("baseless", "half", "removed", "marked") else 0
    return [1 if any(a < e and s < b for a, b in said.wrong) else rest for s, e in offsets]


def tensors(batch: Sequence[Packed]) -> dict[str, torch.Tensor]:
    """A padded batch."""
    longest = max(len(one.ids) for one in batch)

    def padded(rows: list[list[int]], fill: int) -> torch.Tensor:
        return torch.tensor([row + [fill] * (longest - len(row)) for row in rows])

    return {
        "ids": padded([one.ids for one in batch], 0),
        "places": padded([one.places for one in batch], 0),
        "parts": padded([one.parts for one in batch], UNKNOWN),
        "wrong": padded([one.wrong for one in batch], UNKNOWN),
    }


def statement_logits(tokens: torch.Tensor, parts: torch.Tensor, most: int) -> torch.Tensor:
    """The logit that each statement is supported; shape (batch, most)."""
    own = parts[:, None, :] == torch.arange(1, most + 1)[None, :, None]
    return -torch.logsumexp(tokens[:, None, :].masked_fill(~own, -1e4), dim=2)


def readings(tokens: torch.Tensor, parts: torch.Tensor, most: int) -> torch.Tensor:
    """What the exported model gives of each statement but its separator, shape (batch, most, 2)."""
    last = torch.nn.functional.pad(parts[:, 1:], (0, 1), value=UNKNOWN) != parts
    own = (parts[:, None, :] == torch.arange(1, most + 1)[None, :, None]) & ~last[:, None, :]
    mean = (tokens.sigmoid()[:, None, :] * own).sum(2) / own.sum(2).clamp(min=1)
    whole = -torch.logsumexp(tokens[:, None, :].masked_fill(~own, -1e4), dim=2)
    return torch.stack([-torch.logit(mean, eps=LEAST_DOUBT), whole], dim=2)
