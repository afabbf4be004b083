"""A run: every case of a file asked, measured, and on disk before it counts; an interrupted one goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import copyfile
from typing import Any

from filelock import FileLock, Timeout

from evaluation.answers.cases import AnswerCase, case_digest, read_answer_cases
from evaluation.answers.journal import Journal, Results
from evaluation.answers.lanes import Lane, drive
from evaluation.answers.results import CaseResult, Identity
from evaluation.answers.targets import OUT_OF_REACH
from evaluation.answers.worker import Task
from gateway.errors import InvalidRequest, UpstreamUnavailable
from languages.identification import Language

__all__ = [
    "Finished",
    "Plan",
    "Start",
    "checked_cases",
    "open_results",
    "run_cases",
    "run_folder",
]

RESULTS, PREVIOUS, MANIFEST = "results.jsonl", "previous.jsonl", "run.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a file, all of them readable."""

    file: Path
    digest: str
    digests: dict[str, str]  # of every case, by id, in the order of the file
    default_language: Language

    def cases(self) -> Iterator[AnswerCase]:
        """They themselves, a few at a time in memory."""
        return read_answer_cases(self.file, self.default_language)

    def __len__(self) -> int:
        return len(self.digests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a run finds done before it begins."""

    kept: int  # cases that need nothing
    measured_again: int  # answered by the same target before; only metrics are new
    changed: int  # cases that are not what they were
    asked_again: int  # answered by another target or configuration, or failed
    damaged: int  # lines of the file that could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Where a finished run lies, and what it began with."""

    folder: Path
    start: Start
    identity: Identity
    plan: Plan

    @property
    def results(self) -> Results:
        """Every case once, in the order of the file."""
        return open_results(self.folder)

    @property
    def previous(self) -> Results | None:
        """What the last finished run in this folder found, if it was another one."""
        file = self.folder / PREVIOUS
        return Results(file) if file.exists() else None


def checked_cases(file: Path, default_language: Language) -> Plan:
    """Read the whole file once, so that a mistake in its last row costs nothing.

    Raises:
        UnreadableTable, InvalidRequest: naming file, line and field.
    """
    digests = {case.id: case_digest(case) for case in read_answer_cases(file, default_language)}
    whole = hashlib.sha256(json.dumps(digests).encode()).hexdigest()[:16]
    return Plan(file, whole, digests, default_language)


def open_results(place: Path) -> Results:
    """The results of a run: its folder, or the file in it.

    Raises:
        InvalidRequest: if there are none.
    """
    file = place / RESULTS if place.is_dir() else place
    if not file.is_file():
        raise InvalidRequest(f"{place}: expected the folder of a run (--out), with {RESULTS} in it")
    found = Results(file)
    if not len(found):
        raise InvalidRequest(f"{file} holds no results")
    return found


@contextmanager
def run_folder(folder: Path) -> Iterator[Path]:
    """The folder, which one run has to itself.

    Raises:
        InvalidRequest: if another one is at it, or it can't be made.
    """
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as exc:
        raise InvalidRequest(f"--out: another run is writing to {folder}") from exc
    except OSError as exc:
        raise InvalidRequest(f"--out: {folder} can't be written: {exc.strerror}") from exc
    with lock:
        yield folder


async def run_cases(
    plan: Plan,
    lanes: Sequence[Lane],
    folder: Path,
    *,
    fresh: bool = False,
    started: Callable[[Start], object] = lambda start: None,
    progress: Callable[[Sequence[CaseResult]], object] = lambda results: None,
) -> Finished:
    """Work through the cases that need it, then put the results in the order of the file.

    The first case is asked alone; only then anything is written.

    Args:
        fresh: ask and measure everything again.
        started: is told what is done already.
        progress: is told of results once they are on disk.

    Raises:
        UpstreamUnavailable: if nobody can be asked at all; the folder is as it was.
    """
    identity = lanes[0].identity
    known = _Known(plan, identity, Results(folder / RESULTS), fresh=fresh)
    first = await _first(known, lanes[0])
    start = known.start()
    started(start)
    _keep_the_last(folder, plan, identity, fresh=fresh)
    _write_manifest(folder, plan, identity, finished=False)
    async with _appending(Results(folder / RESULTS)) as journal:

        async def done(some: Sequence[CaseResult]) -> None:
            await journal.add(some)
            progress(some)

        await done(first)
        await drive(lanes, known.tasks(but={one.case.id for one in first}), done)
    Results(folder / RESULTS).put_in_order(plan.digests)
    _write_manifest(folder, plan, identity, finished=True)
    return Finished(folder=folder, start=start, identity=identity, plan=plan)


class _Known:
    """What is left to do for every case of a plan."""

    def __init__(self, plan: Plan, identity: Identity, results: Results, *, fresh: bool) -> None:
        self._plan, self._identity, self._results = plan, identity, results
        known = () if fresh else results.of(plan.digests)
        self._kinds = {case_id: self._kind(case_id, result) for case_id, result in known}
        self._damaged = 0 if fresh else results.damaged

    def _kind(self, case_id: str, result: CaseResult) -> str:
        if result.digest != self._plan.digests[case_id]:
            return "changed"
        if self._identity.made(result):
            return "kept"
        return "measured_again" if self._identity.answered(result) else "asked_again"

    def start(self) -> Start:
        kinds = [*self._kinds.values()]
        names = ("kept", "measured_again", "changed", "asked_again")
        return Start(**{name: kinds.count(name) for name in names}, damaged=self._damaged)

    def tasks(self, *, but: Collection[str] = ()) -> Iterator[Task]:
        for case in self._plan.cases():
            kind = "kept" if case.id in but else self._kinds.get(case.id)
            if kind == "measured_again":
                yield Task(case, self._results.get(case.id))
            elif kind != "kept":
                yield Task(case)


async def _first(known: _Known, lane: Lane) -> Sequence[CaseResult]:
    """The result of the first case that has to be asked; none if none has to be."""
    task = next((one for one in known.tasks() if one.before is None), None)
    if task is None:
        return ()
    results = await lane.run([task])
    for one in results:
        if one.cause in OUT_OF_REACH:
            raise UpstreamUnavailable(one.error, cause=one.cause)
    return results


@asynccontextmanager
async def _appending(results: Results) -> AsyncIterator[Journal[CaseResult]]:
    journal = Journal(results)
    try:
        yield journal
    finally:
        journal.close()


def _keep_the_last(folder: Path, plan: Plan, identity: Identity, *, fresh: bool) -> None:
    """A finished run of something else becomes the one to compare with; a fresh one begins with nothing."""
    told = _read_manifest(folder)
    if told.get("finished") and (fresh or _manifest(plan, identity) != told.get("of")):
        copyfile(folder / RESULTS, folder / PREVIOUS)
    if fresh:
        (folder / RESULTS).unlink(missing_ok=True)


def _read_manifest(folder: Path) -> dict[str, Any]:
    """What a folder's run is of, {} if nothing says so."""
    try:
        told: dict[str, Any] = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return told


def _manifest(plan: Plan, identity: Identity) -> dict[str, Any]:
    return {"cases": plan.digest, **identity.as_json()}


def _write_manifest(folder: Path, plan: Plan, identity: Identity, *, finished: bool) -> None:
    told = {
        "of": _manifest(plan, identity),
        "cases": plan.file.name,
        "n": len(plan),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "finished": finished,
    }
    partial = folder / f".{MANIFEST}"
    partial.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", "utf-8")
    partial.replace(folder / MANIFEST)
