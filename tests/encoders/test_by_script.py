"""Each text is encoded by the model for its script."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from encoders import Encoder
from encoders.by_script import ByScript
from encoders.shipped import EAST_ASIAN, LATIN, load_shipped
from encoders.testing import HashingEncoder


@pytest.fixture(scope="module")
def shipped() -> Encoder:
    return load_shipped()


async def test_a_text_gets_the_vector_of_the_model_for_its_script_in_any_company(
    onnx_encoder: Encoder,
) -> None:
    latin, east_asian = HashingEncoder(384), onnx_encoder
    both = ByScript(latin, east_asian)
    texts = ["How do I pay?", "どう払いますか", "Wi-Fiが使えない", "", "怎么付款", "ﾊﾟｽﾜｰﾄﾞ"]
    expected = [latin, east_asian, east_asian, latin, east_asian, east_asian]
    read = [*texts[:2], "WiFiが使えない", "", "怎么付款", "パスワード"]
    together = await both.encode(texts)
    for text, one_spelling, vector, encoder in zip(texts, read, together, expected, strict=True):
        alone = (await encoder.encode([one_spelling]))[0]
        assert np.allclose(vector, alone, atol=1e-2), text
        assert np.allclose((await both.encode([text]))[0], alone, atol=1e-6), text


def test_the_identity_changes_with_either_model(onnx_encoder: Encoder) -> None:
    models = (HashingEncoder(384), onnx_encoder)
    assert len({ByScript(one, two).identity.digest for one in models for two in models}) == 4


def test_models_of_different_width_are_refused() -> None:
    with pytest.raises(ValueError, match="dimensions"):
        ByScript(HashingEncoder(64), HashingEncoder(32))


async def test_the_shipped_encoder_finds_japanese_and_chinese_questions_by_their_meaning(
    shipped: Encoder,
) -> None:
    assert shipped.identity.languages == ("en", "ja", "zh")
    for question, alike, unlike in (
        (
            "パスワードを忘れた場合はどうすればいいですか",
            "暗証番号を思い出せません",
            "ゴミの収集日を教えてください",
        ),
        ("怎么修改密码", "想换一个新的登录口令", "医院几点开门"),
    ):
        asked, near, far = await shipped.encode([question, alike, unlike])
        assert asked @ near > asked @ far


@pytest.mark.parametrize("folder", [LATIN, EAST_ASIAN], ids=lambda folder: folder.name)
def test_each_model_is_light_and_says_whose_work_it_is(folder: Path) -> None:
    assert (folder / "model.onnx").stat().st_size <= 25_000_000
    assert (folder / "LICENSE").stat().st_size
    assert folder.name in (folder / "NOTICE").read_text("utf-8")
