"""What leaves for an asker who reads along while the answer is written.

A `Line` is their open stream; a `Release` follows one draft from its first words to its last, and asks again
and again what of it may leave. Of a draft that is not yet whole nothing reaches the line but what `may_leave`
gave back: that is the one place to look at.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

from classifiers.faithfulness.statements.segmentation import Sentence, sentences
from gateway.domain import Draft, NothingRelevant, OnDraft

__all__ = [
    "OBSERVED",
    "AskerHungUp",
    "Leaves",
    "Line",
    "Part",
    "Release",
    "Stops",
    "StreamMode",
    "Waits",
    "finished_part",
    "whole_part",
]

StreamMode = Literal["buffer", "sentence", "observe"]

OBSERVED = (
    "faithfulness.streaming: observe protects nobody: every word of a streamed answer leaves before it is "
    "checked; the verdict comes in the last event, and a bad answer opens a ticket."
)


class AskerHungUp(Exception):  # noqa: N818 - named as a fact
    """Nobody waits for the answer any more, and nothing of it had left or was decided."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """This text may leave, as far as it has not."""

    text: str


@dataclass(frozen=True, slots=True)
class Waits:
    """Nothing more leaves now; what comes next may change that."""


@dataclass(frozen=True, slots=True)
class Stops:
    """Nothing more leaves before the draft is whole and judged."""


Part = Leaves | Waits | Stops
MayLeave = Callable[[Draft], Awaitable[Part]]  # of a draft as far as it is written


class Line:
    """The line to one asker: what left for them, and whether they are still there."""

    def __init__(self, *, whole: bool = False) -> None:
        """`whole`: they read a reply in one piece, so nothing may leave before it."""
        self.whole = whole
        self.opened = asyncio.Event()  # something left
        self.hung_up = asyncio.Event()
        self.preface = ""  # what stands in front of the answer
        self.said = ""  # of the answer
        self._started = perf_counter()
        self.first_s: float | None = None  # until something of the answer left
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()

    @property
    def age_s(self) -> float:
        """Seconds since they asked."""
        return perf_counter() - self._started

    def introduce(self, preface: str) -> None:
        """Say what stands in front of the answer, if anything does; nobody has to judge it."""
        self.preface = preface
        if preface:
            self._send(preface)

    def say(self, text: str) -> None:
        """Say more of the answer."""
        if self.first_s is None:
            self.first_s = self.age_s
        self.said += text
        self._send(text)

    def hang_up(self) -> None:
        """The asker is gone."""
        self.hung_up.set()

    async def pieces(self, until: asyncio.Future[Any]) -> AsyncIterator[str]:
        """What leaves, as it does, until the reply is there."""
        until.add_done_callback(lambda _: self._pieces.put_nowait(None))
        while (piece := await self._pieces.get()) is not None:
            yield piece

    def rest(self, reply: str) -> str:
        """What is still to be said of a reply: what follows on what left, or all of it as a new paragraph."""
        if not self.opened.is_set():
            return reply
        answer = reply.removeprefix(self.preface)
        following = _after(answer, self.said)
        return f"\n\n{answer}" if following is None else following

    def breaks_off(self, reply: str) -> bool:
        """Whether the reply is not what the asker began to read."""
        return bool(self.said) and _after(reply.removeprefix(self.preface), self.said) is None

    def _send(self, text: str) -> None:
        self._pieces.put_nowait(text)
        self.opened.set()


class Release:
    """Follows one draft, and lets go of what may leave while it is written."""

    def __init__(self, line: Line, mode: StreamMode, may_leave: MayLeave) -> None:
        self._line = line
        self._mode: StreamMode = mode
        self._may_leave = may_leave
        self._news = asyncio.Event()
        self._written: Draft | None = None  # so far
        self._judged: Draft | None = None  # the part that was asked about last
        self._stopped = False
        self.waited_for_contexts = False  # a sentence was ready before there was anything to hold it against

    async def follow(
        self, ask: Callable[[OnDraft | None], Coroutine[Any, Any, Draft | NothingRelevant]]
    ) -> Draft | NothingRelevant:
        """The whole draft; or, if the asker hangs up, that part of it about which something was decided.

        Raises:
            AskerHungUp: nothing was.
        """
        if self._line.hung_up.is_set():
            raise AskerHungUp
        on_draft = None if self._mode == "buffer" else self._on_draft
        writing = asyncio.create_task(ask(on_draft))
        letting_go = asyncio.create_task(self._let_go())
        hanging_up = asyncio.create_task(self._line.hung_up.wait())
        try:
            await asyncio.wait({writing, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
            if letting_go.done():  # it only ends by itself if it failed
                letting_go.result()
            return await writing if writing.done() else self._decided()
        finally:
            for task in (writing, letting_go, hanging_up):
                task.cancel()
            await asyncio.gather(writing, letting_go, hanging_up, return_exceptions=True)

    def _on_draft(self, draft: Draft) -> None:
        self._written = draft
        self._news.set()

    async def _let_go(self) -> None:
        """Nothing of a draft leaves while it is written but here, and only what `may_leave` says."""
        while True:
            await self._news.wait()
            self._news.clear()
            part = self._next_part()
            if part is None or self._stopped:
                continue
            match await self._may_leave(part):
                case Leaves(text):
                    if more := _after(text, self._line.said):
                        self._line.say(more)
                case Stops():
                    self._stopped = True
                case Waits():
                    pass
            self._judged = part

    def _next_part(self) -> Draft | None:
        """What is written and was not asked about yet: all of it, or whole sentences with their contexts."""
        draft, before = self._written, self._judged.text if self._judged else ""
        if draft is None:
            return None
        if self._mode == "observe":
            return draft if len(draft.text) > len(before) else None
        end = len(before) + whole_part(draft.text[len(before) :])
        text = draft.text[:end].rstrip()
        if len(text) <= len(before):
            return None
        if not draft.contexts:
            self.waited_for_contexts = True
            return None
        return replace(draft, text=text)

    def _decided(self) -> Draft:
        if self._judged is None or not (self._stopped or self._line.said):
            raise AskerHungUp
        return self._judged


_FINISHED = re.compile(r"(?:(?<!\d)[.．]|[。！？｡!?])[\"'”’」』)）*_]*\s*$")
_WHOLE = ("item", "row", "code")  # kinds that leave together with their neighbours of the same kind


def whole_part(text: str) -> int:
    """How much of a text that is still being written consists of whole sentences, lists, tables, blocks.

    The last sentence is whole once the next one begins; a list, once something else does.
    """
    found = sentences(text)
    last = len(found) - 1
    while last > 0 and found[last].kind in _WHOLE and found[last - 1].kind == found[last].kind:
        last -= 1
    return _beginning(text, found[last - 1], found[last]) if last > 0 else 0


def finished_part(text: str) -> int:
    """How much of a text that broke off consists of sentences that are finished: all but the last, mostly.

    A stop after a digit may be the point of a number.
    """
    found = sentences(text)
    if not found or _FINISHED.search(text):
        return len(text) if found else 0
    return _beginning(text, found[-2], found[-1]) if len(found) > 1 else 0


def _beginning(text: str, before: Sentence, sentence: Sentence) -> int:
    """Where a sentence begins, with the marks before it and, of a block of code, its fence."""
    lines = 2 if sentence.kind == "code" else 1
    start = sentence.start
    for _ in range(lines):
        newline = text.rfind("\n", before.end, start)
        if newline < 0:
            break
        start = newline
    if start < sentence.start:
        return start + 1
    between = text[before.end : start]
    return start - len(between.lstrip())  # the mark of an item on the same line


def _after(text: str, said: str) -> str | None:
    """What follows in a text on what was said, however both are spaced; None if that is not its beginning."""
    if text.startswith(said):
        return text[len(said) :]
    at = 0
    for letter in "".join(said.split()):
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text) or text[at] != letter:
            return None
        at += 1
    return text[at:]
