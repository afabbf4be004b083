"""An asker who reads along: modes, repairs and failures hold for what leaves early as for the reply."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from classifiers.faithfulness import FaithfulnessVerdict, StatementVerdict, Unchecked, verdict_of
from classifiers.faithfulness.ruling import VerdictPolicy
from classifiers.faithfulness.statements.segmentation import sentences
from encoders import Encoded
from gateway.checking.drafts import DraftCheck
from gateway.domain import Conversation, Draft, NothingRelevant, OnDraft, Passage, Question, Reply, Turn
from gateway.errors import UpstreamUnavailable
from gateway.gatekeeping.turns import ConversationGate
from gateway.handover import Handover
from gateway.pipeline import Pipeline
from gateway.settings.people import Mode
from gateway.stages import NO_NEWS, Chosen, News, NextTurn
from gateway.streaming import AskerHungUp, Line, StreamMode
from tests.gateway.test_pipeline import REPLIES, Stages, _Gate, _Watch

CONTEXTS = (Passage(text="The fees.", source="fees/2024.md"),)
GOOD = "The fee is 10 yen. "
BAD = "Dogs pay double. "
MORE = "Cards cost 5 yen. "
END = "Bring a photo."


@dataclass
class Talking(Stages):
    """A chatbot that writes sentence by sentence; the judge takes every sentence with "double" for wrong."""

    writes: Sequence[str] = (GOOD, MORE, END)
    contexts_with: int = 0  # the number of the part with which they come
    breaks: Exception | None = None
    hangs_up_at: int | None = None  # the part at which the asker leaves
    unreadable: str = ""
    finished: int | None = None  # so many parts are whole sentences, and the last was cut off
    unchecked: bool = False
    line: Line = field(default_factory=Line)
    next_turn: NextTurn | None = None

    def reading(self, streaming: StreamMode = "sentence", **policy: Any) -> Pipeline:
        modes = policy.pop("modes", None)
        return Pipeline(
            understanding=self, encoder=self, gate=ConversationGate(_Gate(self), self), cache=self, rag=self,
            check=DraftCheck(_Sentences(self), VerdictPolicy(**policy), modes=modes),
            handover=Handover(self, REPLIES), replies=REPLIES, watch=_Watch(self),
            next_turn=self.next_turn, streaming=streaming,
        )  # fmt: skip

    async def ask(
        self, question: Question, encoded: Encoded, /, on_draft: OnDraft | None = None
    ) -> Draft | NothingRelevant:
        text = ""
        for number, part in enumerate(self.writes):
            text += part
            known = CONTEXTS if number >= self.contexts_with else ()
            if on_draft:
                on_draft(Draft(text=text, contexts=known, model="m"))
            if number == self.hangs_up_at:
                await asyncio.sleep(0.01)
                self.line.hang_up()
            for _ in range(20):
                await asyncio.sleep(0)
        if self.breaks:
            raise self.breaks
        if self.unreadable:
            return Draft(text="", contexts=(), model="m", unreadable=self.unreadable)
        if self.finished is not None:
            whole = "".join(self.writes[: self.finished]).rstrip()
            return Draft(text=whole, contexts=CONTEXTS, model="m", unfinished=text[len(whole) :])
        return Draft(text=text.strip(), contexts=CONTEXTS, model="m")

    async def answer(self, streaming: StreamMode = "sentence", **policy: Any) -> tuple[Reply, str]:
        """The reply, and all that the asker reads in the end."""
        asked = Conversation(turns=(Turn("user", "What is the fee?"),), tenant="default", request_id="r")
        reply = await self.reading(streaming, **policy).answer(asked, self.line)
        return reply, self.line.preface + self.line.said + self.line.rest(reply.text)


@dataclass
class _Sentences:
    stages: Talking

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        if self.stages.unchecked:
            return Unchecked(reason="judge away", judge="t")
        return verdict_of(
            [
                StatementVerdict(
                    text=one.text, start=one.start, end=one.end, score=0.5, reason="", judge="t",
                    state="unsupported" if "double" in one.text else "supported",
                )
                for one in sentences(answer)
            ],
            judge="t",
        )  # fmt: skip


@dataclass
class _Modes:
    """People answer whatever is written from the fees."""

    by_documents: bool = True
    mode: Mode = "human_first"

    def choose(self, question: Question, draft: Draft, /) -> Chosen:
        if not self.by_documents or any("fees" in context.source for context in draft.contexts):
            return Chosen(self.mode, reviewed=self.mode == "answer_then_review")
        return Chosen("automatic")


def sent(stages: Talking) -> list[str]:
    return [step.found.text for told in stages.opened for step in told["steps"] if step.stage == "sent"]


async def test_what_leaves_early_is_the_beginning_of_what_is_told_in_the_end() -> None:
    stages = Talking()
    reply, read = await stages.answer()
    assert stages.line.said == (GOOD + MORE).strip()
    assert read == reply.text == (GOOD + MORE + END)
    assert (reply.name, stages.opened) == ("rag", [])


async def test_a_stop_keeps_what_was_read_and_the_whole_draft_for_a_person() -> None:
    stages = Talking(writes=(GOOD, BAD, MORE, END))
    reply, read = await stages.answer()
    assert (reply.name, reply.outcomes[0].reason) == ("withheld", "unsupported_statement")
    assert read == GOOD.strip() + "\n\n" + reply.text
    assert "double" not in read
    assert sent(stages) == [GOOD.strip()]
    draft = next(step.found for step in stages.opened[0]["steps"] if step.stage == "rag")
    assert draft.text == GOOD + BAD + MORE + END


@pytest.mark.parametrize("writes", [(GOOD, BAD, MORE, END), (BAD, GOOD, MORE, END)])
async def test_a_repair_leaves_a_sentence_out_and_the_stream_goes_on(writes: Sequence[str]) -> None:
    stages = Talking(writes=writes)
    reply, read = await stages.answer(repair="drop")
    assert (reply.name, reply.outcomes[0].reason) == ("rag", "repaired")
    assert stages.line.said.split() == (GOOD + MORE).split()
    assert read == reply.text
    assert read.split() == (GOOD + MORE + END).split()


@pytest.mark.parametrize(
    ("streaming", "reads"), [("sentence", GOOD + MORE.rstrip()), ("observe", GOOD + MORE + "Bring")]
)
async def test_an_answer_that_was_cut_off_is_read_once_and_said_to_be_cut_off(
    streaming: StreamMode, reads: str
) -> None:
    stages = Talking(writes=(GOOD, MORE, "Bring"), finished=2)
    reply, read = await stages.answer(streaming)
    assert (read, reply.name, reply.cut_off) == (reads, "rag", True)
    assert not stages.line.breaks_off(reply.text)
    verdict = reply.outcomes[0].verdict
    assert verdict is not None
    assert not any("Bring" in statement.text for statement in verdict.statements)


@pytest.mark.parametrize("streaming", ["sentence", "observe"])
@pytest.mark.parametrize("by_documents", [True, False])
async def test_what_people_answer_first_leaves_in_no_mode(streaming: StreamMode, by_documents: bool) -> None:
    stages = Talking(contexts_with=1)
    reply, read = await stages.answer(streaming, modes=_Modes(by_documents))
    assert (reply.outcomes[0].reason, stages.line.said) == ("human_first", "")
    assert "yen" not in read


async def test_an_answer_that_people_read_afterwards_streams() -> None:
    stages = Talking()
    _, read = await stages.answer(modes=_Modes(mode="answer_then_review"))
    assert read == GOOD + MORE + END
    assert [told["reason"] for told in stages.opened] == ["answer_then_review"]


@pytest.mark.parametrize("on_unchecked", ["escalate", "withhold", "deliver"])
async def test_what_is_unchecked_waits_for_the_end_and_its_policy(on_unchecked: Any) -> None:
    stages = Talking(unchecked=True)
    reply, read = await stages.answer(on_unchecked=on_unchecked)
    assert (stages.line.said, reply.outcomes[0].reason) == ("", "unchecked")
    assert ("yen" in read) is (on_unchecked == "deliver")


@pytest.mark.parametrize("streaming", ["buffer", "sentence", "observe"])
async def test_a_tool_call_is_never_delivered(streaming: StreamMode) -> None:
    stages = Talking(writes=("Let me look. ",), unreadable="tool_call", unchecked=True)
    reply, read = await stages.answer(streaming, on_unchecked="deliver")
    assert (reply.name, reply.outcomes[0].reason) == ("escalated", "unchecked")
    assert read.endswith(reply.text)
    assert ("Let me look" in read) is (streaming == "observe")


async def test_a_chatbot_that_breaks_off_leaves_a_ticket_that_says_what_was_read() -> None:
    stages = Talking(breaks=UpstreamUnavailable("gone"))
    reply, read = await stages.answer()
    assert (reply.name, reply.outcomes[0].reason) == ("escalated", "upstream_unavailable")
    assert stages.line.breaks_off(reply.text)
    assert sent(stages) == [(GOOD + MORE).strip()]
    assert read == (GOOD + MORE).strip() + "\n\n" + reply.text


async def test_observe_tells_in_the_end_and_a_person_gets_it() -> None:
    stages = Talking(writes=(GOOD, BAD, END))
    reply, read = await stages.answer("observe", repair="drop")
    assert (reply.name, reply.outcomes[0].reason) == ("rag", "unsupported_statement")
    assert read == GOOD + BAD + END
    assert [(told["outcome"], told["reason"]) for told in stages.opened] == [("answered", "unsupported_statement")]  # fmt: skip


async def test_late_contexts_make_a_stream_wait_and_are_counted() -> None:
    stages = Talking(contexts_with=9)
    reply, read = await stages.answer()
    assert (stages.line.said, stages.held) == ("", 1)
    assert read == reply.text == GOOD + MORE + END


async def test_several_questions_or_choices_are_buffered() -> None:
    stages = Talking(texts=("What is the fee?", "And for dogs?"))
    reply, read = await stages.answer()
    assert (stages.line.said, read) == ("", reply.text)
    assert len(reply.outcomes) == 2


@pytest.mark.parametrize("streaming", ["buffer", "sentence", "observe"])
async def test_to_who_reads_in_one_piece_nothing_leaves_before_the_verdict(streaming: StreamMode) -> None:
    stages = Talking(writes=(GOOD, BAD, MORE), line=Line(whole=True))
    reply, _ = await stages.answer(streaming)
    assert (stages.line.said, reply.name) == ("", "withheld")


@pytest.mark.parametrize(
    ("writes", "at", "outcome"),
    [
        pytest.param((GOOD, MORE, END), 1, "rag", id="what left is recorded"),
        pytest.param((GOOD, BAD, MORE, END), 2, "withheld", id="what was stopped is a ticket"),
        pytest.param((GOOD, MORE, END), 0, None, id="nothing was decided"),
    ],
)
async def test_who_leaves_is_not_waited_for_and_what_was_decided_is_recorded(
    writes: Sequence[str], at: int, outcome: str | None
) -> None:
    stages = Talking(writes=writes, hangs_up_at=at)
    if outcome is None:
        with pytest.raises(AskerHungUp):
            await stages.answer()
        assert (stages.hung_up, stages.watched) == (1, [])
        return
    await stages.answer()
    assert [one.name for one in stages.watched] == [outcome]
    assert len(stages.opened) == (outcome == "withheld")
    assert END not in stages.watched[0].text


class _Later:
    """Somebody answers earlier questions of theirs, one before each time it is asked for."""

    def __init__(self, *before: News) -> None:
        self._news = [*before, News("Your ticket was answered.\n\n", ("T-1",))]

    async def take(self, conversation: Conversation, language: str, /) -> News:
        return self._news.pop(0) if self._news else NO_NEWS


async def test_news_comes_first_and_once() -> None:
    stages = Talking(next_turn=_Later())
    reply, read = await stages.answer()
    assert stages.line.preface == "Your ticket was answered.\n\n"
    assert reply.told == ("T-1",)
    assert read == reply.text == stages.line.preface + GOOD + MORE + END


async def test_news_that_come_while_an_answer_leaves_wait_for_the_next_message() -> None:
    stages = Talking(next_turn=_Later(NO_NEWS))
    reply, read = await stages.answer()
    assert reply.told == ()
    assert read == reply.text == GOOD + MORE + END
