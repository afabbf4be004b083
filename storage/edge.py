"""Qdrant Edge: the index in this process, in a folder that it has to itself.

The binding keeps Python's interpreter lock during every call, so that in a thread a query overlaps with
nothing: the hop would only add to its 0.1 ms. Queries are therefore made where they are awaited. Writing
goes to a thread in small pieces, between which others are served, and optimising goes to a process of its
own.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

import anyio
import structlog
from anyio import to_thread
from anyio.lowlevel import checkpoint

from encoders import EncoderIdentity, Vector
from storage import optimizing
from storage.folder import IndexFolder, Present
from storage.points import checked_points, checked_vector, checked_where
from storage.shard import Shard
from storage.vectors import Found, IndexUnavailable, Point, Where

__all__ = ["EdgeIndex"]

PIECE: Final = 64  # points written at a time: about 5 ms during which nobody else is served
PAGE: Final = 2_000
# To search all of 20,000 vectors of 384 numbers takes 1.5 ms; beyond that a graph is worth its building.
OPTIMISE_BYTES: Final = 32 * 1024 * 1024

log = structlog.get_logger(__name__)


class EdgeIndex:
    """A `VectorIndex` of one process."""

    def __init__(
        self, folder: IndexFolder, shard: Shard, identity: EncoderIdentity, *, optimise_after: int
    ) -> None:
        self._folder = folder
        self._shard = shard
        self._identity = identity
        self._optimise_after = optimise_after
        self._writing = anyio.Lock()
        self._one_optimiser = anyio.Lock()
        self._optimiser: asyncio.subprocess.Process | None = None
        self._background: asyncio.Task[None] | None = None
        self._leaving = False
        self._closed = False

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        identity: EncoderIdentity,
        rebuild: bool = False,
        optimise_after: int = OPTIMISE_BYTES,
    ) -> EdgeIndex:
        """The index in the folder, made if there is none. With `rebuild`, whatever was there is thrown away.

        The search graph is built in the background after every `optimise_after` bytes of new vectors.

        Raises:
            IndexMismatch: if other vectors are in it than this encoder makes.
            IndexUnavailable: if it is damaged, may not be written, or another process has it.
        """
        folder = IndexFolder(path, identity)
        await to_thread.run_sync(folder.take)
        try:
            shard = await to_thread.run_sync(_present_shard, folder, identity, rebuild)
        except BaseException:
            folder.leave()
            raise
        index = cls(folder, shard, identity, optimise_after=optimise_after)
        index._optimise_if_due()
        return index

    async def upsert(self, points: Sequence[Point], /) -> None:
        """Add points, or replace those with the same id. They survive the death of the process."""
        checked = checked_points(points, self._identity.dimensions)
        for start in range(0, len(checked), PIECE):
            async with self._writing:
                await to_thread.run_sync(self._shard.upsert, checked[start : start + PIECE])
        self._optimise_if_due()

    async def delete(self, *, where: Where) -> None:
        """Remove the points that meet every condition."""
        conditions = checked_where(where)
        async with self._writing:
            await to_thread.run_sync(self._shard.delete, conditions)

    async def remove(self, ids: Collection[str], /) -> None:
        """Remove the points with these ids."""
        async with self._writing:
            await to_thread.run_sync(self._shard.remove, list(ids))

    async def nearest(self, vector: Vector, /, *, where: Where, limit: int) -> list[Found]:
        """By cosine of the dense vectors, best first."""
        return self._shard.nearest(checked_vector(vector, self._identity.dimensions), where, limit)

    async def matching(self, text: str, /, *, where: Where, limit: int) -> list[Found]:
        """By BM25, best first; points without a common word are left out."""
        return self._shard.matching(text, where, limit)

    async def ids(self) -> set[str]:
        """The ids of all points."""
        shard = self._shard
        page, offset = shard.page_of_ids(None, PAGE)
        found = set(page)
        while offset is not None:
            await checkpoint()
            page, offset = shard.page_of_ids(offset, PAGE)
            found.update(page)
        return found

    async def clear(self) -> None:
        """Begin with an empty shard."""
        self._ensure_open()
        await self._stop_optimiser()
        try:
            async with self._writing:
                present = self._folder.following()
                shard = await to_thread.run_sync(Shard.create, self._folder.shard(present), self._identity)
                await self._change_over(shard, present)
        finally:
            self._leaving = self._closed

    async def optimise(self) -> None:
        """Build the search graph in a copy of the shard, then change over. Nobody waits meanwhile.

        Raises:
            IndexUnavailable: if it could not be built; the shard stays as it was.
        """
        async with self._one_optimiser:
            self._ensure_open()
            async with self._writing:
                present = await to_thread.run_sync(self._copied)
                self._shard.journal = []
            try:
                await self._run_optimiser(self._folder.shard(present))
                async with self._writing:
                    shard, present = await to_thread.run_sync(self._caught_up, present)
                    await self._change_over(shard, present)
            finally:
                self._shard.journal = None
                await to_thread.run_sync(self._remove_unless_present, self._folder.shard(present))

    async def close(self) -> None:
        """Bring everything to the disk, and let other processes have the folder."""
        if self._closed:
            return
        self._closed = True
        await self._stop_optimiser()
        try:
            async with self._writing:
                await to_thread.run_sync(self._shard.close)
        finally:
            self._folder.leave()

    def _ensure_open(self) -> None:
        if self._closed:
            raise IndexUnavailable(f"the index in {self._folder.path} cannot be used: it is closed")

    def _optimise_if_due(self) -> None:
        due = self._shard.unoptimised * self._identity.dimensions * 4 >= self._optimise_after
        if due and (self._background is None or self._background.done()):
            self._background = asyncio.create_task(self._optimise_quietly())

    async def _optimise_quietly(self) -> None:
        try:
            await self.optimise()
        except (IndexUnavailable, OSError) as error:
            if not self._leaving:
                log.warning("index not optimised", folder=str(self._folder.path), error=str(error))
            # Tried again when as much again has been written: the copy has set the count to zero.

    async def _run_optimiser(self, folder: Path) -> None:
        if self._leaving:
            raise IndexUnavailable(f"the index in {folder} is being closed")
        arguments = (sys.executable, "-P", optimizing.__file__, str(folder))
        nothing, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
        self._optimiser = await asyncio.create_subprocess_exec(*arguments, stdout=nothing, stderr=pipe)
        if self._leaving:
            self._optimiser.kill()
        try:
            _, complaints = await self._optimiser.communicate()
            if self._optimiser.returncode != 0:
                reason = complaints.decode(errors="replace").strip().rpartition("\n")[2]
                raise IndexUnavailable(f"the index in {folder} could not be optimised: {reason or 'killed'}")
        finally:
            self._optimiser = None

    async def _stop_optimiser(self) -> None:
        self._leaving = True
        if self._optimiser is not None:
            self._optimiser.kill()
        async with self._one_optimiser:
            pass
        if self._background is not None:
            await self._background

    def _copied(self) -> Present:
        self._shard.flush()
        present = self._folder.following()
        shutil.copytree(self._shard.path, self._folder.shard(present))
        self._shard.unoptimised = 0
        return present

    def _caught_up(self, copy: Present) -> tuple[Shard, Present]:
        shard = Shard.load(self._folder.shard(copy), self._identity)
        present = Present(copy.number, optimised_points=shard.count())
        shard.replay(self._shard.journal or [])
        shard.unoptimised = self._shard.unoptimised
        return shard, present

    async def _change_over(self, shard: Shard, present: Present) -> None:
        old, self._shard = self._shard, shard  # between two awaits: no query holds the old one
        await to_thread.run_sync(old.close)
        await to_thread.run_sync(self._folder.settle, present)

    def _remove_unless_present(self, folder: Path) -> None:
        if folder != self._shard.path:
            shutil.rmtree(folder, ignore_errors=True)


def _present_shard(folder: IndexFolder, identity: EncoderIdentity, rebuild: bool) -> Shard:
    present = None if rebuild else folder.present()
    if present is not None:
        shard = Shard.load(folder.shard(present), identity)
        shard.unoptimised = max(0, shard.count() - present.optimised_points)
        folder.sweep(present)
        return shard
    present = folder.following()
    shard = Shard.create(folder.shard(present), identity)
    folder.settle(present)
    return shard
