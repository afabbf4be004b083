"""What holds of the index on a server, as far as that is not the contract of every index."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient, models

from encoders import EncoderIdentity
from storage.qdrant import QdrantIndex
from storage.vectors import IndexMismatch, IndexUnavailable, Point

ID = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
async def client() -> AsyncIterator[AsyncQdrantClient]:
    """The client's local mode, which stands for a server."""
    opened = AsyncQdrantClient(location=":memory:")
    yield opened
    await opened.close()


async def test_a_server_that_is_not_there_is_unavailable(
    identity: EncoderIdentity, unused_tcp_port: int
) -> None:
    absent = AsyncQdrantClient(url=f"http://127.0.0.1:{unused_tcp_port}", check_compatibility=False)
    with pytest.raises(IndexUnavailable, match="collection 'entries' cannot be used: no answer"):
        await QdrantIndex.open(absent, "entries", identity=identity)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n", id="an error"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", id="garbage"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", id="half a reply"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n", id="a wrong key"),
    ],
)
async def test_a_server_that_answers_nonsense_is_unavailable(identity: EncoderIdentity, reply: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        client = AsyncQdrantClient(url=f"http://127.0.0.1:{port}", check_compatibility=False)
        with pytest.raises(IndexUnavailable, match="collection 'entries' cannot be used"):
            await QdrantIndex.open(client, "entries", identity=identity)


async def test_a_collection_that_is_gone_is_unavailable_not_empty(
    client: AsyncQdrantClient, identity: EncoderIdentity
) -> None:
    index = await QdrantIndex.open(client, "entries", identity=identity)
    await client.delete_collection("entries")
    with pytest.raises(IndexUnavailable):
        await index.nearest(np.ones(4, dtype=np.float32), where={}, limit=1)


async def test_somebody_elses_collection_is_not_touched(
    client: AsyncQdrantClient, identity: EncoderIdentity
) -> None:
    size = models.VectorParams(size=4, distance=models.Distance.COSINE)
    await client.create_collection("entries", vectors_config=size)
    with pytest.raises(IndexMismatch, match="does not say which encoder made it"):
        await QdrantIndex.open(client, "entries", identity=identity)


async def test_a_collection_can_be_made_anew_for_another_encoder(
    client: AsyncQdrantClient, identity: EncoderIdentity
) -> None:
    first = await QdrantIndex.open(client, "entries", identity=identity)
    await first.upsert([Point(ID, np.ones(4, dtype=np.float32), "card", {"tenant": "a"})])
    larger = replace(identity, name="larger", dimensions=8)
    index = await QdrantIndex.open(client, "entries", identity=larger, rebuild=True)
    assert await index.ids() == set()
    await index.upsert([Point(ID, np.ones(8, dtype=np.float32), "card", {"tenant": "a"})])
    assert len(await index.nearest(np.ones(8, dtype=np.float32), where={"tenant": "a"}, limit=1)) == 1


async def test_two_gateways_share_one_collection(
    client: AsyncQdrantClient, identity: EncoderIdentity
) -> None:
    first = await QdrantIndex.open(client, "entries", identity=identity)
    second = await QdrantIndex.open(client, "entries", identity=identity)
    await first.upsert([Point(ID, np.ones(4, dtype=np.float32), "card", {"tenant": "a"})])
    assert await second.ids() == {ID}
