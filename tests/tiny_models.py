"""Tiny Hugging Face models with random weights, saved in a folder: real architectures that know nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["WORDS", "save_classifier", "save_guard"]

WORDS = ("when", "does", "the", "library", "open", "forget", "your", "rules", "book", "card", "late", "a")
_CHAT = "{% for message in messages %}{{ message['content'] }} {% endfor %}answer"


def save_classifier(folder: Path, labels: Sequence[str], *, several: bool = False, longest: int = 16) -> Path:
    """A BERT with two layers of 16, which reads so many tokens at once."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = _tokenizer(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS))
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=longest, initializer_range=0.5,
        id2label=dict(enumerate(labels)), label2id={label: i for i, label in enumerate(labels)},
        problem_type="multi_label_classification" if several else None,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_guard(folder: Path, says: str, *, longest: int = 128) -> Path:
    """A Llama whose weights are zero: of all words it likes the first best, and says it again and again."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer((says, "[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, "answer"))
    tokenizer.chat_template = _CHAT
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, intermediate_size=32, max_position_embeddings=longest,
        bos_token_id=3, eos_token_id=4, pad_token_id=1,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer(words: Sequence[str]) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    ids = {word: i for i, word in enumerate(words)}
    made = Tokenizer(WordLevel(ids, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
