"""Arrays that can be made again, kept in a folder so that a start need not: a cache on disk, never the truth.

A file is written beside its place and moved there in one step under a lock, so two processes may share the
folder. What can't be read, for whatever reason, is not there; what can't be written is made again next time.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import structlog
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from storage.replacing import replacing

__all__ = ["ArrayFolder", "Arrays"]

Arrays = Mapping[str, NDArray[Any]]

_LOCK_S: Final = 10.0  # a writer takes milliseconds
_UNREADABLE: Final = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


class ArrayFolder:
    """Named sets of arrays. Every call blocks on the disk."""

    def __init__(self, path: Path, *, most: int = 16) -> None:
        """`most` files are kept of each kind, those used last."""
        self.path = path
        self._most = most

    def read(self, kind: str, key: str) -> dict[str, NDArray[Any]] | None:
        """What was written under this kind and key; None if nothing was, or it can't be read."""
        file = self._file(kind, key)
        try:
            # Opened here: of a broken archive NumPy would leave its own stream open.
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
        except FileNotFoundError:
            return None
        except _UNREADABLE as exc:
            self._say("arrays can't be read and are made again", file, exc)
            return None
        with suppress(OSError):
            os.utime(file)
        return arrays

    def write(self, kind: str, key: str, arrays: Arrays) -> None:
        """Keep the arrays, in place of what is there."""
        file = self._file(kind, key)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path / "arrays.lock", timeout=_LOCK_S, thread_local=False):
                with replacing(file) as partial:
                    np.savez(partial, allow_pickle=False, **dict(arrays))
                self._prune(kind)
        except (OSError, Timeout) as exc:
            self._say("arrays can't be kept", file, exc)

    def _file(self, kind: str, key: str) -> Path:
        return self.path / f"{kind}-{key}.npz"

    def _prune(self, kind: str) -> None:
        for left in self.path.glob(f".{kind}-*.npz"):
            left.unlink(missing_ok=True)  # of a process that died while it wrote: we hold the lock
        files = sorted(self.path.glob(f"{kind}-*.npz"), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in files[self._most :]:
            old.unlink(missing_ok=True)

    def _say(self, what: str, file: Path, exc: BaseException) -> None:
        structlog.get_logger("sekisho.storage").warning(what, file=str(file), error=repr(exc))
