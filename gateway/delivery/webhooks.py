"""Answers to the asker's side by webhook, signed as Standard Webhooks says (standardwebhooks.com).

Addresses come from the configuration only, never from a request, and no redirect is followed: nobody who
asks can make the gateway call an address.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
from sqlalchemy import select
from standardwebhooks import Webhook

from gateway.delivery.courier import NotDelivered
from gateway.delivery.outbox import Delivery
from storage.schema import tickets
from storage.sql import Database

__all__ = ["WebhookSender"]

_TOLD = (
    "id", "state", "outcome", "request_id", "asker", "language", "real_question", "question", "answer",
    "entry_id", "created_at", "answered_at",
)  # fmt: skip
GONE = 410  # the specification's word for "send no more"


class WebhookSender:
    """Posts to one address; two secrets sign side by side while the receiver changes to the new one."""

    def __init__(self, http: httpx2.AsyncClient, db: Database, *, url: str, secrets: Sequence[str]) -> None:
        """`http` must follow no redirects."""
        self._http = http
        self._db = db
        self._url = url
        self._signers = [Webhook(secret) for secret in secrets]

    async def send(self, delivery: Delivery) -> None:
        """Post the ticket; whatever is not 2xx has not arrived."""
        body = json.dumps(await self._body(delivery), ensure_ascii=False)
        now = datetime.now(UTC)
        headers = {
            "content-type": "application/json",
            "webhook-id": delivery.id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(one.sign(delivery.id, now, body) for one in self._signers),
        }
        try:
            async with self._http.stream("POST", self._url, content=body.encode(), headers=headers) as reply:
                status, retry_after = reply.status_code, reply.headers.get("retry-after")
        except httpx2.HTTPError as exc:
            raise NotDelivered(f"no answer: {type(exc).__name__}") from exc
        if not 200 <= status < 300:
            raise NotDelivered(f"HTTP {status}", final=status == GONE, retry_after_s=_seconds(retry_after))

    async def _body(self, delivery: Delivery) -> dict[str, Any]:
        query = select(tickets).where(tickets.c.id == delivery.ticket_id)
        async with self._db.connect() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise NotDelivered("the ticket was deleted", final=True)
        return _ticket_body(delivery, dict(row))


def _ticket_body(delivery: Delivery, ticket: dict[str, Any]) -> dict[str, Any]:
    """What the receiver reads: the event, when it happened, and the asker's side of the ticket."""
    shown = {name: _shown(ticket[name]) for name in _TOLD}
    shown["ticket"] = shown.pop("id")
    return {"type": delivery.event, "timestamp": delivery.created_at.isoformat(), "data": shown}


def _shown(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _seconds(retry_after: str | None) -> float | None:
    """A `Retry-After` header: seconds, or a date; None if it says neither."""
    if not retry_after:
        return None
    try:
        return float(retry_after)
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
