"""Hugging Face models that read a text and a statement, on a tiny one that has learnt a few pairs by heart."""

from __future__ import annotations

from pathlib import Path

import pytest

from encoders import EncoderError
from encoders.consistency import ConsistencyModel
from tests.tiny_models import save_classifier, save_reader

TRUE = [("the pass costs 120 euros", "the pass costs 120 euros"), ("dogs may come along", "dogs may come")]
FALSE = [("the pass costs 120 euros", "the pass costs 150 euros"), ("dogs may come along", "cats may come")]
NLI = ["contradiction", "entailment", "neutral"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_reader(tmp_path_factory.mktemp("tiny-nli"), NLI, TRUE, FALSE)


@pytest.fixture(scope="module")
def model(folder: Path) -> ConsistencyModel:
    return ConsistencyModel.load(str(folder))


async def test_the_score_is_the_models_probability_of_entailment(
    model: ConsistencyModel, folder: Path
) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    read = AutoTokenizer.from_pretrained(folder)(*TRUE[0], return_tensors="pt")
    with torch.inference_mode():
        logits = AutoModelForSequenceClassification.from_pretrained(folder).eval()(**read).logits
    [score] = await model.supported([TRUE[0]])
    assert score == pytest.approx(logits.softmax(-1)[0, NLI.index("entailment")].item(), abs=1e-5)
    assert model.name.startswith("tiny-nli")


async def test_it_tells_what_it_has_learnt(model: ConsistencyModel) -> None:
    scores = await model.supported([*TRUE, *FALSE])
    assert min(scores[:2]) > 0.5 > max(scores[2:])


async def test_one_logit_is_a_probability_of_support(tmp_path: Path) -> None:
    model = ConsistencyModel.load(str(save_reader(tmp_path, ["LABEL_0"], TRUE, FALSE)))
    scores = await model.supported([*TRUE, *FALSE])
    assert min(scores[:2]) > 0.5 > max(scores[2:])


async def test_a_long_text_is_read_to_its_end(tmp_path: Path) -> None:
    model = ConsistencyModel.load(str(save_reader(tmp_path, NLI, TRUE, FALSE, steps=0)))
    filling = "along may come " * 14  # alone it fills the model
    ends = [
        (f"{filling} {word} {word} {word}", "dogs may come") for word in ("dogs", "euros", "costs", "150")
    ]
    assert (
        len({round(score, 5) for score in await model.supported(ends)}) > 1
    )  # cut off, all would score alike


async def test_pairs_in_batches_score_as_they_do_alone(model: ConsistencyModel) -> None:
    pairs = [*TRUE, *FALSE] * 5
    alone = [score for pair in pairs for score in await model.supported([pair])]
    assert await model.supported(pairs) == pytest.approx(alone, abs=1e-5)


async def test_a_statement_too_long_to_be_read_is_an_error(model: ConsistencyModel) -> None:
    with pytest.raises(EncoderError, match="inference with tiny-nli"):
        await model.supported([("dogs may come", "dogs may come along " * 40)])


@pytest.mark.parametrize(
    ("labels", "wanted", "message"),
    [
        (["LABEL_0", "LABEL_1"], None, "no label that means supported by its name; it has LABEL_0, LABEL_1"),
        (["not_entailment", "hallucinated"], None, "no label that means supported"),
        (["entailment", "neutral"], "supported", "no label 'supported'; it has entailment, neutral"),
    ],
)
def test_a_model_without_a_label_for_support_is_refused(
    tmp_path: Path, labels: list[str], wanted: str | None, message: str
) -> None:
    with pytest.raises(EncoderError, match=message):
        ConsistencyModel.load(str(save_classifier(tmp_path, labels)), supported_label=wanted)


def test_the_operator_may_say_which_label_it_is(tmp_path: Path) -> None:
    folder = str(save_classifier(tmp_path, ["LABEL_0", "LABEL_1"]))
    assert ConsistencyModel.load(folder, supported_label="LABEL_1")._column == 1


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="can't load"):
        ConsistencyModel.load(str(tmp_path))
