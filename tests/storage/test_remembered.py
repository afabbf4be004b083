"""What the gateway remembers of itself, in both databases."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass

from storage.remembered import Basis, recall, recall_all, remember, remember_first
from storage.sql import Database


async def test_a_value_replaces_the_one_before_it(database: Database) -> None:
    async with database.begin() as connection:
        await remember(connection, {"a.one": {"n": 1}, "a.two": 2})
        await remember(connection, {"a.one": {"n": 3}})
    async with database.connect() as connection:
        assert await recall(connection, "a.one") == {"n": 3}
        assert await recall(connection, "a.three") is None


async def test_names_are_found_by_what_they_begin_with_and_nothing_else(database: Database) -> None:
    async with database.begin() as connection:
        await remember(connection, {"a_b.x": 1, "a_b.y": 2, "acb.z": 3})
    async with database.connect() as connection:
        assert await recall_all(connection, "a_b.") == {"a_b.x": 1, "a_b.y": 2}


async def test_of_two_who_would_be_first_one_is(database: Database) -> None:
    async def first(value: int) -> bool:
        async with database.begin() as connection:
            return await remember_first(connection, "secret", value)

    won = await asyncio.gather(*(first(value) for value in range(4)))
    assert sum(won) == 1
    async with database.connect() as connection:
        assert await recall(connection, "secret") == won.index(True)


async def test_two_who_keep_the_same_names_do_not_wait_for_each_other_for_ever(database: Database) -> None:
    async def keep(*names: str) -> None:
        for _ in range(20):
            async with database.begin() as connection:
                await remember(connection, dict.fromkeys(names, 1))

    await asyncio.wait_for(asyncio.gather(keep("a", "b"), keep("b", "a")), timeout=60)


def test_what_changed_is_said_by_name() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class MadeFor(Basis):
        model: str
        error: float

    made_for = MadeFor(model="one", error=0.02)
    assert made_for.changed_since(asdict(made_for)) == ()
    assert made_for.changed_since({"model": "two", "error": 0.02}) == ("model",)
    assert made_for.changed_since({}) == ("model", "error")
