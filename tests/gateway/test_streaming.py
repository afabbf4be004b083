"""What leaves while an answer is written: whole sentences that passed, in order, and nothing after a stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.cli import app
from gateway.domain import Draft, NothingRelevant, OnDraft, Passage
from gateway.errors import UpstreamUnavailable
from gateway.streaming import (
    AskerHungUp,
    Leaves,
    Line,
    Part,
    Release,
    Stops,
    StreamMode,
    Waits,
    finished_part,
    whole_part,
)

CONTEXT = (Passage(text="The contexts."),)
Ask = Callable[[OnDraft | None], Coroutine[Any, Any, Draft | NothingRelevant]]


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("", ""),
        ("We open at nine.", ""),
        ("We open at nine. W", "We open at nine. "),
        ("It costs approx. 20", ""),
        ("Open Mon.-Fri. at 9. Cl", "Open Mon.-Fri. at 9. "),
        ("図書館は9時に開きます。5", "図書館は9時に開きます。"),
        ("图书馆九点开门。五", "图书馆九点开门。"),
        ("Bring:\n- a card\n- a bo", "Bring:\n"),
        ("Bring:\n- a card\n- a book\n\nT", "Bring:\n- a card\n- a book\n\n"),
        ("1. First\n2. Sec", ""),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ""),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nS", "| a | b |\n|---|---|\n| 1 | 2 |\n\n"),
        ("Run:\n```sh\nls\nrm", "Run:\n"),
        ("Run:\n```sh\nls\nrm\n```\nT", "Run:\n```sh\nls\nrm\n```\n"),
        ("Costs are low.\n## Fees\nOne", "Costs are low.\n## Fees\n"),
    ],
)
def test_a_sentence_is_whole_once_the_next_begins_and_lists_tables_and_code_only_together(
    written: str, whole: str
) -> None:
    assert written[: whole_part(written)] == whole


@pytest.mark.parametrize(
    ("cut_off", "finished"),
    [
        ("", ""),
        ("We open at", ""),
        ("We open at nine. We close", "We open at nine. "),
        ("We open at nine. We close at five.", "We open at nine. We close at five."),
        ("We open at nine. It costs 3.", "We open at nine. "),
        ("We open **at nine.**", "We open **at nine.**"),
        ("図書館は9時に開きます。閉館は", "図書館は9時に開きます。"),
        ("图书馆九点开门。", "图书馆九点开门。"),
        ("Bring:\n- a card\n- a bo", "Bring:\n- a card\n"),
        ("1. First\n2.", ""),
        ("Do this: 1. Open it. 2. Press it. 3. Wa", "Do this: 1. Open it. 2. Press it. "),
    ],
)
def test_of_a_text_that_was_cut_off_the_last_sentence_goes_unless_it_ends_as_one(
    cut_off: str, finished: str
) -> None:
    assert cut_off[: finished_part(cut_off)] == finished


def writes(*parts: str, contexts: int = 0, then: Exception | None = None) -> Ask:
    """A draft in these parts; its contexts come with the one of that number."""

    async def ask(on_draft: OnDraft | None) -> Draft | NothingRelevant:
        text = ""
        for number, part in enumerate(parts):
            text += part
            known = CONTEXT if number >= contexts else ()
            if on_draft:
                on_draft(Draft(text=text, contexts=known, model="m"))
            for _ in range(5):
                await asyncio.sleep(0)
        if then:
            raise then
        return Draft(text=text, contexts=CONTEXT, model="m")

    return ask


class Judge:
    """Lets everything go but what the test says."""

    def __init__(self, **says: Part) -> None:
        self.says = says
        self.asked: list[str] = []

    async def __call__(self, part: Draft) -> Part:
        self.asked.append(part.text)
        return next((says for words, says in self.says.items() if words in part.text), Leaves(part.text))


async def follow(ask: Ask, judge: Judge, mode: StreamMode = "sentence") -> tuple[Line, Release, Any]:
    line = Line()
    release = Release(line, mode, judge)
    return line, release, await release.follow(ask)


async def test_sentences_leave_one_after_the_other_and_the_last_waits_for_the_end() -> None:
    judge = Judge()
    line, _, draft = await follow(writes("One. ", "Two. ", "Thr", "ee."), judge)
    assert draft.text == "One. Two. Three."
    assert line.said == "One. Two."
    assert judge.asked == ["One.", "One. Two."]  # each part is judged with all before it
    assert line.rest("One. Two. Three.") == " Three."
    assert not line.breaks_off(draft.text)


@pytest.mark.parametrize("mode", ["sentence", "observe"])
async def test_after_a_stop_nothing_more_leaves_nor_is_asked_about(mode: StreamMode) -> None:
    judge = Judge(Two=Stops())
    line, _, draft = await follow(writes("One. ", "Two. ", "Three. ", "Four."), judge, mode)
    assert draft.text == "One. Two. Three. Four."
    assert line.said.strip() == "One."
    assert not any("Three" in asked for asked in judge.asked)
    assert line.breaks_off("A person will answer.")
    assert line.rest("A person will answer.") == "\n\nA person will answer."


async def test_what_waits_leaves_with_what_follows() -> None:
    line, _, _ = await follow(writes("One. ", "Two. ", "Three. ", "F"), Judge(Three=Leaves("One. Two. Three."), Two=Waits()))  # fmt: skip
    assert line.said == "One. Two. Three."


async def test_a_sentence_that_is_left_out_does_not_hold_up_the_next() -> None:
    says = {"Three": Leaves("One. Three."), "Two": Leaves("One.")}
    line, _, _ = await follow(writes("One. ", "Two. ", "Three. ", "F"), Judge(**says))
    assert line.said == "One. Three."


async def test_what_does_not_go_on_from_what_was_said_is_not_said() -> None:
    line, _, _ = await follow(writes("One. ", "Two. ", "T"), Judge(Two=Leaves("Another beginning.")))
    assert line.said == "One."


async def test_a_sentence_waits_for_its_contexts_and_that_is_known() -> None:
    judge = Judge()
    line, release, _ = await follow(writes("One. ", "Two. ", "Three. ", "F", contexts=3), judge)
    assert judge.asked == ["One. Two. Three."]
    assert line.said == "One. Two. Three."
    assert release.waited_for_contexts
    _, release, _ = await follow(writes("One. ", "Two. ", "T"), Judge())
    assert not release.waited_for_contexts


async def test_observe_holds_nothing_back() -> None:
    line, _, _ = await follow(writes("O", "ne. T", "wo", contexts=9), Judge(), "observe")
    assert line.said == "One. Two"


async def test_in_buffer_mode_the_chatbot_is_not_listened_to() -> None:
    judge = Judge()
    line, _, draft = await follow(writes("One. ", "Two."), judge, "buffer")
    assert (draft.text, line.said, judge.asked) == ("One. Two.", "", [])


async def test_a_judge_that_breaks_lets_nothing_go_and_is_not_silent() -> None:
    class Broken(Judge):
        async def __call__(self, part: Draft) -> Part:
            raise KeyError("a bug")

    with pytest.raises(KeyError):
        await follow(writes("One. ", "Two. ", "Three."), Broken())


async def test_a_chatbot_that_fails_in_the_middle_fails_the_draft() -> None:
    with pytest.raises(UpstreamUnavailable):
        await follow(writes("One. ", "Two. ", then=UpstreamUnavailable("gone")), Judge())


@pytest.mark.parametrize(
    ("mode", "says", "decided"),
    [
        pytest.param("sentence", {}, "One.", id="what left"),
        pytest.param("sentence", {"One": Stops()}, "One.", id="what was stopped"),
        pytest.param("sentence", {"One": Waits()}, None, id="nothing"),
        pytest.param("observe", {}, "One. T", id="what was seen"),
        pytest.param("buffer", {}, None, id="nothing in buffer mode"),
    ],
)
async def test_who_leaves_is_not_waited_for_and_what_was_decided_is_kept(
    mode: StreamMode, says: dict[str, Part], decided: str | None
) -> None:
    line, stopped = Line(), asyncio.Event()

    async def endless(on_draft: OnDraft | None) -> Draft | NothingRelevant:
        try:
            await writes("One. T")(on_draft)
            line.hang_up()
            return await asyncio.Future()
        finally:
            stopped.set()

    following = Release(line, mode, Judge(**says)).follow(endless)
    if decided is None:
        with pytest.raises(AskerHungUp):
            await following
    else:
        draft = await following
        assert isinstance(draft, Draft)
        assert draft.text == decided
    assert stopped.is_set()


async def test_for_who_has_left_already_nobody_is_asked() -> None:
    line, asked = Line(), False

    async def ask(on_draft: OnDraft | None) -> Draft | NothingRelevant:
        nonlocal asked
        asked = True
        return Draft(text="One.", contexts=(), model="m")

    line.hang_up()
    with pytest.raises(AskerHungUp):
        await Release(line, "buffer", Judge()).follow(ask)
    assert not asked


async def test_pieces_come_as_they_are_said_and_end_with_the_reply() -> None:
    line = Line()
    line.introduce("News.\n\n")
    reply = asyncio.get_running_loop().create_future()
    heard: list[str] = []

    async def listen() -> None:
        heard.extend([piece async for piece in line.pieces(until=reply)])

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0)
    line.say("One.")
    reply.set_result("News.\n\nOne. Two.")
    await listening
    assert heard == ["News.\n\n", "One."]
    assert line.rest(reply.result()) == " Two."
    assert line.rest("News.\n\nCanned.") == "\n\nCanned."


def test_another_spacing_is_the_same_text() -> None:
    line = Line()
    line.say("One.  Two.")
    assert line.rest("One. Two.\nThree.") == "\nThree."
    assert not line.breaks_off("One. Two.\nThree.")


@pytest.mark.parametrize("mode", ["buffer", "sentence", "observe"])
def test_check_config_is_loud_about_the_mode_that_protects_nobody(tmp_path: Path, mode: StreamMode) -> None:
    file = tmp_path / "sekisho.yaml"
    file.write_text(f"faithfulness: {{streaming: {mode}}}\n", "utf-8")
    result = CliRunner().invoke(app, ["check-config", "--config", str(file)], env={"COLUMNS": "400"})
    assert result.exit_code == 0, result.output
    assert ("protects nobody" in " ".join(result.output.split())) is (mode == "observe")
