"""Any OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from openai import AsyncOpenAI, OpenAIError
from pydantic import BaseModel, ConfigDict, ValidationError

from encoders import EncoderError, EncoderIdentity, Vector
from encoders.problems import first_problem

__all__ = ["RemoteEncoder"]

BATCH_TEXTS: Final = 128
TIMEOUT_S: Final = 30.0
ATTEMPTS_AFTER_THE_FIRST: Final = 2


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=True)  # not-a-number is told apart below

    index: int
    embedding: list[float]


class _Reply(BaseModel):
    """What an endpoint sends back, as far as we read it."""

    data: list[_Row]


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """One model behind a base URL."""

    client: AsyncOpenAI
    model: str
    batch: int

    def __str__(self) -> str:
        return f"the embeddings endpoint {self.client.base_url} ({self.model})"

    async def vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """A row per text, as the endpoint made it."""
        rows: list[list[float]] = []
        for start in range(0, len(texts), self.batch):
            rows += await self._ask(texts[start : start + self.batch])
        widths = {len(row) for row in rows}
        if len(widths) != 1:
            raise EncoderError(f"{self} sent vectors of different sizes: {sorted(widths)}")
        return np.asarray(rows, np.float64)

    async def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            answer = await self.client.embeddings.with_raw_response.create(
                model=self.model,
                input=[_sendable(text) for text in texts],
                encoding_format="float",  # what every endpoint knows; the client would ask for base64
            )
            reply = _Reply.model_validate_json(answer.content)
        except OpenAIError as error:
            raise EncoderError(f"{self} could not be asked: {error}") from error
        except ValidationError as error:
            problem = first_problem(error, whole="the body")
            raise EncoderError(f"{self} sent no embeddings: {problem}") from error
        ordered = sorted(reply.data, key=lambda row: row.index)
        if [row.index for row in ordered] != list(range(len(texts))):
            raise EncoderError(f"{self} sent {len(ordered)} vectors, not one for each of {len(texts)} texts")
        return [row.embedding for row in ordered]


class RemoteEncoder:
    """Texts to vectors over HTTP; the official client retries what may pass."""

    def __init__(self, endpoint: _Endpoint, identity: EncoderIdentity) -> None:
        self._endpoint = endpoint
        self._identity = identity

    @classmethod
    async def open(
        cls,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        languages: tuple[str, ...] = (),
        batch: int = BATCH_TEXTS,
        timeout_s: float = TIMEOUT_S,
        retries: int = ATTEMPTS_AFTER_THE_FIRST,
    ) -> Self:
        """Ask the endpoint once, to learn how long its vectors are.

        Raises:
            EncoderError: if a setting is missing, or the endpoint does not answer with a vector.
        """
        for name, value in (("encoder.base_url", base_url), ("encoder.model", model)):
            if not value:
                raise EncoderError(f"{name}: expected a value for an OpenAI-compatible endpoint")
        # Endpoints of one's own often want no key; the client insists on having one.
        client = AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=retries
        )
        endpoint = _Endpoint(client, model, batch)
        try:
            dimensions = _normalised(await endpoint.vectors(["dimensions"]), endpoint).shape[1]
        except EncoderError:
            await client.close()
            raise
        # The endpoint shows no weights: where it is and what it is called is all we know of it.
        digest = hashlib.sha256(f"{client.base_url} {model} {dimensions}".encode()).hexdigest()
        return cls(endpoint, EncoderIdentity(model, dimensions, digest, languages))

    @property
    def identity(self) -> EncoderIdentity:
        """Which model made the vectors."""
        return self._identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), dimensions), L2-normalised."""
        expected = self._identity.dimensions
        if not texts:
            return np.empty((0, expected), np.float32)
        vectors = await self._endpoint.vectors(texts)
        if vectors.shape[1] != expected:
            raise EncoderError(f"{self._endpoint} sent {vectors.shape[1]} dimensions, expected {expected}")
        return _normalised(vectors, self._endpoint)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.client.close()


def _sendable(text: str) -> str:
    """OpenAI refuses an empty text, and JSON half a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "


def _normalised(vectors: NDArray[np.float64], endpoint: _Endpoint) -> Vector:
    with np.errstate(over="ignore", invalid="ignore"):  # told apart below
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise EncoderError(f"{endpoint} sent a vector without direction: zeros, infinite or not a number")
    units: Vector = (vectors / norms).astype(np.float32)
    return units
