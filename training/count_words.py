"""Count how much a word (English) or pair of characters (Japanese, Chinese) says, over public paragraphs.

python -m training.count_words --data DATA                 # writes classifiers/faithfulness/common_words.json
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from classifiers.faithfulness import wording
from classifiers.faithfulness.wording import UNIT, folded, is_cjk, lexicon, stem, terms

ENGLISH = (
    "faithfulness/factcg",
    "faithfulness/ragtruth_nontest",
    "faithfulness/begin_dev",
    "faithfulness/halueval_qa",
    "qa/squad2",
)
OTHER = {"ja": ("qa/jaquad_train", "gate/ja.corpus"), "zh": ("qa/cmrc2018_dev", "gate/zh.corpus")}
RAREST_COUNT = 12  # what stands in fewer paragraphs says as much as what stands in none
LISTED = 2500
OUT = Path(wording.__file__).with_name("common_words.json")


def main() -> None:
    """Read the paragraphs, count, write."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--data", type=Path, required=True)
    folder: Path = arguments.parse_args().data
    listed: dict[str, set[str]] = defaultdict(set)
    _collect(listed, _english(_paragraphs(folder, ENGLISH)))
    for names in OTHER.values():
        _collect(listed, [set(terms(folded(text)).content) for text in _paragraphs(folder, names)])
    words = {weight: " ".join(sorted(found)) for weight, found in sorted(listed.items())}
    about = (
        "How much an English word or a pair of Japanese or Chinese characters says, from 0 to 1: the "
        "logarithm of the share of paragraphs that have it; 1 for what is not listed. Counted by "
        "training/count_words.py over FactCG, RAGTruth (not its test part), BEGIN, HaluEval, SQuAD 2.0, "
        "JaQuAD and CMRC 2018."
    )
    OUT.write_text(
        json.dumps({"about": about, "words": words}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def _paragraphs(folder: Path, names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.update(row.get("contexts") or [row.get("context") or row["text"]])
    return found


def _english(paragraphs: Iterable[str]) -> list[set[str]]:
    """The words of each paragraph, every stem by the one form that is its own stem's best known."""
    read = [
        {w for w in UNIT.findall(folded(p)) if w.isascii() and w.isalpha() and len(w) > 2} for p in paragraphs
    ]
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for words in read:
        for word in words:
            forms[stem(word)][word] += 1
    form = {
        s: min(counted, key=lambda word: (-counted[word], word))
        for s, counted in forms.items()
        if s not in lexicon().function
    }
    return [{form[stem(w)] for w in words if stem(w) in form} for words in read]


def _collect(listed: dict[str, set[str]], documents: list[set[str]]) -> None:
    counts = Counter(term for document in documents for term in document if is_cjk(term) or term.isalpha())
    for term, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:LISTED]:
        rarity = round(
            min(1.0, math.log(len(documents) / count) / math.log(len(documents) / RAREST_COUNT)), 1
        )
        if rarity < 1:
            listed[f"{max(rarity, 0.2):.1f}"].add(term)


if __name__ == "__main__":
    main()
