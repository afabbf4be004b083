"""Models of the Hugging Face hub, or folders that hold one. Needs the extra `models`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from encoders import EncoderError
from encoders.tensors import digest

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

__all__ = ["FAILURES", "LONGEST_WINDOW", "loaded", "plain", "width"]

LONGEST_WINDOW: Final = 512  # tokens; what most classifiers were trained on
FAILURES: Final = (RuntimeError, ValueError, IndexError, KeyError, TypeError)


def loaded(model: str, kind: str) -> tuple[Any, Any, str]:
    """The weights, the tokenizer, and the name with the beginning of the weights' digest.

    Raises:
        EncoderError: if the extra is not installed, or there is no such model.
    """
    try:
        import transformers
        from safetensors import SafetensorError
    except ImportError as error:
        raise EncoderError(
            f"the model {model!r} needs transformers: pip install 'sekisho[models]'"
        ) from error
    logging: Any = transformers.utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        tokenizer = getattr(transformers, "AutoTokenizer").from_pretrained(model)  # noqa: B009
        weights = getattr(transformers, kind).from_pretrained(model).eval()
    except (OSError, SafetensorError, *FAILURES) as error:
        raise EncoderError(f"transformers can't load {model!r}: {error}") from error
    finally:
        if shown:
            logging.enable_progress_bar()
    name = Path(model).name if Path(model).is_dir() else model
    return weights, tokenizer, f"{name}@{digest(weights)[:12]}"


def plain(text: str, tokenizer: PreTrainedTokenizerBase) -> str:
    """The text without the model's control tokens, as nobody may end their own turn, and in valid UTF-8."""
    for token in tokenizer.all_special_tokens:
        text = text.replace(token, " ")
    return text.encode("utf-8", "replace").decode("utf-8")


def width(weights: Any, tokenizer: PreTrainedTokenizerBase) -> int:
    """How many tokens it reads at once."""
    known = getattr(weights.config, "max_position_embeddings", LONGEST_WINDOW)
    return int(min(LONGEST_WINDOW, tokenizer.model_max_length, known))
