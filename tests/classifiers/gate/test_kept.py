"""A fit is made once, and once more when anything that it depends on is another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from classifiers.gate import ClassPolicy, Neighbour, Policy
from classifiers.gate.examples import ExampleGate
from classifiers.gate.kept import KeptFits
from encoders import Encoded, EncoderIdentity, Vector, encode_one
from encoders.testing import HashingEncoder
from storage.arrays import ArrayFolder
from tests.classifiers.gate.policies import BANK

QUESTIONS = (
    "How do I activate a card?",
    "Write a song about my cat.",
    "振込はいつ届きますか",
    "怎么激活卡？",
)


class Counting(HashingEncoder):
    """Counts the texts that it encodes."""

    def __init__(self, name: str = "hashing") -> None:
        super().__init__()
        self.encoded = 0
        self._name = name

    @property
    def identity(self) -> EncoderIdentity:
        return replace(super().identity, digest=self._name)

    async def encode(self, texts: Sequence[str], /) -> Vector:
        self.encoded += len(texts)
        return await super().encode(texts)


class Documents:
    """A source with one passage, which counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def near(self, question: Encoded, /, *, tenant: str, group: str = "") -> list[Neighbour]:
        self.asked += 1
        return [Neighbour("passage", "Cards are activated by phone.", 0.3, 0.3, "must", "cards.md")]


async def fit(
    folder: Path, *, policy: Policy = BANK, name: str = "hashing", state: str = "", share: float = 0.02
) -> tuple[ExampleGate, int, int]:
    encoder, documents = Counting(name), Documents()
    kept = KeptFits(ArrayFolder(folder), sources=state)
    gate = await ExampleGate.fit(policy, encoder, [documents], max_false_refusal=share, kept=kept)
    return gate, encoder.encoded, documents.asked


async def test_a_second_start_encodes_nothing_asks_nothing_and_says_the_same(tmp_path: Path) -> None:
    first, encoded, asked = await fit(tmp_path)
    assert encoded > 0
    assert asked > 0
    second, encoded, asked = await fit(tmp_path)
    assert (encoded, asked) == (0, 0)
    assert second.notes == first.notes
    assert second.cuts == first.cuts
    for text in QUESTIONS:
        question = await encode_one(HashingEncoder(), text)
        verdicts = [await gate.judge(question, tenant="t") for gate in (first, second)]
        assert verdicts[0].label == verdicts[1].label
        assert verdicts[0].score == pytest.approx(verdicts[1].score, abs=1e-9)


OTHER = replace(BANK, must=ClassPolicy(BANK.must.description, (*BANK.must.examples, "How do I pay?")))


@pytest.mark.parametrize(
    "change",
    [{"policy": OTHER}, {"name": "another model"}, {"state": "a document changed"}, {"share": 0.05}],
    ids=["policy", "encoder", "documents", "promise"],
)
async def test_whatever_differs_means_a_new_fit(tmp_path: Path, change: dict[str, object]) -> None:
    await fit(tmp_path)
    _, _, asked = await fit(tmp_path, **change)  # type: ignore[arg-type]
    assert asked > 0
    _, encoded, asked = await fit(tmp_path, **change)  # type: ignore[arg-type]
    assert (encoded, asked) == (0, 0)


async def test_one_more_example_is_all_that_is_encoded(tmp_path: Path) -> None:
    await fit(tmp_path)
    _, encoded, _ = await fit(tmp_path, policy=OTHER)
    assert encoded == 1


def damage(folder: Path, kind: str, how: str) -> None:
    (file,) = folder.glob(f"{kind}-*.npz")
    with np.load(file) as stored:
        arrays = dict(stored)
    match how:
        case "cut off":
            file.write_bytes(file.read_bytes()[:100])
        case "empty arrays":
            np.savez(file, nothing=np.zeros(0))
        case _:
            np.savez(file, **{name: np.zeros(3, array.dtype) for name, array in arrays.items()})


@pytest.mark.parametrize("kind", ["scope", "vectors"])
@pytest.mark.parametrize("how", ["cut off", "empty arrays", "other shapes"])
async def test_what_does_not_fit_together_is_made_anew(tmp_path: Path, kind: str, how: str) -> None:
    await fit(tmp_path)
    damage(tmp_path, kind, how)
    _, encoded, asked = await fit(tmp_path)
    assert (asked if kind == "scope" else encoded) > 0
    _, encoded, asked = await fit(tmp_path)
    assert (encoded, asked) == (0, 0)


def raise_cut(folder: Path, logits: float) -> None:
    (file,) = folder.glob("forbidden-*.npz")
    with np.load(file) as stored:
        arrays = dict(stored)
    arrays["cuts"][2] = logits
    np.savez(file, **arrays)


async def test_the_kept_fit_of_what_is_forbidden_is_the_one_that_serves(tmp_path: Path) -> None:
    first, _, _ = await fit(tmp_path)
    second, _, _ = await fit(tmp_path)
    assert np.array_equal(second._forbidden.combiner.weights, first._forbidden.combiner.weights)
    assert second._forbidden.leeway.logits == first._forbidden.leeway.logits
    raise_cut(tmp_path, 1.25)
    marked, _, _ = await fit(tmp_path)
    assert marked._forbidden.raised == 1.25


@pytest.mark.parametrize("how", ["cut off", "empty arrays", "other shapes"])
async def test_a_damaged_fit_of_what_is_forbidden_is_made_anew(tmp_path: Path, how: str) -> None:
    first, _, _ = await fit(tmp_path)
    damage(tmp_path, "forbidden", how)
    for _ in range(2):
        again, _, _ = await fit(tmp_path)
        assert again.cuts == first.cuts
        assert np.allclose(again._forbidden.combiner.weights, first._forbidden.combiner.weights)


async def test_the_words_of_documents_are_counted_once(tmp_path: Path) -> None:
    asked = 0

    async def passages() -> list[str]:
        nonlocal asked
        asked += 1
        return ["出張旅費は", "Parking rules", "Parking permits"]

    first = await KeptFits(ArrayFolder(tmp_path), "one").rarity(passages)
    assert await KeptFits(ArrayFolder(tmp_path), "one").rarity(passages) == first
    assert asked == 1
    assert first.weight("parkin") < first.weight("permit")
    await KeptFits(ArrayFolder(tmp_path), "two").rarity(passages)
    assert asked == 2
