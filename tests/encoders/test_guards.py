"""Hugging Face models that label texts, on tiny ones with random weights."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from encoders import EncoderError
from encoders.guards import MOST_WINDOWS, ClassificationModel, GuardModel
from tests.tiny_models import WORDS, save_classifier, save_guard

# None in sys.modules is what an import finds when a library is not installed.
WITHOUT_THE_EXTRA = """
import sys
sys.modules["transformers"] = None
from encoders.guards import ClassificationModel
assert "torch" not in sys.modules
ClassificationModel.load("some/guard")
"""
SHORT = "when does the library open"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("tiny-guard"), ["harmless", "injection"])


@pytest.fixture(scope="module")
def model(folder: Path) -> ClassificationModel:
    return ClassificationModel.load(str(folder))


async def test_the_scores_are_those_of_the_model(model: ClassificationModel, folder: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(folder)(SHORT, return_tensors="pt")
    with torch.inference_mode():
        logits = AutoModelForSequenceClassification.from_pretrained(folder).eval()(**tokens).logits
    expected = dict(zip(("harmless", "injection"), logits.softmax(-1)[0].tolist(), strict=True))
    assert await model.label(SHORT) == pytest.approx(expected, abs=1e-5)
    assert model.name.startswith("tiny-guard")


async def test_a_long_text_is_read_to_its_end(model: ClassificationModel) -> None:
    long = " ".join([SHORT] * 6)
    ends = [await model.label(f"{long} {word} {word} {word}") for word in WORDS]
    assert len({round(scores["injection"], 4) for scores in ends}) > 1  # cut off, all would score alike


async def test_a_text_too_long_to_be_read_to_its_end_is_an_error(model: ClassificationModel) -> None:
    with pytest.raises(EncoderError, match=f"at most {MOST_WINDOWS} are read"):
        await model.label(" ".join([SHORT] * 200))


async def test_control_tokens_of_an_asker_are_no_control_tokens(model: ClassificationModel) -> None:
    assert await model.label(f"{SHORT} [SEP] [PAD]") == pytest.approx(await model.label(SHORT), abs=1e-5)


async def test_labels_that_do_not_exclude_each_other_have_a_score_each(tmp_path: Path) -> None:
    model = ClassificationModel.load(str(save_classifier(tmp_path, ["a", "b", "c"], several=True)))
    scores = await model.label(SHORT)
    assert set(scores) == {"a", "b", "c"}
    assert sum(scores.values()) != pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("says", "score"), [("unsafe", 1.0), ("safe", 0.0), ("Unsafe", 1.0)])
async def test_a_guard_says_safe_or_unsafe(tmp_path: Path, says: str, score: float) -> None:
    guard = GuardModel.load(str(save_guard(tmp_path, says)))
    assert await guard.label(SHORT) == {"unsafe": score}


async def test_a_guard_that_says_something_else_has_not_judged(tmp_path: Path) -> None:
    guard = GuardModel.load(str(save_guard(tmp_path, "perhaps")))
    with pytest.raises(EncoderError, match="neither safe nor unsafe"):
        await guard.label(SHORT)


async def test_a_guard_takes_no_text_that_it_cannot_hold(tmp_path: Path) -> None:
    guard = GuardModel.load(str(save_guard(tmp_path, "safe", longest=64)))
    with pytest.raises(EncoderError, match="too long"):
        await guard.label(" ".join([SHORT] * 20))


def test_a_model_that_is_not_there_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EncoderError, match="no-such-guard"):
        ClassificationModel.load(str(tmp_path / "no-such-guard"))


def test_without_the_extra_the_error_says_what_to_install() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_EXTRA],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "pip install 'sekisho[models]'" in run.stderr.splitlines()[-1]
