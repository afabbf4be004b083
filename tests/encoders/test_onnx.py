from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from encoders import EncoderError
from encoders.onnx import SHIPPED, OnnxEncoder

START_AND_ENCODE = """
import asyncio, sys
from encoders.onnx import OnnxEncoder
vectors = asyncio.run(OnnxEncoder.load().encode(["hello"]))
print(vectors.shape[1], *(name for name in ("torch", "transformers", "onnx") if name in sys.modules))
"""


def test_it_starts_without_torch_and_without_a_word() -> None:
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", START_AND_ENCODE],
        env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stderr == ""
    assert run.stdout.split() == ["384"], "a heavy library was imported"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(SHIPPED, tmp_path / "model")
    return tmp_path / "model"


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _misspell(path: Path) -> None:
    path.write_text(path.read_text("utf-8").replace('"dimensions"', '"dimension"'), "utf-8")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "identity.json"])
@pytest.mark.parametrize("damage", [Path.unlink, _cut, _flip, _misspell])
def test_a_missing_or_damaged_file_is_an_error_that_names_it(
    folder: Path, file: str, damage: Callable[[Path], None]
) -> None:
    if damage is _misspell:
        file = "identity.json"
    if damage in (_cut, _flip) and file == "identity.json":
        (folder / file).write_text("{", "utf-8")
    else:
        damage(folder / file)
    with pytest.raises(EncoderError, match=file.replace(".", r"\.")):
        OnnxEncoder.load(folder)


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_no_model_is_an_error_even_with_the_right_digest(folder: Path, file: str) -> None:
    from hashlib import sha256

    (folder / file).write_bytes(b"not a model")
    card = json.loads((folder / "identity.json").read_text("utf-8"))
    card["digest" if file == "model.onnx" else "tokenizer_digest"] = sha256(b"not a model").hexdigest()
    (folder / "identity.json").write_text(json.dumps(card), "utf-8")
    with pytest.raises(EncoderError, match=file.replace(".", r"\.")):
        OnnxEncoder.load(folder)


def test_a_model_of_another_width_than_its_card_is_refused(folder: Path) -> None:
    card = json.loads((folder / "identity.json").read_text("utf-8")) | {"dimensions": 512}
    (folder / "identity.json").write_text(json.dumps(card), "utf-8")
    with pytest.raises(EncoderError, match="width 512"):
        OnnxEncoder.load(folder)


def test_a_folder_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="nowhere"):
        OnnxEncoder.load(tmp_path / "nowhere")


async def test_only_the_first_256_tokens_count(onnx_encoder: OnnxEncoder) -> None:
    words = "account " * 254
    vectors = await onnx_encoder.encode([words, words + "weather " * 100, "weather " + words])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)
    assert not np.allclose(vectors[0], vectors[2], atol=1e-3)


async def test_a_megabyte_of_text_takes_no_longer_than_a_long_text(onnx_encoder: OnnxEncoder) -> None:
    start = process_time()
    await onnx_encoder.encode(["all work and no play " * 50_000])
    assert process_time() - start < 1.0  # of the processor: tokenizing all of it would take 2 s


async def test_more_threads_give_the_same_vectors(questions: list[str]) -> None:
    one, two = OnnxEncoder.load(), OnnxEncoder.load(threads=2)
    np.testing.assert_allclose(await one.encode(questions[:20]), await two.encode(questions[:20]), atol=1e-5)


async def test_a_question_does_not_wait_for_an_import(
    onnx_encoder: OnnxEncoder, questions: list[str]
) -> None:
    importing = asyncio.create_task(onnx_encoder.encode(questions))
    await asyncio.sleep(0.05)
    await onnx_encoder.encode(["How do I activate my card?"])
    assert not importing.done()
    assert (await importing).shape == (len(questions), 384)


async def test_a_closed_encoder_finishes_its_work_and_refuses_more() -> None:
    encoder = OnnxEncoder.load()
    working = asyncio.create_task(encoder.encode(["How do I activate my card?"] * 50))
    await asyncio.sleep(0)
    await encoder.close()
    assert (await working).shape == (50, 384)
    with pytest.raises(EncoderError, match="closed"):
        await encoder.encode(["again"])


def test_one_encoder_serves_one_event_loop_after_another(onnx_encoder: OnnxEncoder) -> None:
    first, second = (asyncio.run(onnx_encoder.encode(["where is my refund"])) for _ in range(2))
    np.testing.assert_array_equal(first, second)
