"""Draw classifiers/gate/background.yaml: English questions that are for others, by their subject.

    python -m training.draw_background DATA

DATA is the folder of development data. Three questions of each intent of CLINC150's training rows (CC BY
3.0) and those of no intent; questions of MTRAG (Apache-2.0) and TREC CAsT 2019 (MIT) that need no dialogue.
CLINC150's two domains of finance are left out: what is asked of a bank is no background for one.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import yaml

from training.command import rows

TARGET = Path(__file__).parent.parent / "classifiers/gate/background.yaml"
OF_AN_INTENT = 3
OF_A_SOURCE = 50
LEFT_OUT = {"banking", "credit_cards"}
SOURCES = {
    "MTRAG clapnq": "encyclopaedia",
    "MTRAG cloud": "cloud",
    "MTRAG fiqa": "personal_finance",
    "MTRAG govt": "authorities",
    "TREC CAsT 2019": "encyclopaedia",
}
LEAST_WORDS, LONGEST = 5, 140  # of a question: "What about security?" asks nothing by itself
HEAD = """\
# What is asked of others, in English, by subject: drawn by training/draw_background.py from the training rows
# of CLINC150 (Larson et al., 2019, CC BY 3.0; "various" are those of no intent), MTRAG (IBM, Apache-2.0) and
# TREC CAsT 2019 (MIT). It stands for "may" beside an operator's own examples. A subject of which the
# operator's own material claims a part is left out whole.
"""


def draw(data: Path) -> dict[str, list[str]]:
    """Questions by subject, the same each time."""
    by_intent: dict[tuple[str, str], list[str]] = defaultdict(list)
    drawn: dict[str, list[str]] = defaultdict(list)
    for row in rows(data / "gate/clinc150_train.jsonl"):
        if row["intent"] == "oos":
            drawn["various"].append(row["text"])
        elif row["domain"] not in LEFT_OUT:
            by_intent[row["domain"], row["intent"]].append(row["text"])
    random = Random(0)
    for (domain, _), texts in sorted(by_intent.items()):
        drawn[domain].extend(random.sample(sorted(texts), OF_AN_INTENT))
    for source, texts in sorted(_without_dialogue(data).items()):
        drawn[SOURCES[source]].extend(random.sample(sorted(texts), min(len(texts), OF_A_SOURCE)))
    return {subject: list(dict.fromkeys(texts)) for subject, texts in drawn.items()}


def _without_dialogue(data: Path) -> Mapping[str, set[str]]:
    """Questions by source that say by themselves what they are about."""
    found: dict[str, set[str]] = defaultdict(set)
    for name in ("mtrag", "cast2019"):
        for row in rows(data / f"cache/followups/{name}.jsonl"):
            found[row["source"]].update(_asked(row))
    return found


def _asked(row: Mapping[str, Any]) -> Iterator[str]:
    text = " ".join(row["messages"][-1]["content"].split())
    whole = len(text.split()) >= LEAST_WORDS and len(text) <= LONGEST and text.endswith("?")
    if row["standalone"] and whole and text.isascii():
        yield text


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    drawn = draw(parser.parse_args().data)
    text = yaml.safe_dump(drawn, width=200, allow_unicode=True, sort_keys=True)
    TARGET.write_text(HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    main()
