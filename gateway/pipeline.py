"""The way of a question: understand, gate, cache, RAG, faithfulness; a person where one of them stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from cache.matching import Hit, Match, Miss
from classifiers import ClassifierError
from classifiers.faithfulness import FaithfulnessVerdict
from classifiers.faithfulness.ruling import Delivered
from classifiers.gate import GateVerdict
from encoders import Encoded, Encoder, EncoderError, encode_one
from gateway.checking.drafts import DraftCheck
from gateway.domain import (
    Answered,
    Conversation,
    Draft,
    FrontEndTask,
    NothingRelevant,
    Outcome,
    Question,
    Refused,
    Reply,
    Understood,
)
from gateway.errors import TicketNotStored, UpstreamUnavailable
from gateway.handover import Handover
from gateway.replies import Replies
from gateway.stages import (
    NO_NEWS,
    Cache,
    Chosen,
    News,
    NextTurn,
    QuestionGate,
    Rag,
    Understanding,
    Watch,
)
from gateway.streaming import AskerHungUp, Line, Release, StreamMode
from gateway.tracing import in_question
from gateway.way import Judged, Reading, Way, choices_of, ms_since
from storage.outages import DatabaseUnavailable

__all__ = ["Pipeline"]

T = TypeVar("T")


class Pipeline:
    """Answers conversations. Every question ends in exactly one outcome, or the asker gets an error."""

    def __init__(
        self,
        *,
        understanding: Understanding,
        encoder: Encoder,
        gate: QuestionGate,
        cache: Cache,
        rag: Rag,
        check: DraftCheck,
        handover: Handover,
        replies: Replies,
        watch: Watch,
        next_turn: NextTurn | None = None,
        streaming: StreamMode = "buffer",
    ) -> None:
        self._understanding = understanding
        self._encoder = encoder
        self._gate = gate
        self._cache = cache
        self._rag = rag
        self._check = check
        self._handover = handover
        self._replies = replies
        self._watch = watch
        self._next_turn = next_turn
        self._streaming: StreamMode = streaming

    async def answer(self, conversation: Conversation, line: Line | None = None) -> Reply:
        """Take a message through the checkpoint, each of its questions by itself.

        Who reads along on a line may get a part of the answer before the reply, if it has one question.
        Who hangs up on theirs is not waited for by the chatbot.

        Raises:
            TicketNotStored: a question could not be kept for a person.
            AskerHungUp: they hung up before anything was decided.
        """
        if conversation.task:
            return self._done(conversation.task, conversation)
        understood = await self._understanding.understand(conversation)
        alone = len(understood.questions) == 1 and conversation.choices == 1
        reading = Reading(line, self._streaming if alone and line and not line.whole else "buffer")
        news = NO_NEWS
        if line and reading.along:  # it is the first that they read
            news = await self._news(conversation, understood, line)
            line.introduce(news.text)
        outcomes = await _together(self._outcome(one, reading) for one in understood.questions)
        if not reading.along:  # told last, so that it is not lost where no reply leaves
            news = await self._news(conversation, understood, line)
        reply = self._replies.reply(understood, outcomes, choices=conversation.choices)
        return reply.introduced(news.text, news.tickets)

    async def _news(self, conversation: Conversation, understood: Understood, line: Line | None) -> News:
        """What people answered since; an asker who hung up would not read it, and gets it another time."""
        if self._next_turn is None or (line and line.hung_up.is_set()):
            return NO_NEWS
        return await self._next_turn.take(conversation, understood.language)

    def _done(self, task: FrontEndTask, conversation: Conversation) -> Reply:
        """The reply to a front end, which asks nothing: no stage is told of it."""
        self._watch.front_end_task(task)
        return self._replies.done(task, choices=conversation.choices)

    async def _outcome(self, question: Question, reading: Reading) -> Outcome:
        started, way = perf_counter(), Way(reading)
        with in_question(question) as tell:
            try:
                outcome = await self._walk(question, way)
            except TicketNotStored:
                raise  # nobody was told, so the asker must be
            except AskerHungUp:
                self._watch.hung_up(question)
                raise
            except Exception as exc:  # noqa: BLE001 - the one boundary: whatever broke, a person gets the question
                self._watch.failure(question, exc)
                outcome = await self._handover.hold(question, way, reason=_failure(exc))
            tell(outcome)
        self._watch.outcome(outcome, ms=ms_since(started))
        return outcome

    async def _walk(self, question: Question, way: Way) -> Outcome:
        encoded = await encode_one(self._encoder, question.in_view)
        gate = await way.step("gate", self._gate.judge(question, encoded))
        if gate.label in ("may", "must_not"):
            return self._refuse(question, way, gate)

        if question.self_contained:
            found = await way.step("cache", self._look_up(question, encoded))
            if isinstance(found, Hit):  # a person verified it, which also settles whose question it is
                return self._serve(question, way, found)
        if gate.label == "unsure":
            reason = "person_wanted" if question.wants_person else "gate_unsure"
            return await self._handover.hold(question, way, reason=reason)

        draft = await way.step("rag", self._draft(question, encoded, way.reading))
        if isinstance(draft, NothingRelevant):
            return await self._handover.hold(question, way, reason="nothing_relevant")
        judged = await _together(self._judged(question, one, its) for one, its in way.choices(draft))
        return await self._decide(question, judged, self._check.mode_of(question, draft))

    async def _look_up(self, question: Question, encoded: Encoded) -> Match:
        try:
            found = await self._cache.find(
                encoded, tenant=question.tenant, group=question.group, language=question.language
            )
        except DatabaseUnavailable as dead:
            return Miss(reason=str(dead), lookup_failed=True)
        if not isinstance(found, Hit) or found.tier == "exact":
            return found
        if question.wants_person:
            return Miss(reason="the asker wants a person, and the nearest entry was not written for that")
        if question.parts:
            return Miss(reason="it asks several things, and the nearest entry at most one")
        return found

    async def _draft(self, question: Question, encoded: Encoded, reading: Reading) -> Draft | NothingRelevant:
        """What RAG says, which sees no earlier turn that the gate forbids."""
        cleared = await self._gate.cleared(question)
        if cleared.in_view != question.in_view:
            encoded = await encode_one(self._encoder, cleared.in_view)
        if reading.line is None:
            return await self._rag.ask(cleared, encoded)
        release = Release(reading.line, reading.mode, partial(self._check.may_leave, question, reading.mode))
        try:
            return await release.follow(partial(self._rag.ask, cleared, encoded))
        finally:
            if release.waited_for_contexts:
                self._watch.held_for_contexts(question)

    async def _judged(self, question: Question, draft: Draft, way: Way) -> Judged:
        verdict = await way.step("faithfulness", self._check.verdict(question, draft))
        ruling = self._check.ruling(question, draft, verdict, seen=way.reading.seen)
        return Judged(draft, verdict, ruling, way)

    async def _decide(self, question: Question, judged: Sequence[Judged], chosen: Chosen) -> Outcome:
        """The worst choice decides; each choice that may be delivered is, beside it."""
        worst = max(judged, key=lambda one: one.badness)
        way, verdict, ruling = worst.way, worst.verdict, worst.ruling
        outcome: Outcome
        if chosen.mode == "human_first":
            return await self._handover.hold(question, way, reason="human_first", verdict=verdict)
        if isinstance(ruling, Delivered):
            outcome = await self._tell(question, way, ruling, verdict, chosen)
        elif way.reading.seen and worst.draft.text:
            outcome = await self._seen(question, worst, reason=ruling.reason)
        else:
            outcome = await self._handover.hold(
                question, way, reason=ruling.reason, verdict=verdict, outcome=ruling.outcome
            )
        return outcome if len(judged) == 1 else replace(outcome, choices=choices_of(judged, outcome))

    async def _tell(
        self, question: Question, way: Way, told: Delivered, verdict: FaithfulnessVerdict, chosen: Chosen
    ) -> Answered:
        """The draft is the answer; where the operator wants such answers read, a person gets it, too."""
        if chosen.reviewed:
            await self._handover.ticket(question, way, outcome="answered", reason="answer_then_review")
        return Answered(
            question=question,
            text=told.text,
            source="rag",
            reason=told.reason,
            verdict=verdict,
            cut=told.cut,
            steps=way.steps,
        )

    async def _seen(self, question: Question, judged: Judged, *, reason: str) -> Answered:
        """The asker has read it already: they are told the verdict, and a person gets a ticket."""
        way = judged.way
        ticket = await self._handover.ticket(question, way, outcome="answered", reason=reason)
        return Answered(
            question=question,
            text=judged.draft.written,
            source="rag",
            reason=reason,
            verdict=judged.verdict,
            ticket=ticket,
            steps=way.steps,
        )

    def _serve(self, question: Question, way: Way, found: Hit) -> Answered:
        return Answered(
            question=question,
            text=found.entry.answer,
            source=found.entry.kind,
            reason=f"verified_{found.tier}",
            entry=found.entry.id,
            steps=way.steps,
        )

    def _refuse(self, question: Question, way: Way, gate: GateVerdict) -> Refused:
        return Refused(
            question=question,
            text=self._replies.refusal(gate, question),
            reason=f"{gate.label}:{gate.topic}" if gate.topic else gate.label,
            steps=way.steps,
        )


async def _together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What each gives, in order; if one fails, the others are cancelled: nobody would read what they give."""
    try:
        async with asyncio.TaskGroup() as group:
            each = [group.create_task(one) for one in work]
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
    return [one.result() for one in each]


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
