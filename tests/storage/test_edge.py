"""What holds of the index in this process: its folder, its durability, its search graph."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from encoders import EncoderIdentity
from storage import shard
from storage.edge import EdgeIndex
from storage.vectors import IndexUnavailable, Point


def point(number: int, text: str = "card", **payload: str | int) -> Point:
    vector = np.array([1, number, 0, 0], dtype=np.float32)
    return Point(str(UUID(int=number)), vector, text, payload or {"tenant": "a"})


def shards(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.glob("shard-*"))


def has_graph(folder: Path) -> bool:
    return any(folder.glob("shard-*/segments/*/vector_index-dense/graph.bin"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


PROGRAM = """
import asyncio, sys
from pathlib import Path
from uuid import UUID
import numpy as np
from encoders import EncoderIdentity
from storage.edge import EdgeIndex
from storage.vectors import Point

async def main():
    identity = EncoderIdentity("by-hand", 4, "0" * 64, ("en", "ja", "zh"))
    index = await EdgeIndex.open(Path(sys.argv[1]), identity=identity)
    print("open", flush=True)
    for number in range(int(sys.argv[2])):
        vector = np.array([1, number, 0, 0], dtype=np.float32)
        await index.upsert([Point(str(UUID(int=number)), vector, "card", {"tenant": "a"})])
        print(number, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def start(folder: Path, points: int) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", PROGRAM, str(folder), str(points)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    return process


@pytest.fixture
def other_process(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with start(folder, 0) as process:
        yield process
        process.kill()


async def test_a_folder_that_another_process_has_is_refused(
    folder: Path, identity: EncoderIdentity, other_process: subprocess.Popen[bytes]
) -> None:
    with pytest.raises(IndexUnavailable, match="in use by another process") as caught:
        await EdgeIndex.open(folder, identity=identity)
    assert str(folder) in str(caught.value)
    with pytest.raises(IndexUnavailable, match="in use by another process"):
        await EdgeIndex.open(folder, identity=identity, rebuild=True)
    other_process.kill()
    await asyncio.to_thread(other_process.wait)
    await (await EdgeIndex.open(folder, identity=identity)).close()


async def test_a_folder_is_opened_once_in_one_process_too(folder: Path, identity: EncoderIdentity) -> None:
    first = await EdgeIndex.open(folder, identity=identity)
    with pytest.raises(IndexUnavailable, match="in use by another process"):
        await EdgeIndex.open(folder, identity=identity)
    await first.close()
    await first.close()
    await (await EdgeIndex.open(folder, identity=identity)).close()


def acknowledged_before_a_kill(folder: Path, after: int) -> set[str]:
    with start(folder, 100_000) as process:
        assert process.stdout is not None
        first = [int(process.stdout.readline()) for _ in range(after)]
        process.send_signal(signal.SIGKILL)
        return {str(UUID(int=int(number))) for number in (*first, *process.stdout.read().split())}


@pytest.mark.parametrize("after", [1, 60, 200])
async def test_what_was_acknowledged_survives_a_kill(
    folder: Path, identity: EncoderIdentity, after: int
) -> None:
    acknowledged = await asyncio.to_thread(acknowledged_before_a_kill, folder, after)
    index = await EdgeIndex.open(folder, identity=identity)
    assert acknowledged <= await index.ids()
    found = await index.nearest(np.array([1, 0, 0, 0], dtype=np.float32), where={"tenant": "a"}, limit=1)
    assert found[0].id == str(UUID(int=0))
    await index.close()


@pytest.fixture
async def filled(folder: Path, identity: EncoderIdentity) -> Path:
    """A closed folder with some points in it."""
    index = await EdgeIndex.open(folder, identity=identity)
    await index.upsert([point(number) for number in range(300)])
    await index.close()
    return folder


def damage_files(folder: Path, pattern: str, damage: Callable[[Path], None]) -> None:
    files = list(folder.glob(pattern))
    assert files
    for file in files:
        damage(file)


def scribble(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.write(b"\xff" * 64)


def truncate(file: Path) -> None:
    os.truncate(file, 1)


@pytest.mark.parametrize("damage", [scribble, truncate])
@pytest.mark.parametrize(
    "pattern",
    [
        "index.json",
        "shard-*/edge_config.json",
        "shard-*/wal/first-index",
        "shard-*/segments/*/segment.json",
        "shard-*/segments/*/vector_storage-dense/deleted/status.dat",
    ],
)
async def test_a_damaged_folder_is_named_and_can_be_made_anew(
    filled: Path, identity: EncoderIdentity, pattern: str, damage: Callable[[Path], None]
) -> None:
    damage_files(filled, pattern, damage)
    with pytest.raises(IndexUnavailable, match="run `sekisho reindex`") as caught:
        await EdgeIndex.open(filled, identity=identity)
    assert str(filled) in str(caught.value)
    index = await EdgeIndex.open(filled, identity=identity, rebuild=True)
    assert await index.ids() == set()
    await index.upsert([point(1)])
    await index.close()
    assert len(shards(filled)) == 1


async def test_a_missing_shard_is_an_outage_not_an_empty_index(
    filled: Path, identity: EncoderIdentity
) -> None:
    shutil.rmtree(filled / shards(filled)[0])
    with pytest.raises(IndexUnavailable, match="run `sekisho reindex`"):
        await EdgeIndex.open(filled, identity=identity)


async def test_a_full_disk_is_told_before_the_system_kills_the_process(
    folder: Path, identity: EncoderIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await EdgeIndex.open(folder, identity=identity)
    await index.upsert([point(1)])
    monkeypatch.setattr(shard, "ROOM", 1 << 80)
    with pytest.raises(IndexUnavailable, match=r"cannot be written: \d+ MB are free.*Free some space"):
        await index.upsert([point(2)])
    assert [one.id for one in await index.nearest(point(1).vector, where={}, limit=9)] == [point(1).id]
    await index.close()
    with pytest.raises(IndexUnavailable, match="Free some space"):
        await EdgeIndex.open(folder, identity=identity)


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, identity: EncoderIdentity) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexUnavailable, match="this user may write there") as caught:
        await EdgeIndex.open(tmp_path / "file" / "index", identity=identity)
    assert str(tmp_path / "file" / "index") in str(caught.value)


async def test_leftovers_of_a_process_that_died_are_swept_away(
    filled: Path, identity: EncoderIdentity
) -> None:
    shutil.copytree(filled / "shard-1", filled / "shard-2")  # died before it changed over
    index = await EdgeIndex.open(filled, identity=identity)
    assert len(await index.ids()) == 300
    assert shards(filled) == ["shard-1"]
    await index.close()


async def test_making_the_first_shard_can_be_cut_short(filled: Path, identity: EncoderIdentity) -> None:
    (filled / "index.json").unlink()
    index = await EdgeIndex.open(filled, identity=identity)
    assert await index.ids() == set()
    assert shards(filled) == ["shard-2"]
    await index.close()


async def test_the_search_graph_is_built_beside_reads_and_writes(
    folder: Path, identity: EncoderIdentity
) -> None:
    index = await EdgeIndex.open(folder, identity=identity)
    await index.upsert([point(number, tenant="ab"[number % 2]) for number in range(2_000)])
    building = asyncio.create_task(index.optimise())
    written = 0
    while not building.done():
        await index.upsert([point(10_000 + written, tenant="new")])
        assert len(await index.nearest(np.ones(4, dtype=np.float32), where={"tenant": "a"}, limit=5)) == 5
        written += 1
        await asyncio.sleep(0.01)
    await building
    await index.delete(where={"tenant": "b"})
    assert len(await index.ids()) == 1_000 + written
    assert shards(folder) == ["shard-2"]
    await index.close()
    again = await EdgeIndex.open(folder, identity=identity)
    assert len(await again.ids()) == 1_000 + written
    await again.close()


async def test_a_large_import_is_optimised_without_being_asked(
    folder: Path, identity: EncoderIdentity
) -> None:
    index = await EdgeIndex.open(folder, identity=identity, optimise_after=1_000 * 4 * 4)
    await index.upsert([point(number) for number in range(1_200)])
    for _ in range(600):
        if shards(folder) == ["shard-2"]:
            break
        await asyncio.sleep(0.1)
    assert len(await index.ids()) == 1_200
    await index.close()
    assert json.loads((folder / "index.json").read_text())["optimised_points"] == 1_200


async def test_a_search_graph_of_another_release_is_built_again(
    filled: Path, identity: EncoderIdentity
) -> None:
    index = await EdgeIndex.open(filled, identity=identity)
    await index.optimise()
    await index.close()
    kept = json.loads((filled / "index.json").read_text())
    (filled / "index.json").write_text(json.dumps(kept | {"graph": "of another release"}))
    index = await EdgeIndex.open(filled, identity=identity, optimise_after=100 * 4 * 4)
    for _ in range(600):
        if shards(filled) == ["shard-3"]:
            break
        await asyncio.sleep(0.1)
    assert len(await index.ids()) == 300
    await index.close()
    assert json.loads((filled / "index.json").read_text()) == kept | {"shard": 3}


async def test_scores_are_cosines_with_the_search_graph_too(folder: Path) -> None:
    wide = EncoderIdentity("by-hand", 1_024, "0" * 64, ("en",))
    vectors = np.random.default_rng(7).normal(size=(2_600, 1_024)).astype(np.float32)  # more than 10 MB
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = await EdgeIndex.open(folder, identity=wide)
    await index.upsert([replace(point(at), vector=vector) for at, vector in enumerate(vectors)])
    await index.optimise()
    assert has_graph(folder)
    for asked in vectors[:5]:
        found = await index.nearest(asked, where={"tenant": "a"}, limit=10)
        assert len(found) == 10
        cosines = [float(vectors[UUID(one.id).int] @ asked) for one in found]
        assert [one.score for one in found] == pytest.approx(cosines, abs=1e-5)
    await index.close()


async def test_closing_and_clearing_do_not_wait_for_the_search_graph(
    folder: Path, identity: EncoderIdentity
) -> None:
    index = await EdgeIndex.open(folder, identity=identity, optimise_after=1_000 * 4 * 4)
    await index.upsert([point(number) for number in range(5_000)])
    await index.clear()
    assert await index.ids() == set()
    await index.upsert([point(number) for number in range(5_000)])
    await index.close()
    assert len(shards(folder)) == 1
    again = await EdgeIndex.open(folder, identity=identity)
    assert len(await again.ids()) == 5_000
    await again.close()


@contextmanager
def without_a_place(folder: Path) -> Iterator[None]:
    """What is open stays open; nothing new can be made."""
    away = folder.rename(folder.with_name("away"))
    folder.write_text("no folder")
    yield
    folder.unlink()
    away.rename(folder)


async def test_an_index_that_could_not_be_cleared_is_optimised_as_before(
    folder: Path, identity: EncoderIdentity
) -> None:
    index = await EdgeIndex.open(folder, identity=identity)
    await index.upsert([point(number) for number in range(2_000)])
    with without_a_place(folder), pytest.raises((OSError, IndexUnavailable)):
        await index.clear()
    assert len(await index.ids()) == 2_000
    await index.optimise()
    await index.close()


async def test_a_search_graph_that_cannot_be_built_leaves_the_index_as_it_was(
    folder: Path, identity: EncoderIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.optimizing.__file__", str(folder / "missing.py"))
    index = await EdgeIndex.open(folder, identity=identity)
    await index.upsert([point(1)])
    with pytest.raises(IndexUnavailable, match="could not be optimised"):
        await index.optimise()
    await index.upsert([point(2)])
    assert len(await index.ids()) == 2
    assert shards(folder) == ["shard-1"]
    await index.close()
