"""The results of a run, on disk before they count: a line a case, fsynced; what a kill cut is dropped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from anyio import to_thread

from evaluation.answers.results import CaseResult, read_result, written
from gateway.errors import InvalidRequest

__all__ = ["Form", "Journal", "Lines", "Results"]

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Form(Generic[R]):
    """How results of a kind are written: as a line of bytes, by an id."""

    id: Callable[[R], str]
    write: Callable[[R], bytes]
    read: Callable[[bytes], R]  # raises `ValueError` for what is none


class Lines(Generic[R]):
    """The lines of a file by their ids; the last line of an id counts. Only places are kept."""

    def __init__(self, file: Path, form: Form[R]) -> None:
        self.file = file
        self.form = form
        self.damaged = 0
        self._places: dict[str, int] = {}
        self.end = 0  # behind the last whole line
        if file.exists():
            self._scan()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, case_id: str) -> bool:
        return case_id in self._places

    def __iter__(self) -> Iterator[R]:
        """Each result once, in the order of their last lines."""
        return (result for _, result in self._read(sorted(self._places.values())))

    def get(self, case_id: str) -> R | None:
        """The result of this id."""
        place = self._places.get(case_id)
        return None if place is None else next(self._read([place]))[1]

    def of(self, ids: Iterable[str]) -> Iterator[tuple[str, R]]:
        """The results of these ids, as far as they are here."""
        places = [self._places[one] for one in ids if one in self._places]
        return ((self.form.id(result), result) for _, result in self._read(places))

    def _scan(self) -> None:
        with self.file.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # a kill cut it off
                try:
                    self._places[self.form.id(self.form.read(line))] = self.end
                except ValueError:
                    self.damaged += 1
                self.end += len(line)

    def _read(self, places: Sequence[int]) -> Iterator[tuple[int, R]]:
        if not places:
            return
        with self.file.open("rb") as lines:
            for place in places:
                lines.seek(place)
                yield place, self.form.read(lines.readline())

    def put_in_order(self, ids: Iterable[str]) -> None:
        """Rewrite the file: the results of these ids in this order, and no other line."""
        partial = self.file.with_suffix(".partial")
        places, end = {}, 0
        with partial.open("wb") as out:
            for case_id, result in self.of(ids):
                places[case_id] = end
                end += out.write(self.form.write(result))
            out.flush()
            os.fsync(out.fileno())
        partial.replace(self.file)
        self._places, self.end, self.damaged = places, end, 0


class Results(Lines[CaseResult]):
    """The results of a run, by case."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Form(lambda result: result.case.id, written, read_result))


class Journal(Generic[R]):
    """Appends results. What `add` returns from is on disk; several waiting calls share one fsync."""

    def __init__(self, results: Lines[R]) -> None:
        """Writes behind the last whole line of `results`."""
        self._form = results.form
        try:
            self._file = results.file.open("r+b" if results.file.exists() else "wb")
        except OSError as exc:
            raise InvalidRequest(f"--out: {results.file} can't be written: {exc.strerror}") from exc
        self._file.truncate(results.end)
        self._file.seek(results.end)
        self._synced = results.end
        self._syncing = asyncio.Lock()

    async def add(self, results: Sequence[R]) -> None:
        """Append lines."""
        self._file.write(b"".join(map(self._form.write, results)))
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
