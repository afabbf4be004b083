"""Any Hugging Face model that labels texts, or answers "safe" or "unsafe". Needs the extra `models`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from anyio import CapacityLimiter, to_thread

from encoders import EncoderError
from encoders.huggingface import FAILURES, loaded, plain, width

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

__all__ = ["ClassificationModel", "GuardModel"]

MOST_WINDOWS: Final = 32
OVERLAP: Final = 4  # an attack on the edge of a window stands whole in the next: a quarter of it again
LONGEST_REPLY: Final = 32  # tokens; "unsafe\nS1" needs a few

_UNSAFE = re.compile(r"^\s*(?:safety:\s*)?unsafe\b", re.IGNORECASE)
_SAFE = re.compile(r"^\s*(?:safety:\s*)?safe\b", re.IGNORECASE)


class _Model:
    """A model of Hugging Face that one text at a time is shown to."""

    _TASK: ClassVar[str]

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._name = name
        self._one_at_a_time = CapacityLimiter(1)

    @classmethod
    def load(cls, model: str) -> Self:
        """Read a folder, or a model of the Hugging Face hub, which is downloaded at first use.

        Raises:
            EncoderError: if the extra is not installed, or there is no such model.
        """
        return cls(*loaded(model, cls._TASK))

    @property
    def name(self) -> str:
        """The model and the beginning of its weights' digest."""
        return self._name

    async def label(self, text: str, /) -> Mapping[str, float]:
        """0..1 for each label. Raises `EncoderError` for what can't be read, or a reply that says nothing."""
        try:
            return await to_thread.run_sync(self._scores, text, limiter=self._one_at_a_time)
        except FAILURES as error:
            raise EncoderError(f"inference with {self._name} failed: {error}") from error

    def _scores(self, text: str) -> dict[str, float]:
        raise NotImplementedError


class ClassificationModel(_Model):
    """A model for sequence classification: each label with its highest score in any part of the text."""

    _TASK = "AutoModelForSequenceClassification"

    @property
    def labels(self) -> tuple[str, ...]:
        """What it can say."""
        return tuple((self._model.config.id2label or {}).values())

    def _scores(self, text: str) -> dict[str, float]:
        import torch

        windows = self._windows(plain(text, self._tokenizer))
        with torch.inference_mode():
            logits = self._model(**windows).logits
        several = self._model.config.problem_type == "multi_label_classification" or logits.shape[1] == 1
        scores = (logits.sigmoid() if several else logits.softmax(-1)).amax(0).tolist()
        return dict(zip(self.labels, scores, strict=True))

    def _windows(self, text: str) -> Any:
        longest = width(self._model, self._tokenizer)
        windows = self._tokenizer(
            text, truncation=True, max_length=longest, stride=longest // OVERLAP, padding=True,
            return_overflowing_tokens=True, return_tensors="pt",
        )  # fmt: skip
        windows.pop("overflow_to_sample_mapping", None)
        if (count := len(windows["input_ids"])) > MOST_WINDOWS:
            raise ValueError(
                f"the text has {count} windows of {longest} tokens, at most {MOST_WINDOWS} are read"
            )
        return windows


class GuardModel(_Model):
    """A chat model that was trained to answer whether a message is safe, as Llama Guard or Qwen3Guard."""

    _TASK = "AutoModelForCausalLM"

    @property
    def labels(self) -> tuple[str, ...]:
        """What it can say."""
        return ("unsafe",)

    def _scores(self, text: str) -> dict[str, float]:
        import torch

        chat = [{"role": "user", "content": plain(text, self._tokenizer)}]
        asked: Any = self._tokenizer.apply_chat_template(
            chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        length = asked["input_ids"].shape[1]
        if length + LONGEST_REPLY > self._model.config.max_position_embeddings:
            raise ValueError(f"the text is too long for the model: {length} tokens")
        with torch.inference_mode():
            replied: Any = self._model.generate(  # type: ignore[operator]
                **asked, max_new_tokens=LONGEST_REPLY, do_sample=False, pad_token_id=0
            )
        reply = str(self._tokenizer.decode(replied[0][length:], skip_special_tokens=True))
        if _UNSAFE.search(reply):
            return {"unsafe": 1.0}
        if _SAFE.search(reply):
            return {"unsafe": 0.0}
        raise ValueError("it answered neither safe nor unsafe")
