"""The results of a run, on disk before they count: a line a case, fsynced; what a kill cut is dropped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from anyio import to_thread

from evaluation.answers.results import CaseResult, read_result, written
from gateway.errors import InvalidRequest

__all__ = ["Journal", "Results"]


class Results:
    """The lines of a file by the ids of their cases; the last line of a case counts. Only places are kept."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.damaged = 0
        self._places: dict[str, int] = {}
        self.end = 0  # behind the last whole line
        if file.exists():
            self._scan()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, case_id: str) -> bool:
        return case_id in self._places

    def __iter__(self) -> Iterator[CaseResult]:
        """Each case's result, in the order of their last lines."""
        return (result for _, result in self._read(sorted(self._places.values())))

    def get(self, case_id: str) -> CaseResult | None:
        """The result of a case."""
        place = self._places.get(case_id)
        return None if place is None else next(self._read([place]))[1]

    def of(self, ids: Iterable[str]) -> Iterator[tuple[str, CaseResult]]:
        """The results of these cases, as far as they are here."""
        places = [self._places[one] for one in ids if one in self._places]
        return ((result.case.id, result) for _, result in self._read(places))

    def _scan(self) -> None:
        with self.file.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # a kill cut it off
                try:
                    self._places[read_result(line).case.id] = self.end
                except ValueError:
                    self.damaged += 1
                self.end += len(line)

    def _read(self, places: Sequence[int]) -> Iterator[tuple[int, CaseResult]]:
        if not places:
            return
        with self.file.open("rb") as lines:
            for place in places:
                lines.seek(place)
                yield place, read_result(lines.readline())

    def put_in_order(self, ids: Iterable[str]) -> None:
        """Rewrite the file: the results of these cases in this order, and no other line."""
        partial = self.file.with_suffix(".partial")
        places, end = {}, 0
        with partial.open("wb") as out:
            for case_id, result in self.of(ids):
                places[case_id] = end
                end += out.write(written(result))
            out.flush()
            os.fsync(out.fileno())
        partial.replace(self.file)
        self._places, self.end, self.damaged = places, end, 0


class Journal:
    """Appends results. What `add` returns from is on disk; several waiting calls share one fsync."""

    def __init__(self, results: Results) -> None:
        """Writes behind the last whole line of `results`."""
        try:
            self._file = results.file.open("r+b" if results.file.exists() else "wb")
        except OSError as exc:
            raise InvalidRequest(f"--out: {results.file} can't be written: {exc.strerror}") from exc
        self._file.truncate(results.end)
        self._file.seek(results.end)
        self._synced = results.end
        self._syncing = asyncio.Lock()

    async def add(self, results: Sequence[CaseResult]) -> None:
        """Append lines."""
        self._file.write(b"".join(map(written, results)))
        mine = self._file.tell()
        async with self._syncing:
            if self._synced >= mine:
                return
            reached = self._file.tell()
            self._file.flush()
            await to_thread.run_sync(os.fsync, self._file.fileno())
            self._synced = reached

    def close(self) -> None:
        """Close the file."""
        self._file.close()
