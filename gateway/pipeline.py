"""The way of a question: understand, gate, cache, RAG, faithfulness; a person where one of them stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from time import perf_counter
from typing import TypeVar

from cache.matching import Hit, NearMiss
from classifiers import ClassifierError
from classifiers.faithfulness import FaithfulnessVerdict, Unchecked
from classifiers.faithfulness.ruling import Delivered, VerdictPolicy
from classifiers.gate import GateVerdict
from encoders import Encoded, Encoder, EncoderError, encode_one
from gateway.domain import (
    Answered,
    Conversation,
    Draft,
    Escalated,
    Finding,
    NothingRelevant,
    Offer,
    Outcome,
    Question,
    Refused,
    Reply,
    Stage,
    Step,
    Withheld,
)
from gateway.errors import TicketNotStored, UpstreamUnavailable
from gateway.gatekeeping.turns import ConversationGate
from gateway.replies import Replies
from gateway.review.modes import Chosen
from gateway.stages import (
    Cache,
    DidYouMean,
    Gate,
    Judge,
    Modes,
    NextTurn,
    Rag,
    Reviewers,
    Understanding,
    Watch,
)
from gateway.tracing import in_question, in_stage

__all__ = ["Pipeline"]

F = TypeVar("F", bound=Finding)
_STRICT = VerdictPolicy()


class Pipeline:
    """Answers conversations. Every question ends in exactly one outcome, or the asker gets an error."""

    def __init__(
        self,
        *,
        understanding: Understanding,
        encoder: Encoder,
        gate: Gate,
        forbids: Gate | None = None,
        cache: Cache,
        rag: Rag,
        judge: Judge,
        reviewers: Reviewers,
        replies: Replies,
        watch: Watch,
        did_you_mean: DidYouMean | None = None,
        modes: Modes | None = None,
        next_turn: NextTurn | None = None,
        verdicts: VerdictPolicy = _STRICT,
        judge_timeout_s: float = 10.0,
    ) -> None:
        self._understanding = understanding
        self._encoder = encoder
        self._gate = ConversationGate(gate, encoder, forbids=forbids)
        self._cache = cache
        self._rag = rag
        self._judge = judge
        self._reviewers = reviewers
        self._replies = replies
        self._watch = watch
        self._did_you_mean = did_you_mean
        self._modes = modes
        self._next_turn = next_turn
        self._verdicts = verdicts
        self._judge_timeout_s = judge_timeout_s

    async def answer(self, conversation: Conversation) -> Reply:
        """Take a message through the checkpoint, each of its questions by itself."""
        understood = await self._understanding.understand(conversation)
        outcomes = await asyncio.gather(*(self._outcome(question) for question in understood.questions))
        reply = self._replies.reply(understood, outcomes)
        return await self._next_turn.told(reply, conversation) if self._next_turn else reply

    async def _outcome(self, question: Question) -> Outcome:
        started, way = perf_counter(), _Way()
        with in_question(question) as tell:
            try:
                outcome = await self._walk(question, way)
            except TicketNotStored:
                raise  # nobody was told, so the asker must be
            except Exception as exc:  # noqa: BLE001 - the one boundary: whatever broke, a person gets the question
                self._watch.failure(question, exc)
                outcome = await self._escalate(question, way, reason=_failure(exc))
            tell(outcome)
        self._watch.outcome(outcome, ms=_ms_since(started))
        return outcome

    async def _walk(self, question: Question, way: _Way) -> Outcome:
        encoded = await encode_one(self._encoder, question.in_view)
        gate = await way.step("gate", self._gate.judge(question, encoded))
        if gate.label in ("may", "must_not"):
            return self._refuse(question, way, gate)

        if question.self_contained:
            found = await way.step(
                "cache",
                self._cache.find(
                    encoded, tenant=question.tenant, group=question.group, language=question.language
                ),
            )
            if isinstance(
                found, Hit
            ):  # a person verified this answer, which also settles whose question it is
                return Answered(
                    question=question,
                    text=found.entry.answer,
                    source=found.entry.kind,
                    reason=f"verified_{found.tier}",
                    entry=found.entry.id,
                    steps=way.steps,
                )
        if gate.label == "unsure":
            return await self._escalate(question, way, reason="gate_unsure")

        draft = await way.step("rag", self._draft(question, encoded))
        if isinstance(draft, NothingRelevant):
            return await self._escalate(question, way, reason="nothing_relevant")
        verdict = await way.step("faithfulness", self._check(question, draft))
        chosen = self._modes.choose(question, draft) if self._modes else Chosen("automatic")
        if chosen.mode == "human_first":
            return await self._escalate(question, way, reason="human_first", verdict=verdict)
        verdicts = _STRICT if draft.unreadable else self._verdicts
        ruling = verdicts.ruling(draft.text, verdict, question=question.text)
        if isinstance(ruling, Delivered):
            return await self._tell(question, way, ruling, verdict, chosen)
        hold = self._withhold if ruling.outcome == "withheld" else self._escalate
        return await hold(question, way, reason=ruling.reason, verdict=verdict)

    async def _draft(self, question: Question, encoded: Encoded) -> Draft | NothingRelevant:
        """What RAG says, which sees no earlier turn that the gate forbids."""
        cleared = await self._gate.cleared(question)
        if cleared.in_view != question.in_view:
            encoded = await encode_one(self._encoder, cleared.in_view)
        return await self._rag.ask(cleared, encoded)

    async def _check(self, question: Question, draft: Draft) -> FaithfulnessVerdict:
        """The verdict on a draft; a judge that fails or is too slow has not checked."""
        if draft.unreadable:
            return Unchecked(reason=draft.unreadable, judge="none")
        try:
            async with asyncio.timeout(self._judge_timeout_s):
                return await self._judge.judge(
                    draft.text, [passage.text for passage in draft.contexts], question=question.text
                )
        except TimeoutError:
            return Unchecked(reason="judge_too_slow", judge="none")
        except ClassifierError:
            return Unchecked(reason="judge_failed", judge="none")

    async def _tell(
        self, question: Question, way: _Way, told: Delivered, verdict: FaithfulnessVerdict, chosen: Chosen
    ) -> Answered:
        """The draft is the answer; where the operator wants such answers read, a person gets it, too."""
        if chosen.reviewed:
            await self._reviewers.open(
                question, outcome="answered", reason="answer_then_review", steps=way.steps
            )
        return Answered(
            question=question,
            text=told.text,
            source="rag",
            reason=told.reason,
            verdict=verdict,
            cut=told.cut,
            steps=way.steps,
        )

    def _refuse(self, question: Question, way: _Way, gate: GateVerdict) -> Refused:
        return Refused(
            question=question,
            text=self._replies.refusal(gate, question),
            reason=f"{gate.label}:{gate.topic}" if gate.topic else gate.label,
            steps=way.steps,
        )

    async def _withhold(
        self, question: Question, way: _Way, *, reason: str, verdict: FaithfulnessVerdict
    ) -> Withheld:
        offers = await self._offers(question, way)
        ticket = await self._reviewers.open(question, outcome="withheld", reason=reason, steps=way.steps)
        return Withheld(
            question=question,
            text=self._replies.withheld(question, ticket, reason, offers),
            reason=reason,
            ticket=ticket,
            verdict=verdict,
            did_you_mean=offers,
            steps=way.steps,
        )

    async def _escalate(
        self, question: Question, way: _Way, *, reason: str, verdict: FaithfulnessVerdict | None = None
    ) -> Escalated:
        offers = await self._offers(question, way)
        ticket = await self._reviewers.open(question, outcome="escalated", reason=reason, steps=way.steps)
        return Escalated(
            question=question,
            text=self._replies.escalated(question, ticket, reason, offers),
            reason=reason,
            ticket=ticket,
            verdict=verdict,
            did_you_mean=offers,
            steps=way.steps,
        )

    async def _offers(self, question: Question, way: _Way) -> tuple[Offer, ...]:
        """Entries to ask the asker about, where the cache nearly had one."""
        nearly = any(isinstance(step.found, NearMiss) for step in way.steps)
        if self._did_you_mean is None or not nearly or way.offered:
            return ()
        way.offered = True  # one try: if that is what breaks, the question still gets to a person
        return (await way.step("did_you_mean", self._did_you_mean.near(question))).offers


class _Way:
    """The steps a question has taken so far; a failed stage leaves those before it."""

    def __init__(self) -> None:
        self.steps: tuple[Step, ...] = ()
        self.offered = False

    async def step(self, stage: Stage, work: Awaitable[F]) -> F:
        started = perf_counter()
        with in_stage(stage) as tell:
            found = await work
            tell(found)
        self.steps += (Step(stage, _ms_since(started), found),)
        return found


def _failure(exc: Exception) -> str:
    match exc:
        case ClassifierError():
            return "classifier_failed"
        case EncoderError():
            return "encoder_failed"
        case UpstreamUnavailable():
            return "upstream_unavailable"
        case _:
            return "internal_error"


def _ms_since(started: float) -> float:
    return (perf_counter() - started) * 1000
