"""Tiny Hugging Face models with random weights, saved in a folder: real architectures that know nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["WORDS", "save_classifier", "save_guard", "save_reader"]

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


def save_reader(
    folder: Path, labels: Sequence[str], supported: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]],
    *, longest: int = 48, steps: int = 80,
) -> Path:  # fmt: skip
    """A BERT that was trained, in a second, to tell these pairs of a text and a statement from those.

    It has learnt these by heart and nothing else; after no steps it says this and that.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    words = dict.fromkeys(word for pair in (*supported, *other) for text in pair for word in _words(text))
    tokenizer = _tokenizer(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *words), pairs=True)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=longest, num_labels=len(labels),
        id2label=dict(enumerate(labels)), label2id={label: i for i, label in enumerate(labels)},
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.02 if steps else 0.5,
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    texts, statements = zip(*supported, *other, strict=True)
    read = tokenizer(list(texts), list(statements), padding=True, return_tensors="pt")
    wanted = torch.tensor([1.0] * len(supported) + [0.0] * len(other))
    column = next((at for at, label in enumerate(labels) if label.startswith("entail")), 0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(steps):
        logits = model(**read).logits
        rest = logits[:, [at for at in range(len(labels)) if at != column]]
        odds = logits[:, column] - (rest.logsumexp(-1) if rest.shape[1] else 0.0)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _words(text: str) -> list[str]:
    from tokenizers.pre_tokenizers import Whitespace

    return [word for word, _ in Whitespace().pre_tokenize_str(text)]


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


def _tokenizer(words: Sequence[str], *, pairs: bool = False) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    ids = {word: i for i, word in enumerate(words)}
    made = Tokenizer(WordLevel(ids, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1" if pairs else None,
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
