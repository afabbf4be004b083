"""What the models made of which tokens, for all workers of a run: they start the same gateways."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from encoders import Vector
from encoders.runtime import Tokens

__all__ = ["KnownRows"]


class KnownRows:
    """Rows in memory, and in a file that several processes may open."""

    def __init__(self, file: Path) -> None:
        self._here: dict[bytes, Vector] = {}
        self._one_at_a_time = threading.Lock()
        self._file = sqlite3.connect(file, timeout=60, isolation_level=None, check_same_thread=False)
        for haste in ("journal_mode=MEMORY", "synchronous=OFF"):  # nothing here outlives the run
            self._file.execute(f"PRAGMA {haste}")
        self._file.execute("CREATE TABLE IF NOT EXISTS rows (key BLOB PRIMARY KEY, row BLOB) WITHOUT ROWID")

    async def of(
        self, model: str, sequences: Sequence[Tokens], make: Callable[[list[Tokens]], Awaitable[Vector]]
    ) -> Vector:
        """The model's rows of these sequences; `make` is asked for those that nobody asked for yet."""
        keys = [_key(model, tokens) for tokens in sequences]
        missing = {key: tokens for key, tokens in zip(keys, sequences, strict=True) if not self._knows(key)}
        if missing or not keys:
            made = await make([*missing.values()])
            if not keys:
                return made
            self._keep(dict(zip(missing, made, strict=True)))
        return np.stack([self._here[key] for key in keys])

    def close(self) -> None:
        self._file.close()

    def _knows(self, key: bytes) -> bool:
        if key not in self._here:
            with self._one_at_a_time:
                found = self._file.execute("SELECT row FROM rows WHERE key = ?", [key]).fetchone()
            if found:
                self._here[key] = np.frombuffer(found[0], np.float32)
        return key in self._here

    def _keep(self, made: dict[bytes, Vector]) -> None:
        self._here.update(made)
        rows = [(key, row.astype(np.float32).tobytes()) for key, row in made.items()]
        with self._one_at_a_time, self._file:
            self._file.execute("BEGIN")
            self._file.executemany("INSERT OR IGNORE INTO rows VALUES (?, ?)", rows)


def _key(model: str, tokens: Tokens) -> bytes:
    return blake2b(f"{model} {tokens}".encode(), digest_size=16).digest()
