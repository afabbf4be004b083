"""Citation support: is every claim cited, and do the cited passages say it?

Definition (ALCE, Gao et al. 2023), for answers that cite their contexts as [1], [2-4] or 【1】, from 1 on:

    citation recall    = claims that their cited passages, together, support / claims of the answer
    citation precision = citations whose passage, by itself, supports its claim / citations

Edge cases: a claim without a mark counts against recall; so does a mark to a passage that there is not,
against both. No claim: undetermined. No mark: recall 0, precision undetermined. Marks that follow a
sentence's final stop are its own, as the segmentation of the faithfulness judge has it; of several claims
in a sentence, one without a mark shares those that come after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from classifiers import ClassifierError
from classifiers.faithfulness.statements import statements
from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.text import has_words
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import Steps, determined, lacking
from evaluation.metrics.statements import StatementJudge

__all__ = ["CitationSupport"]

_MARK = re.compile(r"[\[［【](\d{1,3}(?:\s*[,、，–-]\s*\d{1,3})*)[\]］】]")


@dataclass(frozen=True, slots=True)
class _Claim:
    text: str
    cites: tuple[int, ...]  # from 1


class CitationSupport:
    """Whether what is said is cited and stands there (recall), or what is cited says so (precision)."""

    def __init__(
        self, judge: StatementJudge, *, side: Literal["recall", "precision"] = "recall", suffix: str = ""
    ) -> None:
        self._judge = judge
        self._side = side
        self.name = f"citation_{side}{suffix}"
        self.version = f"1:{judge.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """The share; its steps list each claim with the passages it cites."""
        steps: dict[str, Any] = {}
        return lacking(case, "answer", "contexts") or await determined(self._measured(case, steps), steps)

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        claims = _claims(case.answer)
        if not claims:
            raise ClassifierError("the answer claims nothing")
        listed: list[dict[str, Any]] = []
        for claim in claims:
            groups = [claim.cites] if self._side == "recall" else [(one,) for one in claim.cites]
            verdicts = [await self._supports(claim.text, group, case, steps) for group in groups]
            listed.append({"claim": claim.text, "cites": list(claim.cites), "supported": verdicts})
        steps["claims"] = listed
        found = [verdict for claim in listed for verdict in claim["supported"]]
        if not found:
            raise ClassifierError("the answer cites nothing")
        return Score(sum(found) / len(found), steps)

    async def _supports(self, claim: str, cites: Sequence[int], case: AnsweredCase, steps: Steps) -> bool:
        texts = [case.contexts[one - 1].text for one in cites if 0 < one <= len(case.contexts)]
        if not texts:
            return False
        judged = await self._judge.support(
            [claim], texts, case.case.question, language=case.case.lang, steps=steps
        )
        return judged[0].supported


def _claims(answer: str) -> list[_Claim]:
    ends = [sentence.end for sentence in sentences(answer)]
    found = []
    for each in statements(answer):
        end = next((end for end in ends if end >= each.end), each.end)
        cites = _cited(each.text) or _cited(answer[each.end : end])
        text = _MARK.sub("", each.claim).strip()
        if has_words(text):
            found.append(_Claim(text, tuple(cites)))
    return found


def _cited(text: str) -> list[int]:
    """Every passage that is named, once; "[2-4]" names three."""
    found: dict[int, None] = {}
    for mark in _MARK.finditer(text):
        for part in re.split(r"\s*[,、，]\s*", mark[1]):
            first, *last = (int(number) for number in re.split(r"\s*[–-]\s*", part))
            found |= dict.fromkeys(range(first, (last[-1] if last else first) + 1))
    return list(found)
