"""A transformer in a folder, run by ONNX Runtime: token ids in, a row of numbers for each sequence out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, Self

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as native
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from tokenizers import Tokenizer

from encoders import EncoderError, Vector
from encoders.batching import MicroBatcher
from encoders.problems import first_problem

__all__ = ["Card", "OnnxModel", "Tokens"]

BATCH_TOKENS: Final = 256  # about 30 ms; a token costs no less in larger batches (benchmarks/encoders.py)
LONGEST_TEXT: Final = 16_384  # characters; tokenizing 1 MB takes 2 s, for the 256 tokens that are read

# Fused addition and normalisation is the slower one on CPUs: 33 µs against 9 µs for 15 tokens.
SLOW_FUSIONS: Final = ["SkipLayerNormFusion"]
# The runtime has no common class for its errors.
BROKEN_MODEL: Final = (
    native.EPFail,
    native.Fail,
    native.InvalidArgument,
    native.InvalidGraph,
    native.InvalidProtobuf,
    native.NoSuchFile,
    native.NotImplemented,
    native.RuntimeException,
)

Tokens = list[int]


class Card(BaseModel):
    """identity.json of a model folder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    dimensions: int = Field(gt=0)
    digest: str = Field(pattern="^[0-9a-f]{64}$")
    tokenizer_digest: str = Field(pattern="^[0-9a-f]{64}$")
    languages: tuple[str, ...]
    max_tokens: int = Field(gt=2)
    source: str
    licence: str


class OnnxModel:
    """A model and its tokenizer. Concurrent calls of one event loop share inferences."""

    def __init__(
        self, card: Card, tokenizer: Tokenizer, session: onnxruntime.InferenceSession, *, threads: int = 1
    ) -> None:
        self.card = card
        self._tokenizer = tokenizer
        self._session = session
        self._batches: MicroBatcher[Tokens] = MicroBatcher(
            self._infer, length=len, budget=BATCH_TOKENS, threads=threads
        )

    @classmethod
    def load(cls, folder: Path, *, threads: int = 1) -> Self:
        """Read model.onnx, tokenizer.json and identity.json of a folder, and check them by their digests.

        Raises:
            EncoderError: naming the file that is missing or broken.
        """
        card = _card(folder / "identity.json")
        tokenizer = _tokenizer(folder / "tokenizer.json", card)
        return cls(card, tokenizer, _session(folder / "model.onnx", card), threads=threads)

    def tokens(self, text: str, other: str | None = None) -> Tokens:
        """The token ids of a text, or of two read together; of long texts the beginning."""
        # One by one: `encode_batch` starts a pool of threads of its own.
        pair = None if other is None else _readable(other)
        return list(self._tokenizer.encode(_readable(text), pair).ids)

    async def rows(self, sequences: Sequence[Tokens]) -> Vector:
        """What the model says of each, shape (len(sequences), dimensions)."""
        rows = await self._batches.submit(sequences)
        return np.stack(rows) if rows else np.empty((0, self.card.dimensions), np.float32)

    async def close(self) -> None:
        """Finish what was asked and refuse what comes after."""
        await self._batches.close()

    def _infer(self, batch: Sequence[Tokens]) -> Vector:
        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        try:
            vectors: Vector = self._session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0]
        except BROKEN_MODEL as error:
            raise EncoderError(f"inference with {self.card.name} failed: {error}") from error
        return vectors


def _readable(text: str) -> str:
    """What the tokenizer accepts: half a surrogate pair becomes a question mark."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EncoderError(f"{path} can't be read: {error.strerror}") from error


def _verified(path: Path, digest: str) -> bytes:
    """The bytes of a file that is the one its identity.json speaks of."""
    data = _read(path)
    found = hashlib.sha256(data).hexdigest()
    if found != digest:
        raise EncoderError(f"{path} is damaged: its sha256 is {found}, identity.json says {digest}")
    return data


def _card(path: Path) -> Card:
    try:
        return Card.model_validate_json(_read(path))
    except ValidationError as error:
        raise EncoderError(f"{path}: {first_problem(error, whole='the file')}") from error


def _tokenizer(path: Path, card: Card) -> Tokenizer:
    data = _verified(path, card.tokenizer_digest)
    try:
        return _tokenizer_of(data, card.max_tokens)
    except ValueError as error:
        raise EncoderError(f"{path} is no tokenizer: {error}") from error


@cache  # models trained from one another have the same; it takes 30 MB
def _tokenizer_of(data: bytes, max_tokens: int) -> Tokenizer:
    tokenizer = Tokenizer.from_buffer(data)
    tokenizer.no_padding()  # batches are padded to their own longest text
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _session(path: Path, card: Card) -> onnxruntime.InferenceSession:
    _verified(path, card.digest)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # a second one waits by spinning: twice the CPU time for the same batch
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3  # errors only: we say ourselves what went wrong
    providers = ["CPUExecutionProvider"]
    try:
        session = onnxruntime.InferenceSession(  # by its path: bytes would stay in memory beside the weights
            path, options, providers=providers, disabled_optimizers=SLOW_FUSIONS
        )
    except BROKEN_MODEL as error:
        raise EncoderError(f"{path} is no model that ONNX Runtime can run: {error}") from error
    made = {output.name: output.shape for output in session.get_outputs()}
    if made.get("embedding", [None])[-1] != card.dimensions:
        raise EncoderError(f"{path}: expected an output `embedding` of width {card.dimensions}, found {made}")
    return session
