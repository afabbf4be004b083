"""Baseline: does the model say the same when asked again? SelfCheckGPT (Manakul, Liusie, Gales 2023).

What a model knows it repeats, what it makes up varies. n further answers are drawn, then

- `NgramSelfCheck`, without a judge: a unigram model of the samples and the answer, smoothed by adding one.
  The paper averages -log p over each sentence's words (in the steps as `average` and `worst`), which has no
  upper end; the score is exp(-KL) of the answer's words against that model: 1 if the samples use words as
  the answer does.
- `AskedSelfCheck`: a model says of every statement whether each sample supports it; score = mean share of
  samples.

Edge cases: no sample, or an answer without words or statements: undetermined. One sample without verdicts
leaves the score undetermined.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from classifiers import ClassifierError
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.faithfulness.wording import folded, units
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import Examiner, Steps, determined, lacking
from evaluation.metrics.statements import StatementJudge

__all__ = ["AskedSelfCheck", "ModelSamples", "NgramSelfCheck", "Samples"]


class Samples(Protocol):
    """Further answers to the question of a case."""

    @property
    def version(self) -> str: ...

    async def draw(self, case: AnsweredCase, steps: Steps, /) -> Sequence[str]:
        """The samples. Raises `ClassifierError` if there are none."""
        ...


class ModelSamples:
    """Answers that a model writes from the same contexts; give it one with a temperature above 0."""

    def __init__(self, examiner: Examiner, *, samples: int = 5) -> None:
        if samples < 1:
            raise ValueError("samples: expected at least 1")
        self._examiner = examiner
        self._samples = samples
        self.version = f"{samples}:{examiner.version}"

    async def draw(self, case: AnsweredCase, steps: Steps, /) -> Sequence[str]:
        """So many answers, one after the other."""
        given = {"question": case.case.question, "contexts": [context.text for context in case.contexts]}
        return [
            await self._examiner.write("sample", given, language=case.case.lang, steps=steps)
            for _ in range(self._samples)
        ]


class NgramSelfCheck:
    """How far the words of an answer are those of the samples."""

    name = "self_check_ngram"

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self.version = f"1:{samples.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """exp(-KL); its steps hold the paper's figures by sentence."""
        steps: dict[str, Any] = {}
        return lacking(case, "answer") or await determined(self._measured(case, steps), steps)

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        drawn = await self._samples.draw(case, steps)
        words = units(folded(case.answer))
        if not drawn or not words:
            raise ClassifierError("there is no sample" if words else "the answer holds no words")
        counts = Counter(words)
        for sample in drawn:
            counts.update(units(folded(sample)))
        total = counts.total() + len(counts)  # one is added to each word

        def surprise(word: str) -> float:
            return -math.log((counts[word] + 1) / total)

        parts = [units(folded(each.text)) for each in sentences(case.answer)]
        by_sentence = [[surprise(word) for word in part] for part in parts if part]
        own, length = Counter(words), len(words)
        divergence = sum(n / length * (math.log(n / length) + surprise(word)) for word, n in own.items())
        steps |= {
            "average": [round(sum(part) / len(part), 4) for part in by_sentence],
            "worst": [round(max(part), 4) for part in by_sentence],
            "samples": list(drawn),
        }
        return Score(min(1.0, math.exp(-divergence)), steps)


class AskedSelfCheck:
    """How many of the samples support each statement of an answer."""

    name = "self_check_llm"

    def __init__(self, samples: Samples, judge: StatementJudge) -> None:
        self._samples = samples
        self._judge = judge
        self.version = f"1:{samples.version}:{judge.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """The mean share; its steps hold the share of each statement."""
        steps: dict[str, Any] = {}
        return lacking(case, "answer") or await determined(self._measured(case, steps), steps)

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        question, language = case.case.question, case.case.lang
        found = await self._judge.split(case.answer, question, language=language, steps=steps)
        drawn = await self._samples.draw(case, steps)
        if not drawn or not found:
            raise ClassifierError("there is no sample" if found else "the answer makes no statement")
        supported = [0] * len(found)
        for sample in drawn:
            judged = await self._judge.support(found, [sample], question, language=language, steps=steps)
            supported = [count + each.supported for count, each in zip(supported, judged, strict=True)]
        steps |= {
            "statements": [
                {"statement": each, "share": count / len(drawn)}
                for each, count in zip(found, supported, strict=True)
            ],
            "samples": list(drawn),
        }
        return Score(sum(supported) / (len(found) * len(drawn)), steps)
