"""Whether a draft may be delivered: judged in time, then ruled on by the operator's policy and by topic."""

from __future__ import annotations

from dataclasses import replace

from classifiers.faithfulness import FaithfulnessVerdict, Unchecked
from classifiers.faithfulness.ruling import Delivered, Ruling, VerdictPolicy
from gateway.checking import checked_within
from gateway.domain import Draft, Question
from gateway.stages import Chosen, Judge, Modes
from gateway.streaming import Leaves, Part, Stops, StreamMode, Waits

__all__ = ["DraftCheck"]

_STRICT = VerdictPolicy()


class DraftCheck:
    """The judge with its patience, the operator's policy on its verdicts, and who answers by topic."""

    def __init__(
        self,
        judge: Judge,
        policy: VerdictPolicy = _STRICT,
        *,
        timeout_s: float = 10.0,
        modes: Modes | None = None,
    ) -> None:
        self._judge = judge
        self._policy = policy
        self._timeout_s = timeout_s
        self._modes = modes

    async def verdict(self, question: Question, draft: Draft) -> FaithfulnessVerdict:
        """The verdict on a draft; a judge that fails or is too slow has not checked."""
        if draft.unreadable:
            return Unchecked(reason=draft.unreadable, judge="none")
        contexts = [passage.text for passage in draft.contexts]
        return await checked_within(
            self._timeout_s, self._judge, draft.text, contexts, question=question.text
        )

    def ruling(
        self, question: Question, draft: Draft, verdict: FaithfulnessVerdict, *, seen: bool = False
    ) -> Ruling:
        """What becomes of it; from what was `seen` nothing can be cut any more."""
        policy = replace(self._policy, repair="none") if seen else self._policy
        if draft.unreadable:  # there is nothing that could be delivered
            policy = _STRICT
        return policy.ruling(draft.written if seen else draft.text, verdict, question=question.text)

    def mode_of(self, question: Question, draft: Draft) -> Chosen:
        """Who answers: people, RAG, or RAG with people looking on."""
        if self._modes is None:
            return Chosen("automatic")
        contexts = tuple(context for choice in draft.choices for context in choice.contexts)
        return self._modes.choose(question, replace(draft, contexts=contexts))

    async def may_leave(self, question: Question, mode: StreamMode, part: Draft) -> Part:
        """What of a draft may leave while it is written: what the asker would get if it ended here."""
        if self._modes and self._modes.by_documents and not part.contexts:
            return Waits()
        if self.mode_of(question, part).mode == "human_first":
            return Stops()
        if mode == "observe":
            return Leaves(part.text)  # this protects nobody: the verdict comes after the words
        verdict = await self.verdict(question, part)
        if isinstance(verdict, Unchecked):
            return Waits()  # it is judged again with what follows, at last with all of it
        ruling = self.ruling(question, part, verdict)
        if isinstance(ruling, Delivered):
            return Leaves(ruling.text)
        return Waits() if self._policy.repair == "drop" else Stops()
