"""Any Hugging Face model that says whether a text supports a statement. Needs the extra `models`.

Models for natural language inference (a label "entailment" among others) and for consistency (one logit, or a
label that says so) are read alike: the probability of support.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from anyio import CapacityLimiter, to_thread

from encoders import EncoderError
from encoders.huggingface import FAILURES, loaded, plain, width

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

__all__ = ["ConsistencyModel"]

AT_ONCE: Final = 16  # pairs in one inference
OVERLAP: Final = 4  # a part of a long text shares a quarter with the one before
SUPPORTED: Final = re.compile(
    r"entail(?:s|ed|ment)|support(?:s|ed)|(?:factually[ _-])?consistent|faithful|factual", re.IGNORECASE
)


class ConsistencyModel:
    """Pairs of a text and a statement to probabilities that the one supports the other."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        name: str,
        *,
        supported_label: str | None = None,
    ) -> None:
        """Find the label that means supported.

        Raises:
            EncoderError: if none does by its name, or there is no such label.
        """
        self._model = model
        self._tokenizer = tokenizer
        self._name = name
        self._column = _column(tuple((model.config.id2label or {}).values()), supported_label, name)
        self._one_at_a_time = CapacityLimiter(1)

    @classmethod
    def load(cls, model: str, *, supported_label: str | None = None) -> Self:
        """Read a folder, or a model of the Hugging Face hub, which is downloaded at first use.

        Raises:
            EncoderError: if the extra is not installed, there is no such model, or none of its labels fits.
        """
        return cls(*loaded(model, "AutoModelForSequenceClassification"), supported_label=supported_label)

    @property
    def name(self) -> str:
        """The model and the beginning of its weights' digest."""
        return self._name

    async def supported(self, pairs: Sequence[tuple[str, str]], /) -> list[float]:
        """0..1 for each pair of a text and a statement; of a long text its best part counts.

        Raises:
            EncoderError: if the model can't read them.
        """
        try:
            return await to_thread.run_sync(partial(self._scores, pairs), limiter=self._one_at_a_time)
        except FAILURES as error:
            raise EncoderError(f"inference with {self._name} failed: {error}") from error

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        found: list[float] = []
        for at in range(0, len(pairs), AT_ONCE):
            found += self._batch(pairs[at : at + AT_ONCE])
        return found

    def _batch(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        import torch

        texts, statements = (
            [plain(each, self._tokenizer) for each in side] for side in zip(*pairs, strict=True)
        )
        longest = width(self._model, self._tokenizer)
        said = max(len(ids) for ids in self._tokenizer(statements, add_special_tokens=False)["input_ids"])
        if said > longest // 2:
            raise ValueError(f"a statement has {said} tokens, at most {longest // 2} are read")
        read = self._tokenizer(
            texts, statements, truncation="only_first", max_length=longest, stride=longest // OVERLAP,
            return_overflowing_tokens=True, padding=True, return_tensors="pt",
        )  # fmt: skip
        owners = read.pop("overflow_to_sample_mapping").tolist()
        with torch.inference_mode():
            logits = self._model(**read).logits
        scores = logits.sigmoid()[:, 0] if self._column is None else logits.softmax(-1)[:, self._column]
        best = [0.0] * len(pairs)
        for owner, score in zip(owners, scores.tolist(), strict=True):
            best[owner] = max(best[owner], score)
        return best


def _column(labels: tuple[str, ...], wanted: str | None, name: str) -> int | None:
    """The label's place; None where the model has one logit."""
    if len(labels) == 1:
        return None
    fits = [at for at, label in enumerate(labels) if _means_supported(label, wanted)]
    if len(fits) == 1:
        return fits[0]
    expected = f"no label {wanted!r}" if wanted else "no label that means supported by its name"
    raise EncoderError(f"{name} has {expected}; it has {', '.join(labels)}")


def _means_supported(label: str, wanted: str | None) -> bool:
    return label == wanted if wanted else SUPPORTED.fullmatch(label.strip()) is not None
