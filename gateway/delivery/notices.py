"""Notices to the people who answer: so many tickets are new, overdue, answered.

One message tells of all that happened since the last one, and the next one waits `every_s`: a thousand
tickets are not a thousand messages. Which tickets were told of is kept in the transaction that puts the
message into the outbox, so each is told of once, by one replica. A message has counts and ticket numbers,
no question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

import structlog
import yaml
from sqlalchemy import ColumnElement, exists, insert, not_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.delivery.courier import NotDelivered
from gateway.delivery.outbox import Delivery, Outbox
from gateway.errors import ConfigurationError
from gateway.review.tickets import WAITING
from gateway.settings.delivery import NoticeSettings
from storage.locking import one_at_a_time
from storage.schema import deliveries, notices, tickets
from storage.sql import Database, DatabaseUnavailable

__all__ = ["AppriseSender", "Notices", "words"]

LOOK_EVERY_S = 5.0
RECENT = timedelta(days=2)  # what is older is no news, as where notices were switched on today
AT_ONCE = 5_000  # tickets in one message
NAMED = 10  # of each kind


class Notices:
    """Looks what there is to tell, and puts it into the outbox."""

    def __init__(
        self, db: Database, outbox: Outbox, wanted: Sequence[NoticeSettings], *, promise_hours: float
    ) -> None:
        self._db = db
        self._outbox = outbox
        self._wanted = tuple(wanted)
        self._promise = timedelta(hours=promise_hours)

    async def run(self) -> None:
        """Look until cancelled; nothing to do where nobody wants notices."""
        while self._wanted:
            try:
                for one in self._wanted:
                    await self.look(one)
            except DatabaseUnavailable as exc:
                structlog.get_logger("sekisho.notices").warning("no notices", error=str(exc))
            await asyncio.sleep(LOOK_EVERY_S)

    async def look(self, wanted: NoticeSettings) -> bool:
        """Put a message into the outbox if there is news and the last one is long enough ago."""
        async with self._db.connect() as connection:
            if await _too_soon(connection, wanted) or not await self._news(connection, wanted, limit=1):
                return False
        async with self._db.begin() as connection:
            await one_at_a_time(connection, wanted.name, space=20261121)
            if await _too_soon(connection, wanted):  # another replica was faster
                return False
            news = await self._news(connection, wanted, limit=AT_ONCE)
            if not news:
                return False
            rows = [
                {"target": wanted.name, "ticket_id": ticket, "what": what}
                for what, ids in news.items()
                for ticket in ids
            ]
            await connection.execute(insert(notices), rows)
            body = {what: {"count": len(ids), "tickets": ids[:NAMED]} for what, ids in news.items()}
            await self._outbox.put_notice(connection, tenant=wanted.tenant, target=wanted.name, body=body)
        return True

    async def _news(
        self, connection: AsyncConnection, wanted: NoticeSettings, *, limit: int
    ) -> dict[str, list[str]]:
        found = {}
        for what in wanted.events:
            told = exists().where(
                notices.c.ticket_id == tickets.c.id, notices.c.target == wanted.name, notices.c.what == what
            )
            query = select(tickets.c.id).where(tickets.c.tenant == wanted.tenant, *self._is(what), not_(told))
            ids = await connection.scalars(query.order_by(tickets.c.created_at, tickets.c.id).limit(limit))
            found[what] = list(ids)
        return {what: ids for what, ids in found.items() if ids}

    def _is(self, what: str) -> list[ColumnElement[bool]]:
        now = datetime.now(UTC)
        waiting = tickets.c.state.in_(WAITING)
        match what:
            case "new":
                return [waiting, tickets.c.created_at > now - RECENT]
            case "overdue":
                return [waiting, tickets.c.created_at < now - self._promise]
            case _:
                return [tickets.c.state == "answered", tickets.c.answered_at > now - RECENT]


class AppriseSender:
    """Takes notices to any service that the library apprise knows: Slack, Teams, mail and many others."""

    def __init__(self, wanted: NoticeSettings, *, timeout_s: float) -> None:
        """Read the address.

        Raises:
            ConfigurationError: if the library is missing, or knows no such service.
        """
        try:
            import apprise
        except ImportError as exc:
            raise ConfigurationError(
                "delivery.notices needs the library apprise: pip install 'sekisho[notices]'"
            ) from exc
        self._to = apprise.Apprise()
        if not self._to.add(wanted.address.get_secret_value()):
            raise ConfigurationError(
                f"delivery.notices, {wanted.name}: address is none that apprise knows, "
                "such as slack://…, msteams://…, mailto://…, json://…"
            )
        self._language = wanted.language
        self._timeout_s = timeout_s

    async def send(self, delivery: Delivery) -> None:
        """Say what is new."""
        title, body = words(delivery.body or {}, self._language)
        if not await self._to.async_notify(title=title, body=body, timeout=self._timeout_s):
            raise NotDelivered("the service did not take it")


def words(news: Mapping[str, Any], language: str) -> tuple[str, str]:
    """Title and text of a message."""
    shipped = _texts()[language]
    counts = {what: told["count"] for what, told in news.items()}
    title = shipped["joint"].join(shipped[what].format(count=count) for what, count in counts.items())
    lines = [
        shipped["line"].format(
            what=shipped[what].format(count=told["count"]),
            tickets=", ".join(told["tickets"]) + (" …" if told["count"] > len(told["tickets"]) else ""),
        )
        for what, told in news.items()
    ]
    return shipped["title"].format(news=title), "\n".join(lines)


async def _too_soon(connection: AsyncConnection, wanted: NoticeSettings) -> bool:
    of_target = (deliveries.c.event == "notice", deliveries.c.target == wanted.name)
    now, every = datetime.now(UTC), timedelta(seconds=wanted.every_s)
    lately = deliveries.c.created_at.between(now - every, now + every)  # ahead only by another's clock
    query = select(exists().where(deliveries.c.tenant == wanted.tenant, *of_target, lately))
    return bool(await connection.scalar(query))


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = yaml.safe_load(
        files("gateway").joinpath("texts/notices.yaml").read_text("utf-8")
    )
    return found
