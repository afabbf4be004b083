"""Every case by every persona of its language, on disk before it counts; an interrupted run goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.answers.cases import AnswerCase, case_digest
from evaluation.answers.journal import Form, Journal, Lines
from evaluation.answers.judging import Meter, open_judges
from evaluation.answers.targets import OUT_OF_REACH, open_target
from evaluation.users.dialogues import Dialogue, Stage, dialogue_id
from evaluation.users.judging import TurnJudge
from evaluation.users.personas import Persona, Personas
from evaluation.users.playing import SimulatedUser
from gateway.errors import InvalidRequest, UpstreamUnavailable
from gateway.settings import Settings

__all__ = ["Play", "dialogues_in", "open_play", "planned"]

_DIALOGUE = TypeAdapter(Dialogue)
_FORM: Form[Dialogue] = Form(
    lambda one: one.id, lambda one: _DIALOGUE.dump_json(one) + b"\n", _DIALOGUE.validate_json
)


@dataclass(frozen=True, slots=True)
class Play:
    """A stage, and the model on it."""

    stage: Stage
    model: str
    concurrency: int

    async def run(
        self,
        plan: Sequence[tuple[AnswerCase, Persona]],
        results: Lines[Dialogue],
        *,
        progress: Callable[[Dialogue], object] = lambda dialogue: None,
    ) -> None:
        """Play what has not been played; dialogues that an error ended get another try.

        The first one is played alone; only then anything is written.

        Raises:
            UpstreamUnavailable: if nobody can be asked at all; the file is as it was.
        """
        due = []
        for case, persona in plan:
            known = results.get(dialogue_id(case, persona))
            if known is None or known.of != self._of(case, persona) or known.error:
                due.append((case, persona))
            else:
                progress(known)
        first = [await self._first(*both) for both in due[:1]]
        journal, at_once = Journal(results), asyncio.Semaphore(self.concurrency)

        async def keep(dialogue: Dialogue) -> None:
            await journal.add([dialogue])
            progress(dialogue)

        async def one(case: AnswerCase, persona: Persona) -> None:
            async with at_once:
                await keep(await self.stage.play(case, persona, of=self._of(case, persona)))

        try:
            for dialogue in first:
                await keep(dialogue)
            async with asyncio.TaskGroup() as group:
                for both in due[1:]:
                    group.create_task(one(*both))
        finally:
            journal.close()
        Lines(results.file, _FORM).put_in_order([dialogue_id(*both) for both in plan])

    async def _first(self, case: AnswerCase, persona: Persona) -> Dialogue:
        dialogue = await self.stage.play(case, persona, of=self._of(case, persona))
        if not dialogue.turns and dialogue.cause in OUT_OF_REACH:
            raise UpstreamUnavailable(dialogue.error, cause=dialogue.cause)
        return dialogue

    def _of(self, case: AnswerCase, persona: Persona) -> str:
        return self.stage.version(persona, case_digest(case), self.model)


def dialogues_in(file: Path) -> Lines[Dialogue]:
    """The dialogues of a file, none if there is no file yet."""
    return Lines(file, _FORM)


def planned(cases: Iterator[AnswerCase], personas: Personas) -> list[tuple[AnswerCase, Persona]]:
    """Which persona asks which case.

    Raises:
        InvalidRequest: if nobody speaks the language of a case.
    """
    plan = []
    for case in cases:
        found = personas.get(case.lang)
        if not found:
            raise InvalidRequest(
                f"case {case.id}: no persona speaks {case.lang}; --personas-file may add some"
            )
        plan += [(case, persona) for persona in found.values()]
    return plan


@asynccontextmanager
async def open_play(
    settings: Settings,
    target: str,
    *,
    most_turns: int,
    concurrency: int,
    url: str | None = None,
    key: str = "",
    entries: Sequence[Path] = (),
    tenant: str = "default",
) -> AsyncIterator[Play]:
    """A stage for this target.

    Raises:
        InvalidRequest: if no language model is configured.
        SekishoError, EncoderError: naming what can't be opened.
    """
    async with AsyncExitStack() as stack:
        meter = Meter()
        model = (await stack.enter_async_context(open_judges(settings, meter))).model
        if model is None:
            raise InvalidRequest("simulated users are played by a language model: expected evaluation.llm")
        opened = await stack.enter_async_context(
            open_target(target, settings, url=url, key=key, entries=entries, tenant=tenant)
        )
        stage = Stage(opened, SimulatedUser(model), TurnJudge(model), meter, most_turns=most_turns)
        yield Play(stage, model.model, concurrency)
