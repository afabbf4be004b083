"""Whether the documents answer a question, where the gate within finds too little that is like it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from classifiers.gate import Gate, GateVerdict, Neighbour
from classifiers.gate.criteria import can_be_asked
from encoders import Encoded

__all__ = ["Answering", "DocumentedGate"]

RULE = "document"
_SURE = 0.8  # of a passage that overrules a refusal; what is unsure is let through by any that answers


class Answering(Protocol):
    """Documents that are read with a question."""

    async def answering(self, question: Encoded, /) -> Neighbour | None:
        """The passage that answers it, if one does.

        Raises:
            ClassifierError: if the documents cannot be searched or read.
        """
        ...


class DocumentedGate:
    """A gate that lets through what the documents answer: it is ours, though no example looks like it.

    They are read, some 10 ms for each of a dozen sentences, only for what would be refused as not ours or go
    to a person. What is suspected of being forbidden stays where it is.
    """

    def __init__(self, gate: Gate, documents: Answering) -> None:
        self._gate = gate
        self._documents = documents

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """The gate's verdict, or *must* where a passage answers what only scope holds back."""
        verdict = await self._gate.judge(question, tenant=tenant, group=group)
        held_by_scope = verdict.label != "must" and verdict.rule in ("scope", "default")
        if not held_by_scope or verdict.suspected or not can_be_asked(verdict, question.text):
            return verdict
        passage = await self._documents.answering(question)
        if passage is None or (verdict.label == "may" and passage.similarity < _SURE):
            return verdict
        reason = f"a passage answers it: “{' '.join(passage.text.split())[:80]}”; {verdict.reason}"
        return replace(verdict, label="must", rule=RULE, reason=reason, nearest=passage, nearest_ours=None)
