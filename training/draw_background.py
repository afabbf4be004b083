"""Draw classifiers/gate/background.yaml: English questions of other helpdesks, by their subject.

    python -m training.draw_background DATA

DATA is the folder of development data. Three questions of each intent of CLINC150's training rows (CC BY
3.0); its two domains of finance are left out, since what is asked of a bank is no background for one.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from random import Random

import yaml

from training.command import rows

TARGET = Path(__file__).parent.parent / "classifiers/gate/background.yaml"
OF_AN_INTENT = 3
LEFT_OUT = {"banking", "credit_cards", None}
HEAD = """\
# What is asked of other helpdesks, in English, by subject: drawn by training/draw_background.py from the
# training rows of CLINC150 (Larson et al., 2019, CC BY 3.0). It stands for "may" beside an operator's own
# examples. A subject of which the operator's own material claims a part is left out whole.
"""


def draw(data: Path) -> dict[str, list[str]]:
    """Questions by domain, the same each time."""
    by_intent: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows(data / "gate/clinc150_train.jsonl"):
        if row["domain"] not in LEFT_OUT:
            by_intent[row["domain"], row["intent"]].append(row["text"])
    random, drawn = Random(0), defaultdict(list)
    for (domain, _), texts in sorted(by_intent.items()):
        drawn[domain].extend(random.sample(sorted(texts), OF_AN_INTENT))
    return dict(drawn)


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
