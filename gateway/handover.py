"""A question that goes to a person: its ticket, and what the asker is told meanwhile."""

from __future__ import annotations

from typing import Literal

from cache.matching import NearMiss
from classifiers.faithfulness import FaithfulnessVerdict
from gateway.domain import HandedOver, Offer, Question
from gateway.replies import Replies
from gateway.stages import DidYouMean, Reviewers
from gateway.way import Way

__all__ = ["Handover"]


class Handover:
    """Opens tickets, and asks the asker about what they may have meant."""

    def __init__(
        self, reviewers: Reviewers, replies: Replies, did_you_mean: DidYouMean | None = None
    ) -> None:
        self._reviewers = reviewers
        self._replies = replies
        self._did_you_mean = did_you_mean

    async def hold(
        self,
        question: Question,
        way: Way,
        *,
        reason: str,
        verdict: FaithfulnessVerdict | None = None,
        outcome: Literal["withheld", "escalated"] = "escalated",
    ) -> HandedOver:
        """The asker gets a ticket in the place of an answer.

        Raises:
            TicketNotStored: nothing was kept.
        """
        offers = await self._offers(question, way)
        ticket = await self.ticket(question, way, outcome=outcome, reason=reason)
        return HandedOver(
            name=outcome,
            question=question,
            text=self._replies.waiting(outcome, question, ticket, reason, offers),
            reason=reason,
            ticket=ticket,
            verdict=verdict,
            did_you_mean=offers,
            steps=way.steps,
        )

    async def ticket(
        self,
        question: Question,
        way: Way,
        *,
        outcome: Literal["withheld", "escalated", "answered"],
        reason: str,
    ) -> str:
        """Keep the question for a person, with what the asker has read already."""
        way.add_sent()
        return await self._reviewers.open(question, outcome=outcome, reason=reason, steps=way.steps)

    async def _offers(self, question: Question, way: Way) -> tuple[Offer, ...]:
        """Entries to ask the asker about, where the cache nearly had one."""
        nearly = any(isinstance(step.found, NearMiss) for step in way.steps)
        if self._did_you_mean is None or not nearly or way.offered:
            return ()
        way.offered = True  # one try: if that is what breaks, the question still gets to a person
        return (await way.step("did_you_mean", self._did_you_mean.near(question))).offers
