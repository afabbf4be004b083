"""Arrays on disk: what is broken is not there, and nothing about it is fatal."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from storage.arrays import ArrayFolder

ARRAYS = {"numbers": np.arange(5.0), "words": np.array(["a", "出張"])}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    folder = ArrayFolder(tmp_path / "new")
    assert folder.read("fit", "one") is None
    folder.write("fit", "one", ARRAYS)
    stored = folder.read("fit", "one")
    assert stored is not None
    assert stored["numbers"].tolist() == [0, 1, 2, 3, 4]
    assert stored["words"].tolist() == ["a", "出張"]
    assert folder.read("fit", "two") is None


def _broken(content: bytes) -> list[bytes]:
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 0xFF
    return [b"", b"not an archive", content[: len(content) // 2], bytes(flipped)]


@pytest.mark.parametrize("which", range(4))
def test_a_broken_file_is_not_there_and_can_be_written_again(tmp_path: Path, which: int) -> None:
    folder = ArrayFolder(tmp_path)
    folder.write("fit", "one", {"numbers": np.arange(5_000.0)})
    (file,) = tmp_path.glob("fit-*.npz")
    file.write_bytes(_broken(file.read_bytes())[which])
    assert folder.read("fit", "one") is None
    folder.write("fit", "one", ARRAYS)
    assert folder.read("fit", "one") is not None


def test_objects_that_run_code_when_read_are_never_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "fit-one.npz", allow_pickle=True, numbers=np.array([{"a": 1}], dtype=object))
    assert ArrayFolder(tmp_path).read("fit", "one") is None


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = ArrayFolder(tmp_path / "file")
    folder.write("fit", "one", ARRAYS)
    assert folder.read("fit", "one") is None


def test_only_the_files_used_last_are_kept(tmp_path: Path) -> None:
    folder = ArrayFolder(tmp_path, most=2)
    folder.write("other", "one", ARRAYS)
    for name in ("one", "two", "three"):
        folder.write("fit", name, ARRAYS)
    assert len(list(tmp_path.glob("fit-*.npz"))) == 2
    assert folder.read("fit", "three") is not None
    assert folder.read("other", "one") is not None


def test_what_a_dead_writer_left_is_swept(tmp_path: Path) -> None:
    (tmp_path / ".fit-one.1.npz").write_bytes(b"half")
    ArrayFolder(tmp_path).write("fit", "one", ARRAYS)
    assert [file.name for file in tmp_path.glob("*fit*")] == ["fit-one.npz"]


def _write_often(path: Path, value: float) -> None:
    for _ in range(20):
        ArrayFolder(path).write("fit", "one", {"numbers": np.full(20_000, value)})


def test_two_processes_that_write_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write_often, args=(tmp_path, value)) for value in (1.0, 2.0)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        stored = ArrayFolder(tmp_path).read("fit", "one")
        assert stored is None or len(set(stored["numbers"].tolist())) == 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert ArrayFolder(tmp_path).read("fit", "one") is not None
