"""The folder of an embedded index: who has it, which shard is the present one, and who made its vectors.

`index.json` names the present shard. It is replaced in one step, so a process that dies at any moment leaves
either the old shard or the new one, never a half of each.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from encoders import EncoderIdentity
from storage.graph import SCHEME
from storage.points import label, refuse_mismatch
from storage.replacing import replacing
from storage.vectors import IndexInUse, IndexUnavailable

__all__ = ["IndexFolder", "Present"]

FILE: Final = "index.json"
LOCK: Final = "index.lock"


@dataclass(frozen=True, slots=True)
class Present:
    """The shard in use."""

    number: int
    optimised_points: int = 0  # how many points its search graph holds, if it was built as today's are


class IndexFolder:
    """A folder that this process alone has open. Every call blocks on the disk."""

    def __init__(self, path: Path, identity: EncoderIdentity) -> None:
        self.path = path
        self._identity = identity
        self._lock = FileLock(path / LOCK, timeout=0, thread_local=False)

    def take(self) -> None:
        """Make the folder if it is missing, and lock out other processes until `leave`.

        Raises:
            IndexInUse: if another process has it; IndexUnavailable if this user may not write there.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            raise IndexInUse(
                f"the index in {self.path} is in use by another process: stop that one, "
                "give this one a folder and a database of its own, or let both use a Qdrant server"
            ) from error
        except OSError as error:
            raise IndexUnavailable(
                f"the index in {self.path} cannot be opened: {error.strerror or error}. "
                "Check that the folder can be made and that this user may write there"
            ) from error

    def leave(self) -> None:
        """Let other processes have the folder."""
        self._lock.release()

    def present(self) -> Present | None:
        """The shard in use; None in a new folder, or where making the first one was cut short.

        Raises:
            IndexMismatch: if its vectors or words were made otherwise than ours.
            IndexUnavailable: if the folder cannot be read.
        """
        try:
            content = (self.path / FILE).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.damaged(error) from error
        try:
            stored = json.loads(content)
            graphed = int(stored["optimised_points"]) if stored.get("graph") == SCHEME else 0
            present = Present(int(stored["shard"]), graphed)
        except (ValueError, TypeError, KeyError) as error:
            raise self.damaged(error) from error
        refuse_mismatch(f"the index in {self.path}", stored.get("label"), self._identity)
        return present

    def damaged(self, error: BaseException) -> IndexUnavailable:
        """What to say of a folder whose content makes no sense."""
        reason = " ".join(str(error).split()) or type(error).__name__
        return IndexUnavailable(
            f"the index in {self.path} is damaged ({reason}): run `sekisho reindex` to rebuild it"
        )

    def settle(self, present: Present) -> None:
        """Make the shard the present one, and remove all others."""
        content: dict[str, Any] = {
            "shard": present.number,
            "optimised_points": present.optimised_points,
            "graph": SCHEME,
            "label": label(self._identity),
        }
        with replacing(self.path / FILE) as partial:
            partial.write_text(json.dumps(content, ensure_ascii=False, indent=2), encoding="utf-8")
        self.sweep(present)

    def sweep(self, present: Present | None) -> None:
        """Remove what a process that died has left: shards that never became the present one."""
        for folder in self.path.glob("shard-*"):
            if present is None or folder != self.shard(present):
                shutil.rmtree(folder)

    def shard(self, present: Present) -> Path:
        """Where Qdrant keeps the shard's files."""
        return self.path / f"shard-{present.number}"

    def following(self) -> Present:
        """A shard under the next free number; it is swept away unless it is settled on."""
        numbers = [int(folder.name.removeprefix("shard-")) for folder in self.path.glob("shard-*")]
        return Present(max(numbers, default=0) + 1)
