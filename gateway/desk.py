"""The people's side of a gateway, put together: tickets, and what leaves the house when they are answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from gateway.background import Loop
from gateway.delivery.courier import Courier, Sender, Undeliverable
from gateway.delivery.next_turn import NextTurn
from gateway.delivery.notices import AppriseSender, Notices
from gateway.delivery.outbox import Outbox, Receiver
from gateway.delivery.webhooks import WebhookSender
from gateway.metrics import Metrics
from gateway.replies import Replies
from gateway.review.closing import Closing
from gateway.review.feedback import Feedback
from gateway.review.feedback.given import GivenAnswers
from gateway.review.gate_examples import GateExamples
from gateway.review.judgements import Judgements
from gateway.review.tickets import Tickets
from gateway.settings import Settings
from gateway.settings.delivery import WebhookSettings
from gateway.stores import Stores
from storage.sql import Database

__all__ = ["Desk", "open_desk"]

MARGIN_S = 15.0  # to write down what became of an attempt, before another replica may make it again


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where people work, and who carries out what they decide."""

    tickets: Tickets
    judgements: Judgements
    closing: Closing
    given: GivenAnswers
    feedback: Feedback
    outbox: Outbox
    couriers: tuple[Courier, ...]
    notices: Notices
    next_turn: NextTurn | None  # None: nothing is told in conversations

    @property
    def loops(self) -> dict[str, Loop]:
        """What runs as long as the gateway does."""
        return {
            **{f"deliveries to {courier.target}": courier.run for courier in self.couriers},
            "undeliverable": Undeliverable(self.outbox, [one.target for one in self.couriers]).run,
            "notices": self.notices.run,
            "answers": self.given.run,
            "old_answers": self.given.tidy,
        }


@asynccontextmanager
async def open_desk(
    settings: Settings, stores: Stores, examples: GateExamples, metrics: Metrics
) -> AsyncIterator[Desk]:
    """The desk of a configuration, with the connections that it needs."""
    db = stores.database
    outbox = _outbox(settings, db)
    tickets = Tickets(db, announcing=outbox)
    judgements = Judgements(db, tickets, examples)
    given = GivenAnswers(db, keep_h=settings.feedback.keep_answers_h, on_lost=metrics.lost_answers.inc)
    async with httpx2.AsyncClient(timeout=settings.delivery.timeout_s, follow_redirects=False) as http:
        yield Desk(
            tickets=tickets,
            judgements=judgements,
            closing=Closing(tickets, stores.entries, examples, judgements),
            given=given,
            feedback=Feedback(db, given, settings.feedback),
            outbox=outbox,
            couriers=tuple(
                Courier(
                    outbox, target, sender, watch=metrics.delivered, timeout_s=settings.delivery.timeout_s
                )
                for target, sender in _senders(settings, db, http).items()
            ),
            next_turn=_next_turn(settings, db),
            notices=Notices(
                db, outbox, settings.delivery.notices, promise_hours=settings.review.promise_hours
            ),
        )


def _next_turn(settings: Settings, db: Database) -> NextTurn | None:
    told = settings.delivery.in_conversation
    return NextTurn(db, Replies(settings.policy, settings.replies)) if told else None


def _outbox(settings: Settings, db: Database) -> Outbox:
    return Outbox(
        db,
        [
            Receiver(webhook.name, webhook.tenant, frozenset(webhook.events))
            for webhook in settings.delivery.webhooks
        ],
        claim_s=settings.delivery.timeout_s + MARGIN_S,
    )


def _senders(settings: Settings, db: Database, http: httpx2.AsyncClient) -> dict[str, Sender]:
    delivery = settings.delivery
    webhooks: dict[str, Sender] = {
        webhook.name: WebhookSender(http, db, url=webhook.url, secrets=_secrets(webhook))
        for webhook in delivery.webhooks
    }
    return webhooks | {
        notice.name: AppriseSender(notice, timeout_s=delivery.timeout_s) for notice in delivery.notices
    }


def _secrets(webhook: WebhookSettings) -> list[str]:
    known = [webhook.secret, webhook.previous_secret]
    return [secret.get_secret_value() for secret in known if secret]
