"""The way of a question: whatever a stage says, or fails to say, there is one outcome and it is the safe one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import numpy as np
import pytest

from cache.entries import Entry
from cache.matching import Hit, Match, Miss, NearMiss
from classifiers import ClassifierError
from classifiers.faithfulness import (
    FaithfulnessJudge,
    FaithfulnessVerdict,
    StatementVerdict,
    Unchecked,
    verdict_of,
)
from classifiers.faithfulness.ruling import OnUnchecked, VerdictPolicy
from classifiers.gate import GateLabel, GateVerdict
from encoders import Encoded, EncoderError, EncoderIdentity, Vector
from gateway.checking.drafts import DraftCheck
from gateway.domain import (
    Conversation,
    Draft,
    Failed,
    FrontEndTask,
    NothingRelevant,
    OnDraft,
    Outcome,
    Passage,
    Question,
    Reply,
    Turn,
    Understood,
)
from gateway.errors import TicketNotStored, UpstreamUnavailable
from gateway.gatekeeping.turns import ConversationGate
from gateway.handover import Handover
from gateway.pipeline import Pipeline
from gateway.replies import Replies
from gateway.settings import PolicySettings
from gateway.stages import DidYouMean

REPLIES = Replies(PolicySettings())
ENTRY = Entry(
    id="e1",
    tenant="default",
    kind="ground_truth",
    language="en",
    phrasings=("When are you open?",),
    answer="From 9 to 5.",
    state="active",
    created_at=datetime.now(UTC),
    updated_at=datetime.now(UTC),
)
HIT = Hit(entry=ENTRY, phrasing=ENTRY.question, tier="vector", score=0.97, reason="reaches the cut")
NEAR_MISS = NearMiss(entry=ENTRY, phrasing=ENTRY.question, score=0.9, reason="numbers differ")
MISS = Miss(reason="nothing close")
DEAD_INDEX = Miss(reason="index away", lookup_failed=True)
DRAFT = Draft(text="Nine to five.", contexts=(Passage(text="We open at nine."),), model="m")


def gate(label: GateLabel, topic: str | None = None) -> GateVerdict:
    return GateVerdict(
        label=label, score=0.5, reason="said the test", nearest=None, topic=topic, judge="test"
    )


def checked(*, passed: bool) -> FaithfulnessVerdict:
    statement = StatementVerdict(
        text="Nine to five.",
        start=0,
        end=13,
        state="supported" if passed else "unsupported",
        score=0.5,
        reason="",
        judge="test",
    )
    return verdict_of([statement], judge="test")


@dataclass
class Stages:
    """Every stage says what the test put here, or raises it."""

    gate_says: GateVerdict | Exception = field(default_factory=lambda: gate("must"))
    cache_says: Match | Exception = MISS
    rag_says: Draft | NothingRelevant | Exception = DRAFT
    judge_says: FaithfulnessVerdict | Exception | float = field(default_factory=lambda: checked(passed=True))
    ticket_says: str | Exception = "T-1"
    encoder_says: Exception | None = None
    self_contained: bool = True
    parts: tuple[str, ...] = ()
    wants_person: bool = False
    texts: tuple[str, ...] = ("When are you open?",)
    did_you_mean: DidYouMean | None = None
    identity: ClassVar[EncoderIdentity] = EncoderIdentity("test", 2, "test", ())
    called: list[str] = field(default_factory=list)
    gate_saw: list[str] = field(default_factory=list)
    opened: list[dict[str, Any]] = field(default_factory=list)
    watched: list[Outcome] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    tasks: list[FrontEndTask] = field(default_factory=list)
    hung_up: int = 0
    held: int = 0

    def pipeline(
        self, on_unchecked: OnUnchecked = "escalate", *, judge: FaithfulnessJudge | None = None
    ) -> Pipeline:
        return Pipeline(
            understanding=self, encoder=self, gate=ConversationGate(_Gate(self), self), cache=self, rag=self,
            check=DraftCheck(judge or _Judge(self), VerdictPolicy(on_unchecked=on_unchecked), timeout_s=0.05),
            handover=Handover(self, REPLIES, self.did_you_mean), replies=REPLIES, watch=_Watch(self),
        )  # fmt: skip

    async def understand(self, conversation: Conversation, /) -> Understood:
        questions = tuple(
            Question(
                text=text,
                language="en",
                conversation=conversation,
                self_contained=self.self_contained,
                parts=self.parts,
                wants_person=self.wants_person,
            )
            for text in self.texts
        )
        return Understood(questions, "en")

    async def encode(self, texts: Sequence[str], /) -> Vector:
        if self.encoder_says:
            raise self.encoder_says
        return np.ones((len(texts), 2), dtype=np.float32)

    async def find(self, question: Encoded, /, *, tenant: str, language: str, group: str = "") -> Match:
        return said(self, "cache", self.cache_says)

    async def ask(
        self, question: Question, encoded: Encoded, /, on_draft: OnDraft | None = None
    ) -> Draft | NothingRelevant:
        return said(self, "rag", self.rag_says)

    async def open(self, question: Question, **told: Any) -> str:
        self.opened.append({"question": question, **told})
        return said(self, "ticket", self.ticket_says)


def said(stages: Stages, stage: str, what: Any) -> Any:
    stages.called.append(stage)
    if isinstance(what, Exception):
        raise what
    return what


@dataclass
class _Gate:
    stages: Stages

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        self.stages.gate_saw.append(question.text)
        verdict: GateVerdict = said(self.stages, "gate", self.stages.gate_says)
        return verdict


@dataclass
class _Judge:
    stages: Stages

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        if isinstance(self.stages.judge_says, float):
            await asyncio.sleep(self.stages.judge_says)
        verdict: FaithfulnessVerdict = said(self.stages, "faithfulness", self.stages.judge_says)
        return verdict


@dataclass
class _Watch:
    stages: Stages

    def outcome(self, outcome: Outcome, /, *, ms: float) -> None:
        self.stages.watched.append(outcome)

    def front_end_task(self, task: FrontEndTask, /) -> None:
        self.stages.tasks.append(task)

    def failure(self, question: Question, exc: Exception, /) -> None:
        self.stages.failures.append(exc)

    def hung_up(self, question: Question, /) -> None:
        self.stages.hung_up += 1

    def held_for_contexts(self, question: Question, /) -> None:
        self.stages.held += 1


async def ask(stages: Stages, on_unchecked: OnUnchecked = "escalate", *turns: Turn) -> Reply:
    asked = Conversation(
        turns=turns or (Turn("user", "When are you open?"),), tenant="default", request_id="r"
    )
    return await stages.pipeline(on_unchecked).answer(asked)


@pytest.mark.parametrize(
    ("stages", "outcome", "reason", "called"),
    [
        pytest.param(Stages(), "rag", "supported", ["gate", "cache", "rag", "faithfulness"], id="supported"),
        pytest.param(Stages(cache_says=HIT), "ground_truth", "verified_vector", ["gate", "cache"], id="verified"),
        pytest.param(Stages(cache_says=NEAR_MISS), "rag", "supported", ["gate", "cache", "rag", "faithfulness"], id="near miss is a miss"),
        pytest.param(Stages(cache_says=DEAD_INDEX), "rag", "supported", ["gate", "cache", "rag", "faithfulness"], id="dead index is a miss"),
        pytest.param(Stages(gate_says=gate("may")), "refused", "may", ["gate"], id="may"),
        pytest.param(Stages(gate_says=gate("must_not"), cache_says=HIT), "refused", "must_not", ["gate"], id="must not comes before a hit"),
        pytest.param(Stages(gate_says=gate("must_not", "crime")), "refused", "must_not:crime", ["gate"], id="forbidden topic"),
        pytest.param(Stages(gate_says=gate("unsure")), "escalated", "gate_unsure", ["gate", "cache", "ticket"], id="unsure never reaches rag"),
        pytest.param(Stages(gate_says=gate("unsure"), cache_says=HIT), "ground_truth", "verified_vector", ["gate", "cache"], id="a verified answer settles unsure"),
        pytest.param(Stages(rag_says=NothingRelevant("none")), "escalated", "nothing_relevant", ["gate", "cache", "rag", "ticket"], id="nothing relevant"),
        pytest.param(Stages(judge_says=checked(passed=False)), "withheld", "unsupported_statement", ["gate", "cache", "rag", "faithfulness", "ticket"], id="unsupported"),
        pytest.param(Stages(judge_says=Unchecked(reason="no_contexts", judge="test")), "escalated", "unchecked", ["gate", "cache", "rag", "faithfulness", "ticket"], id="unchecked"),
        pytest.param(Stages(judge_says=ClassifierError("dead")), "escalated", "unchecked", ["gate", "cache", "rag", "faithfulness", "ticket"], id="dead judge"),
        pytest.param(Stages(judge_says=1.0), "escalated", "unchecked", ["gate", "cache", "rag", "ticket"], id="slow judge"),
        pytest.param(Stages(gate_says=ClassifierError("dead")), "escalated", "classifier_failed", ["gate", "ticket"], id="dead gate"),
        pytest.param(Stages(encoder_says=EncoderError("dead")), "escalated", "encoder_failed", ["ticket"], id="dead encoder"),
        pytest.param(Stages(rag_says=UpstreamUnavailable("dead")), "escalated", "upstream_unavailable", ["gate", "cache", "rag", "ticket"], id="dead chatbot"),
        pytest.param(Stages(cache_says=KeyError("a bug")), "escalated", "internal_error", ["gate", "cache", "ticket"], id="a bug in a stage"),
        pytest.param(Stages(self_contained=False, cache_says=HIT), "rag", "supported", ["gate", "gate", "rag", "faithfulness"], id="a follow-up is never looked up"),
        pytest.param(Stages(wants_person=True, cache_says=HIT), "escalated", "person_wanted", ["gate", "cache", "ticket"], id="who wants a person gets no answer to something near"),
        pytest.param(Stages(wants_person=True, cache_says=replace(HIT, tier="exact")), "ground_truth", "verified_exact", ["gate", "cache"], id="but one to these words"),
        pytest.param(Stages(parts=("When?", "How much?"), cache_says=HIT), "rag", "supported", ["gate", "cache", "rag", "faithfulness"], id="an answer to one question is none to two"),
        pytest.param(Stages(parts=("When?", "How much?"), cache_says=replace(HIT, tier="exact")), "ground_truth", "verified_exact", ["gate", "cache"], id="but one to both in these words"),
    ],
)  # fmt: skip
async def test_every_question_ends_in_one_outcome(
    stages: Stages, outcome: str, reason: str, called: list[str]
) -> None:
    reply = await ask(stages)
    assert (reply.outcomes[0].name, reply.outcomes[0].reason) == (outcome, reason)
    assert stages.called == called
    assert list(reply.outcomes) == stages.watched


@pytest.mark.parametrize("judge", [Unchecked(reason="x", judge="t"), ClassifierError("x"), 1.0])
@pytest.mark.parametrize(
    ("policy", "outcome"), [("escalate", "escalated"), ("withhold", "withheld"), ("deliver", "rag")]
)
async def test_unchecked_has_its_own_policy(
    judge: FaithfulnessVerdict | Exception | float, policy: OnUnchecked, outcome: str
) -> None:
    reply = await ask(Stages(judge_says=judge), policy)
    assert reply.name == outcome
    assert reply.outcomes[0].reason == "unchecked"
    if outcome != "rag":
        assert "Nine to five" not in reply.text


async def test_a_ticket_that_cannot_be_stored_is_an_error_to_the_asker() -> None:
    with pytest.raises(TicketNotStored):
        await ask(Stages(gate_says=gate("unsure"), ticket_says=TicketNotStored("disk full")))


async def test_a_question_that_cannot_be_kept_ends_the_others_of_its_message() -> None:
    class OneIsLost(Stages):
        """The first question can't be kept; the second would be answered much later."""

        lost = asyncio.Event()

        async def ask(
            self, question: Question, encoded: Encoded, /, on_draft: OnDraft | None = None
        ) -> Draft | NothingRelevant:
            if question.text == "One?":
                return NothingRelevant("none")
            await self.lost.wait()
            return await super().ask(question, encoded, on_draft)

    stages = OneIsLost(texts=("One?", "Two?"), ticket_says=TicketNotStored("disk full"))
    with pytest.raises(TicketNotStored, match="disk full"):
        await ask(stages)
    stages.lost.set()
    await asyncio.sleep(0)
    assert "rag" not in stages.called
    assert len(stages.opened) == 1
    assert stages.watched == []


async def test_a_choice_whose_judging_breaks_ends_that_of_the_others() -> None:
    ended: list[str] = []

    class BreaksOnce:
        """Breaks over one choice, and takes long over the other."""

        async def judge(self, answer: str, contexts: Sequence[str], /, *, question: str | None = None) -> Any:
            if answer == DRAFT.text:
                raise RuntimeError("a mistake of ours")
            try:
                await asyncio.sleep(60)
            finally:
                ended.append(answer)

    stages = Stages(rag_says=replace(DRAFT, others=(replace(DRAFT, text="Ten to six."),)))
    asked = Conversation(turns=(Turn("user", stages.texts[0]),), tenant="shop", request_id="r-1", choices=2)
    [outcome] = (await stages.pipeline(judge=BreaksOnce()).answer(asked)).outcomes
    assert (outcome.name, outcome.reason, ended) == ("escalated", "internal_error", ["Ten to six."])


async def test_a_ticket_knows_every_stage_the_question_went_through() -> None:
    stages = Stages(judge_says=checked(passed=False))
    await ask(stages)
    assert [step.stage for step in stages.opened[0]["steps"]] == ["gate", "cache", "rag", "faithfulness"]
    assert stages.opened[0]["steps"][2].found == DRAFT


async def test_a_failed_stage_leaves_the_steps_before_it_and_is_reported() -> None:
    stages = Stages(rag_says=UpstreamUnavailable("down"))
    await ask(stages)
    *before, failed = stages.opened[0]["steps"]
    assert [step.stage for step in before] == ["gate", "cache"]
    assert (failed.stage, failed.found) == ("rag", Failed("unknown", "down"))
    assert [type(exc) for exc in stages.failures] == [UpstreamUnavailable]


async def test_a_follow_up_is_judged_alone_and_with_what_it_depends_on() -> None:
    stages = Stages(self_contained=False, texts=("And for children?",))
    earlier = (
        Turn("user", "What does a ticket cost?"),
        Turn("assistant", "Ten."),
        Turn("user", "And for children?"),
    )
    await ask(stages, "escalate", *earlier)
    assert stages.gate_saw[:2] == ["And for children?", "What does a ticket cost?\nAnd for children?"]
    assert stages.gate_saw[2:] == ["What does a ticket cost?", "Ten."]  # may RAG see the turns before it?


async def test_several_questions_are_answered_under_their_numbers_and_named_by_the_worst() -> None:
    stages = Stages(texts=("When?", "Where?"), rag_says=NothingRelevant("none"))
    reply = await ask(stages)
    assert len(stages.opened) == 2
    assert reply.name == "escalated"
    assert reply.text.startswith("1. When?\n")
    assert "\n\n2. Where?\n" in reply.text


async def test_small_talk_is_answered_in_words_and_asks_no_stage() -> None:
    stages = Stages(texts=())
    reply = await ask(stages)
    assert (reply.outcomes, stages.called) == ((), [])
    assert reply.text
