"""Whether the documents answer a question, where the gate within finds too little that is like it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from classifiers.gate import Gate, GateLabel, GateVerdict, Neighbour
from classifiers.gate.criteria import can_be_asked
from classifiers.gate.rules import EVERY_RULE, TORN, Rules
from encoders import Encoded

__all__ = ["Answering", "DocumentedGate", "Read"]

RULE = "document"
_SURE = 0.8  # of a passage that overrules a refusal; what is unsure is let through by any that answers
# Of one that may answer: then nobody is refused outright. Of the questions that were refused at the
# helpdesks of training/desks 14 of 20 that are ours found such a passage, and 6 of 40 that are not.
_PERHAPS = 0.25


@dataclass(frozen=True, slots=True)
class Read:
    """What the documents say to a question."""

    passage: Neighbour  # the likeliest; its similarity is the probability that it answers
    answers: bool

    @property
    def sure(self) -> bool:
        """Whether so surely that it overrules a refusal."""
        return self.answers and self.passage.similarity >= _SURE


class Answering(Protocol):
    """Documents that are read with a question."""

    async def read(self, question: Encoded, /) -> Read | None:
        """The passage that likeliest answers it; None where none has to do with it.

        Raises:
            ClassifierError: if the documents cannot be searched or read.
        """
        ...


class DocumentedGate:
    """A gate that lets through what the documents answer: it is ours, though no example looks like it.

    They are read, some 10 ms for each of a dozen sentences, only for what would be refused or go to a person.
    What looks forbidden, or is suspected of it and would be refused as not ours, goes to a person at most.
    """

    def __init__(self, gate: Gate, documents: Answering, rules: Rules = EVERY_RULE) -> None:
        """`rules`: what the operator wants done with what is unsure."""
        self._gate = gate
        self._documents = documents
        self._doubts_go_to_people = rules.default in (None, "escalate") and not rules.is_quiet("unsure")

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """The gate's verdict, or another where a passage answers, or may answer, what it holds back."""
        verdict = await self._gate.judge(question, tenant=tenant, group=group)
        by_scope = verdict.rule in ("scope", "default") and verdict.label != "must"
        forbidden = verdict.rule == "forbidden" and verdict.label == "must_not"
        stays = verdict.suspected and verdict.label == "unsure"  # a person has it already
        if stays or not (by_scope or forbidden) or not can_be_asked(verdict, question.text):
            return verdict
        read = await self._documents.read(question)
        if read is None:
            return verdict
        return (self._ours if by_scope else self._torn)(verdict, read)

    def _ours(self, verdict: GateVerdict, read: Read) -> GateVerdict:
        refused = verdict.label == "may"
        if verdict.suspected:
            likely = self._doubts_go_to_people and read.passage.similarity >= _PERHAPS
            return _told(verdict, read, "unsure", TORN, "a passage may answer it") if likely else verdict
        if read.sure or (read.answers and not refused):
            return _told(verdict, read, "must", RULE, "a passage answers it")
        if refused and self._doubts_go_to_people and read.passage.similarity >= _PERHAPS:
            return _told(verdict, read, "unsure", RULE, "a passage may answer it")
        return verdict

    def _torn(self, verdict: GateVerdict, read: Read) -> GateVerdict:
        if read.answers and self._doubts_go_to_people:
            return _told(verdict, read, "unsure", TORN, "a passage answers it")
        return verdict


def _told(verdict: GateVerdict, read: Read, label: GateLabel, rule: str, why: str) -> GateVerdict:
    reason = f"{why}: “{' '.join(read.passage.text.split())[:80]}”; {verdict.reason}"
    return replace(verdict, label=label, rule=rule, reason=reason, nearest=read.passage, nearest_ours=None)
