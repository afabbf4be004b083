"""The gate over a conversation: a question is judged with the turns before it in view.

Scope: what the question leans on says whose it is. Forbidden: the worst of the question alone, with what it
leans on, and with all that its asker said shortly before, since attacks are spread over turns and harmless
turns are put in front of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from classifiers.gate import GateVerdict
from classifiers.gate.rules import TORN
from encoders import Encoded, Encoder, encode_one
from gateway.domain import Conversation, Question, Turn
from gateway.gatekeeping.fragments import assembled
from gateway.stages import Gate
from languages.remembering import text_key

__all__ = ["WANTS_PERSON", "ConversationGate"]

WANTS_PERSON = "person"  # the rule for who asks for one, and gets one by any policy
WIDE = 6  # of the asker's last turns, the question included
STANDS = 0.9  # on the axis of scope; "how much is it?" reaches 0.73 by itself, "and when do you close?" 0.98
REMEMBERED, REMEMBERED_S = 4_096, 60.0  # earlier turns; as long may one pass that an admin has just forbidden
_LONG_AGO = (0.0, False)
# Rules that say whose a question is, not that it is forbidden.
_ON_SCOPE = ("empty", "scope", "default", "document", "name")
_BY_WORD = ("example", "entry")  # rules by which a person has decided, as by the allow list


class ConversationGate:
    """Judges questions of conversations, and says which earlier turns may go on to the chatbot."""

    def __init__(self, gate: Gate, encoder: Encoder, *, forbids: Gate | None = None) -> None:
        """`forbids` is asked where only a *must not* counts; it need not know what to do with the unsure."""
        self._gate = gate
        self._encoder = encoder
        self._forbids = forbids or gate
        self._known: dict[tuple[str, str, bytes], tuple[float, bool]] = {}  # until when; forbidden?

    async def judge(self, question: Question, encoded: Encoded, /) -> GateVerdict:
        """The verdict on a question that is `encoded` with what it leans on.

        Raises:
            ClassifierError: when the gate cannot judge.
        """
        verdict = await self._in_turn(question, encoded)
        if question.wants_person and not verdict.rule.startswith("deny:"):
            reason = "the asker wants a person"
            return replace(verdict, label="unsure", rule=WANTS_PERSON, topic=None, reason=reason)
        on_scope = verdict.rule in _ON_SCOPE or (verdict.rule == "llm" and verdict.label == "may")
        if not question.answers_the_bot or verdict.label == "must" or not on_scope:
            return verdict
        reason = f"a short answer to what the bot asked, though {verdict.reason}"
        return replace(verdict, label="must", rule="small_talk", reason=reason)

    async def _in_turn(self, question: Question, encoded: Encoded) -> GateVerdict:
        if question.self_contained:
            return await self._judged(self._gate, question, encoded)
        seen: list[GateVerdict] = []
        verdict = await self._leaning(question, encoded, seen)
        shadow = dict.fromkeys(unenforced for one in seen for unenforced in one.shadow)
        return replace(verdict, shadow=tuple(shadow))

    async def _leaning(self, question: Question, encoded: Encoded, seen: list[GateVerdict]) -> GateVerdict:
        """The verdict on a question that leans on others; every verdict on the way is added to `seen`."""
        views = [await encode_one(self._encoder, text) for text in (question.text, *_spread(question))]
        seen += await asyncio.gather(*(self._judged(self._forbids, question, view) for view in views))
        alone = seen[0]
        if _forbids(alone):
            return alone
        in_view = await self._judged(self._gate, question, encoded)
        seen.append(in_view)
        forbidding = next(filter(_forbids, seen), None)
        if forbidding is not None:
            return alone if _stands(alone) and not _is_allowed(alone) else forbidding
        return alone if in_view.label != "must" and _stands(alone) else in_view

    async def cleared(self, question: Question, /) -> Question:
        """The question without the turns that are forbidden, and without the replies to them.

        Raises:
            ClassifierError: when an earlier turn cannot be judged.
        """
        turns = question.conversation.turns
        said = [turn.text for turn in turns[:-1] if turn.role != "system" and turn.text.strip()]
        forbidden = await self._forbidden(question, tuple(dict.fromkeys(said)))
        if not forbidden:
            return question
        kept = (*_without(turns[:-1], forbidden), turns[-1])
        leans_on = tuple(text for text in question.turns_leaned_on if text not in forbidden)
        conversation: Conversation = replace(question.conversation, turns=kept)
        return replace(question, conversation=conversation, leans_on=leans_on)

    async def _forbidden(self, question: Question, texts: Sequence[str]) -> set[str]:
        """Which of these texts are forbidden; a conversation brings the same ones again with every turn."""
        now = monotonic()
        keys = {text: (question.tenant, question.group, text_key(text)) for text in texts}
        known = {text: self._known.get(key, _LONG_AGO) for text, key in keys.items()}
        unknown = [text for text, (until, _) in known.items() if until < now]
        encoded = [await encode_one(self._encoder, text) for text in unknown]
        verdicts = await asyncio.gather(*(self._judged(self._forbids, question, one) for one in encoded))
        if len(self._known) > REMEMBERED:
            self._known.clear()
        for text, verdict in zip(unknown, verdicts, strict=True):
            known[text] = self._known[keys[text]] = (now + REMEMBERED_S, _forbids(verdict))
        return {text for text, (_, forbidden) in known.items() if forbidden}

    async def _judged(self, gate: Gate, question: Question, encoded: Encoded) -> GateVerdict:
        return await gate.judge(encoded, tenant=question.tenant, group=question.group)


def _forbids(verdict: GateVerdict) -> bool:
    """Whether it keeps what leans on it from the chatbot, too."""
    return verdict.label == "must_not" or verdict.rule == TORN


def _spread(question: Question) -> tuple[str, ...]:
    """The asker's last turns taken together, and what their pieces give."""
    before = [turn.text for turn in question.conversation.turns[:-1] if turn.role == "user"]
    said = [*before[-(WIDE - 1) :], question.text]
    together = ["\n".join(said)] if len(said) > len(question.turns_leaned_on) + 1 else []
    return (*together, *assembled(said))


def _stands(alone: GateVerdict) -> bool:
    by_word = alone.rule in _BY_WORD or _is_allowed(alone)
    return alone.label == "must" and (by_word or (alone.scope or 0.0) >= STANDS)


def _is_allowed(alone: GateVerdict) -> bool:
    """Whether the allow list lets it pass, which says nothing of what other turns ask for."""
    return alone.rule.startswith("allow:")


def _without(turns: Sequence[Turn], forbidden: set[str]) -> list[Turn]:
    """The turns that are not forbidden; what the assistant replied to one that is goes with it."""
    kept: list[Turn] = []
    dropped = False
    for turn in turns:
        dropped = turn.text in forbidden or (dropped and turn.role == "assistant")
        if not dropped:
            kept.append(turn)
    return kept
