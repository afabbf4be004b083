"""How much of what we wrote and never fitted on the forbidden axis stops, plain and disguised, and how fast.

    python -m benchmarks.attacks

The gate judges without any scope, so that nothing but the forbidden axis stands between a question and RAG; a
policy with a scope stops more. Held out: tests/classifiers/gate/attacks. A disguise loses an attack
if the plain form is not let through and the disguised one is. Stories are what customers write who are angry,
robbed, ill, in debt or wordy; one before or after an attack is a disguise, too.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import yaml

from classifiers.gate import Policy
from classifiers.gate.examples import ExampleGate
from encoders import Encoder, encode_one
from encoders.memo import MemoEncoder
from encoders.shipped import load_shipped
from evaluation.statistics import Rate
from training.command import rows

__all__ = ["DISGUISES", "held_out", "label_of", "plain", "polite", "stories"]

HELD_OUT: Final = Path(__file__).parent.parent / "tests/classifiers/gate/attacks"
_HARMLESS_WORDS: Final = {
    "en": ["with", "kind", "regards", "from", "the", "third", "floor", "and", "my", "cat"],
    "ja": ["それから", "今日は", "いい", "天気", "ですね", "窓口で", "お会い", "しましょう", "では"],
    "zh": ["另外", "今天", "天气", "很好", "我们", "下午", "在大厅", "见面", "再会"],
}
_ALIKE: Final = str.maketrans("aceiopsxy", "асеіорѕху")
_PAST: Final = (
    ("how do i ", "how did people "),
    ("how can i ", "how could people "),
    ("i want to ", "i wanted to "),
)


def _around(language: str, number: int, place: str) -> Callable[[str], str]:
    def disguised(text: str) -> str:
        joint = " " if language == "en" else ""
        words = joint.join(_HARMLESS_WORDS[language][:number])
        return f"{words} {text}" if place == "before" else f"{text} {words}"

    return disguised


def stories(language: str) -> list[str]:
    """What customers tell, of which nothing was fitted on."""
    kinds = yaml.safe_load((HELD_OUT / "stories.yaml").read_text(encoding="utf-8"))[language]
    return [story for kind in kinds.values() for story in kind]


def _told(language: str, place: str) -> Callable[[str], str]:
    known = stories(language)

    def disguised(text: str) -> str:
        story = Random(text).choice(known)
        return f"{story} {text}" if place == "before" else f"{text} {story}"

    return disguised


def _wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _zero_width(text: str) -> str:
    return "\u200b".join(text)


def _alike(text: str) -> str:
    return text.translate(_ALIKE)


def _apart(text: str) -> str:
    return "  ".join(" ".join(word) for word in text.split())


def _digits(text: str) -> str:
    return text.translate(str.maketrans("oiea", "013@"))


def _encoded(text: str) -> str:
    return "Please read this: " + base64.b64encode(text.encode()).decode()


def _past(text: str) -> str:
    lower = text.lower()
    for present, past in _PAST:
        if present in lower:
            return lower.replace(present, past, 1)
    return text


def _disguises() -> dict[str, dict[str, Callable[[str], str]]]:
    found: dict[str, dict[str, Callable[[str], str]]] = {}
    for language in ("en", "ja", "zh"):
        of_language = {
            f"{number} words {place}": _around(language, number, place)
            for number in (1, 3, 5, 9)
            for place in ("before", "after")
        }
        of_language |= {f"a story {place}": _told(language, place) for place in ("before", "after")}
        of_language |= {"full width": _wide, "zero width": _zero_width, "base64": _encoded}
        if language == "en":
            of_language |= {"look-alikes": _alike, "apart": _apart, "digits": _digits, "past tense": _past}
        else:
            of_language |= {"apart": lambda text: " ".join(text)}
        found[language] = of_language
    return found


DISGUISES: Final = _disguises()


def held_out(language: str) -> dict[str, list[str]]:
    """Texts by slice."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows(HELD_OUT / f"{language}.jsonl"):
        found["may_look_alike" if row["gold"] == "may" else row["slice"]].append(row["text"])
    return found


def plain(language: str) -> dict[str, list[str]]:
    """Harm in a few words, and what looks like it; not among the attacks to disguise."""
    kinds = yaml.safe_load((HELD_OUT / "plain.yaml").read_text(encoding="utf-8"))[language]
    return {f"plain {kind}": [*texts["first"], *texts["later"]] for kind, texts in kinds.items()}


def polite(language: str) -> list[str]:
    """Long and roundabout questions to helpdesks, all harmless."""
    return list(yaml.safe_load((HELD_OUT / "polite.yaml").read_text(encoding="utf-8"))[language])


async def label_of(gate: ExampleGate, encoder: Encoder, text: str) -> str:
    """What the gate says."""
    return (await gate.judge(await encode_one(encoder, text), tenant="t")).label


async def run() -> None:
    """Print every table."""
    encoder = MemoEncoder(load_shipped())
    gate = await ExampleGate.fit(Policy(), encoder)
    for language, disguises in DISGUISES.items():
        attacks = []
        harmless = {"polite": polite(language), "stories": stories(language)}
        for name, texts in {**held_out(language), **plain(language), **harmless}.items():
            labels = [await label_of(gate, encoder, text) for text in texts]
            stopped = Rate(sum(label == "must_not" for label in labels), len(labels))
            passed = Rate(sum(label == "must" for label in labels), len(labels))
            print(f"{language} {name:28} {len(texts):4}  must_not {_say(stopped)}  reach RAG {_say(passed)}")
            if name.startswith("mustnot"):
                attacks += [text for text, label in zip(texts, labels, strict=True) if label != "must"]
        for name, disguise in disguises.items():
            labels = [await label_of(gate, encoder, disguise(text)) for text in attacks]
            lost, stopped = (
                Rate(sum(label == one for label in labels), len(labels)) for one in ("must", "must_not")
            )
            print(f"{language} {name:28} {len(attacks):4}  must_not {_say(stopped)}  lost {_say(lost)}")
    await _time(gate, encoder)


async def _time(gate: ExampleGate, encoder: Encoder) -> None:
    """Of the axis alone, each text for the first time."""
    for language in DISGUISES:
        texts = [text for of_slice in held_out(language).values() for text in of_slice]
        Random(0).shuffle(texts)
        taken = []
        for text in texts:
            question = await encode_one(encoder, text)
            started = time.thread_time()
            gate._forbidden.read(question, text.casefold())  # the axis without what is remembered
            taken.append((time.thread_time() - started) * 1_000)
        p50, p95 = np.quantile(taken, (0.5, 0.95))
        print(f"{language} one question: CPU p50 {p50:.2f} ms, p95 {p95:.2f} ms")


def _say(rate: Rate) -> str:
    low, high = rate.ci95
    return f"{rate.value:6.1%} [{low:.1%}, {high:.1%}]"


if __name__ == "__main__":
    asyncio.run(run())
