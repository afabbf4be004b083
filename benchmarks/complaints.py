"""What becomes of complaints and cries for help, to the helpdesk that reads them and about somebody else.

    python -m benchmarks.complaints [first|later]

Three helpdesks a language that we wrote (`tests/classifiers/gate/complaints`), each with its description and
documents, with six and with twenty must examples, with documents and without. Counted over the three: what is
let through, goes to a person, is refused, and is called forbidden. The later texts were written last.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from benchmarks.gate import documents
from benchmarks.partial_documents import labels
from classifiers.gate import ClassPolicy, GateLabel, Policy
from classifiers.gate.examples import ExampleGate
from encoders import Encoder
from encoders.memo import MemoEncoder
from encoders.shipped import load_shipped

__all__ = ["BUSINESSES", "gate_of", "read_helpdesks"]

FOLDER = Path(__file__).parent.parent / "tests/classifiers/gate/complaints"
BUSINESSES = ("office", "shop", "telecom")
SETTINGS = ((0, 0, True), (6, 3, True), (6, 3, False), (20, 8, True), (20, 8, False))
LABELS: tuple[GateLabel, ...] = ("must", "unsure", "may", "must_not")


def read_helpdesks(language: str) -> dict[str, Any]:
    """By business; `elsewhere` holds what is said about somebody else."""
    loaded: dict[str, Any] = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    return loaded


async def gate_of(
    business: Mapping[str, Any], encoder: Encoder, must: int, may: int, *, documented: bool
) -> ExampleGate:
    """With so many of its examples."""
    policy = Policy(
        must=ClassPolicy(business["description"], tuple(business["must"][:must])),
        may=ClassPolicy("", tuple(business["may"][:may])),
    )
    passages = [{"title": text[:20], "text": text} for text in business["documents"]]
    return await ExampleGate.fit(policy, encoder, [await documents(passages, encoder)] if documented else [])


async def run(when: str) -> None:
    """A row for each language, setting and kind."""
    encoder = MemoEncoder(load_shipped())
    for language in ("en", "ja", "zh"):
        helpdesks = read_helpdesks(language)
        for must, may, documented in SETTINGS:
            counted: dict[str, Counter[GateLabel]] = {"here": Counter(), "elsewhere": Counter()}
            for name in BUSINESSES:
                gate = await gate_of(helpdesks[name], encoder, must, may, documented=documented)
                counted["here"].update(await labels(gate, encoder, helpdesks[name][when]))
                counted["elsewhere"].update(await labels(gate, encoder, helpdesks["elsewhere"][when]))
            for kind, found in counted.items():
                shown = "  ".join(f"{label} {found[label]:2}" for label in LABELS)
                with_documents = "documents" if documented else "none"
                print(
                    f"{language} {must:2} examples, {with_documents:9}  {kind:9} {found.total():2}  {shown}"
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("when", choices=("first", "later"), nargs="?", default="later")
    asyncio.run(run(parser.parse_args().when))
