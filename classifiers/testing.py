"""Judges for tests: they say what a script says, and keep the contracts of the real ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from classifiers import ClassifierError
from classifiers.faithfulness import FaithfulnessVerdict, PassageSpan, StatementVerdict, Unchecked, verdict_of
from classifiers.gate import GateLabel, GateVerdict, Neighbour
from classifiers.retrieval import PassageEvidence, RelevanceVerdict
from encoders import Encoded

__all__ = [
    "DeadFaithfulness",
    "DeadGate",
    "ScriptedFaithfulness",
    "ScriptedGate",
    "ScriptedRelevance",
    "ScriptedScope",
]

JUDGE = "scripted@1"
_SCORES: Mapping[GateLabel, float] = {"must": 0.95, "unsure": 0.5, "may": 0.1, "must_not": 0.0}


class ScriptedGate:
    """Lets every question pass but those in the script."""

    def __init__(
        self, script: Mapping[str, GateLabel] | None = None, *, otherwise: GateLabel = "must", topic: str = ""
    ) -> None:
        self._script = dict(script or {})
        self._otherwise: GateLabel = otherwise
        self._topic = topic or None

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """The label that the script gives to this text."""
        label = self._script.get(question.text, self._otherwise)
        return GateVerdict(
            label=label,
            score=_SCORES[label],
            reason=f"the script says {label}",
            nearest=None,
            topic=self._topic if label == "must_not" else None,
            judge=JUDGE,
        )


class DeadGate:
    """A gate that cannot judge."""

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """Never."""
        raise ClassifierError("the gate is dead")


class ScriptedScope:
    """A source of scope that finds what the script says; without a script it is out of reach."""

    def __init__(self, script: Mapping[str, Sequence[Neighbour]] | None) -> None:
        self._script = script

    async def near(self, question: Encoded, /, *, tenant: str, group: str = "") -> Sequence[Neighbour]:
        """The neighbours of this text."""
        if self._script is None:
            raise ClassifierError("the source is dead")
        return self._script.get(question.text, ())


class ScriptedFaithfulness:
    """Supports every answer but those in the script; an answer without contexts stays unchecked."""

    def __init__(self, unsupported: Sequence[str] = (), *, unchecked: Sequence[str] = ()) -> None:
        self._unsupported = frozenset(unsupported)
        self._unchecked = frozenset(unchecked)

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """One statement, the whole answer, supported or not."""
        if not contexts or not answer.strip() or answer in self._unchecked:
            return Unchecked(reason="no_contexts", judge=JUDGE)
        supported = answer not in self._unsupported
        statement = StatementVerdict(
            text=answer,
            start=0,
            end=len(answer),
            state="supported" if supported else "unsupported",
            score=0.95 if supported else 0.05,
            reason="supported" if supported else "the script says no",
            judge=JUDGE,
            span=PassageSpan(0, 0, len(contexts[0]), contexts[0]) if supported else None,
        )
        return verdict_of([statement], judge=JUDGE)


class DeadFaithfulness:
    """A judge of faithfulness that cannot judge."""

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """Never."""
        raise ClassifierError("the judge of faithfulness is dead")


class ScriptedRelevance:
    """Takes every passage for relevant but those in the script."""

    def __init__(self, irrelevant: Sequence[str] = ()) -> None:
        self._irrelevant = frozenset(irrelevant)

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        """Correct if one passage is relevant, else incorrect."""
        scores = tuple(0.0 if passage.text in self._irrelevant else 1.0 for passage in passages)
        return RelevanceVerdict(
            label="correct" if any(scores) else "incorrect",
            scores=scores,
            reason="the script says so",
            judge=JUDGE,
        )
