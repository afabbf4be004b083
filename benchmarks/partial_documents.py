"""What becomes of an operator's own questions where their documents cover two thirds of what they are asked.

    python -m benchmarks.partial_documents

Two helpdesks that we wrote (`tests/classifiers/gate/partial`): five short documents, 30 must examples, 20 of
them answered there, and four kinds of questions: ours that the documents answer, ours that they don't, near
and far ones. Judged with 6, 15 and 30 of the must examples, at the cut of the fit; and without documents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.gate import documents
from classifiers.gate import ClassPolicy, GateLabel, Policy
from classifiers.gate.examples import ExampleGate
from encoders import Encoder, encode_one
from encoders.memo import MemoEncoder
from encoders.shipped import load_shipped

HELPDESKS = Path(__file__).parent.parent / "tests/classifiers/gate/partial"
KINDS = ("ours_answered", "ours_unanswered", "near", "far")
SIZES = (6, 15, 30)
SHOWN: tuple[tuple[GateLabel, str], ...] = (
    ("must", "let through"),
    ("unsure", "to a person"),
    ("may", "refused"),
)


def read_helpdesk(language: str) -> tuple[Policy, list[dict[str, str]], Mapping[str, Sequence[str]]]:
    """The policy, the documents by passage, and the questions by kind."""
    data: dict[str, Any] = yaml.safe_load((HELPDESKS / f"{language}.yaml").read_text(encoding="utf-8"))
    policy = Policy(
        must=ClassPolicy(data["description"], tuple(data["must"])), may=ClassPolicy("", tuple(data["may"]))
    )
    passages = [
        {"title": title, "text": text} for title, texts in data["documents"].items() for text in texts
    ]
    return policy, passages, {kind: data[kind] for kind in KINDS}


def fewer(policy: Policy, size: int) -> Policy:
    """The same with some of the must examples."""
    examples = policy.must.examples
    chosen = np.random.default_rng(1).permutation(len(examples))[:size]
    return replace(policy, must=replace(policy.must, examples=tuple(examples[i] for i in sorted(chosen))))


async def labels(gate: ExampleGate, encoder: Encoder, questions: Sequence[str]) -> list[GateLabel]:
    """What the gate calls them."""
    return [(await gate.judge(await encode_one(encoder, text), tenant="t")).label for text in questions]


async def table(language: str, encoder: Encoder) -> None:
    """A line for each size and kind."""
    policy, passages, questions = read_helpdesk(language)
    source = await documents(passages, encoder)
    settings = [(f"{size} examples", fewer(policy, size), [source]) for size in SIZES]
    for name, part, sources in [*settings, ("no documents", policy, [])]:
        gate = await ExampleGate.fit(part, encoder, sources)
        print(f"\n{language}, {name}, cut {gate.cuts.scope:.2f}")
        for kind, texts in questions.items():
            print(f"  {kind:16} {len(texts):3}  " + "  ".join(_shares(await labels(gate, encoder, texts))))


def _shares(found: Sequence[GateLabel]) -> Iterator[str]:
    for label, name in SHOWN:
        yield f"{name} {found.count(label):2}"


async def run() -> None:
    """Both helpdesks."""
    encoder = MemoEncoder(load_shipped())
    for language in ("ja", "en"):
        await table(language, encoder)


if __name__ == "__main__":
    asyncio.run(run())
