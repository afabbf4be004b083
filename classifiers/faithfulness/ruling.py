"""What becomes of an answer by its verdict. One policy, in one place: nothing else decides what may leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from classifiers.faithfulness import Checked, FaithfulnessVerdict, Unchecked
from classifiers.faithfulness.repair import repaired

__all__ = ["Blocks", "Delivered", "Held", "OnUnchecked", "Repair", "Ruling", "VerdictPolicy"]

Blocks = Literal["any", "mean", "nothing"]
Repair = Literal["none", "drop"]
OnUnchecked = Literal["escalate", "withhold", "deliver"]


@dataclass(frozen=True, slots=True)
class Delivered:
    """The asker gets this text, as the chatbot wrote it but for what was cut out."""

    text: str
    reason: Literal["supported", "repaired", "marked", "unchecked"]
    cut: tuple[str, ...] = ()  # the sentences that were cut out


@dataclass(frozen=True, slots=True)
class Held:
    """The asker does not get the answer; a person does."""

    outcome: Literal["withheld", "escalated"]
    reason: Literal["unsupported_statement", "unchecked"]


Ruling = Delivered | Held


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPolicy:
    """The operator's rules for a verdict.

    Args:
        block: what keeps an answer back: `any` unsupported statement; F below `mean` (RAGAS' rule);
            `nothing`, so that it is only marked.
        repair: `drop` cuts unsupported statements out of an answer that would be kept back, and delivers the
            rest if that still answers the question.
        on_unchecked: what becomes of an answer without a verdict.
    """

    block: Blocks = "any"
    mean: float = 0.8
    repair: Repair = "none"
    on_unchecked: OnUnchecked = "escalate"

    def ruling(self, answer: str, verdict: FaithfulnessVerdict, *, question: str) -> Ruling:
        """What becomes of this answer to this question."""
        match verdict:
            case Checked(passed=True):
                return Delivered(answer, "supported")
            case Checked() if not self._blocks(verdict):
                return Delivered(answer, "marked")
            case Checked():
                rest = repaired(answer, verdict, question=question) if self.repair == "drop" else None
                if rest is None:
                    return Held("withheld", "unsupported_statement")
                return Delivered(rest.text, "repaired", rest.cut)
            case Unchecked():
                return self._unchecked(answer)
            case _:
                assert_never(verdict)

    def _blocks(self, verdict: Checked) -> bool:
        match self.block:
            case "any":
                return True
            case "mean":
                return verdict.faithfulness < self.mean
            case "nothing":
                return False
            case _:
                assert_never(self.block)

    def _unchecked(self, answer: str) -> Ruling:
        match self.on_unchecked:
            case "deliver":
                return Delivered(answer, "unchecked")
            case "withhold":
                return Held("withheld", "unchecked")
            case "escalate":
                return Held("escalated", "unchecked")
            case _:
                assert_never(self.on_unchecked)
