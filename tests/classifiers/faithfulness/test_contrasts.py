"""Two things with two rules in one passage ("adults pay, children enter free"), and answers that give one the other's.

36 passages a language as helpdesks write them, each with a true and a false answer, by who then wrote the words in
`alternatives.yaml`; those of the group "blind" before a look at what the rule made of them. A regression gate.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.cases import Answer, read_cases
from evaluation.faithfulness.judging import evaluate_faithfulness
from gateway.checking.opening import judge_apart
from gateway.settings import Settings

CONTRASTS = Path(__file__).parent / "contrasts"
REACHED = {"en": (33, 3), "ja": (35, 7), "zh": (36, 1)}  # of 36 false answers stopped; of 36 true ones, too


@pytest.mark.parametrize("lang", REACHED)
async def test_what_a_passage_says_of_another_is_stopped(lang: str) -> None:
    answers = read_cases(CONTRASTS / f"{lang}.jsonl", Answer)
    async with judge_apart(Settings()) as judge:
        rates = (await evaluate_faithfulness(answers, judge)).rates()
    stopped, held = rates["recall"].count, rates["false blocks"].count
    assert (stopped >= REACHED[lang][0], held <= REACHED[lang][1]) == (True, True), (stopped, held)
