"""Blind acceptance tests: pairs of answers in an order nobody knows, and what people said of them.

Which side the gateway's answer is on follows from a key that is not kept here. The commitment, a hash of key,
pairs and margin, is: whoever brings the key at the end can show that nothing was changed since. Every vote
holds a hash of all votes before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import RowMapping, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.store.rows import new_id
from gateway.database import reading, row_of, writing
from gateway.errors import Conflict, InvalidRequest, NotFound
from gateway.rendering import rendered
from storage.schema import acceptance_pairs, acceptance_tests, acceptance_votes
from storage.sql import Database

__all__ = ["AcceptanceTest", "AcceptanceTests", "Better", "Pair", "Side", "Vote", "chained", "commitment_of"]

Side = Literal["left", "right"]
Better = Literal["left", "right", "same"]
LONGEST_COMMENT = 2_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two answers to one question."""

    number: int
    case_id: str
    language: str
    question: str
    left: str
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one person said of one pair."""

    number: int
    by: str
    at: datetime
    better: Better
    critical: tuple[Side, ...]
    comment: str
    chain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceTest:
    """A test, and how far it is."""

    id: str
    tenant: str
    name: str
    margin: float
    commitment: str
    created_at: datetime
    created_by: str
    closed_at: datetime | None
    pairs: int
    votes: dict[str, int]  # judged pairs, by person


class AcceptanceTests:
    """Keeps tests."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def create(
        self,
        pairs: Sequence[Pair],
        *,
        id_: str | None = None,
        tenant: str,
        name: str,
        margin: float,
        commitment: str,
        by: str,
    ) -> str:
        """Keep a new test; its id, which is drawn unless one is given."""
        id_ = id_ or new_id()
        row = {
            "id": id_, "tenant": tenant, "name": name, "margin": margin, "commitment": commitment,
            "created_at": datetime.now(UTC), "created_by": by,
        }  # fmt: skip
        async with writing(self._db, "acceptance tests") as connection:
            await connection.execute(insert(acceptance_tests), row)
            await connection.execute(
                insert(acceptance_pairs), [{"test_id": id_, **asdict(pair)} for pair in pairs]
            )
        return id_

    async def tests(self, tenant: str) -> tuple[AcceptanceTest, ...]:
        """A tenant's tests, the newest first."""
        table = acceptance_tests
        query = select(table.c.id).where(table.c.tenant == tenant).order_by(table.c.created_at.desc())
        async with reading(self._db, "acceptance tests") as connection:
            ids = (await connection.scalars(query)).all()
        return tuple([await self.test(id_, tenant=tenant) for id_ in ids])

    async def test(self, id_: str, *, tenant: str) -> AcceptanceTest:
        """One test. Raises `NotFound`."""
        votes = acceptance_votes
        counted = (
            select(votes.c.by, func.count(votes.c.number.distinct()).label("pairs"))
            .where(votes.c.test_id == id_)
            .group_by(votes.c.by)
        )
        pairs = select(func.count()).where(acceptance_pairs.c.test_id == id_)
        async with reading(self._db, "acceptance tests") as connection:
            row = await _test_row(connection, id_, tenant)
            n = await connection.scalar(pairs)
            judged = {row.by: row.pairs for row in await connection.execute(counted)}
        return AcceptanceTest(**row, pairs=n or 0, votes=judged)

    async def pairs(self, id_: str, *, tenant: str) -> tuple[Pair, ...]:
        """All pairs of a test, in their order."""
        table = acceptance_pairs
        columns = [column for column in table.columns if column.name != "test_id"]
        query = select(*columns).where(table.c.test_id == id_).order_by(table.c.number)
        async with reading(self._db, "acceptance tests") as connection:
            await _test_row(connection, id_, tenant)
            return tuple(Pair(**row) for row in (await connection.execute(query)).mappings())

    async def votes(self, id_: str, *, tenant: str) -> tuple[Vote, ...]:
        """All votes as they came, those that were changed later among them."""
        query = select(acceptance_votes).where(acceptance_votes.c.test_id == id_)
        async with reading(self._db, "acceptance tests") as connection:
            await _test_row(connection, id_, tenant)
            rows = (await connection.execute(query.order_by(acceptance_votes.c.id))).mappings().all()
        return tuple(_vote(row) for row in rows)

    async def left_to(self, id_: str, *, tenant: str, by: str) -> tuple[Pair, ...]:
        """What a person has not judged yet, in an order of their own: nobody's tiredness hits one pair."""
        judged = {vote.number for vote in await self.votes(id_, tenant=tenant) if vote.by == by}
        open_ = [pair for pair in await self.pairs(id_, tenant=tenant) if pair.number not in judged]
        return tuple(sorted(open_, key=lambda pair: _digest(f"{id_}{by}{pair.number}")))

    async def vote(
        self,
        id_: str,
        number: int,
        better: Better,
        *,
        tenant: str,
        by: str,
        critical: Iterable[Side] = (),
        comment: str = "",
    ) -> Vote:
        """Keep a vote; the last of a person counts.

        Raises:
            NotFound: no such test, or no such pair in it.
            Conflict: the test is over.
        """
        if len(comment) > LONGEST_COMMENT:
            raise InvalidRequest(f"comment: at most {LONGEST_COMMENT} characters", param="comment")
        async with writing(self._db, "acceptance tests") as connection:
            row = await _test_row(connection, id_, tenant, to_change=True)
            if row["closed_at"]:
                raise Conflict("the test is over: the answers have been told apart")
            here = acceptance_pairs.c.test_id == id_, acceptance_pairs.c.number == number
            if not await connection.scalar(select(func.count()).where(*here)):
                raise NotFound(f"there is no pair {number} in this test")
            last = select(acceptance_votes.c.chain).where(acceptance_votes.c.test_id == id_)
            before = await connection.scalar(last.order_by(acceptance_votes.c.id.desc()).limit(1))
            vote = Vote(
                number=number, by=by, at=datetime.now(UTC), better=better,
                critical=tuple(sorted(set(critical))), comment=comment, chain="",
            )  # fmt: skip
            values = asdict(vote) | {"critical": list(vote.critical), "chain": chained(before or "", vote)}
            await connection.execute(insert(acceptance_votes), {"test_id": id_, **values})
        return _vote(values)

    async def close(self, id_: str, *, tenant: str) -> None:
        """No vote counts from now on."""
        async with writing(self._db, "acceptance tests") as connection:
            row = await _test_row(connection, id_, tenant, to_change=True)
            if not row["closed_at"]:
                closed = update(acceptance_tests).where(acceptance_tests.c.id == id_)
                await connection.execute(closed.values(closed_at=datetime.now(UTC)))


def commitment_of(pairs: Sequence[Pair], *, margin: float, key: str) -> str:
    """What shows at the end that pairs, margin and key are those of the beginning."""
    return _digest(_told([key, margin, [asdict(pair) for pair in pairs]]))


def chained(before: str, vote: Vote) -> str:
    """The hash of a vote and of all that came before it."""
    told = [before, vote.number, vote.by, vote.at.isoformat(), vote.better, list(vote.critical), vote.comment]
    return _digest(_told(told))


async def _test_row(
    connection: AsyncConnection, id_: str, tenant: str, *, to_change: bool = False
) -> RowMapping:
    what = "acceptance test"
    return await row_of(connection, acceptance_tests, id_, tenant=tenant, what=what, to_change=to_change)


def _vote(row: Any) -> Vote:
    names = ("number", "by", "at", "better", "comment", "chain")
    return Vote(**{name: row[name] for name in names}, critical=tuple(row["critical"]))


def _told(values: object) -> str:
    """Values as text, each as the database gives it back."""
    return json.dumps(rendered(values), ensure_ascii=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
