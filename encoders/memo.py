"""Vectors of recent texts, so that a repeated question costs no inference."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from contextvars import Context
from typing import Final

import numpy as np

from encoders import Encoder, EncoderIdentity, Vector
from languages.remembering import text_key

__all__ = ["LARGEST_CALL", "MemoEncoder"]

LARGEST_CALL: Final = 32  # texts; larger calls index documents, and would wash the questions out

Key = bytes
Learned = dict[Key, Vector]


class MemoEncoder:
    """An encoder that remembers the `size` texts used last. A text asked twice at once is encoded once."""

    def __init__(self, inner: Encoder, size: int = 4096) -> None:
        if size < 1:
            raise ValueError(f"size: expected at least 1, got {size}")
        self._inner = inner
        self._size = size
        self._known: OrderedDict[Key, Vector] = OrderedDict()
        self._coming: dict[Key, asyncio.Task[Learned]] = {}

    @property
    def identity(self) -> EncoderIdentity:
        """Which model made the vectors: that of the inner encoder."""
        return self._inner.identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), dimensions), L2-normalised."""
        if not texts or len(texts) > LARGEST_CALL:
            return await self._inner.encode(texts)
        keys = [text_key(text) for text in texts]
        found = {key: self._known[key] for key in keys if key in self._known}
        for key in found:
            self._known.move_to_end(key)
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if unknown:
            found |= await self._fetch(unknown)
        return np.stack([found[key] for key in keys])

    async def _fetch(self, texts: dict[Key, str]) -> Learned:
        """Join the inferences under way, start one for the rest, and wait for all."""
        joined = {key: self._coming[key] for key in texts if key in self._coming}
        mine = {key: text for key, text in texts.items() if key not in joined}
        own = [self._start(mine)] if mine else []
        # Waiting leaves the tasks alone: a caller who goes must not take the vectors from the others.
        await asyncio.wait({*joined.values(), *own})
        learned = {key: vector for task in own for key, vector in task.result().items()}
        for key, task in joined.items():
            if not task.cancelled() and task.exception() is None:
                learned[key] = task.result()[key]
        # What was joined may have failed for another caller's text: ours is then tried by itself.
        rest = {key: text for key, text in texts.items() if key not in learned}
        return learned | (await self._fetch(rest) if rest else {})

    def _start(self, texts: dict[Key, str]) -> asyncio.Task[Learned]:
        # An empty context: the inference may serve several requests and carries the trace of none.
        task = asyncio.get_running_loop().create_task(self._learn(texts), context=Context())
        self._coming |= dict.fromkeys(texts, task)
        task.add_done_callback(lambda ended: self._end(ended, texts))
        return task

    async def _learn(self, texts: dict[Key, str]) -> Learned:
        vectors = await self._inner.encode([*texts.values()])
        # Copies: a row of a batch would keep the whole batch alive.
        learned = {key: vector.copy() for key, vector in zip(texts, vectors, strict=True)}
        self._known |= learned
        while len(self._known) > self._size:
            self._known.popitem(last=False)
        return learned

    def _end(self, task: asyncio.Task[Learned], texts: dict[Key, str]) -> None:
        for key in texts:
            del self._coming[key]
        if not task.cancelled():
            task.exception()  # marks it as seen: all who waited may have gone
