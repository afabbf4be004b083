"""What holds of every index of vectors: in process, behind the client of a server, and in memory."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from encoders import EncoderIdentity
from storage.vectors import IndexMismatch, IndexUnavailable, Payload, Point, VectorIndex
from tests.conftest import OpenIndex

EVERYONE: Payload = {}


def point(number: int, text: str, vector: tuple[float, ...] = (1, 0, 0, 0), **payload: str | int) -> Point:
    return Point(str(UUID(int=number)), np.array(vector, dtype=np.float32), text, payload)


def ids(*numbers: int) -> set[str]:
    return {str(UUID(int=number)) for number in numbers}


def vector(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


async def texts_nearest(
    index: VectorIndex, *values: float, where: Payload = EVERYONE, limit: int = 10
) -> list[str]:
    return [found.text for found in await index.nearest(vector(*values), where=where, limit=limit)]


async def texts_matching(
    index: VectorIndex, text: str, where: Payload = EVERYONE, limit: int = 10
) -> list[str]:
    return [found.text for found in await index.matching(text, where=where, limit=limit)]


async def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert await index.nearest(vector(1, 0, 0, 0), where={"tenant": "a"}, limit=5) == []
    assert await index.matching("anything", where={"tenant": "a"}, limit=5) == []
    assert await index.ids() == set()


async def test_nearest_ranks_by_cosine_and_gives_everything_back(index: VectorIndex) -> None:
    await index.upsert(
        [
            point(1, "far", (0, 1, 0, 0), tenant="a", entry="e1", position=1),
            point(2, "near", (2, 0.2, 0, 0), tenant="a", entry="e2", position=0),
            point(3, "opposite", (-1, 0, 0, 0), tenant="a"),
        ]
    )
    found = await index.nearest(vector(1, 0, 0, 0), where={}, limit=3)
    assert [(each.text, round(each.score, 3)) for each in found] == [
        ("near", 0.995),
        ("far", 0.0),
        ("opposite", -1.0),
    ]
    assert found[0].id == str(UUID(int=2))
    assert found[0].payload == {"tenant": "a", "entry": "e2", "position": 0}


async def test_a_point_that_is_written_again_is_replaced_whole(index: VectorIndex) -> None:
    await index.upsert([point(1, "old words", (1, 0, 0, 0), tenant="a", language="en")])
    await index.upsert([point(1, "new terms", (0, 1, 0, 0), tenant="b")])
    assert await index.ids() == ids(1)
    assert await texts_nearest(index, 0, 1, 0, 0, where={"tenant": "b"}) == ["new terms"]
    assert await texts_nearest(index, 0, 1, 0, 0, where={"language": "en"}) == []
    assert await texts_matching(index, "old words") == []


async def test_points_are_removed_by_their_ids(index: VectorIndex) -> None:
    await index.upsert([point(1, "one"), point(2, "two"), point(3, "three")])
    await index.remove(ids(1, 3, 4))
    assert await index.ids() == ids(2)
    assert await texts_nearest(index, 1, 0, 0, 0) == ["two"]
    await index.remove(())
    assert await index.ids() == ids(2)


async def test_of_two_points_with_one_id_in_one_call_the_later_stays(index: VectorIndex) -> None:
    await index.upsert([point(1, "first", tenant="a"), point(1, "second", tenant="a")])
    assert await texts_nearest(index, 1, 0, 0, 0) == ["second"]


async def test_writing_no_points_does_nothing(index: VectorIndex) -> None:
    await index.upsert([])
    assert await index.ids() == set()


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        pytest.param({}, {"a en 0", "a ja 1", "b en 0"}, id="everything"),
        pytest.param({"tenant": "a"}, {"a en 0", "a ja 1"}, id="a string"),
        pytest.param({"position": 0}, {"a en 0", "b en 0"}, id="a number"),
        pytest.param({"tenant": "a", "language": "en"}, {"a en 0"}, id="several"),
        pytest.param({"language": ("en", "ja"), "tenant": "a"}, {"a en 0", "a ja 1"}, id="one of several"),
        pytest.param({"language": ("", "ja")}, {"a ja 1"}, id="one of them empty"),
        pytest.param({"language": ()}, set(), id="one of none"),
        pytest.param({"region": ("", "north")}, set(), id="one of several, of a key that no point has"),
        pytest.param({"tenant": "A"}, set(), id="case matters"),
        pytest.param({"tenant": ""}, set(), id="empty is a value"),
        pytest.param({"region": "north"}, set(), id="a key that no point has"),
    ],
)
async def test_points_are_kept_apart_by_their_payload(
    index: VectorIndex, where: Payload, expected: set[str]
) -> None:
    await index.upsert(
        [
            point(1, "a en 0", tenant="a", language="en", position=0),
            point(2, "a ja 1", tenant="a", language="ja", position=1),
            point(3, "b en 0", tenant="b", language="en", position=0),
        ]
    )
    assert set(await texts_nearest(index, 1, 0, 0, 0, where=where)) == expected
    assert set(await texts_matching(index, "a b en ja 0 1", where=where)) == expected


async def test_the_limit_holds_and_keeps_the_best(index: VectorIndex) -> None:
    await index.upsert([point(i, f"refund {i}", (1, i / 10, 0, 0), tenant="a") for i in range(20)])
    assert await texts_nearest(index, 1, 0, 0, 0, limit=3) == ["refund 0", "refund 1", "refund 2"]
    assert len(await texts_matching(index, "refund", limit=4)) == 4
    assert await texts_nearest(index, 1, 0, 0, 0, limit=0) == []
    assert await texts_matching(index, "refund", limit=0) == []


async def test_deletion_removes_what_meets_every_condition(index: VectorIndex) -> None:
    await index.upsert(
        [
            point(1, "x", tenant="a", entry="1"),
            point(2, "y", tenant="a", entry="2"),
            point(3, "z", tenant="b"),
        ]
    )
    await index.delete(where={"tenant": "a", "entry": "1"})
    assert await index.ids() == ids(2, 3)
    await index.delete(where={"tenant": "nobody"})
    assert await index.ids() == ids(2, 3)
    assert await texts_matching(index, "x") == []


async def test_deletion_without_a_condition_is_refused(index: VectorIndex) -> None:
    await index.upsert([point(1, "x", tenant="a")])
    with pytest.raises(ValueError, match=r"use clear\(\)"):
        await index.delete(where={})
    assert await index.ids() == ids(1)


async def test_a_cleared_index_is_empty_and_can_be_filled_again(index: VectorIndex) -> None:
    await index.upsert([point(i, "opening hours", tenant="a") for i in range(5)])
    await index.clear()
    assert await index.ids() == set()
    assert await texts_matching(index, "opening hours") == []
    await index.upsert([point(9, "opening hours", tenant="a")])
    assert await index.ids() == ids(9)
    assert await texts_matching(index, "opening hours", where={"tenant": "a"}) == ["opening hours"]


async def test_ids_are_complete_over_many_pages(index: VectorIndex) -> None:
    await index.upsert([point(i, f"question {i}", tenant="a") for i in range(2_500)])
    assert await index.ids() == ids(*range(2_500))


PASSAGES = {
    "en card": "Cards are delivered within ten working days to the address on file.",
    "en refund": "A refund is paid to the account that the payment came from. See section 12.",
    "en pin": "You can change the PIN of your card at any cash machine.",
    "ja hours": "窓口の営業時間は平日の午前9時から午後5時までです。",
    "ja return": "返品条件：商品到着後8日以内に限り、未開封の商品を返品できます。",
    "ja login": "ログインできない場合は、Wi-Fiの接続とパスワードをご確認ください。第13条をご覧ください。",
    "ja tax": "住民税の納付書は毎年6月に発送します。",
    "zh hours": "营业时间为工作日上午九点至下午五点。",
    "zh return": "商品签收后七天内可以申请退货，运费由买家承担。",
    "zh invoice": "电子发票将在付款后发送到您的邮箱。",
}


SCORES = [("ja hours", 9.45), ("ja return", 6.38), ("en pin", 2.47), ("en card", 2.45)]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        pytest.param("How do I change my PIN?", "en pin", id="English"),
        pytest.param("when will my card be DELIVERED", "en card", id="English, inflected"),
        pytest.param("what does section 12 say", "en refund", id="a number"),
        pytest.param("営業時間は何時からですか？", "ja hours", id="Japanese"),
        pytest.param("返品条件", "ja return", id="kanji alone, as the passage has them"),
        pytest.param("ﾛｸﾞｲﾝできません", "ja login", id="half-width katakana"),
        pytest.param("ＷＩ－ＦＩがつながらない", "ja login", id="full-width Latin"),
        pytest.param("第13条には何が書いてありますか", "ja login", id="a number between kanji"),
        pytest.param("住民税はいつ払いますか", "ja tax", id="Japanese compound"),
        pytest.param("几点营业？", "zh hours", id="Chinese"),
        pytest.param("怎么退货", "zh return", id="Chinese, two characters in common"),
        pytest.param("发票", "zh invoice", id="one Chinese word"),
    ],
)
async def test_matching_finds_the_passage_by_its_words(index: VectorIndex, question: str, best: str) -> None:
    names = list(PASSAGES)
    await index.upsert([point(i, PASSAGES[name], tenant="a", name=name) for i, name in enumerate(names)])
    found = await index.matching(question, where={"tenant": "a"}, limit=3)
    assert found[0].payload["name"] == best
    assert found[0].score > 0


@pytest.mark.parametrize("question", ["", "   ", "？！…", "the of and", "🙂", "\x00", "zzz qqq"])
async def test_a_question_without_known_words_matches_nothing(index: VectorIndex, question: str) -> None:
    await index.upsert([point(1, "Cards are delivered.", tenant="a"), point(2, "？！", tenant="a")])
    assert await texts_matching(index, question) == []


async def test_a_question_as_long_as_a_book_is_answered(index: VectorIndex) -> None:
    await index.upsert([point(1, "Cards are delivered.", tenant="a")])
    assert await texts_matching(index, "card 配達 " * 100_000) == ["Cards are delivered."]


async def test_every_backend_gives_the_same_scores(index: VectorIndex) -> None:
    await index.upsert([point(i, text, tenant="a") for i, text in enumerate(PASSAGES.values())])
    found = await index.matching("商品の返品と営業時間 card", where={}, limit=4)
    names = list(PASSAGES)
    assert [(names[int(UUID(each.id))], round(each.score, 2)) for each in found] == SCORES


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param(point(1, "x", (1, 0, 0)), r"shape \(3,\), expected \(4,\)", id="too short"),
        pytest.param(point(1, "x", (1, 0, 0, 0, 0)), r"shape \(5,\), expected \(4,\)", id="too long"),
        pytest.param(point(1, "x", (1, float("nan"), 0, 0)), "not finite", id="not a number"),
        pytest.param(replace(point(1, "x"), id="entry-1"), "must be a UUID, got 'entry-1'", id="no UUID"),
        pytest.param(replace(point(1, "x"), payload={"a.b": "c"}), "payload key 'a.b'", id="a path as a key"),
        pytest.param(replace(point(1, "x"), payload={"_text": "c"}), "payload key '_text'", id="our own key"),
    ],
)
async def test_a_wrong_point_is_refused_and_nothing_of_its_batch_is_written(
    index: VectorIndex, bad: Point, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        await index.upsert([point(7, "good", tenant="a"), bad])
    assert await index.ids() == set()


async def test_a_question_of_the_wrong_size_is_refused(index: VectorIndex) -> None:
    with pytest.raises(ValueError, match=r"the vector of the query has shape \(3,\), expected \(4,\)"):
        await index.nearest(vector(1, 0, 0), where={}, limit=1)


async def test_a_closed_index_is_unavailable_not_empty(index: VectorIndex) -> None:
    await index.upsert([point(1, "card", tenant="a")])
    await index.close()
    with pytest.raises(IndexUnavailable):
        await index.nearest(vector(1, 0, 0, 0), where={}, limit=1)
    with pytest.raises(IndexUnavailable):
        await index.matching("card", where={}, limit=1)
    with pytest.raises(IndexUnavailable):
        await index.upsert([point(2, "x")])
    with pytest.raises(IndexUnavailable):
        await index.delete(where={"tenant": "a"})
    with pytest.raises(IndexUnavailable):
        await index.ids()
    with pytest.raises(IndexUnavailable):
        await index.clear()


async def test_what_was_written_is_there_when_the_index_is_opened_again(
    open_index: OpenIndex, identity: EncoderIdentity
) -> None:
    first = await open_index(identity)
    await first.upsert([point(1, "opening hours", (0, 1, 0, 0), tenant="a"), point(2, "fees", tenant="a")])
    await first.delete(where={"tenant": "nobody"})
    await first.close()
    second = await open_index(identity)
    assert await second.ids() == ids(1, 2)
    assert await texts_nearest(second, 0, 1, 0, 0, where={"tenant": "a"}, limit=1) == ["opening hours"]
    assert await texts_matching(second, "fees") == ["fees"]
    await second.close()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"digest": "1" * 64}, id="other weights"),
        pytest.param({"name": "another-model"}, id="another model"),
        pytest.param({"dimensions": 8}, id="another size"),
    ],
)
async def test_vectors_of_another_encoder_are_never_mixed(
    open_index: OpenIndex, identity: EncoderIdentity, change: dict[str, str | int]
) -> None:
    first = await open_index(identity)
    await first.upsert([point(1, "x", tenant="a")])
    await first.close()
    other = replace(identity, **change)  # type: ignore[arg-type]
    with pytest.raises(IndexMismatch, match="run `sekisho reindex`") as caught:
        await open_index(other)
    assert "was made by by-hand (4 dimensions, 000000000000)" in str(caught.value)
    assert f"is {other.name} ({other.dimensions} dimensions" in str(caught.value)
    again = await open_index(identity)
    assert await again.ids() == ids(1)
    await again.close()


async def test_words_cut_by_another_release_are_never_mixed(
    open_index: OpenIndex, identity: EncoderIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await open_index(identity)).close()
    monkeypatch.setattr("storage.lexical.Lexicon.scheme", "pairs-0")
    with pytest.raises(IndexMismatch, match=r"'pairs-[0-9a-f]{8}'.*run `sekisho reindex`"):
        await open_index(identity)
